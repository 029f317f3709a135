"""Words of documents that are there, made anew by the code of today."""

import json

import sqlalchemy as sa

from webapp.fhir import terms

_BATCH = 500


def renew(bind: sa.Connection, like: str = "%") -> None:
    """Make the words of every document whose details (JSON) are like that."""
    document = sa.table(
        "document", sa.column("id", sa.Uuid()), sa.column("organization_id", sa.Uuid()),
        sa.column("stored_at", sa.BigInteger()), sa.column("details", sa.Text()),
    )  # fmt: skip
    term = sa.table(
        "document_term", sa.column("organization_id", sa.Uuid()), sa.column("kind"), sa.column("term"),
        sa.column("stored_at", sa.BigInteger()), sa.column("document_id", sa.Uuid()),
    )  # fmt: skip
    detailed = sa.select(document).where(document.c.details.like(like)).order_by(document.c.id).limit(_BATCH)
    rows = bind.execute(detailed).all()
    while rows:
        bind.execute(sa.delete(term).where(term.c.document_id.in_([row.id for row in rows])))
        words = [
            {"organization_id": row.organization_id, "kind": kind, "term": word, "stored_at": row.stored_at,
             "document_id": row.id}
            for row in rows
            for kind, word in terms.document_words(json.loads(row.details))
        ]  # fmt: skip
        if words:
            bind.execute(sa.insert(term), words)
        rows = bind.execute(detailed.where(document.c.id > rows[-1].id)).all()
