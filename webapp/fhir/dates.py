"""The precision rule of the `date` search parameter: a value is a period, a prefix applies to all of it.

Pure: text in, half-open windows of instants out. Instants are microseconds since 1970-01-01T00:00:00Z as `int`, the
form the database stores, so that the ends of the calendar (year 1, the year after 9999) need no special case.

Source: section "Date precision" of the document retrieval contract; what it leaves open is decided as: `YYYY`,
`YYYY-MM`, `YYYY-MM-DD`, `THH:MM`, `THH:MM:SS`, 1 to 6 fraction digits (each its own precision, more are cut to 6);
`Z`, an offset or none (UTC). Everything else is no date: hour 24, second 60, year 0000, the space a raw `+` turns into.
"""

import re
from calendar import isleap, monthrange
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache, reduce
from operator import and_

MICROSECOND = timedelta(microseconds=1)
MICROS, DAY = 1_000_000, 86_400_000_000  # microseconds of a second and of a day
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LEAST = {"year": "", "month": "01", "day": "01", "hour": "00", "minute": "00", "second": "00"}

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
    sides = {"ge": (start, None), "gt": (end, None), "le": (None, end), "lt": (None, start)}
    return Window(*sides.get(match["prefix"], period))


def parse_bound(value: str) -> Window | None:
    """`start` or `end` of `$everything`: a date without prefix, as its whole period (both are inclusive)."""
    return parse(value) if value[:1].isdigit() else None


def tightest(windows: Iterable[Window]) -> Window:
    """All windows at once: repeated `date` values bound each other."""
    return reduce(and_, windows, ALWAYS)


def to_micros(instant: datetime) -> int:
    """An aware datetime as microseconds since 1970 UTC."""
    return (instant - EPOCH) // MICROSECOND


@lru_cache(maxsize=1_024)  # the newest documents are what is asked for most
def to_text(micros: int) -> str:
    """The one form the API writes: `2026-03-05T10:20:30.400500+00:00`, always six digits."""
    return instant(micros).isoformat(timespec="microseconds")


def instant(micros: int) -> datetime:
    """The instant of microseconds since 1970."""
    return EPOCH + timedelta(microseconds=micros)


def _period(parts: dict[str, str | None]) -> tuple[int, int] | None:
    """First instant of the stated period and first instant after it; None where the calendar has no such time."""
    zone, fraction = parts["zone"] or "Z", (parts["fraction"] or "")[:6]
    filled = {name: parts[name] or least for name, least in _LEAST.items()}
    text = "{year}-{month}-{day}T{hour}:{minute}:{second}".format_map(filled)
    if filled["hour"] == "24" or (zone != "Z" and (zone[4:] > "59" or zone[1:] > "14:00")):  # no clock has these
        return None
    try:
        start = to_micros(datetime.fromisoformat(f"{text}.{fraction:0<6}{zone}"))
    except ValueError:
        return None
    return start, start + _length(parts, fraction)


def _length(parts: dict[str, str | None], fraction: str) -> int:
    """Length of the stated period in microseconds."""
    year, month = int(parts["year"] or 0), parts["month"]
    if month is None:
        return (365 + isleap(year)) * DAY
    if parts["day"] is None:
        return monthrange(year, int(month))[1] * DAY
    if parts["hour"] is None:
        return DAY
    return 60 * MICROS if parts["second"] is None else int(10 ** (6 - len(fraction)))
