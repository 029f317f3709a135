"""Searching documents by what they carry beside the contract's fields; see `webapp.fhir.terms.document_terms`.

Where nothing narrower is asked, the first of these conditions leads: its words lie in the order of the answer, newest
first, so that a page is read from the index and no further than it reaches, however many documents there are of a type.
The others are looked up for each document. A list of words and a period have no such order: what they match is sorted.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, FromClause, String, bindparam, exists, func, literal_column, or_, select

from webapp.fhir.models import Document, DocumentTerm
from webapp.fhir.searching import lists
from webapp.fhir.searching.totals import Shape, Values, bind, bounds
from webapp.fhir.searching.wanted import KEYSET, Carried

_DOCUMENT = Document.__table__
_TERM = DocumentTerm.__table__
Way = tuple[str, str, bool, Any]  # kind, way (see `_shape`), whether it is negated, and another Way or None


def shape_of(wanted: Sequence[Carried]) -> tuple[Way, ...]:
    """Kind and way of each condition, whether it is negated, and the way of what may hold in its place."""
    return tuple(_shape(item) for item in wanted)


def values_of(wanted: Sequence[Carried], sqlite: bool) -> Values:
    """Values that the conditions compare with."""
    values: Values = {}
    for number, item in enumerate(wanted):
        for name, one in ((str(number), item), (f"or_{number}", item.either)):
            if one is not None:
                single = len(one.words) == 1 and not one.part
                values[f"word_{name}"] = one.words[0] if single else lists.listed(one.words, sqlite)
                values |= {f"from_{name}": one.start, f"until_{name}": one.end}
    return values


def leads(shape: Shape) -> bool:
    """Return True where the first condition finds the documents; a patient or a list of ids is narrower, and another
    order is not that of the index."""
    narrower = shape.patients or shape.ids or shape.groups or shape.terms
    if not shape.carried or narrower or shape.order not in KEYSET:
        return False
    _, _, negated, either = shape.carried[0]
    return not negated and either is None


def source(shape: Shape, sqlite: bool) -> FromClause:
    """Storage time and id of the documents that meet the first condition, each once."""
    where = [*_words("0", shape.carried[0], sqlite), *bounds(_TERM, shape.start, shape.end)]
    found = select(_TERM.c.stored_at, _TERM.c.document_id).where(*where)
    return (found if shape.carried[0][1] == "one" else found.distinct()).subquery("led")


def total(shape: Shape, led: FromClause, where: ColumnElement[bool]) -> ColumnElement[Any]:
    """The number of documents that meet all conditions; from the words alone where they tell it."""
    plain = len(shape.carried) == 1 and shape.statuses is None and not shape.content_type and not shape.content_types
    joined = led if plain else led.join(_DOCUMENT, _DOCUMENT.c.id == led.c.document_id)
    number = select(func.count()).select_from(joined)
    return (number if plain else number.where(where)).scalar_subquery()


def conditions(shape: Shape, sqlite: bool) -> list[ColumnElement[bool]]:
    """All conditions but the one that leads, as they are asked of each document."""
    first = 1 if leads(shape) else 0
    return [_condition(number, shape.carried[number], sqlite) for number in range(first, len(shape.carried))]


def _condition(number: int, way: Way, sqlite: bool) -> ColumnElement[bool]:
    _, _, negated, either = way
    holds: ColumnElement[bool] = _has(str(number), way, sqlite)
    if either is not None:
        holds = or_(holds, _has(f"or_{number}", either, sqlite))
    return ~holds if negated else holds


def _has(name: str, way: Way, sqlite: bool) -> ColumnElement[bool]:
    return exists().where(_TERM.c.document_id == _DOCUMENT.c.id, *_words(name, way, sqlite))


def _shape(item: Carried) -> Way:
    if item.part:
        way = "part"
    elif item.words:
        way = "one" if len(item.words) == 1 else "some"
    else:
        way = "between" if item.start and item.end else "from" if item.start else "until"
    return item.kind, way, item.negated, _shape(item.either) if item.either else None


def _words(name: str, shape: Way, sqlite: bool) -> list[ColumnElement[bool]]:
    kind, way, _, _ = shape
    where: list[ColumnElement[bool]] = [
        _TERM.c.organization_id == bind("organization"), _TERM.c.kind == literal_column(f"'{kind}'"),
    ]  # fmt: skip
    if way == "one":
        where.append(_TERM.c.term == _text(f"word_{name}"))
    if way == "some":
        where.append(lists.among(_TERM.c.term, f"word_{name}", sqlite, String()))
    if way == "part":
        where.append(lists.containing(_TERM.c.term, f"word_{name}", sqlite))
    if way in ("from", "between"):
        where.append(_TERM.c.term >= _text(f"from_{name}"))
    if way in ("until", "between"):
        where.append(_TERM.c.term < _text(f"until_{name}"))
    if way == "until":
        where.append(_TERM.c.term != literal_column("''"))  # the word of an element that is there, whatever it says
    return where


def _text(name: str) -> Any:
    return bindparam(name, required=False, type_=String())
