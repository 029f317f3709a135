"""Storage times of an organization: stamped under its lock, strictly increasing in the order of visibility."""

import uuid
from collections.abc import Iterable
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, cast, func, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from clinical.errors import BefundError
from webapp.fhir import dates
from webapp.fhir.models import StorageClock


class ImpossibleTime(BefundError):
    """A storage time was given that has not come yet (pollers would wait for it) or that no service ever had."""

    def __init__(self, stored_at: int) -> None:
        super().__init__(
            f"storage time {dates.to_text(stored_at)}", "one since 1970 and not in the future", "leave it out"
        )


def stamps(session: Session, organization: uuid.UUID, given: Iterable[int | None]) -> list[tuple[int, int]]:
    """For each, when it is stored and when that was done: the same but where the original time is given."""
    last, now = lock(session, organization)
    stamped = []
    for original in given:
        if original is not None and not 0 <= original <= now:
            raise ImpossibleTime(original)
        last = max(last + 1, now)
        stamped.append((last if original is None else original, last))
    session.execute(update(StorageClock).where(StorageClock.organization_id == organization).values(last=last))
    return stamped


def lock(session: Session, organization: uuid.UUID) -> tuple[int, int]:
    """Lock the organization's clock until the transaction ends; its last time and the database's now."""
    first = dialect(session).insert(StorageClock).values(organization_id=organization, last=0, changes=0)
    session.execute(first.on_conflict_do_nothing())
    mine = update(StorageClock).where(StorageClock.organization_id == organization)
    last = session.scalar(mine.values(last=StorageClock.last).returning(StorageClock.last))
    now = session.scalar(select(_now(session)))  # read after the lock is held, not when the statement began
    return int(last or 0), int(now or 0)


def _now(session: Session) -> ColumnElement[int]:
    """The database's clock in microseconds; SQLite's has milliseconds."""
    if session.get_bind().dialect.name == "postgresql":
        return cast(func.extract("epoch", func.clock_timestamp()) * 1_000_000, BigInteger)
    seconds, millis = func.strftime("%s", "now"), func.substr(func.strftime("%f", "now"), 4)
    return cast(seconds, BigInteger) * 1_000_000 + cast(millis, BigInteger) * 1_000


def dialect(session: Session) -> Any:
    """What makes inserts that know of conflicts."""
    return postgresql if session.get_bind().dialect.name == "postgresql" else sqlite
