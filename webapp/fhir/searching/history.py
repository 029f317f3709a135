"""Changes of documents by version: of an organization since an instant, or of one document.

One statement, so one snapshot: the page, how many there are, and the instant up to which it is complete. An
organization's changes are numbered without a gap, so counting those since an instant reads one row of an index.
"""

import uuid
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, and_, func, literal_column, select, true, tuple_

from webapp.fhir.models import Document, DocumentChange, StorageClock
from webapp.fhir.searching.reading import Reader, Statement
from webapp.fhir.searching.search import SHAPES, document_columns, id_text
from webapp.fhir.searching.totals import Values, bind, number_of
from webapp.fhir.searching.wanted import Cursor, ResultPage, Search

_CHANGE = DocumentChange.__table__
_CLOCK = StorageClock.__table__
_DOCUMENT = Document.__table__
_OF_VERSION = ("entered_in_error", "superseded", "version")
_Shape = tuple[int, bool, bool, bool, bool, bool, bool]


class Histories:
    """Reads one database's changes of documents."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._statement = lru_cache(maxsize=SHAPES)(self._compose)

    def changes(
        self, organization: uuid.UUID, wanted: Search, document: uuid.UUID | None = None, version: int | None = None
    ) -> ResultPage:
        """The page that `wanted` asks for, of one document where one is named, of one version of it. A row: instant of
        the change, its number, version, whether it says that the document is deleted, id of the document, what the
        version said where that is another than now, then the
        columns of `resources.DocumentRow` with the status of that version; they are empty where the document is there
        no more."""
        paging, ascending = wanted.answer.paging, wanted.answer.order == "date"
        count = wanted.answer.count
        skip = paging.cursor is None and paging.offset > 0
        since, one, versioned = wanted.since is not None, document is not None, version is not None
        shape = (count, skip, paging.cursor is not None, since, one, versioned, ascending)
        values: Values = {"organization": self._reader.value(organization), "offset": paging.offset}
        values |= {"since": wanted.since, "version": version}
        if document is not None:
            values["document"] = self._reader.value(document)
        if paging.cursor:
            values |= {"after": paging.cursor.stored_at, "number": paging.cursor.id.int}
        rows = self._reader.rows(self._statement(shape), values)
        total, complete = int(rows[0][0]), int(rows[0][1])
        if count == 0 or rows[0][2] is None:
            return ResultPage(total, [], None, complete)
        page = [row[2:] for row in rows[:count]]
        more = Cursor(page[-1][0], uuid.UUID(int=page[-1][1]), min(paging.offset + count, 2**31 - 1))
        return ResultPage(total, page, more if len(rows) > count else None, complete)

    def _compose(self, shape: _Shape) -> Statement:
        count, skip, cursor, since, one, versioned, ascending = shape
        table, sqlite = _CHANGE, self._reader.is_sqlite
        mine = [table.c.organization_id == bind("organization")]
        mine += [table.c.document_id == bind("document")] if one else []
        mine += [table.c.version == bind("version")] if versioned else []
        newer = [table.c.at >= bind("since")] if since else []
        number = number_of(table, *mine, *newer) if one else _total(since=since)
        counted = select(number.label("total"), _clock(_CLOCK.c.last).label("complete")).subquery("counted")
        if count == 0:
            return Statement(select(counted), self._reader.engine)
        where, place = [*mine, *newer], tuple_(table.c.at, table.c.number)
        if cursor:
            after = tuple_(bind("after"), bind("number"))
            where.append(place > after if ascending else place < after)
        page = select(table).where(*where).order_by(*_order(table.c, ascending=ascending))
        page = page.limit(literal_column(str(count + 1)))
        rows = (page.offset(bind("offset")) if skip else page).subquery("page")
        columns = [
            rows.c.at,
            rows.c.number,
            rows.c.version,
            rows.c.deleted,
            id_text(rows.c.document_id, sqlite),
            rows.c.kept,
        ]
        found = counted.outerjoin(rows, true()).outerjoin(_DOCUMENT, and_(_DOCUMENT.c.id == rows.c.document_id))
        described = [rows.c[column.name] if column.name in _OF_VERSION else column
                     for column in document_columns(sqlite)[:-1]]  # fmt: skip
        listed = select(counted.c.total, counted.c.complete, *columns, *described).select_from(found)
        return Statement(listed.order_by(*_order(rows.c, ascending=ascending)), self._reader.engine)


def _order(columns: Any, *, ascending: bool) -> list[ColumnElement[Any]]:
    return [column.asc() if ascending else column.desc() for column in (columns.at, columns.number)]


def _total(*, since: bool) -> ColumnElement[Any]:
    """The number of changes of the organization, or of those since an instant."""
    number = _clock(_CLOCK.c.changes)
    if not since:
        return number
    table = _CHANGE
    earlier = select(table.c.number).where(table.c.organization_id == bind("organization"), table.c.at < bind("since"))
    last = earlier.order_by(table.c.at.desc(), table.c.number.desc()).limit(1).scalar_subquery()
    return number - func.coalesce(last, literal_column("0"))


def _clock(column: Any) -> ColumnElement[Any]:
    mine = select(column).where(_CLOCK.c.organization_id == bind("organization")).scalar_subquery()
    return func.coalesce(mine, literal_column("0"))
