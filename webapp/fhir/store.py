"""Writing: documents, patients and imaging studies come in, documents are marked, storage times are stamped.

The storage time of an organization's documents strictly increases in the order in which they become visible: it is
taken from the database's clock while the organization's row of `storage_clock` is locked, and that lock ends with the
transaction. Whoever reads up to an instant and later asks for everything from that instant on has missed nothing.

All functions take a session of `db.write()` and leave committing to it. The file must be in the storage before.
"""

import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, TypeVar, cast

import orjson
import sqlalchemy as sa
from sqlalchemy.orm import Session

from webapp.database import one_or_all
from webapp.fhir import clock, dates
from webapp.fhir.clock import Times
from webapp.fhir.details import Details
from webapp.fhir.models import (
    WHOLE,
    Document,
    DocumentChange,
    DocumentCount,
    DocumentTerm,
    Patient,
    PatientIdentifier,
    Status,
)  # fmt: skip
from webapp.fhir.searching import terms
from webapp.storage import FileMissing, Files, Stored
from webapp.watching import DOCUMENTS_STORED

NO_FILE = Stored(b"", 0)
"""The file of a document that is described before its file is put."""
T = TypeVar("T")
R = TypeVar("R")
_Key = tuple[int, bool, bool, str]  # day, entered in error, superseded, content type
_INSERT_TERM = sa.insert(cast(sa.Table, DocumentTerm.__table__))
_DOCUMENT = cast(sa.Table, Document.__table__)
_INSERT = sa.insert(_DOCUMENT)
_SUPERSEDE = (
    sa.update(_DOCUMENT)
    .where(_DOCUMENT.c.id == sa.bindparam("document"))
    .values(superseded=True, version=sa.bindparam("next_version"))
)


class Placed(NamedTuple):
    """A document that was stored: its id and its storage time, in microseconds since 1970."""

    id: uuid.UUID
    stored_at: int


@dataclass(frozen=True, slots=True)
class NewDocument:
    """A document to store. `stored_at` (microseconds since 1970) only when an import carries the original time.

    `words`: by what it is found (`terms.document_terms`), where that was made before the lock was taken.
    """

    file: Stored
    title: str
    content_type: str
    patient_id: uuid.UUID | None = None
    external_system: str | None = None
    external_value: str | None = None
    status: Status = Status.CURRENT
    stored_at: int | None = None
    import_key: bytes | None = None
    import_line: bytes | None = None
    details: Details | None = None
    words: tuple[tuple[str, str], ...] | None = None
    id: uuid.UUID | None = None  # made when it is stored, unless somebody has to refer to it before


@dataclass(frozen=True, slots=True)
class OldDocument:
    """A document that is there, as far as whoever replaces it has to know it."""

    id: uuid.UUID
    patient_id: uuid.UUID | None
    stored_at: int
    content_type: str
    entered_in_error: bool
    superseded: bool
    version: int


def store_documents(
    session: Session, organization: uuid.UUID, new: Sequence[NewDocument], files: Files | None = None
) -> list[Placed]:
    """Stamp and insert; they are visible, all at once, when the transaction commits. With `files`, theirs have to be
    there still. Raises ImpossibleTime and FileMissing."""
    return store_stamped(session, organization, new, times_of(session, organization, new, files))


def put_and_store(put: Callable[[], T], write: Callable[[T], R]) -> R:
    """Put files, then write what refers to them; once more where a deletion of the same content came in between."""
    try:
        return write(put())
    except FileMissing:
        return write(put())


def times_of(
    session: Session, organization: uuid.UUID, new: Sequence[NewDocument], files: Files | None = None, more: int = 0
) -> Times:
    """Storage times for documents that are stored in this transaction, under the organization's lock from here on, and
    behind them the times of as many further changes as `more`. Raises ImpossibleTime, and FileMissing where the file
    of one is not there any more: a purge of other documents with the same content removes it, but never under this
    lock."""
    if not new:
        return 0, []
    session.flush()  # what is waiting may be their patients
    times = clock.numbered(session, organization, [*(item.stored_at for item in new), *[None] * more])
    for digest in {item.file.digest for item in new}:
        if files is not None and not files.has(digest):
            raise FileMissing(digest)
    return times


