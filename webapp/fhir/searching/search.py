"""DocumentReference search and `$everything`: one SQL statement for the page and its exact total.

A search has a shape (which filters it has) and values. The statement of a shape is composed once and kept; so a caller
who walks or polls reuses one prepared statement. Page sizes are written into it, since the planner must know them.

Order: newest first, then id. Pages continue from a keyset cursor, or skip `_offset` rows of an index.
"""

import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    Subquery,
    and_,
    case,
    false,
    func,
    literal_column,
    or_,
    select,
    true,
    tuple_,
    union_all,
)  # fmt: skip

from webapp.fhir.dates import DAY
from webapp.fhir.models import (
    Document,
    DocumentChange,
    DocumentTerm,
    ImagingStudy,
    Patient,
    PatientIdentifier,
    StorageClock,
)  # fmt: skip
from webapp.fhir.searching import carried, lists
from webapp.fhir.searching.columns import document_columns, patient_columns, study_columns
from webapp.fhir.searching.reading import Reader, Statement
from webapp.fhir.searching.totals import Shape, Values, bind, bounds, day_of_offset, edges, kind, total, window_values
from webapp.fhir.searching.wanted import KEYSET, Cursor, Everything, Identifier, Paging, PatientKey, Search

Row = tuple[Any, ...]
SHAPES = 256  # kept statements of 20 kB: callers use a handful of shapes, and a stranger's cost no more than 5 MB
_CHANGE = DocumentChange.__table__
_DOCUMENT = Document.__table__
_PATIENT = Patient.__table__
_STUDY = ImagingStudy.__table__


@dataclass(frozen=True, slots=True)
class ResultPage:
    """Rows of a page in order, the number of all matches, and the cursor behind the last row while more follow."""

    total: int
    rows: list[Row]
    next: Cursor | None
    complete: int | None = None  # all that was ever stored up to this instant (microseconds) was visible to the search


