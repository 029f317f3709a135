"""Columns of what is found: documents, and imaging studies in the same shape."""

from typing import Any

from sqlalchemy import Boolean, ColumnElement, String, Text, cast, false, func, literal, literal_column

from webapp.fhir.models import Document, ImagingStudy, Patient

_DOCUMENT = Document.__table__
_PATIENT = Patient.__table__
_STUDY = ImagingStudy.__table__


def document_columns(sqlite: bool, order: tuple[Any, Any] | None = None) -> list[ColumnElement[Any]]:
    """Columns of `resources.DocumentRow`, then the id as it is stored, to order by. `order`: storage time and id of the
    index in whose order the rows are read, where it is not one of `document`."""
    table = _DOCUMENT
    stored_at, ident = order or (table.c.stored_at, table.c.id)
    return [
        id_text(table.c.id, sqlite).label("id"), id_text(table.c.patient_id, sqlite).label("patient_id"),
        table.c.external_system, table.c.external_value,
        cast(table.c.entered_in_error, Boolean).label("entered_in_error") if not sqlite else table.c.entered_in_error,
        table.c.content_type, table.c.title, table.c.size, table.c.sha256,
        cast(table.c.superseded, Boolean).label("superseded") if not sqlite else table.c.superseded, table.c.version,
        table.c.details, stored_at.label("stored_at"), ident.label("sort_id"),
    ]  # fmt: skip


def study_columns(sqlite: bool) -> list[ColumnElement[Any]]:
    """The same columns for an ImagingStudy: its JSON stands in `title`, and `size` is -1 to tell it apart."""
    return _whole(_STUDY, _STUDY.c.patient_id, -1, sqlite)


def patient_columns(sqlite: bool) -> list[ColumnElement[Any]]:
    """The same columns for a Patient, with -2 for its size."""
    return _whole(_PATIENT, _PATIENT.c.id, -2, sqlite)


def _whole(table: Any, patient: Any, size: int, sqlite: bool) -> list[ColumnElement[Any]]:
    return [
        id_text(table.c.id, sqlite).label("id"), id_text(patient, sqlite).label("patient_id"),
        cast(None, String).label("external_system"), cast(None, String).label("external_value"),
        cast(false(), Boolean).label("entered_in_error") if not sqlite else literal(0).label("entered_in_error"),
        cast(None, String).label("content_type"), cast(table.c.resource, Text).label("title"),
        cast(literal_column(str(size)), Document.size.type).label("size"),
        cast(None, Document.sha256.type).label("sha256"),
        cast(false(), Boolean).label("superseded") if not sqlite else literal(0).label("superseded"),
        cast(literal_column("1"), Document.version.type).label("version"), cast(None, Text).label("details"),
        table.c.stored_at, table.c.id.label("sort_id"),
    ]  # fmt: skip


def id_text(column: Any, sqlite: bool) -> ColumnElement[Any]:
    """A UUID as canonical text, made by the database: cheaper than an object per row."""
    if not sqlite:
        return cast(column, Text)
    parts = [func.substr(column, start, length) for start, length in ((1, 8), (9, 4), (13, 4), (17, 4), (21, 12))]
    text: ColumnElement[Any] = parts[0]
    for part in parts[1:]:
        text = text + "-" + part
    return text
