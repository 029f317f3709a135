"""Conditions of a search that are not its window, status or type: people, words, ids.

Each is made into a `BoundCondition`: `way` is all of it that changes the text of a statement, `values` are what its
parameters are bound to, in order. A list is one parameter however long it is, so that its length is no part of the
text: PostgreSQL takes an array, SQLite a JSON text (`Reader.value`).
"""

from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any, NamedTuple

import sqlalchemy as sa

from webapp.fhir.models import DocumentTerm, SearchTerm
from webapp.fhir.searching.wanted import Carried, PatientKey, Search

_CARRIED = DocumentTerm.__table__
_TERM = SearchTerm.__table__
Way = tuple[Any, ...]
PEOPLE, WORDS, OWNERS, IDS, TYPES = "people", "words", "owners", "ids", "types"
ONE, SOME = 1, 2


class BoundCondition(NamedTuple):
    """A condition: its kind and all else that changes the text, and its values."""

    way: Way
    values: tuple[Any, ...]


class Binds:
    """Makes the parameters of one part of a statement, named `<part>_0`, `<part>_1` in their order."""

    def __init__(self, part: str, sqlite: bool) -> None:
        self.sqlite, self._part, self._numbers = sqlite, part, count()

    def one(self, type_: Any) -> Any:
        """A single value."""
        return sa.bindparam(f"{self._part}_{next(self._numbers)}", required=False, type_=type_)

    def equal(self, column: Any, number: int, type_: Any = None) -> sa.ColumnElement[bool]:
        """The column is the value (ONE), or one of the list (SOME)."""
        type_ = column.type if type_ is None else type_
        return column == self.one(type_) if number == ONE else among(column, self.list(type_), self.sqlite)

    def list(self, type_: Any) -> Any:
        """A list of values, as `among` compares with it."""
        return self.one(sa.String() if self.sqlite else sa.ARRAY(type_))

    def texts(self) -> Any:
        """A list of texts as rows with the column `value`."""
        given = self.list(sa.Text())
        if self.sqlite:
            return sa.func.json_each(given).table_valued("value", "key")
        return sa.func.unnest(given).table_valued("value").render_derived()


def among(column: Any, given: Any, sqlite: bool) -> sa.ColumnElement[bool]:
    """The column is one of a list."""
    found: sa.ColumnElement[bool] = (
        column.in_(sa.select(sa.func.json_each(given).table_valued("value").c.value))
        if sqlite
        else column == sa.any_(given)
    )
    return found


def parts_of(wanted: Search) -> list[BoundCondition]:
    """All conditions of a search, in an order that its statement keeps."""
    parts = [people_part(keys) for keys in wanted.people]
    parts += [_words_part(item) for item in wanted.carried]
    parts += [BoundCondition((OWNERS, term.kind), tuple(zip(*term.ranges, strict=True))) for term in wanted.terms]
    parts += [BoundCondition((IDS,), (wanted.ids,))] if wanted.ids is not None else []
    return parts + ([BoundCondition((TYPES,), (wanted.content_types,))] if len(wanted.content_types) > 1 else [])


def people_part(keys: Iterable[PatientKey]) -> BoundCondition:
    """One of these patients: linked, or tagged with the identifier, in each of its forms (`Identifier`)."""
    keys = list(keys)
    given = [key.identifier for key in keys if key.identifier]
    pairs = [item for item in given if item.system is not None and item.value is not None]
    lists: tuple[list[Any], ...] = (
        [key.patient for key in keys if key.patient], [item.value for item in given if item.system is None],
        [item.value for item in pairs], [item.system for item in given if item.value is None],
    )  # fmt: skip
    values = [tuple(some) if len(some) > 1 else some[0] for some in lists if some]
    if pairs:  # beside the values, which the index has, what tells them apart
        both = pairs[0].system if len(pairs) == 1 else tuple(f"{item.system}|{item.value}" for item in pairs)
        values.insert(sum(map(bool, lists[:-1])), both)
    return BoundCondition((PEOPLE, *(min(len(some), SOME) for some in lists)), tuple(values))