class Documents:
    """Searches one database."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._statement = lru_cache(maxsize=SHAPES)(self._compose)
        mine = and_(_DOCUMENT.c.id == bind("document"), _DOCUMENT.c.organization_id == bind("organization"))
        self._one = Statement(select(*document_columns(reader.is_sqlite)).where(mine), reader.engine)
        of_version = and_(_CHANGE.c.document_id == _DOCUMENT.c.id, _CHANGE.c.version == _DOCUMENT.c.version)
        made = select(_CHANGE.c.at).where(of_version).scalar_subquery()
        made_at = func.coalesce(made, _DOCUMENT.c.stored_at).label("made_at")
        self._read = Statement(select(*document_columns(reader.is_sqlite), made_at).where(mine), reader.engine)
        self._mark = Statement(select(complete_until()), reader.engine)
        self._patients = lru_cache(maxsize=SHAPES)(self._compose_patients)
        self._owned = lru_cache(maxsize=SHAPES)(self._compose_owned)
        self._everything = lru_cache(maxsize=SHAPES)(self._compose_everything)

    def search(self, organization: uuid.UUID, wanted: Search) -> ResultPage:
        """The page `wanted` asks for, of an organization's documents; rows as `resources.DocumentRow`."""
        if wanted.never:
            (known,) = self._reader.rows(self._mark, {"organization": self._reader.uuid(organization)})
            return ResultPage(0, [], None, known[0])
        paging = wanted.answer.paging
        count = 0 if wanted.answer.count_only else paging.count
        wanted = self._resolved(organization, wanted)
        rows = self._reader.rows(self._statement(_shape(wanted, count)), self._values(organization, wanted))
        return found(rows, paging, count)

    def patients_with(self, organization: uuid.UUID, searches: Iterable[Search]) -> set[uuid.UUID]:
        """The patients who have, for each of the searches, a document that it finds."""
        found: set[uuid.UUID] | None = None
        for wanted in searches:
            shape = replace(_shape(wanted, 0), order="patient")
            values = self._values(organization, wanted)
            rows = [] if wanted.never else self._reader.rows(self._patients(shape), values)
            ids = {uuid.UUID(str(row[0])) for row in rows}
            found = ids if found is None else found & ids
        return found or set()

    def _compose_patients(self, shape: Shape) -> Statement:
        linked, ways = _DOCUMENT.c.patient_id, _ways(shape, self._reader.is_sqlite)
        of = select(linked).where(or_(*ways), linked.is_not(None)).distinct()
        return Statement(of, self._reader.engine)

    def _resolved(self, organization: uuid.UUID, wanted: Search) -> Search:
        """The identifiers of patients as the patients that have them, and whoever is tagged with one."""
        patients, groups = list(wanted.patients), list(wanted.groups)
        for identifiers in wanted.chained:
            owners = self._owners(organization, identifiers)
            if len(identifiers) == 1 and len(owners) <= 1:
                patients.append(PatientKey(owners[0] if owners else None, identifiers[0]))
            else:
                tags = [PatientKey(None, identifier) for identifier in identifiers]
                groups.append((*tags, *(PatientKey(owner, None) for owner in owners)))
        return replace(wanted, patients=tuple(patients), groups=tuple(groups)) if wanted.chained else wanted

    def _owners(self, organization: uuid.UUID, identifiers: tuple[Identifier, ...]) -> list[uuid.UUID]:
        values = {"organization": self._reader.uuid(organization)}
        values |= lists.identifier_values(identifiers, "0", self._reader.is_sqlite)
        rows = self._reader.rows(self._owned(lists.identifier_flags(identifiers)), values)
        return [uuid.UUID(str(row[0])) for row in rows]

    def _compose_owned(self, flags: lists.Flags) -> Statement:
        table = PatientIdentifier.__table__
        terms = lists.identifier_terms((table.c.system, table.c.value), "0", flags, self._reader.is_sqlite)
        mine = and_(table.c.organization_id == bind("organization"), or_(*terms))
        return Statement(select(table.c.patient_id).where(mine).distinct(), self._reader.engine)

    def everything(self, organization: uuid.UUID, patient: uuid.UUID, wanted: Everything) -> ResultPage | None:
        """The page of a patient's documents and imaging studies, both as rows in the order of `DocumentRow` (see
        `study_columns`); None where the organization has no such patient."""
        paging, window = wanted.answer.paging, wanted.window
        count = 0 if wanted.answer.count_only else paging.count
        shape = (
            count, paging.cursor is None and paging.offset > 0, paging.cursor is not None,
            window.start is not None, window.end is not None, wanted.types, wanted.since is not None,
        )  # fmt: skip
        values = self._paging_values(paging) | window_values(window)
        values |= {"organization": self._reader.uuid(organization), "patient": self._reader.uuid(patient)}
        values["since"] = wanted.since
        rows = self._reader.rows(self._everything(shape), values)
        return found(rows, paging, count) if rows else None

    def read(self, organization: uuid.UUID, document: uuid.UUID) -> tuple[Row, int] | None:
        """The same, and when its version was made (microseconds since 1970)."""
        values = {"organization": self._reader.uuid(organization), "document": self._reader.uuid(document)}
        rows = self._reader.rows(self._read, values)
        return (rows[0][:-2], rows[0][-1]) if rows else None

    def one(self, organization: uuid.UUID, document: uuid.UUID) -> Row | None:
        """The row of one document of an organization, in the order of `DocumentRow`."""
        values = {"organization": self._reader.uuid(organization), "document": self._reader.uuid(document)}
        rows = self._reader.rows(self._one, values)
        return rows[0][:-1] if rows else None

    def _values(self, organization: uuid.UUID, wanted: Search) -> Values:
        values = self._paging_values(wanted.answer.paging) | window_values(wanted.window)
        values["organization"] = self._reader.uuid(organization)
        values["content_type"] = wanted.content_type
        for number, key in enumerate(wanted.patients):
            values[f"patient_{number}"] = self._reader.uuid(key.patient) if key.patient else None
            if key.identifier:
                values[f"value_{number}"] = key.identifier.value
                values[f"system_{number}"] = key.identifier.system
        return values | self._listed(wanted)

    def _listed(self, wanted: Search) -> Values:
        sqlite, values = self._reader.is_sqlite, {}
        if wanted.ids is not None:
            values["ids"] = lists.listed(wanted.ids, sqlite)
        if wanted.content_types:
            values["content_types"] = lists.listed(wanted.content_types, sqlite)
        for number, group in enumerate(wanted.groups):
            values |= lists.group_values(group, number, sqlite)
        for number, term in enumerate(wanted.terms):
            values |= lists.range_values(term.ranges, str(number), sqlite)
        return values | carried.values_of(wanted.carried, sqlite)

    def _paging_values(self, paging: Paging) -> Values:
        values: Values = {"offset": paging.offset}
        if paging.cursor:
            values |= {"after": paging.cursor.stored_at, "after_id": self._reader.uuid(paging.cursor.id)}
        return values

    def _compose(self, shape: Shape) -> Statement:
        sqlite = self._reader.is_sqlite
        columns, ways = document_columns(sqlite), _ways(shape, sqlite)
        offset: ColumnElement[Any] | None = bind("offset") if shape.skip else None
        if carried.leads(shape):
            led = carried.source(shape, sqlite)
            number, columns = (
                carried.total(shape, led, ways[0]),
                document_columns(sqlite, (led.c.stored_at, led.c.document_id)),
            )
            pages = [select(*columns).join(led, led.c.document_id == _DOCUMENT.c.id).where(ways[0])]
        else:
            number = total(shape, ways[0]) if len(ways) == 1 else _counted((_DOCUMENT, way) for way in ways)
            pages = [select(*columns).where(way) for way in ways]
        counted = select(number.label("total")).subquery("counted")
        if shape.by_day:
            place = day_of_offset(shape)
            first_newer = (select(place.c.day).scalar_subquery() + 1) * literal_column(str(DAY))
            pages = [page.where(_DOCUMENT.c.stored_at < first_newer) for page in pages]
            offset = offset - func.coalesce(select(place.c.newer).scalar_subquery(), 0)
        if shape.order not in KEYSET and shape.count:
            page = sorted_page(_DOCUMENT, or_(*ways), shape.order, _sort_key, shape.count, offset)
            return Statement(beside(counted, page, columns, _DOCUMENT), self._reader.engine)
        return self._paged(
            counted, pages, shape.count, offset, shape.order, cursor=shape.cursor, more=[complete_until()]
        )

    def _compose_everything(self, shape: tuple[int, bool, bool, bool, bool, frozenset[str], bool]) -> Statement:
        count, skip, cursor, start, end, types, since = shape
        known = and_(_PATIENT.c.id == bind("patient"), _PATIENT.c.organization_id == bind("organization"))
        parts = [
            (table, columns, and_(*mine, *([table.c.stored_at >= bind("since")] if since else [])))
            for name, table, columns, mine in (
                ("DocumentReference", _DOCUMENT, document_columns,
                 [*_of_patient(_DOCUMENT), ~_DOCUMENT.c.entered_in_error, *bounds(_DOCUMENT, start, end)]),
                ("ImagingStudy", _STUDY, study_columns, [*_of_patient(_STUDY), *bounds(_STUDY, start, end)]),
                ("Patient", _PATIENT, patient_columns, [known]),
            )
            if name in types
        ]  # fmt: skip
        pages = [select(*columns(self._reader.is_sqlite)).where(where) for _, columns, where in parts]
        counted = _counted((table, where) for table, _, where in parts)
        total = select(counted.label("total")).select_from(_PATIENT).where(known).subquery("counted")
        none = select(*document_columns(self._reader.is_sqlite)).where(false())
        return self._paged(
            total,
            pages or [none],
            count,
            bind("offset") if skip else None,
            "-date",
            cursor=cursor,
            more=[complete_until()],
        )

    def _paged(
        self, total: Subquery, ways: list[Select[Any]], count: int, offset: Any, order: str, *, cursor: bool,
        more: Sequence[ColumnElement[Any]] = (),
    ) -> Statement:  # fmt: skip
        """`total` beside each row of the page, or alone where the page is empty. One row more tells of a next page.

        Several ways to match (never the same row by two) are each read in order and no further than the page reaches.
        """
        if count == 0:
            return Statement(select(total.c.total, *more), self._reader.engine)
        limit: ColumnElement[Any] = literal_column(str(count + 1))
        parts = [_ordered(way, order, cursor=cursor) for way in ways]
        if len(parts) > 1:
            reach = limit if offset is None else limit + offset
            limited = [part.limit(reach).subquery() for part in parts]
            both = select(union_all(*(select(part) for part in limited)).subquery("ways"))
            parts = [_ordered(both, order, cursor=False)]
        rows = parts[0].limit(limit).offset(offset).subquery("page")
        ordered = select(total.c.total, *rows.c, *more).select_from(total.outerjoin(rows, true()))
        return Statement(ordered.order_by(*order_of(rows.c, order)), self._reader.engine)


