"""Writing: documents, patients and imaging studies come in, documents are marked, storage times are stamped.

The storage time of an organization's documents strictly increases in the order in which they become visible: it is
taken from the database's clock while the organization's row of `storage_clock` is locked, and that lock ends with the
transaction. Whoever reads up to an instant and later asks for everything from that instant on has missed nothing.

All functions take a session of `db.write()` and leave committing to it. The file must be in the storage before.
"""

import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from sqlalchemy import BigInteger, ColumnElement, cast, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from clinical.errors import BefundError
from webapp.fhir import dates, terms
from webapp.fhir.details import Details
from webapp.fhir.models import (
    WHOLE,
    Document,
    DocumentCount,
    DocumentTerm,
    ImagingStudy,
    PatientIdentifier,
    Status,
    StorageClock,
)
from webapp.storage import Stored

NO_FILE = Stored(b"", 0)
"""The file of a document that is described before its file is put."""
_Key = tuple[int, bool, str]  # day, entered in error, content type


class ImpossibleTime(BefundError):
    """A storage time was given that has not come yet (pollers would wait for it) or that no service ever had."""

    def __init__(self, stored_at: int) -> None:
        super().__init__(
            f"storage time {dates.to_text(stored_at)}", "one since 1970 and not in the future", "leave it out"
        )


@dataclass(frozen=True, slots=True)
class NewDocument:
    """A document to store. `stored_at` (microseconds since 1970) only when an import carries the original time."""

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


def store_documents(session: Session, organization: uuid.UUID, new: Sequence[NewDocument]) -> list[Document]:
    """Stamp and insert; they are visible, all at once, when the transaction commits. Raises ImpossibleTime."""
    stamps = _stamps(session, organization, [item.stored_at for item in new])
    documents = [
        Document(
            id=uuid.uuid4(), organization_id=organization, patient_id=item.patient_id,
            external_system=item.external_system, external_value=item.external_value,
            entered_in_error=item.status is Status.ENTERED_IN_ERROR, content_type=item.content_type,
            title=item.title, size=item.file.size, sha256=item.file.digest, stored_at=stored_at,
            import_key=item.import_key, import_line=item.import_line,
            details=orjson.dumps(item.details).decode() if item.details else None,
        )
        for item, stored_at in zip(new, stamps, strict=True)
    ]  # fmt: skip
    session.add_all(documents)
    session.flush()
    _keep_terms(session, documents, new)
    _count(session, organization, Counter(key for document in documents for key in _keys(document)))
    return documents


def _keep_terms(session: Session, documents: Sequence[Document], new: Sequence[NewDocument]) -> None:
    """The words by which documents with details are found."""
    rows = [
        {"organization_id": document.organization_id, "kind": kind, "term": term, "stored_at": document.stored_at,
         "document_id": document.id}
        for document, item in zip(documents, new, strict=True)
        if item.details
        for kind, term in dict.fromkeys(terms.document_terms(item.details))
    ]  # fmt: skip
    if rows:
        session.execute(insert(DocumentTerm), rows)


def store_studies(session: Session, studies: Sequence[ImagingStudy]) -> None:
    """Stamp and insert imaging studies of one organization."""
    if studies:
        stamps = _stamps(session, studies[0].organization_id, [None] * len(studies))
        for study, stored_at in zip(studies, stamps, strict=True):
            study.stored_at = stored_at
        session.add_all(studies)
        session.flush()


def stamp(session: Session, organization: uuid.UUID) -> int:
    """One storage time, in microseconds since 1970; holds the organization's lock until the transaction ends."""
    return _stamps(session, organization, [None])[0]


def mark(session: Session, document_id: uuid.UUID, status: Status) -> Document | None:
    """Set the status of a document; None when there is none of that id. Storage time and file stay."""
    document = session.get(Document, document_id)
    if document is None:
        return None
    _lock(session, document.organization_id)
    session.refresh(document)
    if document.status is not status:
        changes = Counter(dict.fromkeys(_keys(document), -1))
        document.entered_in_error = status is Status.ENTERED_IN_ERROR
        changes.update(_keys(document))
        session.flush()
        _count(session, document.organization_id, changes)
    return document


def owner_of(session: Session, organization: uuid.UUID, system: str, value: str) -> uuid.UUID | None:
    """The patient whose own identifier this is, system and value; `linking.find_patient` finds by less."""
    return session.scalar(
        select(PatientIdentifier.patient_id).where(
            PatientIdentifier.organization_id == organization,
            PatientIdentifier.system == system,
            PatientIdentifier.value == value,
        )
    )


def recount(session: Session, organization: uuid.UUID) -> None:
    """Make the counters anew from the documents, for a database that was changed by hand."""
    _lock(session, organization)
    session.query(DocumentCount).filter_by(organization_id=organization).delete()
    changes: Counter[_Key] = Counter()
    day = Document.stored_at // dates.DAY
    columns = (Document.entered_in_error, Document.content_type)
    rows = select(day, *columns, func.count()).where(Document.organization_id == organization)
    for number, in_error, content_type, count in session.execute(rows.group_by(day, *columns)):
        changes[number, in_error, content_type] += count
        changes[WHOLE, in_error, content_type] += count
    _count(session, organization, changes)


def _stamps(session: Session, organization: uuid.UUID, given: Iterable[int | None]) -> list[int]:
    last, now = _lock(session, organization)
    stamps = []
    for original in given:
        if original is not None and not 0 <= original <= now:
            raise ImpossibleTime(original)
        stamp = max(last + 1, now) if original is None else original
        last = max(last, stamp)
        stamps.append(stamp)
    session.execute(update(StorageClock).where(StorageClock.organization_id == organization).values(last=last))
    return stamps


def _lock(session: Session, organization: uuid.UUID) -> tuple[int, int]:
    """Lock the organization's clock until the transaction ends; its last time and the database's now."""
    first = _dialect(session).insert(StorageClock).values(organization_id=organization, last=0)
    session.execute(first.on_conflict_do_nothing())
    mine = update(StorageClock).where(StorageClock.organization_id == organization)
    last = session.scalar(mine.values(last=StorageClock.last).returning(StorageClock.last))
    now = session.scalar(select(_now(session)))  # read after the lock is held, not when the statement began
    return int(last or 0), int(now or 0)


def _now(session: Session) -> ColumnElement[int]:
    """The database's clock in microseconds; SQLite's has milliseconds."""
    if session.get_bind().dialect.name == "postgresql":
        return cast(func.extract("epoch", func.clock_timestamp()) * 1_000_000, BigInteger)
    seconds, millis = func.strftime("%s", "now"), func.substr(func.strftime("%f", "now"), 4)
    return cast(seconds, BigInteger) * 1_000_000 + cast(millis, BigInteger) * 1_000


def _keys(document: Document) -> tuple[_Key, _Key]:
    kind = (document.entered_in_error, document.content_type)
    return (document.stored_at // dates.DAY, *kind), (WHOLE, *kind)


def _count(session: Session, organization: uuid.UUID, changes: Counter[_Key]) -> None:
    table = DocumentCount
    for (day, in_error, content_type), number in sorted(changes.items()):
        if number == 0:
            continue
        values = {"day": day, "entered_in_error": in_error, "content_type": content_type, "number": number}
        row = _dialect(session).insert(table).values(organization_id=organization, **values)
        key = [table.organization_id, table.day, table.entered_in_error, table.content_type]
        more = {"number": table.number + row.excluded.number}
        session.execute(row.on_conflict_do_update(index_elements=key, set_=more))


def _dialect(session: Session) -> Any:
    return postgresql if session.get_bind().dialect.name == "postgresql" else sqlite
