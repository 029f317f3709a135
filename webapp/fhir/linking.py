"""Whose document it is: references and identifiers become patients of an organization, now or when they arrive.

A document may come before its patient, which is the normal order where letters overtake admission messages. It is then
tagged with the external identifier and linked as soon as a patient with that identifier is stored, or on demand
(`flask --app webapp patients relink`). An identifier without a system links where exactly one patient of the
organization has that value under any system; where several have it, it links to none.
"""

import re
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from sqlalchemy import and_, bindparam, func, or_, select, tuple_, update
from sqlalchemy.orm import Session

from webapp.fhir import changes, clock
from webapp.fhir.models import VALUE_LENGTH, Document, Patient, PatientIdentifier
from webapp.fhir.searching.params import UUID, identifier

_REFERENCE = re.compile(r"(?:https?://[^?#\s]+/)?Patient/([A-Za-z0-9.\-]{1,64})(?:/_history/[^/\s]+)?")
PAIRS_AT_ONCE = 400
"""Identifiers looked up by one statement: two bound values each, below SQLite's smallest limit of 999."""

Pair = tuple[str, str]
_OWNERS = select(PatientIdentifier.value, PatientIdentifier.system, PatientIdentifier.patient_id).where(
    PatientIdentifier.organization_id == bindparam("organization"),
    PatientIdentifier.value.in_(bindparam("values", expanding=True)),
)


@dataclass(frozen=True, slots=True)
class Relinked:
    """Documents that were tagged only: how many are linked now, and how many still are not."""

    linked: int
    tagged: int


class Subject(NamedTuple):
    """Whose a document is: the patient it is linked to, or the external identifier it is tagged with, or neither."""

    patient: uuid.UUID | None
    system: str | None
    value: str | None


class UnknownPatient(ValueError):
    """A reference names nobody of the organization."""


def referenced_id(text: str) -> str | None:
    """The id that a reference to a Patient names: `<uuid>`, `Patient/<id>`, absolute, or `urn:uuid:<uuid>`."""
    bare = text.removeprefix("urn:uuid:")
    if UUID.fullmatch(bare):
        return bare.lower()
    match = _REFERENCE.fullmatch(text)
    return match[1] if match else None


def own_id(organization: uuid.UUID, kind: str, given: str) -> uuid.UUID:
    """The id under which a resource with the id `given` is stored: the same one, or one made of it where it is no UUID,
    always the same for the same organization, so that importing again meets what is there."""
    return uuid.UUID(given) if UUID.fullmatch(given) else uuid.uuid5(organization, f"{kind}/{given}")


def find_patient(session: Session, organization: uuid.UUID, system: str, value: str) -> uuid.UUID | None:
    """The patient with this external identifier; without a system, the only one with that value."""
    owners = session.execute(
        select(PatientIdentifier.system, PatientIdentifier.patient_id).where(
            PatientIdentifier.organization_id == organization,
            PatientIdentifier.value == value,
            *([PatientIdentifier.system == system] if system else []),
        )
    ).all()
    exact = [owner for owned, owner in owners if owned == system]
    owners_of_value = {owner for _, owner in owners}
    if exact:
        return exact[0]
    return owners_of_value.pop() if len(owners_of_value) == 1 else None


def find_patients(session: Session, organization: uuid.UUID, pairs: Iterable[Pair]) -> dict[Pair, uuid.UUID]:
    """As `find_patient` for many identifiers (system, value), by one statement for some hundred of them."""
    wanted = set(pairs)
    rest = iter({value for _, value in wanted})
    owners: dict[str, set[tuple[str, uuid.UUID]]] = {}
    connection = session.connection()
    while some := list(islice(rest, PAIRS_AT_ONCE)):
        for value, system, patient in connection.execute(_OWNERS, {"organization": organization, "values": some}):
            owners.setdefault(value, set()).add((system, patient))
    found = {(system, value): patient for value, having in owners.items() for system, patient in having}
    for value, having in owners.items():
        patients = {patient for _, patient in having}
        if len(patients) == 1:
            found.setdefault(("", value), patients.pop())
    return {pair: found[pair] for pair in wanted if pair in found}