def complete_until() -> ColumnElement[Any]:
    """The last storage time given out, in the snapshot of the statement: whoever stores later gets a later one, and
    whoever got an earlier one has committed, since the row is locked until then."""
    mine = StorageClock.organization_id == bind("organization")
    last = select(StorageClock.__table__.c.last).where(mine).scalar_subquery()
    return func.coalesce(last, literal_column("0")).label("complete")


def _ordered(page: Select[Any], order: str, *, cursor: bool) -> Select[Any]:
    columns = page.selected_columns
    return (page.where(behind_cursor(columns, order)) if cursor else page).order_by(*order_of(columns, order))


def behind_cursor(columns: Any, order: str) -> ColumnElement[bool]:
    """The rows that follow the cursor in that order."""
    last: Any = columns["sort_id"], bind("after_id")
    if order in ("-date", "date"):
        last = tuple_(columns["stored_at"], columns["sort_id"]), tuple_(bind("after"), bind("after_id"))
    following: ColumnElement[bool] = last[0] < last[1] if order.startswith("-") else last[0] > last[1]
    return following


def order_of(columns: Any, order: str) -> list[ColumnElement[Any]]:
    """Newest first (the contract's), oldest first, or by id; ties of the time are broken by the id."""
    names = ("sort_id",) if order in ("_id", "-_id") else ("stored_at", "sort_id")
    return [columns[name].desc() if order.startswith("-") else columns[name].asc() for name in names]


