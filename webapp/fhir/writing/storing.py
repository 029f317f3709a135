"""Rows are made of the resources that programs send: through the same store, lock and linking as an import.

All functions that take a session leave committing to it; whoever asks whether something is there already does so under
the organization's lock, so that two equal conditional creates at the same moment make one document. What needs no
database is done before (`webapp.fhir.writing.given`), and what needs it is asked for all at once: others wait.
"""

import hashlib
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import cast
from urllib.parse import parse_qsl

from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from webapp import audit
from webapp.extensions import db
from webapp.fhir import clock, linking, store
from webapp.fhir.answers import FhirError
from webapp.fhir.models import VALUE_LENGTH, Document, DocumentTerm, Patient, PatientIdentifier, Status, WaitingBinary
from webapp.fhir.searching import terms
from webapp.fhir.searching.readers import identifier
from webapp.fhir.searching.wanted import TARGET
from webapp.fhir.writing.given import DOCUMENT, GivenDocument, GivenPatient, RelatedDocument
from webapp.fhir.writing.purging import PurgedDocument
from webapp.models import utcnow
from webapp.storage import FileMissing, Files, Stored

WAITS = timedelta(days=1)  # a Binary for its document; as long as `documents verify --sweep` leaves files alone
KEY_MOST = 255
_LOCAL = ("urn:uuid:", f"{DOCUMENT}/")
ID_TAKEN = "Diese Id ist vergeben."
Condition = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a resource: its id, whether it was made now or was there, and when it was stored now."""

    kind: str
    id: uuid.UUID
    created: bool
    stored_at: int = 0


@dataclass(frozen=True, slots=True)
class SentDocument:
    """A document to store unless its condition (`If-None-Exist`) finds one: what was given, and its file with the type
    it came with. `name` is its `fullUrl` in a bundle; `chosen`: the program has chosen the id; `sender`: account and
    network, for the trace of one that is stored together with those of others."""

    given: GivenDocument
    file: Stored
    content_type: str = ""
    condition: Condition | None = None
    name: str = ""
    id: uuid.UUID = field(default_factory=uuid.uuid4)
    chosen: bool = False
    sender: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class SentPatient:
    """A patient to store unless the condition finds one. `chosen`: the program has chosen the id."""

    given: GivenPatient
    condition: Condition | None = None
    id: uuid.UUID = field(default_factory=uuid.uuid4)
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class WritePlan:
    """The plan of a transaction: documents, those they replace, the times of both, and the result of each
    that was asked for."""

    new: list[store.NewDocument]
    replaced: list[store.OldDocument]
    times: clock.Times
    results: list[Result | FhirError]


def condition_of(text: str, at: str = "") -> Condition | None:
    """System and value of `identifier=system|value`; None without a condition. Raises FhirError 400 for any other."""
    if not text:
        return None
    pairs = parse_qsl(text.partition("?")[2] or text, keep_blank_values=True)
    found = identifier(pairs[0][1]) if [name for name, _ in pairs] == ["identifier"] else None
    if found is None or found.value is None:
        where = f"{at}ifNoneExist" if at.endswith(".") else at or "If-None-Exist"
        raise FhirError(400, f"{where}: erwartet wird identifier=system|value.", where)
    return found.system or "", found.value


def key_of(text: str, account: str) -> Condition | None:
    """The condition of an `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header) of an account; only its hash is
    kept. Raises FhirError 400."""
    if not text:
        return None
    key = text.strip().strip('"')
    if not 0 < len(key) <= KEY_MOST or not key.isprintable():
        raise FhirError(400, f"Erwartet wird ein Schlüssel von 1 bis {KEY_MOST} Zeichen.", "Idempotency-Key")
    return store.KEYED, hashlib.sha256(f"{account}|{key}".encode()).hexdigest()


def put_documents(
    session: Session, organization_id: uuid.UUID, new: Sequence[SentDocument], files: Files,
    references: Mapping[str, str] | None = None,
) -> list[Result]:  # fmt: skip
    """Store documents, all or none. `references` are those of a bundle that lead to what its other entries have become.
    Raises FhirError 412 and 422, and FileMissing."""
    plan = _plan(session, organization_id, new, files, references or {})
    for result in plan.results:
        if isinstance(result, FhirError):
            raise result
    _write(session, organization_id, plan)
    return cast(list[Result], plan.results)


def put_posted(
    session: Session, organization_id: uuid.UUID, posted: Sequence[SentDocument], files: Files
) -> list[Result | Exception]:
    """Store documents together that were posted by themselves, each with its trace: for each its result, or its own
    fault."""
    plan = _plan(session, organization_id, posted, files, {})
    audit.purge_at_times(session, len(posted))  # not below, where no statement may return anything
    told = [
        (_trace(result, item.sender[0]), item.sender[1])
        for result, item in zip(plan.results, posted, strict=True)
        if isinstance(result, Result) and result.created
    ]
    with db.sent_together(session):
        _write(session, organization_id, plan)
        audit.record_all(session, "uploaded", told)
    return list(plan.results)


def put_patients(session: Session, organization_id: uuid.UUID, new: Sequence[SentPatient]) -> list[Result]:
    """Store patients, all or none, and link the documents that wait for them. Raises FhirError 409 when an identifier
    is taken."""
    clock.lock(session, organization_id)
    asked = [item.condition for item in new if item.condition]
    pairs = [pair for item in new for pair in item.given.identifiers]
    owners = linking.find_patients(session, organization_id, asked)
    taken = linking.owners_of(session, organization_id, pairs)
    results: list[Result] = []
    stored: list[SentPatient] = []
    for item in new:
        known = owners.get(item.condition) if item.condition else None
        if item.chosen and is_taken(session, item.id, Patient):
            raise FhirError(409, ID_TAKEN, "Patient.id")
        if known is None:
            refuse_taken(item.given, taken)
            stored.append(item)
            mine = dict.fromkeys(item.given.identifiers, item.id)
            taken, owners = taken | mine, mine | {("", value): item.id for _, value in mine} | owners
        results.append(Result("Patient", known or item.id, created=known is None))
    stamps = clock.stamps(session, organization_id, len(stored))
    times = {item.id: stored_at for item, stored_at in zip(stored, stamps, strict=True)}
    for item in stored:
        row = {"stored_at": times[item.id], "resource": item.given.resource}
        session.add(Patient(id=item.id, organization_id=organization_id, **row))
    session.flush()
    identifiers = [
        {"organization_id": organization_id, "patient_id": item.id, "system": system, "value": value}
        for item in stored
        for system, value in item.given.identifiers
    ]
    if identifiers:  # by one statement: the session takes one each on SQLite
        session.execute(insert(PatientIdentifier), identifiers)
    linking.link_waiting(session, organization_id, pairs)
    return [replace(result, stored_at=times.get(result.id, 0)) for result in results]


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


def note(session: Session, results: Iterable[Result], account: str, network: str) -> None:
    """Leave a trace of what a program made, and from which network."""
    told = [(_trace(result, account), network) for result in results if result.created]
    audit.purge_at_times(session, len(told))
    audit.record_all(session, "uploaded", told)


def _trace(result: Result, account: str) -> str:
    return f"{result.kind}/{result.id} by {account}"


def _plan(
    session: Session, organization_id: uuid.UUID, asked: Sequence[SentDocument], files: Files,
    references: Mapping[str, str],
) -> WritePlan:  # fmt: skip
    """All that has to be read, under the lock; afterwards no statement needs to return anything."""
    clock.lock(session, organization_id)  # whoever stores a patient links what is there
    results = _found(session, organization_id, asked)
    both = [(item, one) for item, one in zip(asked, results, strict=True) if isinstance(one, Result)]
    led = {**references, **{item.name: f"{DOCUMENT}/{result.id}" for item, result in both if item.name}}
    items = [(item, item.given.led(led)) for item, result in both if result.created]
    whose = {item.id: stated(given, led) for item, given in items}
    subjects = linking.Subjects(session, organization_id, whose.values())
    targets = Targets(session, organization_id, {item.id: given for item, given in items}, led)
    new: dict[uuid.UUID, store.NewDocument] = {}
    replaced: dict[uuid.UUID, None] = {}
    for item, given in items:
        try:
            subject = subject_of(given, whose[item.id], subjects)
            olds = targets.replaced_by(item.id, given, subject.patient)
        except FhirError as fault:
            results = [_unless(one, item.id, fault) for one in results]
            continue
        new[item.id] = store.NewDocument(
            item.file, given.title, given.content_type or item.content_type, *subject, status=given.status,
            details=given.details or None, words=given.words, id=item.id,
        )  # fmt: skip
        replaced |= dict.fromkeys(olds)
    return _timed(session, organization_id, list(new.values()), targets, list(replaced), results, files)


def _unless(result: Result | FhirError, failed: uuid.UUID, fault: FhirError) -> Result | FhirError:
    """The result, unless it was to be the document that cannot be stored, or one that its condition took for there."""
    if isinstance(result, FhirError) or result.id != failed:
        return result
    return fault if result.created else FhirError(503)


def _timed(
    session: Session, organization_id: uuid.UUID, new: list[store.NewDocument], targets: "Targets",
    replaced: list[uuid.UUID], results: list[Result | FhirError], files: Files,
) -> WritePlan:  # fmt: skip
    """The plan, once everything that changes has its time."""
    own = [
        store.OldDocument(item.id, item.patient_id, 0, item.content_type, item.status is Status.ENTERED_IN_ERROR,
                          superseded=False, version=1)
        for item in new if item.id in replaced
    ]  # fmt: skip
    there = [targets.standing[ident] for ident in replaced if ident in targets.standing]
    olds = [*(item for item in there if not item.superseded), *own]
    times = store.times_of(session, organization_id, new, files, more=sum(not item.entered_in_error for item in olds))
    stored = {item.id: stored_at for item, (stored_at, _) in zip(new, times[1], strict=False)}
    olds = [replace(item, stored_at=stored.get(item.id, item.stored_at)) for item in olds]
    results = [replace(one, stored_at=stored.get(one.id, 0)) if isinstance(one, Result) else one for one in results]
    return WritePlan(new, olds, times, results)


def _write(session: Session, organization_id: uuid.UUID, plan: WritePlan) -> None:
    """By statements that return nothing."""
    store.store_stamped(session, organization_id, plan.new, plan.times)
    store.supersede(session, organization_id, plan.replaced, plan.times)


def _found(session: Session, organization_id: uuid.UUID, asked: Sequence[SentDocument]) -> list[Result | FhirError]:
    """The result of each: new, or the one that its condition finds, also among those before it."""
    words = {item.condition: word_of(*item.condition) for item in asked if item.condition}
    there = documents_with(session, organization_id, words.values())
    results: list[Result | FhirError] = []
    for item in asked:
        if item.chosen and is_taken(session, item.id, Document, PurgedDocument):
            results.append(FhirError(409, ID_TAKEN, f"{DOCUMENT}.id"))
            continue
        known = there.get(words[item.condition], []) if item.condition else []
        if len(known) > 1:
            results.append(FhirError(412, "If-None-Exist: mehrere Dokumente haben diese Kennung."))
            continue
        if not known:
            for kind, word in item.given.words:
                if kind == "identifier":
                    there.setdefault(word, []).append(item.id)
        results.append(Result(DOCUMENT, known[0] if known else item.id, created=not known))
    return results


def is_taken(session: Session, ident: uuid.UUID, *tables: type[Document | PurgedDocument | Patient]) -> bool:
    """Return True when somebody has that id, or had it, in whatever organization."""
    return any(session.get(table, ident) is not None for table in tables)


def word_of(system: str, value: str) -> str:
    """The word of the index by which a document with this identifier is found."""
    return terms.short(f"{system}|{value}" if system else value)


def documents_with(session: Session, organization_id: uuid.UUID, words: Iterable[str]) -> dict[str, list[uuid.UUID]]:
    """Documents with these identifiers, also those marked in error: the condition is about what was sent before. Of
    several one is enough to know of, where it is a single identifier that was asked for."""
    found: dict[str, list[uuid.UUID]] = {}
    wanted = set(words)
    asked = select(DocumentTerm.term, DocumentTerm.document_id).where(
        DocumentTerm.organization_id == organization_id,
        DocumentTerm.kind == "identifier",
        linking.one_of(session, DocumentTerm.term, wanted),
    )
    for word, document in session.execute(asked.limit(2) if len(wanted) == 1 else asked) if wanted else ():
        found.setdefault(word, []).append(document)
    return found


def stated(document: GivenDocument, references: Mapping[str, str]) -> linking.Stated:
    """The subject that a document states, its reference as `references` leads it."""
    text, token = document.subject.get("reference", ""), document.subject.get("identifier") or {}
    tag = (token.get("system") or "", token["value"]) if token.get("value") else None
    return linking.Stated(references.get(text, text), tag)


def subject_of(document: GivenDocument, said: linking.Stated, subjects: linking.Subjects) -> linking.Subject:
    """Linked patient and tag, as an import finds them. Raises FhirError 422."""
    at = f"{document.at}{DOCUMENT}.subject"
    if said.reference and not linking.referenced_id(said.reference):
        raise FhirError(422, "Erwartet wird Patient/<id> oder subject.identifier.", f"{at}.reference")
    if not said.reference and said.tag and len(said.tag[1]) > VALUE_LENGTH:
        raise FhirError(422, f"Die Kennung ist länger als {VALUE_LENGTH} Zeichen.", f"{at}.identifier.value")
    try:
        return subjects.of(said)
    except linking.UnknownPatient:
        raise FhirError(422, "Diese Patientin oder diesen Patienten gibt es hier nicht.", f"{at}.reference") from None


class Targets:
    """The documents that others are related to, looked up for all of them at once.

    What a local reference names has to be there; what a document replaces has to be in the same organization, and of
    the same patient where both are known (IHE XDS: XDSPatientIdDoesNotMatch).
    """

    def __init__(
        self, session: Session, organization_id: uuid.UUID, new: Mapping[uuid.UUID, GivenDocument],
        references: Mapping[str, str],
    ) -> None:  # fmt: skip
        self._references, self._new = references, new
        related = [target for given in new.values() for target in given.related]
        named = [word_of(*target.identifier) for target in related if target.replaces and not target.reference
                 and target.identifier]  # fmt: skip
        self._named = documents_with(session, organization_id, named)
        ids = {ident for target in related if (ident := self._id(target))}
        ids |= {documents[0] for documents in self._named.values() if len(documents) == 1}
        columns = (Document.id, Document.patient_id, Document.stored_at, Document.content_type,
                   Document.entered_in_error, Document.superseded, Document.version)  # fmt: skip
        mine = select(*columns).where(Document.organization_id == organization_id)
        rows = session.execute(mine.where(linking.one_of(session, Document.id, ids))) if ids else ()
        self.standing = {row[0]: store.OldDocument(*row) for row in rows}

    def replaced_by(self, new: uuid.UUID, document: GivenDocument, patient: uuid.UUID | None) -> list[uuid.UUID]:
        """The documents that this one replaces. Raises FhirError 422."""
        found: list[uuid.UUID] = []
        for target in document.related:
            at = f"{document.at}{DOCUMENT}.relatesTo[{target.number}].target"
            ident = self._id(target) or (self._by_identifier(target, at) if target.replaces else None)
            text = self._references.get(target.reference, target.reference)
            if not target.replaces and not text.startswith(_LOCAL):
                continue  # what is elsewhere, or only described, is kept as it was said
            if ident is None or ident == new or not (ident in self.standing or ident in self._new):
                raise FhirError(422, "Dieses Dokument gibt es in dieser Organisation nicht.", f"{at}.reference")
            if target.replaces:
                self._refuse(document, ident, patient, at)
                found.append(ident)
        return found

    def _id(self, target: RelatedDocument) -> uuid.UUID | None:
        match = TARGET.fullmatch(self._references.get(target.reference, target.reference))
        return uuid.UUID(match[1]) if match else None

    def _by_identifier(self, target: RelatedDocument, at: str) -> uuid.UUID | None:
        if target.reference or not target.identifier:
            return None
        known = self._named.get(word_of(*target.identifier), [])
        if len(known) != 1:
            said = "Kein Dokument" if not known else "Mehr als ein Dokument"
            raise FhirError(422, f"{said} dieser Organisation hat diese Kennung.", f"{at}.identifier")
        return known[0]

    def _refuse(self, document: GivenDocument, ident: uuid.UUID, patient: uuid.UUID | None, at: str) -> None:
        if document.status is not Status.CURRENT:
            raise FhirError(422, "Ein fehlerhaftes Dokument ersetzt keines.", f"{document.at}{DOCUMENT}.status")
        old = self.standing.get(ident)
        if old is not None and old.patient_id and patient and old.patient_id != patient:
            raise FhirError(422, "Das ersetzte Dokument gehört zu jemand anderem.", at)


def refuse_taken(given: GivenPatient, taken: Mapping[linking.Pair, uuid.UUID]) -> None:
    """Raise FhirError 409 where somebody else has an identifier of the patient."""
    for number, pair in enumerate(given.pairs):
        if pair in taken:
            where = f"{given.at}Patient.identifier[{number}]"
            raise FhirError(409, "Eine Patientin oder ein Patient hat diese Kennung schon.", where)