def store_stamped(session: Session, organization: uuid.UUID, new: Sequence[NewDocument], times: Times) -> list[Placed]:
    """Insert documents with the times that were made for them, by statements that return nothing."""
    if not new:
        return []
    first, stamps = times[0], times[1][: len(new)]
    placed = [Placed(item.id or uuid.uuid4(), stored_at) for item, (stored_at, _) in zip(new, stamps, strict=True)]
    connection = session.connection()  # plain statements: others wait, and the session's take twice as long
    connection.execute(_INSERT, one_or_all([_row(organization, *both) for both in zip(placed, new, strict=True)]))
    _keep_terms(connection, organization, placed, new)
    told = [clock.Change(document.id, 1, item.status) for document, item in zip(placed, new, strict=True)]
    clock.record(session, organization, told, [at for _, at in stamps], first)
    counts = Counter(
        key
        for document, item in zip(placed, new, strict=True)
        for key in _keys(document.stored_at, item.status is Status.ENTERED_IN_ERROR, False, item.content_type)
    )
    _count(session, organization, counts)
    sa.event.listen(session, "after_commit", lambda _: DOCUMENTS_STORED.inc(len(placed)), once=True)
    return placed


def supersede(session: Session, organization: uuid.UUID, replaced: Sequence[OldDocument], times: Times) -> None:
    """Mark documents as replaced with the last of the times made (`times_of`), by statements that return nothing. One
    that is entered in error shows the same as before: it has no new version, and no time."""
    if not replaced:
        return
    shown = [item for item in replaced if not item.entered_in_error]
    told = [clock.Change(item.id, item.version + 1, Status.SUPERSEDED) for item in shown]
    rows = [{"document": item.id, "next_version": item.version + (not item.entered_in_error)} for item in replaced]
    session.connection().execute(_SUPERSEDE, rows)
    before = len(times[1]) - len(shown)
    clock.record(session, organization, told, [at for _, at in times[1][before:]], times[0] + before)
    counts: Counter[_Key] = Counter()
    for item in replaced:
        counts.subtract(_keys(item.stored_at, item.entered_in_error, False, item.content_type))
        counts.update(_keys(item.stored_at, item.entered_in_error, True, item.content_type))
    _count(session, organization, counts)


def _row(organization: uuid.UUID, placed: Placed, item: NewDocument) -> dict[str, Any]:
    """The columns of a new document."""
    return {
        "id": placed.id, "organization_id": organization, "patient_id": item.patient_id,
        "external_system": item.external_system, "external_value": item.external_value,
        "entered_in_error": item.status is Status.ENTERED_IN_ERROR, "superseded": False, "version": 1,
        "content_type": item.content_type,
        "title": item.title, "size": item.file.size, "sha256": item.file.digest, "stored_at": placed.stored_at,
        "import_key": item.import_key, "import_line": item.import_line,
        "details": orjson.dumps(item.details).decode() if item.details else None,
    }  # fmt: skip


def _keep_terms(
    connection: sa.Connection, organization: uuid.UUID, placed: Sequence[Placed], new: Sequence[NewDocument]
) -> None:
    """The words by which documents with details are found."""
    rows = [
        {"organization_id": organization, "kind": kind, "term": term, "stored_at": document.stored_at,
         "document_id": document.id}
        for document, item in zip(placed, new, strict=True)
        for kind, term in (item.words if item.words is not None else terms.document_words(item.details or {}))
    ]  # fmt: skip
    if rows:
        connection.execute(_INSERT_TERM, one_or_all(rows))


def renew(session: Session, patient: Patient, resource: dict[str, Any], pairs: Iterable[tuple[str, str]]) -> None:
    """Store a patient, or what it is now, with its identifiers (system, value)."""
    have = {(item.system, item.value): item for item in patient.identifiers}
    patient.stored_at, patient.resource = stamp(session, patient.organization_id), resource
    patient.identifiers = [
        have.get(pair) or PatientIdentifier(organization_id=patient.organization_id, system=pair[0], value=pair[1])
        for pair in dict.fromkeys(pairs)
    ]
    session.add(patient)
    session.flush()


def stamp(session: Session, organization: uuid.UUID) -> int:
    """One storage time, in microseconds since 1970; holds the organization's lock until the transaction ends."""
    return clock.stamps(session, organization, 1)[0]


KEYED = "urn:befund:idempotency-key"  # the system of keys that documents were posted with: they stay
KEPT = ("patient_id", "external_system", "external_value", "content_type", "title", "details")
"""Columns that an update changes of a document, and the versions before it keep. The file is not among it: another file
is another document, which pollers find by its own storage time."""


def revise(session: Session, document: Document, new: NewDocument) -> None:
    """Give a document that is locked what the new one says beside its file: a version of its own, and those before it
    keep what they said."""
    said = {name: getattr(document, name) for name in KEPT}
    kept = orjson.dumps({name: str(one) if isinstance(one, uuid.UUID) else one for name, one in said.items()}).decode()
    mine = (DocumentChange.document_id == document.id, DocumentChange.kept.is_(None))
    session.execute(sa.update(DocumentChange).where(*mine).values(kept=kept))
    placed = Placed(document.id, document.stored_at)
    row = _row(document.organization_id, placed, new)
    with _changed(session, document):
        for name in (*KEPT, "entered_in_error"):
            setattr(document, name, row[name])
        document.version += 1
    mine = (DocumentTerm.document_id == document.id, DocumentTerm.term.not_like(f"{KEYED}|%"))
    session.execute(sa.delete(DocumentTerm).where(*mine))
    _keep_terms(session.connection(), document.organization_id, [placed], [new])


