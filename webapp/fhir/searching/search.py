"""Search of documents, patients and imaging studies, `$everything`: one SQL statement for the page and its exact total.

A search has a shape (which filters it has) and values. The statement of a shape is composed once and kept; so a caller
who walks or polls reuses one prepared statement. Page sizes are written into it, since the planner must know them.

Order: newest first, then id. Pages continue from a keyset cursor, or skip `_offset` rows of an index.
"""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import sqlalchemy as sa

from webapp.fhir import models
from webapp.fhir.dates import DAY
from webapp.fhir.searching import conditions
from webapp.fhir.searching.conditions import ONE, Binds, BoundCondition, Way
from webapp.fhir.searching.reading import Reader, Statement
from webapp.fhir.searching.totals import (
    Shape,
    Values,
    bind,
    bounds,
    day_of_offset,
    edges,
    kind,
    number_of,
    total,
    window_values,
)  # fmt: skip
from webapp.fhir.searching.wanted import KEYSET, AnswerOptions, Cursor, PatientKey, ResultPage, Row, Search

SHAPES = 256  # kept statements of 20 kB: callers use a handful of shapes, and a stranger's cost no more than 5 MB
_CHANGE = models.DocumentChange.__table__
_DOCUMENT = models.Document.__table__
_PATIENT = models.Patient.__table__
_STUDY = models.ImagingStudy.__table__
_IDENTIFIER = models.PatientIdentifier.__table__
_CARRIED = models.DocumentTerm.__table__
_TERM = models.SearchTerm.__table__


