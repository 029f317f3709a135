"""What programs send becomes rows: through the same store, lock and linking as an import.

All functions that take a session leave committing to it; whoever asks whether something is there already does so under
the organization's lock, so that two equal conditional creates at the same moment make one document.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from webapp import audit
from webapp.extensions import db
from webapp.fhir import clock, linking, store, terms
from webapp.fhir.answers import FhirError
from webapp.fhir.bulk.lines import BadLine
from webapp.fhir.bulk.resources import ResourceImporter
from webapp.fhir.models import VALUE_LENGTH, Document, DocumentTerm, Status
from webapp.fhir.searching import params
from webapp.fhir.writing import given
from webapp.fhir.writing.models import WaitingBinary
from webapp.models import utcnow
from webapp.storage import FileMissing, Files, Stored

WAITS = timedelta(days=1)  # a Binary for its document; as long as `documents verify --sweep` leaves files alone
Resource = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Result:
    """What a resource has become: its id, and whether it was made now or was there."""

    kind: str
    id: uuid.UUID
    created: bool


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document that was read and checked: its resource, its file, the condition (`If-None-Exist`), and where it
    stands in a bundle."""

    resource: Resource
    file: Stored
    content_type: str
    condition: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True)
class Posted:
    """A document without a condition, and what its trace says: which account sent it, from which network."""

    prepared: Prepared
    account: str
    network: str


def condition_of(text: str, at: str) -> tuple[str, str] | None:
    """System and value of `identifier=system|value`; None without a condition. Raises FhirError 400 for any other."""
    if not text:
        return None
    pairs = parse_qsl(text.partition("?")[2] or text, keep_blank_values=True)
    found = params.identifier(pairs[0][1]) if [name for name, _ in pairs] == ["identifier"] else None
    if found is None or found.value is None:
        raise FhirError(400, "If-None-Exist: erwartet wird identifier=system|value.", at)
    return found.system or "", found.value


def put_document(
    session: Session, organization_id: uuid.UUID, prepared: Prepared, references: Mapping[str, str], files: Files
) -> Result:
    """Store a document unless its condition finds one. `references` are those of a bundle that lead to new resources.
    Raises FhirError 412 and 422, and FileMissing."""
    clock.lock(session, organization_id)  # from here on nobody else stores
    condition = condition_of(prepared.condition, f"{prepared.at}ifNoneExist" if prepared.at else "If-None-Exist")
    if condition and (known := _documents_with(session, organization_id, *condition)):
        if len(known) > 1:
            raise FhirError(412, "If-None-Exist: mehrere Dokumente haben diese Kennung.")
        return Result("DocumentReference", known[0], created=False)
    (document,) = store.store_documents(
        session, organization_id, [_new(session, organization_id, prepared, references)], files
    )
    return Result("DocumentReference", document.id, created=True)


def put_documents(
    session: Session, organization_id: uuid.UUID, posted: Sequence[Posted], files: Files
) -> list[Result | Exception]:
    """Store documents without conditions together, each with its trace: for each its result, or its own fault."""
    clock.lock(
        session, organization_id
    )  # before their patients are looked up: whoever stores a patient links what is there
    subjects = [item.prepared.resource.get("subject") or {} for item in posted]
    identifiers = [subject.get("identifier") or {} for subject in subjects]
    named = [(one.get("system") or "", one["value"]) for one in identifiers if one.get("value")]
    owners = linking.find_patients(session, organization_id, named)
    described = [_described(session, organization_id, item.prepared, owners) for item in posted]
    new = [one for one in described if not isinstance(one, Exception)]
    times = store.times_of(session, organization_id, new, files)
    audit.purge_at_times(session, len(posted))  # not below, where no statement may return anything
    with db.sent_together(session):
        placed = iter(store.store_stamped(session, organization_id, new, times))
        results: list[Result | Exception] = [
            one if isinstance(one, Exception) else Result("DocumentReference", next(placed).id, created=True)
            for one in described
        ]
        told = [
            (_trace(result, item.account), item.network)
            for result, item in zip(results, posted, strict=True)
            if isinstance(result, Result)
        ]
        audit.record_all(session, "uploaded", told)
    return results


def put_patient(
    session: Session, organization_id: uuid.UUID, resource: Resource, condition: str, at: str = ""
) -> Result:
    """Store a patient unless the condition finds one. Raises FhirError 409 when an identifier is taken."""
    clock.lock(session, organization_id)
    wanted = condition_of(condition, f"{at}ifNoneExist" if at else "If-None-Exist")
    if wanted and (known := linking.find_patient(session, organization_id, *wanted)):
        return Result("Patient", known, created=False)
    for number, item in enumerate(resource.get("identifier", [])):
        if "value" in item and store.owner_of(session, organization_id, item.get("system", ""), item["value"]):
            where = f"{at}Patient.identifier[{number}]"
            raise FhirError(409, "Eine Patientin oder ein Patient hat diese Kennung schon.", where)
    kept = {name: value for name, value in resource.items() if name not in ("resourceType", "id", "meta")}
    try:
        patient, _, _ = ResourceImporter(organization_id).put_patient(session, kept, "")
    except BadLine:
        raise FhirError(422, "Eine Kennung ist zu lang.", f"{at}Patient.identifier") from None
    return Result("Patient", patient.id, created=True)