def sorted_page(
    table: Any, where: ColumnElement[bool], order: str, key: Callable[[str, bool], ColumnElement[Any]], count: int,
    offset: Any,
) -> Subquery:  # fmt: skip
    """Id and place of the rows of a page in any order: all that is found is sorted. `key` makes the value of a
    parameter to sort by, of several the one that comes first; what has none comes last."""
    keys = []
    for name in order.split(","):
        falling, value = name.startswith("-"), key(name.removeprefix("-"), name.startswith("-"))
        keys.append((value.desc() if falling else value.asc()).nulls_last())
    place = func.row_number().over(order_by=[*keys, table.c.id.asc()]).label("place")
    found = select(table.c.id, place).where(where).order_by(place).limit(literal_column(str(count + 1)))
    return (found if offset is None else found.offset(offset)).subquery("sorted")


def beside(
    total: Subquery, page: Subquery, columns: Sequence[ColumnElement[Any]], table: Any
) -> Select[Any]:  # fmt: skip
    """The total beside each row of a sorted page."""
    rows = select(*columns, page.c.place).join_from(page, table, table.c.id == page.c.id).subquery("page")
    listed = [column for column in rows.c if column.name != "place"]
    whole = select(total.c.total, *listed, complete_until()).select_from(total.outerjoin(rows, true()))
    return whole.order_by(rows.c.place)


def word_to_sort(table: Any, owner: Any, kind: str, *, falling: bool) -> ColumnElement[Any]:
    """The first or the last word of that kind of a row."""
    mine = (table.c.kind == literal_column(f"'{kind}'"), table.c.term != literal_column("''"))
    end = (func.max if falling else func.min)(table.c.term)
    return select(end).where(owner, *mine).scalar_subquery()


def _sort_key(name: str, falling: bool) -> ColumnElement[Any]:
    table = _DOCUMENT
    if name == "status":
        return case((table.c.entered_in_error, 2), (table.c.superseded, 1), else_=0)
    of_its_own = {"date": table.c.stored_at, "_id": table.c.id, "contenttype": table.c.content_type} | dict.fromkeys(
        ("patient", "subject"), table.c.patient_id
    )
    words = DocumentTerm.__table__
    known = of_its_own.get(name)
    return word_to_sort(words, words.c.document_id == table.c.id, name, falling=falling) if known is None else known


