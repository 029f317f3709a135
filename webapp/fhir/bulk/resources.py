"""Patients and imaging studies come in from files with one FHIR R4 resource a line.

Importing again renews what is there: a resource is met by its id (a UUID stays, any other id becomes a UUID that is
always the same and stands as a note in the report), by its identifiers, or by being equal. What has not changed is left
alone, its `meta.lastUpdated` too.
"""

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.extensions import db
from webapp.fhir import linking, store
from webapp.fhir.bulk.lines import BadLine, LineResult, numbered, resource_of
from webapp.fhir.details import Resource
from webapp.fhir.models import ImagingStudy, Patient
from webapp.fhir.searching.wanted import UUID
from webapp.fhir.writing.bounds import beyond

Kept = TypeVar("Kept", Patient, ImagingStudy)


@dataclass(frozen=True, slots=True)
class ResourceImporter:
    """Imports into one organization."""

    organization: uuid.UUID

    def patients(self, source: Path) -> Iterator[LineResult]:
        """Store or renew FHIR Patients; documents that were waiting for one of their identifiers are linked."""
        yield from self._each(source, self._patient)

    def studies(self, source: Path) -> Iterator[LineResult]:
        """Store or renew FHIR ImagingStudies; `subject` names a patient of ours by reference or by identifier."""
        yield from self._each(source, self._study)

    def _each(self, source: Path, take: Callable[[Session, int, str], LineResult]) -> Iterator[LineResult]:
        with source.open(encoding="utf-8", errors="replace") as lines:
            for number, text in numbered(lines):
                try:
                    with db.write() as session:
                        result = take(session, number, text)
                except BadLine as error:
                    yield LineResult(number, "bad", str(error))
                else:
                    yield result

    def _patient(self, session: Session, number: int, text: str) -> LineResult:
        resource = resource_of(text, "Patient")
        given = resource.pop("id", "")
        if fault := beyond(resource):
            found = f"{fault.element or 'the patient'} has {fault.found} {fault.unit}"
            raise BadLine(found, f"at most {fault.most}")
        pairs = [(item.get("system", ""), item["value"]) for item in resource.get("identifier", []) if "value" in item]
        patient = self._known_patient(session, given, pairs)
        have = {(item.system, item.value) for item in patient.identifiers}
        renewed = patient.stored_at is None or patient.resource != resource or have != set(pairs)
        if renewed:
            store.renew(session, patient, resource, pairs)
        linked = linking.link_waiting(session, self.organization, pairs)
        kind = "stored" if renewed else "known"
        return LineResult(number, kind, documents=linked, note=_renamed(given, patient.id))

    def _known_patient(self, session: Session, given: str, pairs: list[tuple[str, str]]) -> Patient:
        """The patient we have under that id or one of these identifiers, else a new one."""
        ours, found = self._of_id(session, Patient, given)
        owned = linking.owners_of(session, self.organization, pairs)
        owners = {owned[pair] for pair in pairs if pair in owned} | ({found.id} if found else set())
        if len(owners) > 1:
            raise BadLine("the identifiers belong to several patients", "those of one person")
        for owner in owners:
            return session.get_one(Patient, owner)
        return Patient(id=ours, organization_id=self.organization)

    def _study(self, session: Session, number: int, text: str) -> LineResult:
        resource = resource_of(text, "ImagingStudy")
        patient = self._study_patient(session, resource.pop("subject", {}))
        given = resource.pop("id", "")
        study = self._known_study(session, given, patient, resource)
        if study.stored_at is not None and study.resource == resource and study.patient_id == patient:
            return LineResult(number, "known", note=_renamed(given, study.id))
        study.patient_id, study.resource = patient, resource
        study.stored_at = store.stamp(session, self.organization)
        session.add(study)
        return LineResult(number, "stored", note=_renamed(given, study.id))

    def _known_study(self, session: Session, given: str, patient: uuid.UUID, resource: Resource) -> ImagingStudy:
        """The study we have under that id, else the patient's with one of its identifiers or equal to it, else new."""
        ours, found = self._of_id(session, ImagingStudy, given)
        if found is not None:
            return found
        same = select(ImagingStudy).where(ImagingStudy.patient_id == patient)
        for study in session.scalars(same.order_by(ImagingStudy.stored_at)):
            if _identifiers(study.resource) & _identifiers(resource) or study.resource == resource:
                return study
        return ImagingStudy(id=ours, organization_id=self.organization)

    def _of_id(self, session: Session, kind: type[Kept], given: str) -> tuple[uuid.UUID, Kept | None]:
        """The id under which that of a line is kept, a new one for none, and what we have under it."""
        ours = linking.own_id(self.organization, kind.__name__, given) if given else uuid.uuid4()
        found = session.get(kind, ours) if given else None
        if found is not None and found.organization_id != self.organization:
            raise BadLine("the id is taken", "an id of its own, or none")
        return ours, found

    def _study_patient(self, session: Session, subject: Resource) -> uuid.UUID:
        known = [*linking.known_patients(session, self.organization, [str(subject.get("reference", ""))]).values()]
        token = subject.get("identifier", {})
        if not known and token.get("value"):
            pair = token.get("system", ""), token["value"]
            known = [*linking.find_patients(session, self.organization, [pair]).values()]
        if not known:
            raise BadLine("subject names no patient of this organization", "reference Patient/<id> or an identifier")
        return known[0]


def _identifiers(resource: Resource) -> set[tuple[str, str]]:
    """System and value of each identifier, the DICOM study instance UID among them."""
    return {(item.get("system", ""), item["value"]) for item in resource.get("identifier", []) if "value" in item}


def _renamed(given: str, stored: uuid.UUID) -> str:
    """A note for the operator where an id could not be kept: ids here are UUIDs."""
    if not given or (UUID.fullmatch(given) and uuid.UUID(given) == stored):
        return ""
    return f"its id is {stored} here"
