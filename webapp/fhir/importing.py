"""Documents, patients and imaging studies come in from files with one JSON object a line.

A line is stored or reported; a bad one stops nothing. A repeated import skips the documents that are already in: each
carries a key made of its line (and of how many equal lines stood before it), unique in the organization. So an import
that was killed, or whose bad lines were mended, is simply run again.
"""

import hashlib
import mimetypes
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from sqlalchemy import select
from sqlalchemy.orm import Session

from clinical.errors import BefundError
from webapp.extensions import db
from webapp.fhir import dates, params, store
from webapp.fhir.models import SYSTEM_LENGTH, TITLE_LENGTH, VALUE_LENGTH, Document, ImagingStudy, Patient, Status
from webapp.fhir.models import PatientIdentifier as StoredIdentifier
from webapp.fhir.titles import clean_content_type, clean_title
from webapp.storage import Files

BATCH = 200  # documents a transaction: few enough that others wait little for the organization's lock


class BadLine(BefundError):
    """A line that cannot be stored. The text names fields and expectations, never the line's values."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a line: `stored`, `known` (already in) or `bad` with the reason."""

    line: int
    kind: str
    reason: str = ""


class DocumentLine(BaseModel):
    """One line of a document manifest; `path` is relative to the manifest."""

    model_config = ConfigDict(extra="forbid")

    path: str = Field(min_length=1)
    title: str = ""
    content_type: str = ""
    patient: str = Field(default="", max_length=SYSTEM_LENGTH + VALUE_LENGTH)
    stored_at: str = ""
    status: Status = Status.CURRENT

    @field_validator("path", "title", "patient")
    @classmethod
    def _no_nul(cls, value: str) -> str:
        if "\0" in value:
            raise ValueError("holds U+0000")
        return value


@dataclass(frozen=True, slots=True)
class Importer:
    """Imports into one organization."""

    organization: uuid.UUID
    files: Files

    def documents(self, manifest: Path) -> Iterator[Outcome]:
        """Store the documents a manifest names; yields what became of each line, batch by batch, once committed."""
        with manifest.open(encoding="utf-8", errors="replace") as lines:
            keyed = _keyed(lines)
            while batch := list(islice(keyed, BATCH)):
                yield from self._batch(manifest.parent, batch)

    def patients(self, source: Path) -> Iterator[Outcome]:
        """Store or renew FHIR Patients. One with a known id or identifier is the patient we have."""
        yield from self._resources(source, self._patient)

    def studies(self, source: Path) -> Iterator[Outcome]:
        """Store FHIR ImagingStudies; `subject` names a patient of ours by id or by identifier."""
        yield from self._resources(source, self._study)

    def _batch(self, folder: Path, batch: list[tuple[int, str, bytes]]) -> Iterator[Outcome]:
        keys = [key for _, _, key in batch]
        mine = Document.organization_id == self.organization
        known = set(db.session.scalars(select(Document.import_key).where(mine, Document.import_key.in_(keys))))
        outcomes, new = [], []
        for number, text, key in batch:
            if key in known:
                outcomes.append(Outcome(number, "known"))
                continue
            try:
                new.append((number, self._document(folder, text, key)))
            except BadLine as error:
                outcomes.append(Outcome(number, "bad", str(error)))
        yield from sorted(outcomes + self._store(new), key=lambda outcome: outcome.line)

    def _store(self, new: list[tuple[int, store.NewDocument]]) -> list[Outcome]:
        if not new:
            return []
        try:
            with db.write() as session:
                store.store_documents(session, self.organization, [document for _, document in new])
        except store.ImpossibleTime as error:
            if len(new) == 1:
                return [Outcome(new[0][0], "bad", str(error))]
            return [outcome for item in new for outcome in self._store([item])]
        return [Outcome(number, "stored") for number, _ in new]

    def _document(self, folder: Path, text: str, key: bytes) -> store.NewDocument:
        line = _validated(text)
        patient, system, value = self._subject(line.patient)
        stored_at = dates.parse_bound(line.stored_at) if line.stored_at else dates.ALWAYS
        if stored_at is None:
            raise BadLine("stored_at is no date", "an instant like 2026-03-05T10:20:30.400500Z")
        title = clean_title(line.title or Path(line.path).name)[:TITLE_LENGTH]
        guessed = line.content_type or mimetypes.guess_type(line.path)[0] or ""
        try:
            with (folder / line.path).open("rb") as source:
                file = self.files.put(source)
        except OSError as error:
            raise BadLine(f"path cannot be read ({error.strerror})", "a file, relative to the manifest") from None
        return store.NewDocument(
            file, title, clean_content_type(guessed), patient, system, value, line.status, stored_at.start, key
        )

    def _subject(self, text: str) -> tuple[uuid.UUID | None, str | None, str | None]:
        """Linked patient, and the system and value of the tag."""
        if not text:
            return None, None, None
        if params.UUID.fullmatch(text):
            patient = db.session.get(Patient, uuid.UUID(text))
            if patient is None or patient.organization_id != self.organization:
                raise BadLine("patient is unknown", "a patient of this organization", "import patients first")
            return patient.id, None, None
        found = params.identifier(text)
        if found is None or found.value is None or len(found.value) > VALUE_LENGTH:
            raise BadLine("patient is no identifier", "system|value or a patient's UUID")
        system = found.system or ""
        return store.find_patient(db.session, self.organization, system, found.value), system, found.value

    def _resources(self, source: Path, take: Any) -> Iterator[Outcome]:
        with source.open(encoding="utf-8", errors="replace") as lines:
            for number, text, _ in _keyed(lines):
                try:
                    with db.write() as session:
                        take(session, text)
                except BadLine as error:
                    yield Outcome(number, "bad", str(error))
                else:
                    yield Outcome(number, "stored")

    def _patient(self, session: Session, text: str) -> None:
        resource = _resource(text, "Patient")
        pairs = [(item.get("system", ""), item["value"]) for item in resource.get("identifier", []) if "value" in item]
        if any(len(system) > SYSTEM_LENGTH or len(value) > VALUE_LENGTH for system, value in pairs):
            raise BadLine("an identifier is too long", f"at most {VALUE_LENGTH} characters, system {SYSTEM_LENGTH}")
        patient = self._known_patient(session, resource.pop("id", ""), pairs)
        stored_at = store.stamp(session, self.organization)
        patient.stored_at, patient.resource = stored_at, resource
        have = {(item.system, item.value): item for item in patient.identifiers}
        patient.identifiers = [
            have.get(pair) or StoredIdentifier(organization_id=self.organization, system=pair[0], value=pair[1])
            for pair in dict.fromkeys(pairs)
        ]
        session.add(patient)

    def _known_patient(self, session: Session, given_id: str, pairs: list[tuple[str, str]]) -> Patient:
        """The patient we have under that id or one of these identifiers, else a new one."""
        ours = uuid.UUID(given_id) if params.UUID.fullmatch(given_id) else None
        owners = {store.find_patient(session, self.organization, *pair) for pair in pairs} - {None}
        found = session.get(Patient, ours) if ours else None
        if found is not None and found.organization_id != self.organization:
            raise BadLine("the id is taken", "an id of its own, or none")
        if found is not None:
            owners.add(found.id)
        if len(owners) > 1:
            raise BadLine("the identifiers belong to several patients", "those of one person")
        for owner in owners:
            return session.get_one(Patient, owner)
        return Patient(id=ours or uuid.uuid4(), organization_id=self.organization)

    def _study(self, session: Session, text: str) -> None:
        resource = _resource(text, "ImagingStudy")
        patient = self._study_patient(session, resource.pop("subject", {}))
        given_id = resource.pop("id", "")
        ours = uuid.UUID(given_id) if params.UUID.fullmatch(given_id) else uuid.uuid4()
        study = session.get(ImagingStudy, ours)
        if study is not None and study.organization_id != self.organization:
            raise BadLine("the id is taken", "an id of its own, or none")
        study = study or ImagingStudy(id=ours, organization_id=self.organization)
        study.patient_id, study.resource = patient, resource
        store.store_studies(session, [study])

    def _study_patient(self, session: Session, subject: dict[str, Any]) -> uuid.UUID:
        reference = str(subject.get("reference", "")).removeprefix("Patient/")
        if params.UUID.fullmatch(reference):
            patient = session.get(Patient, uuid.UUID(reference))
            if patient is not None and patient.organization_id == self.organization:
                return patient.id
        token = subject.get("identifier", {})
        found = token.get("value") and store.find_patient(
            session, self.organization, token.get("system", ""), token["value"]
        )
        if not found:
            raise BadLine("subject names no patient of this organization", "reference Patient/<uuid> or an identifier")
        return uuid.UUID(str(found))