class Resources:
    """Searches one database for patients, or for imaging studies."""

    def __init__(self, reader: Reader, stored: type[models.Patient | models.ImagingStudy | models.Document]) -> None:
        self._reader, self._sqlite = reader, reader.is_sqlite
        self._table: Any = stored.__table__
        self._patient = self._table.c.id if stored is models.Patient else self._table.c.patient_id
        self._mine = sa.and_(self._table.c.id == bind("id"), self._table.c.organization_id == bind("organization"))
        self._one = Statement(sa.select(*columns_of(self._table, self._sqlite)).where(self._mine), reader.engine)
        self._mark = Statement(sa.select(complete_until()), reader.engine)
        self._statement = lru_cache(maxsize=SHAPES)(self._compose)

    def search(self, organization: uuid.UUID, wanted: Search) -> ResultPage:
        """The page that `wanted` asks for, of what an organization has; rows as `resources.DocumentRow`."""
        if wanted.never:
            (known,) = self._reader.rows(self._mark, {"organization": self._reader.value(organization)})
            return ResultPage(0, [], None, int(known[0]))
        parts = conditions.parts_of(wanted)
        statement = self._statement(shape_of(wanted, parts))
        return found(self._reader.rows(statement, self._values(organization, wanted, parts)), wanted.answer)

    def one(self, organization: uuid.UUID, ident: uuid.UUID) -> Row | None:
        """The row of that id of an organization, in the order of `DocumentRow`."""
        values = {"organization": self._reader.value(organization), "id": self._reader.value(ident)}
        rows = self._reader.rows(self._one, values)
        return rows[0][:-1] if rows else None

    def read(self, organization: uuid.UUID, ident: uuid.UUID) -> tuple[Row, int] | None:
        """The row of that id, and when its version was made (microseconds since 1970)."""
        row = self.one(organization, ident)
        return None if row is None else (row, row[-1])

    def _values(self, organization: uuid.UUID, wanted: Search, parts: Sequence[BoundCondition]) -> Values:
        value, cursor = self._reader.value, wanted.answer.paging.cursor
        values = window_values(wanted.window) | {"organization": value(organization)}
        values |= {"offset": wanted.answer.paging.offset, "since": wanted.since}
        if len(wanted.content_types) == 1:
            values["content_type"] = wanted.content_types[0]
        if cursor:
            values |= {"after": cursor.stored_at, "after_id": value(cursor.id)}
        for number, part in enumerate(parts):
            for place, one in enumerate(part.values):
                values[f"part{number}_{place}"] = value(one)
        return values

    def _compose(self, shape: Shape) -> Statement:
        table = self._table
        where = sa.and_(table.c.organization_id == bind("organization"), *self._conditions(shape.parts))
        return self._paged(shape, number_of(table, where), [where])

    def _conditions(self, parts: Sequence[Way], first: int = 0) -> list[sa.ColumnElement[bool]]:
        """The parts of a search, from one of them on."""
        return [self._condition(way, Binds(f"part{number}", self._sqlite))
                for number, way in enumerate(parts) if number >= first]  # fmt: skip

    def _condition(self, way: Way, binds: Binds) -> sa.ColumnElement[bool]:
        if way[0] == conditions.IDS:
            return binds.equal(self._table.c.id, conditions.SOME)
        if way[0] == conditions.OWNERS:
            owner = self._table.c.id if self._table is _STUDY else self._patient
            found: sa.ColumnElement[bool] = owner.in_(conditions.owners(way, binds))
            return found
        linked = [binds.equal(self._patient, way[1])] if way[1] else []
        return sa.or_(*linked, *self._tagged(way, binds))

    def _tagged(self, way: Way, binds: Binds) -> list[sa.ColumnElement[bool]]:
        """The patient has one of the identifiers."""
        having = list(conditions.identifiers(_IDENTIFIER, way, binds, "system", "value"))
        mine = [_IDENTIFIER.c.patient_id == self._patient, _IDENTIFIER.c.organization_id == bind("organization")]
        return [sa.exists().where(*mine, sa.or_(*having))] if having else []

    def _sort_key(self, name: str, falling: bool) -> sa.ColumnElement[Any]:
        """The value of a parameter to sort by; of several the one that comes first."""
        table = self._table
        own = {"date": table.c.stored_at, "_id": table.c.id, "patient": self._patient, "subject": self._patient}
        first = sa.func.max if falling else sa.func.min
        if name in own:
            key: sa.ColumnElement[Any] = own[name]
            return key
        if name == "identifier" and table is _PATIENT:
            return sa.select(first(_IDENTIFIER.c.value)).where(_IDENTIFIER.c.patient_id == table.c.id).scalar_subquery()
        words, owner = (_CARRIED, "document_id") if table is _DOCUMENT else (_TERM, "owner")
        named: Any = sa.literal_column(f"'{'study' if name == 'identifier' and table is _STUDY else name}'")
        mine = (words.c[owner] == table.c.id, words.c.kind == named, words.c.term != sa.literal_column("''"))
        return sa.select(first(words.c.term)).where(*mine).scalar_subquery()

    def _paged(
        self, shape: Shape, number: sa.ColumnElement[Any], ways: Sequence[sa.ColumnElement[bool]], led: Any = None,
        newer: tuple[sa.ColumnElement[bool], sa.ColumnElement[Any]] | None = None,
    ) -> Statement:  # fmt: skip
        """The number of matches beside each row of the page. `led`: rows in whose order it is read; `newer`: a bound of
        the rows, and how many matches it leaves out."""
        total = sa.select(number.label("total")).subquery("counted")
        offset: Any = bind("offset") if shape.skip else None
        if newer is not None:
            ways, offset = [sa.and_(way, newer[0]) for way in ways], offset - newer[1]
        if shape.order not in KEYSET and shape.count:
            return Statement(self._sorted(total, sa.or_(*ways), shape, offset), self._reader.engine)
        columns = columns_of(self._table, self._sqlite, () if led is None else (led.c.stored_at, led.c.document_id))
        pages = [sa.select(*columns).where(way) for way in ways]
        if led is not None:
            pages = [page.join(led, led.c.document_id == self._table.c.id) for page in pages]
        return Statement(paged(total, pages, shape, offset), self._reader.engine)

    def _sorted(self, total: sa.Subquery, where: sa.ColumnElement[bool], shape: Shape, offset: Any) -> sa.Select[Any]:
        """The total beside the rows of a page in any order: all that is found is sorted; what has no value is last."""
        table, keys = self._table, []
        for name in shape.order.split(","):
            falling, value = name.startswith("-"), self._sort_key(name.removeprefix("-"), name.startswith("-"))
            keys.append((value.desc() if falling else value.asc()).nulls_last())
        place = sa.func.row_number().over(order_by=[*keys, table.c.id.asc()]).label("place")
        found = sa.select(table.c.id, place).where(where).order_by(place).limit(sa.literal_column(str(shape.count + 1)))
        page = (found if offset is None else found.offset(offset)).subquery("sorted")
        columns = sa.select(*columns_of(table, self._sqlite), page.c.place)
        rows = columns.join_from(page, table, table.c.id == page.c.id).subquery("page")
        listed = [column for column in rows.c if column.name != "place"]
        whole = sa.select(total.c.total, *listed, complete_until()).select_from(total.outerjoin(rows, sa.true()))
        return whole.order_by(rows.c.place)


