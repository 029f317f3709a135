"""Reading patients and single documents; statements as fast as the search, for they share its path."""

import uuid
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import orjson
from sqlalchemy import ColumnElement, Select, Text, and_, cast, exists, func, literal_column, or_, select, true

from webapp.fhir.models import Patient, PatientIdentifier
from webapp.fhir.resources import StoredRow
from webapp.fhir.searching import lists
from webapp.fhir.searching.reading import Reader, Statement
from webapp.fhir.searching.search import SHAPES, Found, behind_cursor, found, id_text, order_of
from webapp.fhir.searching.totals import bind
from webapp.fhir.searching.wanted import LARGEST_COUNT, Answer, Order, Paging, PatientSearch

_PATIENT = Patient.__table__
_IDENTIFIER = PatientIdentifier.__table__
_Shape = tuple[int, bool, bool, tuple[lists.Flags, ...], bool, Order]


class Patients:
    """Searches one database."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        mine = and_(_PATIENT.c.id == bind("patient"), _PATIENT.c.organization_id == bind("organization"))
        self._one = Statement(_columns(reader.is_sqlite).where(mine), reader.engine)
        self._statement = lru_cache(maxsize=SHAPES)(self._compose)

    def search(self, organization: uuid.UUID, wanted: PatientSearch) -> Found:
        """The page of patients that have all the identifiers; rows as `StoredRow`, resource still as text."""
        if wanted.never:
            return Found(0, [], None)
        paging, count = wanted.answer.paging, 0 if wanted.answer.count_only else wanted.answer.paging.count
        kinds, order = tuple(lists.identifier_flags(some) for some in wanted.identifiers), wanted.answer.order
        skip = paging.cursor is None and paging.offset > 0
        values: dict[str, Any] = {"organization": self._id(organization), "offset": paging.offset}
        for number, some in enumerate(wanted.identifiers):
            values |= lists.identifier_values(some, str(number), self._reader.is_sqlite)
        if wanted.ids is not None:
            values["ids"] = lists.listed(wanted.ids, self._reader.is_sqlite)
        if paging.cursor:
            values |= {"after": paging.cursor.stored_at, "after_id": self._id(paging.cursor.id)}
        statement = self._statement((count, skip, paging.cursor is not None, kinds, wanted.ids is not None, order))
        return found(self._reader.rows(statement, values), paging, count)

    def listed(self, organization: uuid.UUID, patients: Iterable[str]) -> list[tuple[Any, ...]]:
        """The rows of these patients of an organization, newest first."""
        ids = tuple(dict.fromkeys(map(uuid.UUID, patients)))
        paging = Paging(count=LARGEST_COUNT)  # a page has no more documents than that, so no more patients
        return self.search(organization, PatientSearch(Answer(paging=paging), ids=ids)).rows if ids else []

    def one(self, organization: uuid.UUID, patient: uuid.UUID) -> tuple[Any, ...] | None:
        """The row of one patient of an organization."""
        values = {"organization": self._id(organization), "patient": self._id(patient)}
        rows = self._reader.rows(self._one, values)
        return rows[0] if rows else None

    def _id(self, value: uuid.UUID) -> Any:
        return value.hex if self._reader.is_sqlite else value

    def _compose(self, shape: _Shape) -> Statement:
        count, skip, cursor, kinds, ids, order = shape
        where = and_(_PATIENT.c.organization_id == bind("organization"), *_having(kinds, self._reader.is_sqlite))
        where = and_(where, lists.among(_PATIENT.c.id, "ids", self._reader.is_sqlite)) if ids else where
        counted = select(func.count().label("total")).select_from(_PATIENT).where(where).subquery("counted")
        if count == 0:
            return Statement(select(counted.c.total), self._reader.engine)
        page = _columns(self._reader.is_sqlite).where(where)
        if cursor:
            page = page.where(behind_cursor(page.selected_columns, order))
        page = page.order_by(*order_of(page.selected_columns, order)).limit(literal_column(str(count + 1)))
        rows = (page.offset(bind("offset")) if skip else page).subquery("page")
        ordered = select(counted.c.total, *rows.c).select_from(counted.outerjoin(rows, true()))
        return Statement(ordered.order_by(*order_of(rows.c, order)), self._reader.engine)


def stored_row(row: tuple[Any, ...]) -> StoredRow:
    """A row of `Patients.search` with its resource parsed."""
    return StoredRow(row[0], row[1], orjson.loads(row[2]), row[3])


def _columns(sqlite: bool) -> Select[Any]:
    ident = id_text(_PATIENT.c.id, sqlite)
    return select(
        ident.label("id"), ident.label("patient_id"), cast(_PATIENT.c.resource, Text).label("resource"),
        _PATIENT.c.stored_at, _PATIENT.c.id.label("sort_id"),
    )  # fmt: skip


def _having(kinds: tuple[lists.Flags, ...], sqlite: bool) -> list[ColumnElement[bool]]:
    """One condition per list of identifiers: the patient has one of them."""
    conditions: list[ColumnElement[bool]] = []
    columns = (_IDENTIFIER.c.system, _IDENTIFIER.c.value)
    for number, flags in enumerate(kinds):
        terms = [_IDENTIFIER.c.patient_id == _PATIENT.c.id, _IDENTIFIER.c.organization_id == bind("organization")]
        conditions.append(exists().where(*terms, or_(*lists.identifier_terms(columns, str(number), flags, sqlite))))
    return conditions