def known_patient(session: Session, organization: uuid.UUID, reference: str) -> uuid.UUID | None:
    """The patient of this organization that a reference names, None where there is none of that id."""
    given = referenced_id(reference)
    found = session.get(Patient, own_id(organization, "Patient", given)) if given else None
    return found.id if found is not None and found.organization_id == organization else None


def tag_of(text: str) -> Pair | None:
    """System and value of an identifier; None where it is none that can be kept."""
    found = identifier(text)
    if found is None or found.value is None or "\0" in text or len(found.value) > VALUE_LENGTH:
        return None
    return found.system or "", found.value


def subject(
    session: Session, organization: uuid.UUID, text: str, owners: Mapping[Pair, uuid.UUID] | None = None
) -> Subject:
    """Whose a document is by what a person or a manifest says of it: a reference, an identifier, or "" for nobody's.

    `owners`: whom identifiers belong to, where that was looked up for many at once (`find_patients`).
    Raises UnknownPatient for a reference to nobody of the organization, ValueError for what is neither of the two.
    """
    if not text:
        return Subject(None, None, None)
    if referenced_id(text):
        patient = known_patient(session, organization, text)
        if patient is None:
            raise UnknownPatient
        return Subject(patient, None, None)
    tag = tag_of(text)
    if tag is None:
        raise ValueError
    return Subject(find_patient(session, organization, *tag) if owners is None else owners.get(tag), *tag)


def link_waiting(session: Session, organization: uuid.UUID, pairs: Iterable[Pair]) -> int:
    """Link the documents that are tagged with these identifiers (system, value) and have no patient; how many."""
    clock.lock(session, organization)  # before the documents, as whoever marks one does
    linked = 0
    for system, value in dict.fromkeys(pairs):
        patient = find_patient(session, organization, system, value)
        if patient is None:
            continue
        without_system = find_patient(session, organization, "", value) == patient
        tags = [Document.external_system == system]
        tags += [Document.external_system == "", Document.external_system.is_(None)] if without_system else []
        waiting = and_(
            Document.organization_id == organization,
            Document.external_value == value,
            Document.patient_id.is_(None),
            or_(*tags),
        )
        link = update(Document).where(waiting).values(patient_id=patient)
        found = session.execute(link.returning(Document.id, Document.entered_in_error)).all()
        changes.tell(session, organization, [(ident, wrong) for ident, wrong in found])
        linked += len(found)
    return linked


def relink(session: Session, organization: uuid.UUID) -> Relinked:
    """Link every document of an organization whose identifier a patient has by now."""
    waiting = and_(
        Document.organization_id == organization, Document.patient_id.is_(None), Document.external_value.is_not(None)
    )
    tags = select(func.coalesce(Document.external_system, ""), Document.external_value).where(waiting).distinct()
    pairs: list[Pair] = [(system, value) for system, value in session.execute(tags) if value is not None]
    linked = 0
    for start in range(0, len(pairs), PAIRS_AT_ONCE):
        some = pairs[start : start + PAIRS_AT_ONCE]
        linked += link_waiting(session, organization, _with_patients(session, organization, some))
    left = session.scalar(select(func.count()).select_from(Document).where(waiting))
    return Relinked(linked, int(left or 0))


def _with_patients(session: Session, organization: uuid.UUID, pairs: list[Pair]) -> list[Pair]:
    """Those of the tags whose value some patient has."""
    owned = tuple_(PatientIdentifier.value)
    values = [(value,) for _, value in pairs]
    mine = PatientIdentifier.organization_id == organization
    known = set(session.scalars(select(PatientIdentifier.value).where(mine, owned.in_(values))))
    return [pair for pair in pairs if pair[1] in known]