class Documents(Resources):
    """Searches one database for documents."""

    def __init__(self, reader: Reader) -> None:
        super().__init__(reader, models.Document)
        of_version = sa.and_(_CHANGE.c.document_id == _DOCUMENT.c.id, _CHANGE.c.version == _DOCUMENT.c.version)
        made = sa.select(_CHANGE.c.at).where(of_version).scalar_subquery()
        made_at = sa.func.coalesce(made, _DOCUMENT.c.stored_at).label("made_at")
        read = sa.select(*columns_of(_DOCUMENT, self._sqlite), made_at).where(self._mine)
        self._read = Statement(read, reader.engine)
        self._patients = lru_cache(maxsize=SHAPES)(self._compose_patients)
        self._owned = lru_cache(maxsize=SHAPES)(self._compose_owned)
        self._everything = lru_cache(maxsize=SHAPES)(self._compose_everything)

    def search(self, organization: uuid.UUID, wanted: Search) -> ResultPage:
        """As of all resources, once it is known whose the identifiers are."""
        return super().search(organization, self._resolved(organization, wanted))

    def patients_with(self, organization: uuid.UUID, searches: Iterable[Search]) -> set[uuid.UUID]:
        """The patients who have, for each of the searches, a document that it finds."""
        found: set[uuid.UUID] | None = None
        for wanted in searches:
            parts = conditions.parts_of(wanted)
            shape = replace(shape_of(wanted, parts), count=0, order="patient")
            values = self._values(organization, wanted, parts)
            rows = [] if wanted.never else self._reader.rows(self._patients(shape), values)
            ids = {uuid.UUID(str(row[0])) for row in rows}
            found = ids if found is None else found & ids
        return found or set()

    def everything(self, organization: uuid.UUID, patient: uuid.UUID, wanted: Search) -> ResultPage | None:
        """The page of a patient's documents and imaging studies, rows in the order of `DocumentRow`; None where the
        organization has no such patient."""
        values = self._values(organization, wanted, ()) | {"patient": self._reader.value(patient)}
        statement = self._everything(shape_of(wanted, ()), wanted.types, wanted.since is not None)
        rows = self._reader.rows(statement, values)
        return found(rows, wanted.answer) if rows else None

    def read(self, organization: uuid.UUID, ident: uuid.UUID) -> tuple[Row, int] | None:
        """The row of a document, and when its version was made."""
        values = {"organization": self._reader.value(organization), "id": self._reader.value(ident)}
        rows = self._reader.rows(self._read, values)
        return (rows[0][:-2], rows[0][-1]) if rows else None

    def _resolved(self, organization: uuid.UUID, wanted: Search) -> Search:
        """The identifiers of patients as the patients that have them, and whoever is tagged with one."""
        people = list(wanted.people)
        for identifiers in wanted.chained:
            part = conditions.people_part(PatientKey(None, one) for one in identifiers)
            values = {f"part0_{place}": self._reader.value(one) for place, one in enumerate(part.values)}
            values["organization"] = self._reader.value(organization)
            owners = [uuid.UUID(str(row[0])) for row in self._reader.rows(self._owned(part.way), values)]
            if len(identifiers) == 1 and len(owners) <= 1:
                people.append((PatientKey(owners[0] if owners else None, identifiers[0]),))
            else:
                people.append((*(PatientKey(None, one) for one in identifiers), *map(PatientKey, owners)))
        return replace(wanted, people=tuple(people)) if wanted.chained else wanted

    def _compose_owned(self, way: Way) -> Statement:
        terms = conditions.identifiers(_IDENTIFIER, way, Binds("part0", self._sqlite), "system", "value")
        mine = sa.and_(_IDENTIFIER.c.organization_id == bind("organization"), sa.or_(*terms))
        return Statement(sa.select(_IDENTIFIER.c.patient_id).where(mine).distinct(), self._reader.engine)

    def _compose_patients(self, shape: Shape) -> Statement:
        linked = _DOCUMENT.c.patient_id
        of = sa.select(linked).where(sa.or_(*self._ways(shape)), linked.is_not(None)).distinct()
        return Statement(of, self._reader.engine)

    def _compose(self, shape: Shape) -> Statement:
        """The first condition on words leads where nothing narrower is asked: its words lie in the order of the answer,
        newest first, so that a page is read from the index and no further than it reaches, however many documents
        there are of a type. The others are looked up for each document. A list of words and a period have no such
        order: what they match is sorted."""
        leads, newer = _leads(shape), None
        ways = self._ways(shape, 1 if leads else 0)
        if leads:
            first = conditions.words(shape.parts[0], Binds("part0", self._sqlite))
            words = sa.select(_CARRIED.c.stored_at, _CARRIED.c.document_id)
            words = words.where(*first, *bounds(_CARRIED, shape.start, shape.end))
            led = (words if shape.parts[0][2] == "one" else words.distinct()).subquery("led")
            alone = len(shape.parts) == 1 and shape.statuses is None and not shape.content_type
            counted = led if alone else led.join(_DOCUMENT, _DOCUMENT.c.id == led.c.document_id)
            return self._paged(shape, number_of(counted, *([] if alone else ways)), ways, led)
        number = total(shape, ways[0]) if len(ways) == 1 else sum(
            (number_of(_DOCUMENT, way) for way in ways), sa.literal_column("0")
        )  # fmt: skip
        if shape.by_day:
            place = day_of_offset(shape)
            first_newer = (sa.select(place.c.day).scalar_subquery() + 1) * sa.literal_column(str(DAY))
            left_out = sa.func.coalesce(sa.select(place.c.newer).scalar_subquery(), 0)
            newer = _DOCUMENT.c.stored_at < first_newer, left_out
        return self._paged(shape, number, ways, newer=newer)

    def _ways(self, shape: Shape, first: int = 0) -> list[sa.ColumnElement[bool]]:
        """The ways to match, each with an index of its own: one, or for a bare UUID two, ours and (not ours but)
        tagged."""
        table = _DOCUMENT
        common = [table.c.organization_id == bind("organization"), *bounds(table, shape.start, shape.end)]
        common += kind(table, shape)
        both = [number for number, way in enumerate(shape.parts)
                if way[:2] == (conditions.PEOPLE, ONE) and set(way[2:]) == {0, ONE}]  # fmt: skip
        if len(both) != 1:
            return [sa.and_(*common, *self._conditions(shape.parts, first))]
        (number,) = both
        way, binds = shape.parts[number], Binds(f"part{number}", self._sqlite)
        others = self._conditions([*shape.parts[:number], (), *shape.parts[number + 1 :]], first)
        ours = binds.equal(self._patient, ONE)
        strange = table.c.patient_id.is_distinct_from(Binds(f"part{number}", self._sqlite).one(self._patient.type))
        return [sa.and_(*common, *others, ours), sa.and_(*common, *others, sa.or_(*self._tagged(way, binds)), strange)]

    def _condition(self, way: Way, binds: Binds) -> sa.ColumnElement[bool]:
        if not way:
            return sa.true()
        if way[0] == conditions.TYPES:
            return binds.equal(_DOCUMENT.c.content_type, conditions.SOME)
        if way[0] == conditions.WORDS:
            return conditions.is_carried(_DOCUMENT.c.id, way, binds)
        return super()._condition(way, binds)

    def _tagged(self, way: Way, binds: Binds) -> list[sa.ColumnElement[bool]]:
        """The document is tagged with one of the identifiers."""
        terms = conditions.identifiers(_DOCUMENT, way, binds, "external_system", "external_value")
        return [sa.and_(term, _DOCUMENT.c.external_value.is_not(None)) for term in terms]

    def _sort_key(self, name: str, falling: bool) -> sa.ColumnElement[Any]:
        if name == "status":
            return sa.case((_DOCUMENT.c.entered_in_error, 2), (_DOCUMENT.c.superseded, 1), else_=0)
        return _DOCUMENT.c.content_type if name == "contenttype" else super()._sort_key(name, falling)

    def _compose_everything(self, shape: Shape, types: frozenset[str], since: bool) -> Statement:
        known = sa.and_(_PATIENT.c.id == bind("patient"), _PATIENT.c.organization_id == bind("organization"))
        parts = [
            (table, sa.and_(*mine, *([table.c.stored_at >= bind("since")] if since else [])))
            for name, table, mine in (
                ("DocumentReference", _DOCUMENT, [*_of_patient(_DOCUMENT, shape), ~_DOCUMENT.c.entered_in_error]),
                ("ImagingStudy", _STUDY, _of_patient(_STUDY, shape)),
                ("Patient", _PATIENT, [known]),
            )
            if name in types
        ]
        number = sum((number_of(table, where) for table, where in parts), sa.literal_column("0"))
        total = sa.select(number.label("total")).select_from(_PATIENT).where(known).subquery("counted")
        pages = [sa.select(*columns_of(table, self._sqlite)).where(where) for table, where in parts]
        none = sa.select(*columns_of(_DOCUMENT, self._sqlite)).where(sa.false())
        offset = bind("offset") if shape.skip else None
        return Statement(paged(total, pages or [none], shape, offset), self._reader.engine)