def _keyed(lines: Iterable[str]) -> Iterator[tuple[int, str, bytes]]:
    """Line number, text and import key of each line that is not blank."""
    seen: Counter[bytes] = Counter()
    for number, text in enumerate(lines, start=1):
        if text.strip():
            digest = hashlib.sha256(text.strip().encode()).digest()
            yield number, text, hashlib.sha256(digest + str(seen[digest]).encode()).digest()
            seen[digest] += 1


def _validated(text: str) -> DocumentLine:
    try:
        return DocumentLine.model_validate_json(text)
    except ValidationError as error:
        problems = {f"{'.'.join(map(str, item['loc'])) or 'line'}: {item['msg']}" for item in error.errors()}
        raise BadLine("; ".join(sorted(problems)), "path, title, content_type, patient, stored_at, status") from None


def _resource(text: str, kind: str) -> dict[str, Any]:
    """The FHIR resource on a line, once fhir.resources (R4B) finds it valid; without `meta`."""
    from fhir.resources.R4B.imagingstudy import ImagingStudy as ValidStudy  # slow to import: 1 s
    from fhir.resources.R4B.patient import Patient as ValidPatient

    try:
        resource = orjson.loads(text)
        (ValidPatient if kind == "Patient" else ValidStudy).model_validate(resource)
    except ValidationError as error:
        problems = {f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors()[:5]}
        raise BadLine("; ".join(sorted(problems)), f"a FHIR R4 {kind}") from None
    except ValueError:
        raise BadLine("the line is no JSON", f"a FHIR R4 {kind}") from None
    if not isinstance(resource, dict) or resource.pop("resourceType", kind) != kind or "\\u0000" in text:
        raise BadLine("the line is another resource", f"a FHIR R4 {kind}")
    resource.pop("meta", None)
    return resource
