"""Reading and searching what is stored as FHIR JSON, patients and imaging studies; statements as fast as the search
of documents, for they share its path."""

import uuid
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import orjson
from sqlalchemy import (
    ColumnElement,
    Select,
    Text,
    and_,
    cast,
    exists,
    func,
    literal_column,
    or_,
    select,
    true,
)  # fmt: skip

from webapp.fhir.models import ImagingStudy, Patient, PatientIdentifier, SearchTerm
from webapp.fhir.resources import StoredRow
from webapp.fhir.searching import lists
from webapp.fhir.searching.columns import id_text
from webapp.fhir.searching.reading import Reader, Statement
from webapp.fhir.searching.search import (
    SHAPES,
    ResultPage,
    behind_cursor,
    beside,
    complete_until,
    found,
    order_of,
    sorted_page,
    word_to_sort,
)  # fmt: skip
from webapp.fhir.searching.totals import bind
from webapp.fhir.searching.wanted import KEYSET, LARGEST_COUNT, AnswerOptions, Paging, ResourceSearch

_IDENTIFIER = PatientIdentifier.__table__
_TERM = SearchTerm.__table__
_Shape = tuple[int, bool, bool, tuple[tuple[bool, lists.Flags], ...], bool, tuple[str, ...], str]


class Resources:
    """Searches one database for patients, or for imaging studies."""

    def __init__(self, reader: Reader, kind: type[Patient] | type[ImagingStudy]) -> None:
        self._reader = reader
        self._table: Any = kind.__table__
        self._patient = self._table.c.id if kind is Patient else self._table.c.patient_id
        mine = and_(self._table.c.id == bind("patient"), self._table.c.organization_id == bind("organization"))
        self._one = Statement(self._columns().where(mine), reader.engine)
        self._mark = Statement(select(complete_until()), reader.engine)
        self._statement = lru_cache(maxsize=SHAPES)(self._compose)

    def search(self, organization: uuid.UUID, wanted: ResourceSearch) -> ResultPage:
        """The page that `wanted` asks for; rows as `StoredRow`, resource still as text."""
        if wanted.never:
            (known,) = self._reader.rows(self._mark, {"organization": self._reader.uuid(organization)})
            return ResultPage(0, [], None, int(known[0]))
        paging, count = wanted.answer.paging, 0 if wanted.answer.count_only else wanted.answer.paging.count
        skip, sqlite = paging.cursor is None and paging.offset > 0, self._reader.is_sqlite
        values: dict[str, Any] = {"organization": self._reader.uuid(organization), "offset": paging.offset}
        for number, group in enumerate(wanted.groups):
            values |= lists.group_values(group, number, sqlite)
        for number, term in enumerate(wanted.terms):
            values |= lists.range_values(term.ranges, str(number), sqlite)
        if wanted.ids is not None:
            values["ids"] = lists.listed(wanted.ids, sqlite)
        if paging.cursor:
            values |= {"after": paging.cursor.stored_at, "after_id": self._reader.uuid(paging.cursor.id)}
        statement = self._statement(_shape(wanted, count, skip))
        return found(self._reader.rows(statement, values), paging, count)

    def listed(self, organization: uuid.UUID, patients: Iterable[str]) -> list[tuple[Any, ...]]:
        """The rows of these patients of an organization, newest first."""
        ids = tuple(dict.fromkeys(map(uuid.UUID, patients)))
        paging = Paging(count=LARGEST_COUNT)  # a page has no more documents than that, so no more patients
        return self.search(organization, ResourceSearch(AnswerOptions(paging=paging), ids=ids)).rows if ids else []

    def one(self, organization: uuid.UUID, patient: uuid.UUID) -> tuple[Any, ...] | None:
        """The row of one patient of an organization."""
        values = {"organization": self._reader.uuid(organization), "patient": self._reader.uuid(patient)}
        rows = self._reader.rows(self._one, values)
        return rows[0] if rows else None

    def _compose(self, shape: _Shape) -> Statement:
        count, skip, cursor, groups, ids, terms, order = shape
        table, sqlite = self._table, self._reader.is_sqlite
        where = and_(
            table.c.organization_id == bind("organization"),
            *([lists.among(table.c.id, "ids", sqlite)] if ids else []),
            *(self._of_group(number, flags) for number, flags in enumerate(groups)),
            *(table.c.id.in_(lists.owners(number, kind, sqlite)) for number, kind in enumerate(terms)),
        )
        counted = select(func.count().label("total")).select_from(table).where(where).subquery("counted")
        if count == 0:
            return Statement(select(counted.c.total, complete_until()), self._reader.engine)
        if order not in KEYSET:
            listed = sorted_page(table, where, order, self._sort_key, count, bind("offset") if skip else None)
            columns = list(self._columns().selected_columns)
            return Statement(beside(counted, listed, columns, table), self._reader.engine)
        page = self._columns().where(where)
        if cursor:
            page = page.where(behind_cursor(page.selected_columns, order))
        page = page.order_by(*order_of(page.selected_columns, order)).limit(literal_column(str(count + 1)))
        rows = (page.offset(bind("offset")) if skip else page).subquery("page")
        ordered = select(counted.c.total, *rows.c, complete_until()).select_from(counted.outerjoin(rows, true()))
        return Statement(ordered.order_by(*order_of(rows.c, order)), self._reader.engine)

    def _of_group(self, number: int, flags: tuple[bool, lists.Flags]) -> ColumnElement[bool]:
        """The patient is one of a group, by id or by identifier."""
        ours, identifiers = flags
        sqlite, columns = self._reader.is_sqlite, (_IDENTIFIER.c.system, _IDENTIFIER.c.value)
        terms = [lists.among(self._patient, f"ours_{number}", sqlite)] if ours else []
        having = lists.identifier_terms(columns, str(number), identifiers, sqlite)
        if having:
            mine = [_IDENTIFIER.c.patient_id == self._patient, _IDENTIFIER.c.organization_id == bind("organization")]
            terms.append(exists().where(*mine, or_(*having)))
        return or_(*terms)

    def _sort_key(self, name: str, falling: bool) -> ColumnElement[Any]:
        table = self._table
        known: dict[str, ColumnElement[Any]] = {
            "date": table.c.stored_at,
            "_id": table.c.id,
            "patient": self._patient,
            "subject": self._patient,
        }
        if name in known:
            return known[name]
        if name == "identifier" and self._patient is table.c.id:
            ends = func.max(_IDENTIFIER.c.value) if falling else func.min(_IDENTIFIER.c.value)
            return select(ends).where(_IDENTIFIER.c.patient_id == table.c.id).scalar_subquery()
        kind = "study" if name == "identifier" else name
        return word_to_sort(_TERM, _TERM.c.owner == table.c.id, kind, falling=falling)

    def _columns(self) -> Select[Any]:
        """Columns of `StoredRow`, then the id as it is stored, to order by."""
        table, sqlite = self._table, self._reader.is_sqlite
        return select(
            id_text(table.c.id, sqlite).label("id"), id_text(self._patient, sqlite).label("patient_id"),
            cast(table.c.resource, Text).label("resource"), table.c.stored_at, table.c.id.label("sort_id"),
        )  # fmt: skip


def stored_row(row: tuple[Any, ...]) -> StoredRow:
    """A row of `Resources.search` with its resource parsed."""
    return StoredRow(row[0], row[1], orjson.loads(row[2]), row[3])


def _shape(wanted: ResourceSearch, count: int, skip: bool) -> _Shape:
    groups = tuple(lists.group_flags(group) for group in wanted.groups)
    terms = tuple(term.kind for term in wanted.terms)
    cursor = wanted.answer.paging.cursor is not None
    return count, skip, cursor, groups, wanted.ids is not None, terms, wanted.answer.order