def columns_of(table: Any, sqlite: bool, order: tuple[Any, ...] = ()) -> list[sa.ColumnElement[Any]]:
    """Columns of `resources.DocumentRow`, then the id as it is stored, to order by. `order`: storage time and id of the
    index in whose order the rows are read, where it is not one of `document`. Of what is kept as FHIR JSON the type
    stands in `content_type`, the JSON in `details`, and without a file it has no `sha256`."""
    of = _DOCUMENT.c
    stored_at, ident = order or (of.stored_at, of.id)
    columns: list[sa.ColumnElement[Any]] = [
        id_text(of.id, sqlite).label("id"), id_text(of.patient_id, sqlite).label("patient_id"),
        of.external_system, of.external_value,
        of.entered_in_error if sqlite else sa.cast(of.entered_in_error, sa.Boolean).label("entered_in_error"),
        of.content_type, of.title, of.size, of.sha256,
        of.superseded if sqlite else sa.cast(of.superseded, sa.Boolean).label("superseded"),
        of.version, of.details, stored_at.label("stored_at"), ident.label("sort_id"),
    ]  # fmt: skip
    if table is _DOCUMENT:
        return columns
    no = sa.cast(sa.false(), sa.Boolean) if not sqlite else sa.literal(0)
    named = {
        "id": id_text(table.c.id, sqlite),
        "patient_id": id_text(table.c.id if table is _PATIENT else table.c.patient_id, sqlite),
        "content_type": sa.literal_column("'Patient'" if table is _PATIENT else "'ImagingStudy'", sa.String()),
        "entered_in_error": no, "superseded": no,
        "version": sa.cast(sa.literal_column("1"), models.Document.version.type),
        "details": sa.cast(table.c.resource, sa.Text), "stored_at": table.c.stored_at, "sort_id": table.c.id,
    }  # fmt: skip
    return [named.get(column.name, sa.cast(sa.null(), column.type)).label(column.name) for column in columns]


