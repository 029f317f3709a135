"""Reading patients and single documents; statements as fast as the search, for they share its path."""

import uuid
from functools import lru_cache
from typing import Any

import orjson
from sqlalchemy import ColumnElement, Select, Text, and_, cast, exists, func, literal_column, select, true, tuple_

from webapp.fhir.models import Patient, PatientIdentifier
from webapp.fhir.resources import StoredRow
from webapp.fhir.searching.params import PatientSearch
from webapp.fhir.searching.reading import Reader, Statement
from webapp.fhir.searching.search import SHAPES, Found, found, id_text
from webapp.fhir.searching.totals import bind

_PATIENT = Patient.__table__
_IDENTIFIER = PatientIdentifier.__table__
_Shape = tuple[int, bool, bool, tuple[tuple[bool, bool], ...]]


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
        kinds = tuple((item.system is not None, item.value is not None) for item in wanted.identifiers)
        skip = paging.cursor is None and paging.offset > 0
        values: dict[str, Any] = {"organization": self._id(organization), "offset": paging.offset}
        for number, item in enumerate(wanted.identifiers):
            values |= {f"system_{number}": item.system, f"value_{number}": item.value}
        if paging.cursor:
            values |= {"after": paging.cursor.stored_at, "after_id": self._id(paging.cursor.id)}
        statement = self._statement((count, skip, paging.cursor is not None, kinds))
        return found(self._reader.rows(statement, values), paging, count)

    def one(self, organization: uuid.UUID, patient: uuid.UUID) -> tuple[Any, ...] | None:
        """The row of one patient of an organization."""
        values = {"organization": self._id(organization), "patient": self._id(patient)}
        rows = self._reader.rows(self._one, values)
        return rows[0] if rows else None

    def _id(self, value: uuid.UUID) -> Any:
        return value.hex if self._reader.is_sqlite else value

    def _compose(self, shape: _Shape) -> Statement:
        count, skip, cursor, kinds = shape
        where = and_(_PATIENT.c.organization_id == bind("organization"), *_having(kinds))
        counted = select(func.count().label("total")).select_from(_PATIENT).where(where).subquery("counted")
        if count == 0:
            return Statement(select(counted.c.total), self._reader.engine)
        page = _columns(self._reader.is_sqlite).where(where)
        if cursor:
            order = tuple_(_PATIENT.c.stored_at, _PATIENT.c.id)
            page = page.where(order < tuple_(bind("after"), bind("after_id")))
        page = page.order_by(_PATIENT.c.stored_at.desc(), _PATIENT.c.id.desc()).limit(literal_column(str(count + 1)))
        rows = (page.offset(bind("offset")) if skip else page).subquery("page")
        ordered = select(counted.c.total, *rows.c).select_from(counted.outerjoin(rows, true()))
        return Statement(ordered.order_by(rows.c.stored_at.desc(), rows.c.sort_id.desc()), self._reader.engine)


def stored_row(row: tuple[Any, ...]) -> StoredRow:
    """A row of `Patients.search` with its resource parsed."""
    return StoredRow(row[0], row[1], orjson.loads(row[2]), row[3])


def _columns(sqlite: bool) -> Select[Any]:
    ident = id_text(_PATIENT.c.id, sqlite)
    return select(
        ident.label("id"), ident.label("patient_id"), cast(_PATIENT.c.resource, Text).label("resource"),
        _PATIENT.c.stored_at, _PATIENT.c.id.label("sort_id"),
    )  # fmt: skip


def _having(kinds: tuple[tuple[bool, bool], ...]) -> list[ColumnElement[bool]]:
    """One condition per identifier given: the patient has it."""
    conditions: list[ColumnElement[bool]] = []
    for number, (system, value) in enumerate(kinds):
        terms = [_IDENTIFIER.c.patient_id == _PATIENT.c.id, _IDENTIFIER.c.organization_id == bind("organization")]
        terms += [_IDENTIFIER.c.system == bind(f"system_{number}")] if system else []
        terms += [_IDENTIFIER.c.value == bind(f"value_{number}")] if value else []
        conditions.append(exists().where(and_(*terms)))
    return conditions
