"""The exact number of matches of a search, from counters where they know it instead of from the rows.

The exact total is most of the cost of a plain search. Over an organization it is therefore a sum of counters
(`DocumentCount`): one row per type and status, or for a window of days one per day, plus counting the part-days at its
ends. A patient's documents are few and counted.
"""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import CTE, ColumnElement, bindparam, cast, func, literal_column, or_, select, union_all

from webapp.fhir.dates import ALWAYS, DAY, Window
from webapp.fhir.models import WHOLE, AccessToken, Document, DocumentCount, Status
from webapp.fhir.searching.conditions import Way

Values = dict[str, Any]
_DOCUMENT = Document.__table__
_COUNT = DocumentCount.__table__


@dataclass(frozen=True, slots=True)
class Shape:
    """Everything about a search that changes the text of its statement."""

    count: int  # page size; 0: the total only
    skip: bool
    cursor: bool
    start: bool
    end: bool
    statuses: frozenset[Status] | None
    content_type: bool
    by_day: bool  # `_offset` is found through the counters of days
    edges: tuple[bool, bool] | None  # of a window with whole days: whether it begins and ends within a day
    order: str
    parts: tuple[Way, ...]  # with any, the total has to be counted: no counter knows it


def edges(window: Window) -> tuple[bool, bool] | None:
    """Tell whether a window of days begins and ends within a day; None where it holds no whole day (then it is
    counted)."""
    if window == ALWAYS:
        return None
    first, last = _whole_days(window)
    if first is not None and last is not None and first >= last:
        return None
    start = window.start is not None and window.start % DAY != 0
    end = window.end is not None and window.end % DAY != 0
    return start, end


def window_values(window: Window) -> Values:
    """Values of all parameters that `total` and `bounds` may have put into a statement."""
    if window == ALWAYS:
        return {}
    first, last = _whole_days(window)
    days = {"first_day": first, "last_day": last}
    starts = {f"{name}_start": None if day is None else day * DAY for name, day in days.items()}
    return {"start": window.start, "end": window.end, **days, **starts}


def total(shape: Shape, where: ColumnElement[bool]) -> ColumnElement[Any]:
    """The number of matches as a scalar expression."""
    windowed = shape.start or shape.end
    if shape.parts or (windowed and shape.edges is None):
        return number_of(_DOCUMENT, where)
    if not windowed:
        return _counters(shape, [_COUNT.c.day == literal_column(str(WHOLE))])
    days = [_COUNT.c.day >= bind("first_day")] if shape.start else [_COUNT.c.day > literal_column(str(WHOLE))]
    if shape.end:
        days.append(_COUNT.c.day < bind("last_day"))
    number = _counters(shape, days)
    starts_within, ends_within = shape.edges or (False, False)
    if starts_within:
        number = number + _edge(shape, "start", "first_day_start")
    if ends_within:
        number = number + _edge(shape, "last_day_start", "end")
    return number


def day_of_offset(shape: Shape) -> CTE:
    """The day on which the row at `_offset` lies, and how many matches are newer than that day: a row (day, newer).

    Skipping 40,000 rows of an index costs 40 times a page; a year of day counters is read in a fraction of one.
    """
    terms = [_COUNT.c.organization_id == bind("organization"), _COUNT.c.day > literal_column(str(WHOLE))]
    if shape.end:
        terms.append(_COUNT.c.day < bind("last_day"))
    number = func.sum(_COUNT.c.number)
    days = select(_COUNT.c.day, number.label("number")).where(*terms, *kind(_COUNT, shape)).group_by(_COUNT.c.day)
    if shape.edges and shape.edges[1]:  # the window ends within a day, of which only a part counts
        part = select(bind("last_day").label("day"), _edge(shape, "last_day_start", "end").label("number"))
        daily: Any = union_all(days, part).subquery("daily")
    else:
        daily = days.subquery("daily")
    upto = func.sum(daily.c.number).over(order_by=daily.c.day.desc())
    running = select(daily.c.day, daily.c.number, upto.label("upto")).subquery("running")
    newer = cast(running.c.upto - running.c.number, _COUNT.c.number.type).label("newer")
    place = select(running.c.day, newer).where(running.c.upto > bind("offset"))
    return place.order_by(running.c.day.desc()).limit(1).cte("place")


def kind(table: Any, shape: Shape) -> list[ColumnElement[bool]]:
    """Status and type: columns of documents and of their counters alike."""
    terms: list[ColumnElement[bool]] = []
    if shape.statuses is not None:
        terms += _of_status(table.c.entered_in_error, table.c.superseded, shape.statuses)
    if shape.content_type:
        terms.append(table.c.content_type == bind("content_type"))
    return terms


def _of_status(wrong: Any, replaced: Any, statuses: frozenset[Status]) -> list[ColumnElement[bool]]:
    """The two facts of one of these statuses (`Status.of`); of one alone as conditions that its index can answer."""
    in_force = [replaced] if Status.SUPERSEDED in statuses else [~replaced]
    if {Status.CURRENT, Status.SUPERSEDED} <= statuses:
        in_force = []
    if Status.ENTERED_IN_ERROR not in statuses:
        return [~wrong, *in_force]
    return [or_(wrong, *in_force)] if len(statuses) > 1 else [wrong]


def bounds(table: Any, start: bool, end: bool) -> list[ColumnElement[bool]]:
    """The window of a search on a table with `stored_at`."""
    terms = [table.c.stored_at >= bind("start")] if start else []
    return [*terms, table.c.stored_at < bind("end")] if end else terms


def bind(name: str) -> Any:
    """A parameter with its database type."""
    return bindparam(name, required=False, type_=_TYPES.get(name))


_TYPES: dict[str, Any] = {
    "organization": Document.organization_id.type,
    **dict.fromkeys(("id", "document", "patient", "after_id"), Document.id.type),
    "token": AccessToken.id.type,
    "content_type": Document.content_type.type,
    **dict.fromkeys(
        ("start", "end", "since", "after", "number", "offset", "first_day_start", "last_day_start"),
        Document.stored_at.type,
    ),
    **dict.fromkeys(("first_day", "last_day"), DocumentCount.day.type),
}


def _counters(shape: Shape, days: list[ColumnElement[bool]]) -> ColumnElement[Any]:
    rows = select(func.coalesce(func.sum(_COUNT.c.number), 0)).where(
        _COUNT.c.organization_id == bind("organization"), *days, *kind(_COUNT, shape)
    )
    return cast(rows.scalar_subquery(), _COUNT.c.number.type)


def _edge(shape: Shape, start: str, end: str) -> ColumnElement[Any]:
    stored_at = _DOCUMENT.c.stored_at
    mine = (_DOCUMENT.c.organization_id == bind("organization"), stored_at >= bind(start), stored_at < bind(end))
    return number_of(_DOCUMENT, *mine, *kind(_DOCUMENT, shape))


def number_of(rows: Any, *where: ColumnElement[bool]) -> ColumnElement[Any]:
    """The number of rows that meet all conditions, as a scalar expression."""
    return select(func.count()).select_from(rows).where(*where).scalar_subquery()


def _whole_days(window: Window) -> tuple[int | None, int | None]:
    """First whole day in the window and first day not wholly in it, as days since 1970."""
    first = None if window.start is None else -(-window.start // DAY)
    last = None if window.end is None else window.end // DAY
    return first, last
