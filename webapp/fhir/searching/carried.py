"""Searching documents by what they carry beside the contract's fields; see `webapp.fhir.terms.document_terms`.

Where nothing narrower is asked, the first of these conditions leads: its words lie in the order of the answer, newest
first, so that a page is read from the index and no further than it reaches, however many documents there are of a type.
The others are looked up for each document. A list of words and a period have no such order: what they match is sorted.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, FromClause, String, bindparam, exists, func, literal_column, select

from webapp.fhir.models import Document, DocumentTerm
from webapp.fhir.searching import lists
from webapp.fhir.searching.totals import Shape, Values, bind, bounds
from webapp.fhir.searching.wanted import Carried

_DOCUMENT = Document.__table__
_TERM = DocumentTerm.__table__


def shape_of(wanted: Sequence[Carried]) -> tuple[tuple[str, str], ...]:
    """Kind of each condition and whether it is `one` word, `some`, or those `from`, `until` or `between` two."""
    return tuple((item.kind, _way(item)) for item in wanted)


def values_of(wanted: Sequence[Carried], sqlite: bool) -> Values:
    """What the conditions compare with."""
    values: Values = {}
    for number, item in enumerate(wanted):
        one = len(item.words) == 1
        values[f"word_{number}"] = item.words[0] if one else lists.listed(item.words, sqlite)
        values |= {f"from_{number}": item.start, f"until_{number}": item.end}
    return values


def leads(shape: Shape) -> bool:
    """Whether the first condition finds the documents; a patient or a list of ids is narrower."""
    return bool(shape.carried) and not (shape.patients or shape.ids or shape.groups)


def source(shape: Shape, sqlite: bool) -> FromClause:
    """Storage time and id of the documents that meet the first condition, each once."""
    where = [*_words(0, shape.carried[0], sqlite), *bounds(_TERM, shape.start, shape.end)]
    found = select(_TERM.c.stored_at, _TERM.c.document_id).where(*where)
    return (found if shape.carried[0][1] == "one" else found.distinct()).subquery("led")


def total(shape: Shape, led: FromClause, where: ColumnElement[bool]) -> ColumnElement[Any]:
    """How many documents meet all conditions; from the words alone where they tell it."""
    plain = len(shape.carried) == 1 and shape.statuses is None and not shape.content_type and not shape.content_types
    joined = led if plain else led.join(_DOCUMENT, _DOCUMENT.c.id == led.c.document_id)
    number = select(func.count()).select_from(joined)
    return (number if plain else number.where(where)).scalar_subquery()


def conditions(shape: Shape, sqlite: bool) -> list[ColumnElement[bool]]:
    """What is asked of each document: all conditions but the one that leads."""
    first = 1 if leads(shape) else 0
    return [
        exists().where(_TERM.c.document_id == _DOCUMENT.c.id, *_words(number, shape.carried[number], sqlite))
        for number in range(first, len(shape.carried))
    ]


def _way(item: Carried) -> str:
    if item.words:
        return "one" if len(item.words) == 1 else "some"
    return "between" if item.start and item.end else "from" if item.start else "until"


def _words(number: int, shape: tuple[str, str], sqlite: bool) -> list[ColumnElement[bool]]:
    kind, way = shape
    where: list[ColumnElement[bool]] = [
        _TERM.c.organization_id == bind("organization"), _TERM.c.kind == literal_column(f"'{kind}'"),
    ]  # fmt: skip
    if way == "one":
        where.append(_TERM.c.term == _text(f"word_{number}"))
    if way == "some":
        where.append(lists.among(_TERM.c.term, f"word_{number}", sqlite, String()))
    if way in ("from", "between"):
        where.append(_TERM.c.term >= _text(f"from_{number}"))
    if way in ("until", "between"):
        where.append(_TERM.c.term < _text(f"until_{number}"))
    return where


def _text(name: str) -> Any:
    return bindparam(name, required=False, type_=String())
