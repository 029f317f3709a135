"""The precision rule of the `date` search parameter: a value is a period, a prefix applies to all of it.

Pure: text in, half-open windows of instants out. Instants are microseconds since 1970-01-01T00:00:00Z as `int`, the
form the database stores, so that the ends of the calendar (year 1, the year after 9999) need no special case.

Source: section "Date precision" of the document retrieval contract; what it leaves open is decided as: `YYYY`,
`YYYY-MM`, `YYYY-MM-DD`, `THH:MM`, `THH:MM:SS`, 1 to 6 fraction digits (each its own precision, more are cut to 6);
`Z`, an offset or none (UTC). Everything else is no date: hour 24, second 60, year 0000, the space a raw `+` turns into.
"""

import re
from calendar import monthrange
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache

MICROSECOND = timedelta(microseconds=1)
DAY = 86_400_000_000  # microseconds
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_NAIVE = datetime(1970, 1, 1)

_VALUE = re.compile(
    r"(?P<prefix>eq|ge|gt|le|lt)?"
    r"(?P<year>[0-9]{4})(?:-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2})"
    r"(?:T(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:\.(?P<fraction>[0-9]+))?)?"
    r"(?P<zone>Z|[+-][0-9]{2}:[0-9]{2})?)?)?)?"
)


@dataclass(frozen=True, slots=True)
class Window:
    """Instants `start <= t < end` in microseconds since 1970 UTC; `None` leaves that side open."""

    start: int | None = None
    end: int | None = None

    def __and__(self, other: "Window") -> "Window":
        """The instants in both windows: the tightest bounds."""
        starts = [bound for bound in (self.start, other.start) if bound is not None]
        ends = [bound for bound in (self.end, other.end) if bound is not None]
        return Window(max(starts, default=None), min(ends, default=None))

    def __contains__(self, instant: int) -> bool:
        return (self.start is None or self.start <= instant) and (self.end is None or instant < self.end)


ALWAYS = Window()


def parse(value: str) -> Window | None:
    """One `date` value, e.g. `ge2026-03-05`, as the window it selects; None if it is no date we accept."""
    match = _VALUE.fullmatch(value)
    if match is None:
        return None
    period = _period(match.groupdict())
    if period is None:
        return None
    start, end = period
    match match["prefix"]:
        case "ge":
            return Window(start, None)
        case "gt":
            return Window(end, None)
        case "le":
            return Window(None, end)
        case "lt":
            return Window(None, start)
    return Window(start, end)


def parse_bound(value: str) -> Window | None:
    """`start` or `end` of `$everything`: a date without prefix, as its whole period (both are inclusive)."""
    return parse(value) if value[:1].isdigit() else None


def tightest(windows: Iterable[Window]) -> Window:
    """All windows at once: repeated `date` values bound each other."""
    result = ALWAYS
    for window in windows:
        result = result & window
    return result


def to_micros(instant: datetime) -> int:
    """An aware datetime as microseconds since 1970 UTC."""
    return (instant - EPOCH) // MICROSECOND


@lru_cache(maxsize=1_024)  # the newest documents are what is asked for most
def to_text(micros: int) -> str:
    """The one form the API writes: `2026-03-05T10:20:30.400500+00:00`, always six digits."""
    return (EPOCH + timedelta(microseconds=micros)).isoformat(timespec="microseconds")


def _period(parts: dict[str, str | None]) -> tuple[int, int] | None:
    """First instant of the stated period and first instant after it; None where the calendar has no such time."""
    year, month, day = int(parts["year"] or 0), int(parts["month"] or 1), int(parts["day"] or 1)
    hour, minute, second = int(parts["hour"] or 0), int(parts["minute"] or 0), int(parts["second"] or 0)
    offset = _offset(parts["zone"])
    try:
        local = datetime(year, month, day, hour, minute, second)
    except ValueError:
        return None
    if offset is None:
        return None
    fraction = (parts["fraction"] or "")[:6]
    start = (local - _EPOCH_NAIVE) // MICROSECOND + int(fraction.ljust(6, "0")) - offset
    return start, start + _length(parts, fraction)


def _length(parts: dict[str, str | None], fraction: str) -> int:
    """Length of the stated period in microseconds."""
    if parts["month"] is None:
        year = int(parts["year"] or 0)
        return (366 if monthrange(year, 2)[1] == 29 else 365) * DAY
    if parts["day"] is None:
        return monthrange(int(parts["year"] or 0), int(parts["month"]))[1] * DAY
    if parts["hour"] is None:
        return DAY
    if parts["second"] is None:
        return 60_000_000
    return int(10 ** (6 - len(fraction)))


def _offset(zone: str | None) -> int | None:
    """Microseconds east of UTC; None for an offset no clock has (FHIR allows up to 14:00)."""
    if zone is None or zone == "Z":
        return 0
    hours, minutes = int(zone[1:3]), int(zone[4:6])
    if minutes > 59 or hours * 60 + minutes > 14 * 60:
        return None
    micros = (hours * 60 + minutes) * 60_000_000
    return -micros if zone[0] == "-" else micros
