"""Words of documents that are there, made by migrations a batch at a time."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import sqlalchemy as sa

from webapp.fhir.searching import terms

_BATCH = 500
_DOCUMENT = sa.table(
    "document", sa.column("id", sa.Uuid()), sa.column("organization_id", sa.Uuid()),
    sa.column("stored_at", sa.BigInteger()), sa.column("details", sa.Text()),
)  # fmt: skip
_TERM = sa.table(
    "document_term", sa.column("organization_id", sa.Uuid()), sa.column("kind"), sa.column("term"),
    sa.column("stored_at", sa.BigInteger()), sa.column("document_id", sa.Uuid()),
)  # fmt: skip


def add(bind: sa.Connection, words_of: Callable[[Any], Iterable[tuple[str, str]]], *like: str) -> None:
    """Add words (kind, term) of the details (JSON) of every document whose details are like one of these."""
    for rows in _batches(bind, like):
        _insert(bind, rows, words_of)


def renew(bind: sa.Connection, *like: str) -> None:
    """Make the words of every document whose details (JSON) are like one of these anew, by the code of today."""
    for rows in _batches(bind, like):
        bind.execute(sa.delete(_TERM).where(_TERM.c.document_id.in_([row.id for row in rows])))
        _insert(bind, rows, terms.document_words)


def _batches(bind: sa.Connection, like: Sequence[str]) -> Iterator[Sequence[sa.Row[Any]]]:
    asked = sa.or_(*(_DOCUMENT.c.details.like(one) for one in like))
    detailed = sa.select(_DOCUMENT).where(asked).order_by(_DOCUMENT.c.id).limit(_BATCH)
    rows = bind.execute(detailed).all()
    while rows:
        yield rows
        rows = bind.execute(detailed.where(_DOCUMENT.c.id > rows[-1].id)).all()


def _insert(
    bind: sa.Connection, rows: Iterable[sa.Row[Any]], words_of: Callable[[Any], Iterable[tuple[str, str]]]
) -> None:  # fmt: skip
    words = [
        {"organization_id": row.organization_id, "kind": kind, "term": word, "stored_at": row.stored_at,
         "document_id": row.id}
        for row in rows
        for kind, word in words_of(json.loads(row.details))
    ]  # fmt: skip
    if words:
        bind.execute(sa.insert(_TERM), words)