def id_text(column: Any, sqlite: bool) -> sa.ColumnElement[Any]:
    """A UUID as canonical text, made by the database: cheaper than an object per row."""
    if not sqlite:
        return sa.cast(column, sa.Text)
    first, *others = (
        sa.func.substr(column, *part, type_=sa.String()) for part in ((1, 8), (9, 4), (13, 4), (17, 4), (21, 12))
    )
    return sum((sa.literal_column("'-'", sa.String()) + part for part in others), first)


def complete_until() -> sa.ColumnElement[Any]:
    """The last storage time given out, in the snapshot of the statement: whoever stores later gets a later one, and
    whoever got an earlier one has committed, since the row is locked until then."""
    mine = models.StorageClock.organization_id == bind("organization")
    last = sa.select(models.StorageClock.__table__.c.last).where(mine).scalar_subquery()
    return sa.func.coalesce(last, sa.literal_column("0")).label("complete")


def paged(
    total: sa.Subquery, ways: Sequence[sa.Select[Any]], shape: Shape, offset: Any, after: str = "after_id"
) -> sa.Select[Any]:  # fmt: skip
    """`total` beside each row of the page, or alone where the page is empty. One row more tells of a next page. `after`
    is the parameter of the second half of the cursor, `sort_id`.

    Several ways to match (never the same row by two) are each read in order and no further than the page reaches.
    """
    if shape.count == 0:
        return sa.select(total.c.total, complete_until())
    limit: sa.ColumnElement[Any] = sa.literal_column(str(shape.count + 1))
    parts = [_ordered(way, shape.order, after if shape.cursor else "") for way in ways]
    if len(parts) > 1:
        reach = limit if offset is None else limit + offset
        limited = [part.limit(reach).subquery() for part in parts]
        both = sa.select(sa.union_all(*(sa.select(part) for part in limited)).subquery("ways"))
        parts = [_ordered(both, shape.order)]
    rows = parts[0].limit(limit).offset(offset).subquery("page")
    ordered = sa.select(total.c.total, *rows.c, complete_until()).select_from(total.outerjoin(rows, sa.true()))
    return ordered.order_by(*_order_of(rows.c, shape.order))


