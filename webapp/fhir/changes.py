"""Changes of documents in order: the versions that `_history` lists.

Stored, marked, restored, replaced, linked to a patient, deleted: each is a version with an instant of its own, stamped
under the organization's lock like storage times. Whoever reads up to an instant and later asks from there on has missed
nothing, not even a document that an import with its original time put behind every cursor.

All functions take a session of `db.write()` and leave committing to it.
"""

import uuid
from collections.abc import Sequence
from typing import NamedTuple, cast

from sqlalchemy import Table, insert
from sqlalchemy.orm import Session

from webapp.fhir import clock
from webapp.fhir.models import DocumentChange, Status

_INSERT = insert(cast(Table, DocumentChange.__table__))


class Change(NamedTuple):
    """A version of a document, by its number, and the status from then on."""

    document: uuid.UUID
    version: int
    status: Status


def tell(session: Session, organization: uuid.UUID, changes: Sequence[Change], *, deleted: bool = False) -> None:
    """Note that these documents have changed just now, or that they are no more."""
    if changes:
        first, stamps = clock.numbered(session, organization, [None] * len(changes))
        record(session, organization, changes, [at for _, at in stamps], first, deleted=deleted)


def record(
    session: Session, organization: uuid.UUID, changes: Sequence[Change], times: Sequence[int], first: int, *,
    deleted: bool = False,
) -> None:  # fmt: skip
    """Write changes down that were stamped `times` (microseconds since 1970) and numbered from `first`."""
    rows = [
        {"document_id": change.document, "version": change.version, "organization_id": organization,
         "at": at, "number": number, "entered_in_error": change.status is Status.ENTERED_IN_ERROR,
         "superseded": change.status is Status.SUPERSEDED, "deleted": deleted}
        for number, (change, at) in enumerate(zip(changes, times, strict=True), start=first)
    ]  # fmt: skip
    if rows:
        session.connection().execute(_INSERT, rows[0] if len(rows) == 1 else rows)
