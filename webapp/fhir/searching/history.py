"""Changes of documents by version: of an organization since an instant, or of one document.

One statement, so one snapshot: the page, how many there are, and the instant up to which it is complete. An
organization's changes are numbered without a gap, so counting those since an instant reads one row of an index.
"""

import uuid
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, and_, func, literal_column, select

from webapp.fhir.models import Document, DocumentChange, StorageClock
from webapp.fhir.searching.reading import Reader, Statement
from webapp.fhir.searching.search import SHAPES, columns_of, found, id_text, paged, shape_of
from webapp.fhir.searching.totals import Shape, Values, bind, number_of
from webapp.fhir.searching.wanted import ResultPage, Search

_CHANGE = DocumentChange.__table__
_CLOCK = StorageClock.__table__
_DOCUMENT = Document.__table__
_OF_VERSION = ("entered_in_error", "superseded", "version")


class Histories:
    """Reads one database's changes of documents."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._statement = lru_cache(maxsize=SHAPES)(self._compose)

    def changes(
        self, organization: uuid.UUID, wanted: Search, document: uuid.UUID | None = None, version: int | None = None
    ) -> ResultPage:
        """The page that `wanted` asks for, of one document where one is named, of one version of it. A row: whether it
        says that the document is deleted, id of the document, what the version said where that is another than now,
        then the columns of `resources.DocumentRow` with number and status of that version, which are empty where the
        document is there no more, and the instant of the change."""
        paging, value = wanted.answer.paging, self._reader.value
        values: Values = {"organization": value(organization), "offset": paging.offset, "since": wanted.since}
        values |= {"version": version, "document": value(document)}
        if paging.cursor:
            values |= {"after": paging.cursor.stored_at, "number": paging.cursor.id.int}
        asked = wanted.since is not None, document is not None, version is not None
        return found(self._reader.rows(self._statement(shape_of(wanted, ()), *asked), values), wanted.answer)

    def _compose(self, shape: Shape, since: bool, one: bool, versioned: bool) -> Statement:
        table, sqlite = _CHANGE, self._reader.is_sqlite
        mine = [table.c.organization_id == bind("organization")]
        mine += [table.c.document_id == bind("document")] if one else []
        mine += [table.c.version == bind("version")] if versioned else []
        newer = [table.c.at >= bind("since")] if since else []
        number = number_of(table, *mine, *newer) if one else _total(since=since)
        *columns, stored_at, _ = columns_of(_DOCUMENT, sqlite)
        described = [table.c[column.name] if column.name in _OF_VERSION else column for column in columns]
        page = select(
            table.c.deleted, id_text(table.c.document_id, sqlite).label("document"), table.c.kept, *described,
            stored_at.label("document_stored_at"), table.c.at.label("stored_at"), table.c.number.label("sort_id"),
        ).select_from(table.outerjoin(_DOCUMENT, _DOCUMENT.c.id == table.c.document_id))  # fmt: skip
        total = select(number.label("total")).subquery("counted")
        offset = bind("offset") if shape.skip else None
        return Statement(paged(total, [page.where(and_(*mine, *newer))], shape, offset, "number"), self._reader.engine)


def _total(*, since: bool) -> ColumnElement[Any]:
    """The number of changes of the organization, or of those since an instant."""
    mine = select(_CLOCK.c.changes).where(_CLOCK.c.organization_id == bind("organization")).scalar_subquery()
    number = func.coalesce(mine, literal_column("0"))
    if not since:
        return number
    table = _CHANGE
    earlier = select(table.c.number).where(table.c.organization_id == bind("organization"), table.c.at < bind("since"))
    last = earlier.order_by(table.c.at.desc(), table.c.number.desc()).limit(1).scalar_subquery()
    return number - func.coalesce(last, literal_column("0"))