def _ordered(page: sa.Select[Any], order: str, after: str = "") -> sa.Select[Any]:
    """In that order, from behind the cursor on, where there is one."""
    columns = page.selected_columns
    if after:
        last: Any = columns["sort_id"], bind(after)
        if order in ("-date", "date"):
            last = sa.tuple_(columns["stored_at"], columns["sort_id"]), sa.tuple_(bind("after"), bind(after))
        page = page.where(last[0] < last[1] if order.startswith("-") else last[0] > last[1])
    return page.order_by(*_order_of(columns, order))


def _order_of(columns: Any, order: str) -> list[sa.ColumnElement[Any]]:
    """Newest first (the contract's), oldest first, or by id; ties of the time are broken by the id."""
    names = ("sort_id",) if order in ("_id", "-_id") else ("stored_at", "sort_id")
    return [columns[name].desc() if order.startswith("-") else columns[name].asc() for name in names]


def _of_patient(table: Any, shape: Shape) -> list[sa.ColumnElement[bool]]:
    mine = [table.c.organization_id == bind("organization"), table.c.patient_id == bind("patient")]
    return [*mine, *bounds(table, shape.start, shape.end)]


def shape_of(wanted: Search, parts: Sequence[BoundCondition]) -> Shape:
    """All of a search that changes the text of its statement."""
    paging, window, order = wanted.answer.paging, wanted.window, wanted.answer.order
    skip = paging.cursor is None and paging.offset > 0
    ends = None if parts else edges(window)
    by_day = skip and not parts and order == "-date"
    return Shape(
        count=wanted.answer.count, skip=skip, cursor=paging.cursor is not None, order=order, statuses=wanted.statuses,
        by_day=by_day and (window.end is None or window.end % DAY == 0 or ends is not None), edges=ends,
        start=window.start is not None, end=window.end is not None, content_type=len(wanted.content_types) == 1,
        parts=tuple(part.way for part in parts),
    )  # fmt: skip


def _leads(shape: Shape) -> bool:
    """Return True where the first condition finds the documents; a patient or a list of ids is narrower, and another
    order is not that of the index."""
    kinds = {way[0] for way in shape.parts}
    if conditions.WORDS not in kinds or not kinds <= {conditions.WORDS, conditions.TYPES} or shape.order not in KEYSET:
        return False
    _, _, _, negated, either = shape.parts[0]
    return not negated and not either


def found(rows: list[Row], answer: AnswerOptions) -> ResultPage:
    """Split the total and the mark of completeness (first and last column) from the rows, and the row that only tells
    of a next page from the page."""
    total, complete, count = int(rows[0][0]), int(rows[0][-1]), answer.count
    if count == 0 or rows[0][-2] is None:
        return ResultPage(total, [], None, complete)
    page = [row[1:-2] for row in rows[:count]]
    if len(rows) <= count:
        return ResultPage(total, page, None, complete)
    offset = min(answer.paging.offset + count, 2**31 - 1)
    last = rows[count - 1][-2]
    ident = uuid.UUID(int=last) if isinstance(last, int) else uuid.UUID(str(last))  # a change has a number
    return ResultPage(total, page, Cursor(page[-1][-1], ident, offset), complete)