def identifiers(table: Any, way: Way, binds: Binds, system: str, value: str) -> Iterator[sa.ColumnElement[bool]]:
    """The columns of those names hold one of the identifiers: any of these conditions."""
    _, _, loose, pairs, systems = way
    named, valued = table.c[system], table.c[value]
    if loose:
        yield binds.equal(valued, loose)
    if pairs:
        first = binds.equal(valued, pairs)
        both = named if pairs == ONE else sa.func.coalesce(named, "") + "|" + valued
        yield sa.and_(first, binds.equal(both, pairs, named.type if pairs == ONE else sa.Text()))
    if systems:
        yield sa.and_(binds.equal(named, systems), valued.is_not(None))


def owners(way: Way, binds: Binds) -> Any:
    """Whoever has a word of that kind in one of the ranges `[first, end)`.

    Each range is looked up in the index of words, and both planners have to be told so: SQLite goes by the order of
    an outer join (else it walks all words and reads the list for each), PostgreSQL by a subquery it does not open
    (else it expects a list to match most words and walks all patients: 160 ms for 30,000, 0.1 ms so).
    """
    if binds.sqlite:
        given, ends = binds.texts(), binds.list(sa.Text())
        place = (
            sa.literal_column("'$['", sa.String())
            + sa.cast(given.c.key, sa.String())
            + sa.literal_column("']'", sa.String())
        )
        end = sa.func.json_extract(ends, place, type_=sa.String())
        ranges = sa.select(given.c.value.label("first"), end.label("end")).subquery()
    else:
        bounds = (binds.list(sa.Text()), binds.list(sa.Text()))
        given = sa.func.unnest(*bounds).table_valued("first", "end").render_derived()
        ranges = sa.select(given.c.first, given.c.end).subquery()
    within = sa.and_(
        _TERM.c.organization_id == sa.bindparam("organization", type_=_TERM.c.organization_id.type),
        _TERM.c.kind == sa.literal_column(f"'{way[1]}'"),
        _TERM.c.term >= ranges.c.first, _TERM.c.term < ranges.c.end,
    )  # fmt: skip
    if binds.sqlite:
        return sa.select(_TERM.c.owner).select_from(ranges.outerjoin(_TERM, within))
    words = sa.select(_TERM.c.owner).where(within).offset(sa.literal_column("0")).lateral()
    return sa.select(words.c.owner).select_from(ranges.join(words, sa.true()))


def _words_part(item: Carried) -> BoundCondition:
    """A condition on the words of a document (`terms.document_terms`), and what may hold in its place."""
    values: tuple[Any, ...]
    if item.part or item.words:
        form = "part" if item.part else "one" if len(item.words) == 1 else "some"
        values = item.words if form == "one" else (item.words,)  # the word itself
    else:
        form = "between" if item.start and item.end else "from" if item.start else "until"
        values = tuple(filter(None, (item.start, item.end)))
    either = _words_part(item.either) if item.either else BoundCondition((), ())
    return BoundCondition((WORDS, item.kind, form, item.negated, either.way), (*values, *either.values))


def is_carried(document: Any, way: Way, binds: Binds) -> sa.ColumnElement[bool]:
    """A document meets a condition on its words."""
    _, _, _, negated, either = way
    holds = sa.exists().where(_CARRIED.c.document_id == document, *words(way, binds))
    whole: sa.ColumnElement[bool] = sa.or_(holds, is_carried(document, either, binds)) if either else holds
    return ~whole if negated else whole


def words(way: Way, binds: Binds) -> Iterator[sa.ColumnElement[bool]]:
    """A row of the words of documents meets a condition, whether it is negated or not."""
    _, kind, form, _, _ = way
    term = _CARRIED.c.term
    yield _CARRIED.c.organization_id == sa.bindparam("organization", type_=_CARRIED.c.organization_id.type)
    yield _CARRIED.c.kind == sa.literal_column(f"'{kind}'")
    if form in ("one", "some"):
        yield binds.equal(term, ONE if form == "one" else SOME, sa.String())
    if form == "part":
        given = binds.texts().c.value
        yield sa.exists().where((sa.func.instr if binds.sqlite else sa.func.strpos)(term, given) > 0)
    if form in ("from", "between"):
        yield term >= binds.one(sa.String())
    if form in ("until", "between"):
        yield term < binds.one(sa.String())
    if form == "until":
        yield term != sa.literal_column("''")  # the word of an element that is there, whatever it says
