"""What became of documents, in order: the versions that `_history` lists.

Stored, marked, restored, linked to a patient, deleted: each is a version with an instant of its own, stamped under the
organization's lock like storage times. Whoever reads up to an instant and later asks from there on has missed nothing,
not even a document that an import with its original time put behind every cursor.

All functions take a session of `db.write()` and leave committing to it.
"""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import cast

from sqlalchemy import Table, func, insert, select
from sqlalchemy.orm import Session

from webapp.fhir import clock
from webapp.fhir.models import DocumentChange

_INSERT = insert(cast(Table, DocumentChange.__table__))
AT_ONCE = 400  # documents looked up by one statement, below SQLite's smallest limit of 999 values


@dataclass(frozen=True, slots=True)
class Change:
    """A version of a document: its status from then on, and when (microseconds since 1970)."""

    document: uuid.UUID
    entered_in_error: bool
    at: int
    deleted: bool = False


def tell(
    session: Session, organization: uuid.UUID, documents: Sequence[tuple[uuid.UUID, bool]], *, deleted: bool = False
) -> None:
    """Note that these documents (id, entered in error) have changed just now, or that they are no more."""
    if documents:
        first, stamps = clock.numbered(session, organization, [None] * len(documents))
        told = [Change(ident, wrong, at, deleted) for (ident, wrong), (_, at) in zip(documents, stamps, strict=True)]
        record(session, organization, told, first)


def record(
    session: Session, organization: uuid.UUID, changes: Sequence[Change], first: int, *, new: bool = False
) -> None:
    """Write stamped changes down, numbered from `first`; `new` where each is the first of its document."""
    if not changes:
        return
    before = {} if new else _versions(session, (change.document for change in changes))
    rows = [
        {"document_id": change.document, "version": before.get(change.document, 0) + 1, "organization_id": organization,
         "at": change.at, "number": number, "entered_in_error": change.entered_in_error, "deleted": change.deleted}
        for number, change in enumerate(changes, start=first)
    ]  # fmt: skip
    session.connection().execute(_INSERT, rows[0] if len(rows) == 1 else rows)


def _versions(session: Session, documents: Iterable[uuid.UUID]) -> dict[uuid.UUID, int]:
    """The last version of each document."""
    found: dict[uuid.UUID, int] = {}
    rest = iter(documents)
    last = select(DocumentChange.document_id, func.max(DocumentChange.version)).group_by(DocumentChange.document_id)
    while some := list(islice(rest, AT_ONCE)):
        rows = session.execute(last.where(DocumentChange.document_id.in_(some)))
        found.update((row[0], row[1]) for row in rows)
    return found
