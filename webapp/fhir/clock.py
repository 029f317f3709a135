"""Storage times of an organization, and the changes of its documents: stamped under its lock, strictly increasing in
the order of visibility.

Stored, marked, restored, replaced, linked to a patient, deleted: each is a version with an instant of its own, which
`_history` lists. Whoever reads up to an instant and later asks from there on has missed nothing, not even a document
that an import with its original time put behind every cursor. Committing is left to the caller's session.
"""

import uuid
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple
from typing import cast as typed

from sqlalchemy import BigInteger, ColumnElement, Insert, Table, bindparam, cast, func, insert, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from clinical.errors import BefundError
from webapp.database import one_or_all
from webapp.fhir import dates
from webapp.fhir.models import DocumentChange, Status, StorageClock

Times = tuple[int, list[tuple[int, int]]]  # see `numbered`
_TABLE = typed(Table, StorageClock.__table__)
_CHANGED = insert(typed(Table, DocumentChange.__table__))
_ORGANIZATION = bindparam("organization_", type_=_TABLE.c.organization_id.type)


class ImpossibleTime(BefundError):
    """A storage time was given that has not come yet (pollers would wait for it) or that no service ever had."""

    def __init__(self, stored_at: int) -> None:
        super().__init__(
            f"storage time {dates.to_text(stored_at)}", "one since 1970 and not in the future", "leave it out"
        )


def stamps(session: Session, organization: uuid.UUID, number: int) -> range:
    """As many storage times; holds the organization's lock until the transaction ends."""
    last = _advance(session, organization, number, 0)[0] if number else 0
    return range(last - number + 1, last + 1)


def numbered(session: Session, organization: uuid.UUID, given: Sequence[int | None]) -> Times:
    """The number of the first of as many changes; and for each, when it is stored and when that was done, which is the
    same but where the original time is given."""
    last, changes, now = _advance(session, organization, len(given), len(given))
    for original in given:
        if original is not None and not 0 <= original <= now:
            raise ImpossibleTime(original)
    times = range(last - len(given) + 1, last + 1)
    placed = [(at if original is None else original, at) for original, at in zip(given, times, strict=True)]
    return changes - len(given) + 1, placed


def lock(session: Session, organization: uuid.UUID) -> None:
    """Lock the organization's clock until the transaction ends."""
    session.connection().execute(_locking(dialect(session)), {"organization_": organization})


def lock_all(session: Session) -> None:
    """Lock the clocks of all organizations, also of those that have none yet, until the transaction ends: nobody
    stores. SQLite's writing transactions exclude each other already."""
    if dialect(session) is postgresql:
        session.execute(text("LOCK TABLE storage_clock IN EXCLUSIVE MODE"))


def _advance(session: Session, organization: uuid.UUID, times: int, changes: int) -> Any:
    """Lock the clock and move it on, by one statement, since others wait until this transaction ends; its last time,
    its last change, and the database's now."""
    values = {"organization_": organization, "times_": times, "changes_": changes}
    return session.connection().execute(_advancing(dialect(session)), values).one()


@cache
def _locking(kind: Any) -> Insert:
    first = kind.insert(_TABLE).values(organization_id=_ORGANIZATION, last=0, changes=0)
    same: Insert = first.on_conflict_do_update(index_elements=[_TABLE.c.organization_id], set_={"last": _TABLE.c.last})
    return same


@cache
def _advancing(kind: Any) -> Insert:
    """Both databases take the row's lock before they compute the new values, the time of now among them (PostgreSQL:
    `ExecOnConflictUpdate`)."""
    times, changes = (bindparam(name, type_=BigInteger()) for name in ("times_", "changes_"))
    now = _now(kind)
    later = func.greatest if kind is postgresql else func.max
    first = kind.insert(_TABLE).values(organization_id=_ORGANIZATION, last=now + times - 1, changes=changes)
    on = {"last": later(_TABLE.c.last + 1, now) + times - 1, "changes": _TABLE.c.changes + changes}
    moved: Insert = first.on_conflict_do_update(index_elements=[_TABLE.c.organization_id], set_=on).returning(
        _TABLE.c.last, _TABLE.c.changes, now
    )
    return moved


def _now(kind: Any) -> ColumnElement[int]:
    """The database's clock in microseconds; SQLite's has milliseconds."""
    if kind is postgresql:
        return cast(func.extract("epoch", func.clock_timestamp()) * 1_000_000, BigInteger)
    seconds, millis = func.strftime("%s", "now"), func.substr(func.strftime("%f", "now"), 4)
    return cast(seconds, BigInteger) * 1_000_000 + cast(millis, BigInteger) * 1_000


def dialect(session: Session) -> Any:
    """The dialect whose inserts know of conflicts."""
    return postgresql if session.get_bind().dialect.name == "postgresql" else sqlite


class Change(NamedTuple):
    """A version of a document, by its number, and the status from then on."""

    document: uuid.UUID
    version: int
    status: Status


def tell(session: Session, organization: uuid.UUID, changes: Sequence[Change], *, deleted: bool = False) -> None:
    """Note that these documents have changed just now, or that they are no more."""
    if changes:
        first, stamps = numbered(session, organization, [None] * len(changes))
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
        session.connection().execute(_CHANGED, one_or_all(rows))
