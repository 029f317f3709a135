"""Documents that are there are found by all that a document is found by now."""

import json

import sqlalchemy as sa
from alembic import op

from webapp.fhir import terms

revision = "0015_parameters"
down_revision = "0014_versions"

_BEFORE = (
    "type", "category", "identifier", "security-label", "author", "author:id", "encounter", "encounter:id", "creation",
)  # fmt: skip
_BATCH = 500


def upgrade() -> None:
    """Make the words of every document with details anew."""
    bind = op.get_bind()
    document = sa.table(
        "document", sa.column("id", sa.Uuid()), sa.column("organization_id", sa.Uuid()),
        sa.column("stored_at", sa.BigInteger()), sa.column("details", sa.Text()),
    )  # fmt: skip
    term = sa.table(
        "document_term", sa.column("organization_id", sa.Uuid()), sa.column("kind"), sa.column("term"),
        sa.column("stored_at", sa.BigInteger()), sa.column("document_id", sa.Uuid()),
    )  # fmt: skip
    detailed = sa.select(document).where(document.c.details.is_not(None)).order_by(document.c.id).limit(_BATCH)
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


def downgrade() -> None:
    """Drop the words that nobody asked for before."""
    term = sa.table("document_term", sa.column("kind"), sa.column("term"))
    op.execute(sa.delete(term).where(sa.or_(term.c.term == "", term.c.kind.not_in(_BEFORE))))