def _counted(parts: Iterable[tuple[Any, ColumnElement[bool]]]) -> ColumnElement[Any]:
    number: ColumnElement[Any] = literal_column("0")
    for table, where in parts:
        number = number + select(func.count()).select_from(table).where(where).scalar_subquery()
    return number


def _of_patient(table: Any) -> list[ColumnElement[bool]]:
    return [table.c.organization_id == bind("organization"), table.c.patient_id == bind("patient")]


def _shape(wanted: Search, count: int) -> Shape:
    paging, window = wanted.answer.paging, wanted.window
    skip = paging.cursor is None and paging.offset > 0
    narrow = bool(
        wanted.patients or wanted.ids or wanted.content_types or wanted.groups or wanted.carried or wanted.terms
    )
    ends = None if narrow else edges(window)
    by_day = skip and not narrow and wanted.answer.order == "-date"
    return Shape(
        count=count,
        skip=skip,
        by_day=by_day and (window.end is None or window.end % DAY == 0 or ends is not None),
        cursor=paging.cursor is not None,
        start=window.start is not None,
        end=window.end is not None,
        statuses=wanted.statuses,
        content_type=wanted.content_type is not None,
        patients=tuple(_key_shape(key) for key in wanted.patients),
        edges=ends,
        order=wanted.answer.order,
        ids=wanted.ids is not None,
        content_types=bool(wanted.content_types),
        groups=tuple(lists.group_flags(group) for group in wanted.groups),
        carried=carried.shape_of(wanted.carried),
        terms=tuple(term.kind for term in wanted.terms),
    )


def _key_shape(key: PatientKey) -> tuple[bool, bool, bool]:
    other = key.identifier
    return key.patient is not None, bool(other and other.value is not None), bool(other and other.system is not None)


def _ways(shape: Shape, sqlite: bool) -> list[ColumnElement[bool]]:
    """The ways to match, each with an index of its own: one, or for a bare UUID two, ours and (not ours but) tagged."""
    table = _DOCUMENT
    common = [table.c.organization_id == bind("organization"), *bounds(table, shape.start, shape.end)]
    common += kind(table, shape)
    common += [lists.among(table.c.id, "ids", sqlite)] if shape.ids else []
    common += [lists.among(table.c.content_type, "content_types", sqlite)] if shape.content_types else []
    common += [lists.group_term(table, number, flags, sqlite) for number, flags in enumerate(shape.groups)]
    common += [table.c.patient_id.in_(lists.owners(number, kind, sqlite)) for number, kind in enumerate(shape.terms)]
    common += carried.conditions(shape, sqlite)
    keys = [_key_terms(number, *key) for number, key in enumerate(shape.patients)]
    if len(keys) == 1 and len(keys[0]) == 2:
        ours, tagged = keys[0]
        strange = table.c.patient_id.is_distinct_from(bind("patient_0"))
        return [and_(*common, ours), and_(*common, tagged, strange)]
    return [and_(*common, *(or_(*terms) for terms in keys))]


def _key_terms(number: int, ours: bool, value: bool, system: bool) -> list[ColumnElement[bool]]:
    """The documents that one `patient` value means: any of these conditions."""
    table = _DOCUMENT
    external = [table.c.external_value == bind(f"value_{number}")] if value else []
    external += [table.c.external_system == bind(f"system_{number}")] if system else []
    terms = [table.c.patient_id == bind(f"patient_{number}")] if ours else []
    return [*terms, and_(*external, table.c.external_value.is_not(None))] if external else terms


def found(rows: list[Row], paging: Paging, count: int) -> ResultPage:
    """Split the total and the mark of completeness (first and last column) from the rows, and the row that only tells
    of a next page from the page."""
    total, complete = int(rows[0][0]), int(rows[0][-1])
    if count == 0 or rows[0][-2] is None:
        return ResultPage(total, [], None, complete)
    page = [row[1:-2] for row in rows[:count]]
    if len(rows) <= count:
        return ResultPage(total, page, None, complete)
    offset = min(paging.offset + count, 2**31 - 1)
    return ResultPage(total, page, Cursor(page[-1][-1], uuid.UUID(str(rows[count - 1][-2])), offset), complete)
