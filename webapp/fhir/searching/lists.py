"""Lists in statements: one parameter however long the list is, so that its length is no part of a statement's shape.

PostgreSQL takes an array, SQLite a JSON text.
"""

import uuid
from collections.abc import Iterable, Sequence
from typing import Any

import orjson
from sqlalchemy import (
    ARRAY,
    ColumnElement,
    String,
    Subquery,
    Text,
    and_,
    any_,
    bindparam,
    exists,
    func,
    literal_column,
    or_,
    select,
    true,
)  # fmt: skip

from webapp.fhir.models import SearchTerm
from webapp.fhir.searching.wanted import Identifier, PatientKey

Values = dict[str, Any]
_TERM = SearchTerm.__table__
Flags = tuple[bool, bool, bool]  # of identifiers: some are `value`, some `system|value`, some `system|`


def among(column: Any, name: str, sqlite: bool, type_: Any = None) -> ColumnElement[bool]:
    """The column is one of the parameter `name`, bound as `listed` makes it."""
    found: ColumnElement[bool]
    if sqlite:
        found = column.in_(select(func.json_each(bindparam(name, type_=String())).table_valued("value").c.value))
    else:
        found = column == any_(bindparam(name, type_=ARRAY(type_ if type_ is not None else column.type)))
    return found


def containing(column: Any, name: str, sqlite: bool) -> ColumnElement[bool]:
    """The column contains one of the texts of the parameter `name`."""
    if sqlite:
        given = func.json_each(bindparam(name, type_=String())).table_valued("value")
        return exists().where(func.instr(column, given.c.value) > 0)
    texts = func.unnest(bindparam(name, type_=ARRAY(Text()))).table_valued("value").render_derived()
    return exists().where(func.strpos(column, texts.c.value) > 0)


def listed(values: Iterable[Any], sqlite: bool) -> Any:
    """A list as the driver takes it; ids are 32 digits in SQLite."""
    if not sqlite:
        return list(values)
    return orjson.dumps([value.hex if isinstance(value, uuid.UUID) else value for value in values]).decode()


def ranges(name: str, sqlite: bool) -> Subquery:
    """Rows `first`, `end` of the parameter that `range_values` of that name binds."""
    if sqlite:
        item = func.json_each(bindparam(f"ranges_{name}", type_=String())).table_valued("value").c.value
        parts = [func.json_extract(item, f"$[{place}]", type_=String()) for place in (0, 1)]
        return select(*(part.label(label) for part, label in zip(parts, ("first", "end"), strict=True))).subquery()
    bounds = (bindparam(f"{label}_{name}", type_=ARRAY(Text())) for label in ("first", "end"))
    given = func.unnest(*bounds).table_valued("first", "end").render_derived()
    return select(given.c.first, given.c.end).subquery()


def range_values(given: Sequence[tuple[str, str]], name: str, sqlite: bool) -> Values:
    """Values of `ranges` of that name."""
    if sqlite:
        return {f"ranges_{name}": listed(given, sqlite)}
    return {f"{label}_{name}": [bounds[place] for bounds in given] for place, label in enumerate(("first", "end"))}


def owners(number: int, kind: str, sqlite: bool) -> Any:
    """Whoever has a word of that kind in one of the ranges of that number.

    Each range is looked up in the index of words, and both planners have to be told so: SQLite goes by the order of
    an outer join (else it walks all words and reads the list for each), PostgreSQL by a subquery it does not open
    (else it expects a list to match most words and walks all patients: 160 ms for 30,000, 0.1 ms so).
    """
    among_them = ranges(str(number), sqlite)
    within = and_(
        _TERM.c.organization_id == bindparam("organization", type_=_TERM.c.organization_id.type),
        _TERM.c.kind == literal_column(f"'{kind}'"),
        _TERM.c.term >= among_them.c.first, _TERM.c.term < among_them.c.end,
    )  # fmt: skip
    if sqlite:
        return select(_TERM.c.owner).select_from(among_them.outerjoin(_TERM, within))
    words = select(_TERM.c.owner).where(within).offset(literal_column("0")).lateral()
    return select(words.c.owner).select_from(among_them.join(words, true()))


def identifier_flags(identifiers: Iterable[Identifier]) -> Flags:
    """The forms among them."""
    forms = {(item.system is not None, item.value is not None) for item in identifiers}
    return (False, True) in forms, (True, True) in forms, (True, False) in forms


def identifier_terms(columns: tuple[Any, Any], name: str, flags: Flags, sqlite: bool) -> list[ColumnElement[bool]]:
    """The columns (system, value) hold one of the identifiers: any of these conditions."""
    system, value = columns
    loose, pairs, systems = flags
    terms = [among(value, f"loose_{name}", sqlite)] if loose else []
    if pairs:
        both = func.coalesce(system, "") + "|" + value
        terms.append(and_(among(value, f"paired_{name}", sqlite), among(both, f"pairs_{name}", sqlite, Text())))
    return [*terms, and_(among(system, f"systems_{name}", sqlite), value.is_not(None))] if systems else terms


def identifier_values(identifiers: Sequence[Identifier], name: str, sqlite: bool) -> Values:
    """Values that `identifier_terms` of that name compares with."""
    pairs = [item for item in identifiers if item.system is not None and item.value is not None]
    lists: dict[str, list[Any]] = {
        "loose": [item.value for item in identifiers if item.system is None],
        "paired": [item.value for item in pairs],
        "pairs": [f"{item.system}|{item.value}" for item in pairs],
        "systems": [item.system for item in identifiers if item.value is None],
    }
    return {f"{kind}_{name}": listed(values, sqlite) for kind, values in lists.items() if values}


def group_flags(group: Iterable[PatientKey]) -> tuple[bool, Flags]:
    """The shape of a list of patients."""
    keys = list(group)
    return any(key.patient for key in keys), identifier_flags(key.identifier for key in keys if key.identifier)


def group_term(table: Any, number: int, flags: tuple[bool, Flags], sqlite: bool) -> ColumnElement[bool]:
    """A document is of one of the patients of a group: linked, or tagged with one of the identifiers."""
    ours, tags = flags
    terms = [among(table.c.patient_id, f"ours_{number}", sqlite)] if ours else []
    tagged = (table.c.external_system, table.c.external_value)
    return or_(*terms, *identifier_terms(tagged, str(number), tags, sqlite))


def group_values(group: Iterable[PatientKey], number: int, sqlite: bool) -> Values:
    """Values that `group_term` of that number compares with."""
    keys = list(group)
    identifiers = [key.identifier for key in keys if key.identifier]
    ours = {f"ours_{number}": listed([key.patient for key in keys if key.patient], sqlite)}
    return ours | identifier_values(identifiers, str(number), sqlite)