@contextmanager
def _changed(session: Session, document: Document, *, deleted: bool = False) -> Iterator[None]:
    """Counters and pollers learn what becomes of a document in here, which has its next version then."""
    counts = Counter(dict.fromkeys(_keys_of(document), -1))
    yield
    if not deleted:
        counts.update(_keys_of(document))
    told = clock.Change(document.id, document.version + deleted, document.status)
    session.flush()
    _count(session, document.organization_id, counts)
    clock.tell(session, document.organization_id, [told], deleted=deleted)


def mark(session: Session, document_id: uuid.UUID, status: Status) -> Document | None:
    """Mark a document as entered in error, or by any other status take that back; None when there is none of that id.
    Storage time, file and whether it was replaced stay."""
    document = session.get(Document, document_id)
    if document is None:
        return None
    clock.lock(session, document.organization_id)
    session.refresh(document)
    wrong = status is Status.ENTERED_IN_ERROR
    if document.entered_in_error is not wrong:
        with _changed(session, document):
            document.entered_in_error, document.version = wrong, document.version + 1
    return document


def remove(session: Session, document: Document) -> None:
    """Delete a document's row, its words and its place in the counters; pollers are told, and the file stays."""
    clock.lock(session, document.organization_id)
    session.execute(sa.delete(DocumentTerm).where(DocumentTerm.document_id == document.id))
    session.execute(sa.update(DocumentChange).where(DocumentChange.document_id == document.id).values(kept=None))
    with _changed(session, document, deleted=True):
        session.delete(document)


def miscounted(session: Session, organization: uuid.UUID) -> Counter[_Key]:
    """By how much the counters differ from the documents, in one statement and without a lock.

    Whoever stores or marks changes both alike, so the difference stays what it is until it is added (`add_counts`).
    """
    day = Document.stored_at // dates.DAY
    kind = (Document.entered_in_error, Document.superseded, Document.content_type)
    real: sa.ColumnElement[int] = sa.literal_column("1").label("real")
    noted: sa.ColumnElement[int] = sa.literal_column("0").label("real")
    counted = sa.select(day.label("day"), *kind, sa.func.count().label("number"), real)
    table = DocumentCount
    there = sa.select(table.day, table.entered_in_error, table.superseded, table.content_type, -table.number, noted)
    both = sa.union_all(
        counted.where(Document.organization_id == organization).group_by(day, *kind),
        there.where(DocumentCount.organization_id == organization),
    ).subquery()
    differences: Counter[_Key] = Counter()
    for number, in_error, superseded, content_type, count, is_real in session.execute(sa.select(both)):
        differences[int(number), bool(in_error), bool(superseded), content_type] += count
        if is_real:
            differences[WHOLE, bool(in_error), bool(superseded), content_type] += count
    return Counter({key: number for key, number in differences.items() if number})


def add_counts(session: Session, organization: uuid.UUID, differences: Counter[_Key]) -> None:
    """Add the differences to the counters; holds the organization's lock for as long as that takes, a few ms."""
    clock.lock(session, organization)
    _count(session, organization, differences)


def _keys(stored_at: int, in_error: bool, superseded: bool, content_type: str) -> tuple[_Key, _Key]:
    return (stored_at // dates.DAY, in_error, superseded, content_type), (WHOLE, in_error, superseded, content_type)


def _keys_of(document: Document) -> tuple[_Key, _Key]:
    return _keys(document.stored_at, document.entered_in_error, document.superseded, document.content_type)


def _count(session: Session, organization: uuid.UUID, counts: Counter[_Key]) -> None:
    rows = [
        {"organization_id": organization, "day": day, "entered_in_error": in_error, "superseded": superseded,
         "content_type": content_type, "number": number}
        for (day, in_error, superseded, content_type), number in sorted(counts.items())
        if number
    ]  # fmt: skip
    if rows:
        session.connection().execute(_counting(clock.dialect(session)), one_or_all(rows))


@cache
def _counting(kind: Any) -> sa.Insert:
    table = cast(sa.Table, DocumentCount.__table__)
    row = kind.insert(table)
    key = [table.c.organization_id, table.c.day, table.c.entered_in_error, table.c.superseded, table.c.content_type]
    added: sa.Insert = row.on_conflict_do_update(
        index_elements=key, set_={"number": table.c.number + row.excluded.number}
    )
    return added