def put_waiting(
    session: Session, organization_id: uuid.UUID, file: Stored, content_type: str, files: Files
) -> uuid.UUID:
    """Keep a file for the document that will refer to it; those that waited too long go. Raises FileMissing."""
    clock.lock(session, organization_id)  # a purge of the same content waits, or was before
    if not files.has(file.digest):
        raise FileMissing(file.digest)
    session.execute(delete(WaitingBinary).where(WaitingBinary.created_at < utcnow() - WAITS))
    row = WaitingBinary(
        id=uuid.uuid4(), organization_id=organization_id, content_type=content_type, size=file.size, sha256=file.digest
    )
    session.add(row)
    session.flush()
    return row.id


def take_waiting(session: Session, organization_id: uuid.UUID, binary: uuid.UUID) -> WaitingBinary | None:
    """The waiting file of that id, which no other document can use then."""
    found = delete(WaitingBinary).where(
        WaitingBinary.id == binary,
        WaitingBinary.organization_id == organization_id,
        WaitingBinary.created_at > utcnow() - WAITS,
    )
    return session.execute(found.returning(WaitingBinary)).scalar_one_or_none()


def note(session: Session, result: Result, account: str) -> None:
    """Leave a trace of what a program made."""
    if result.created:
        audit.record(session, "uploaded", detail=_trace(result, account))


def _trace(result: Result, account: str) -> str:
    return f"{result.kind}/{result.id} by {account}"


def _described(
    session: Session, organization_id: uuid.UUID, prepared: Prepared, owners: Mapping[linking.Pair, uuid.UUID]
) -> store.NewDocument | FhirError:
    try:
        return _new(session, organization_id, prepared, {}, owners)
    except FhirError as error:
        return error


def _new(
    session: Session, organization_id: uuid.UUID, prepared: Prepared, references: Mapping[str, str],
    owners: Mapping[linking.Pair, uuid.UUID] | None = None,
) -> store.NewDocument:  # fmt: skip
    """The document as it is stored. Raises FhirError 422."""
    resource, at = prepared.resource, prepared.at
    attachment = given.attachment_of(resource, at)
    subject = resource.get("subject") or {}
    linked = _subject(session, organization_id, subject, references, f"{at}DocumentReference.subject", owners)
    return store.NewDocument(
        prepared.file, given.title_of(attachment), given.type_of(attachment, prepared.content_type), *linked,
        status=_status(resource, at), details=given.details_of(resource, at),
    )  # fmt: skip


def _documents_with(session: Session, organization_id: uuid.UUID, system: str, value: str) -> list[uuid.UUID]:
    """Documents with that identifier, also those marked in error: the condition is about what was sent before."""
    term = terms.short(f"{system}|{value}" if system else value)
    mine = (
        DocumentTerm.organization_id == organization_id,
        DocumentTerm.kind == "identifier",
        DocumentTerm.term == term,
    )
    found = select(Document.id).join(DocumentTerm, DocumentTerm.document_id == Document.id)
    return list(session.scalars(found.where(*mine).distinct().limit(2)))


def _status(resource: Resource, at: str) -> Status:
    try:
        return Status(resource["status"])
    except ValueError:
        raise FhirError(422, "Erwartet wird current oder entered-in-error.", f"{at}DocumentReference.status") from None


def _subject(
    session: Session, organization_id: uuid.UUID, subject: Resource, references: Mapping[str, str], at: str,
    owners: Mapping[linking.Pair, uuid.UUID] | None,
) -> tuple[uuid.UUID | None, str | None, str | None]:  # fmt: skip
    """Linked patient, and the system and value of the tag, as an import finds them. Raises FhirError 422."""
    reference = references.get(subject.get("reference", ""), subject.get("reference", ""))
    if reference and linking.referenced_id(reference):
        patient = linking.known_patient(session, organization_id, reference)
        if patient is None:
            raise FhirError(422, "Diese Patientin oder diesen Patienten gibt es hier nicht.", f"{at}.reference")
        return patient, None, None
    identifier = subject.get("identifier") or {}
    system, value = identifier.get("system") or "", identifier.get("value")
    if reference and not value:
        raise FhirError(422, "Erwartet wird Patient/<id> oder subject.identifier.", f"{at}.reference")
    if not value:
        return None, None, None
    if len(value) > VALUE_LENGTH:
        raise FhirError(422, "Die Kennung ist zu lang.", f"{at}.identifier.value")
    owner = (
        linking.find_patient(session, organization_id, system, value) if owners is None else owners.get((system, value))
    )
    return owner, system, value
