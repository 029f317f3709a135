"""Documents are linked to patients: references and identifiers become patients of an organization, now or when they
arrive.

A document may come before its patient, which is the normal order where letters overtake admission messages. It is then
tagged with the external identifier and linked as soon as a patient with that identifier is stored, or on demand
(`flask --app webapp patients relink`). An identifier without a system links where exactly one patient of the
organization has that value under any system; where several have it, it links to none.
"""

import re
import uuid
from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, bindparam, func, or_, select, text, update
from sqlalchemy.dialects import sqlite
from sqlalchemy.orm import Session

from webapp.fhir import clock
from webapp.fhir.models import VALUE_LENGTH, Document, Patient, PatientIdentifier, Status
from webapp.fhir.searching.conditions import SOME, Binds
from webapp.fhir.searching.readers import identifier
from webapp.fhir.searching.reading import listed
from webapp.fhir.searching.wanted import UUID

_REFERENCE = re.compile(r"(?:https?://[^?#\s]+/)?Patient/([A-Za-z0-9.\-]{1,64})(?:/_history/[^/\s]+)?")
FEW = 20  # values that any plan finds quickly
Pair = tuple[str, str]


class Subject(NamedTuple):
    """The subject of a document: the linked patient, or the external identifier it is tagged with, or neither."""

    patient: uuid.UUID | None
    system: str | None
    value: str | None


class Stated(NamedTuple):
    """The subject of a document as it is stated: a reference, else system and value of an identifier, else nobody."""

    reference: str
    tag: Pair | None


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


def find_patients(session: Session, organization: uuid.UUID, pairs: Iterable[Pair]) -> dict[Pair, uuid.UUID]:
    """The patients with these external identifiers, by one statement; without a system, the only one with the value."""
    wanted = set(pairs)
    found = owners_of(session, organization, wanted)
    alone: dict[str, set[uuid.UUID]] = {}
    for (_, value), patient in found.items():
        alone.setdefault(value, set()).add(patient)
    for value, patients in alone.items():
        if len(patients) == 1:
            found.setdefault(("", value), patients.pop())
    return {pair: found[pair] for pair in wanted if pair in found}


def owners_of(session: Session, organization: uuid.UUID, pairs: Iterable[Pair]) -> dict[Pair, uuid.UUID]:
    """The patients that have one of the values, by the system and value that each is known by, by one statement."""
    values = {value for _, value in pairs}
    if not values:
        return {}
    session.flush()  # a plain statement sees what was added to the session only then
    given = {"organization": organization, "values_0": _given(session, values)}
    rows = session.connection().execute(_owners_among(clock.dialect(session) is sqlite), given)
    return {(system, value): patient for value, system, patient in rows}


def known_patients(session: Session, organization: uuid.UUID, references: Iterable[str]) -> dict[str, uuid.UUID]:
    """The patients of this organization that references name, by one statement."""
    named = {text: own_id(organization, "Patient", given) for text in references if (given := referenced_id(text))}
    mine = select(Patient.id).where(Patient.organization_id == organization)
    there = set(session.scalars(mine.where(one_of(session, Patient.id, named.values())))) if named else set()
    return {text: ident for text, ident in named.items() if ident in there}


def stated(text: str) -> Stated:
    """The subject of a document as a person or a manifest states it. Raises ValueError for anything else."""
    if not text or referenced_id(text):
        return Stated(text, None)
    found = identifier(text)
    if found is None or found.value is None or "\0" in text or len(found.value) > VALUE_LENGTH:
        raise ValueError  # no identifier that can be kept
    return Stated("", (found.system or "", found.value))


class Subjects:
    """The subjects of documents, looked up for all of them at once."""

    def __init__(self, session: Session, organization: uuid.UUID, all_stated: Iterable[Stated]) -> None:
        said = set(all_stated)
        self._known = known_patients(session, organization, (one.reference for one in said if one.reference))
        self._owners = find_patients(session, organization, (one.tag for one in said if one.tag))

    def of(self, one: Stated) -> Subject:
        """The linked patient, and the identifier it is tagged with. Raises UnknownPatient."""
        if not one.reference:
            return Subject(self._owners.get(one.tag), *one.tag) if one.tag else Subject(None, None, None)
        if one.reference not in self._known:
            raise UnknownPatient
        return Subject(self._known[one.reference], None, None)


def link_waiting(session: Session, organization: uuid.UUID, pairs: Iterable[Pair]) -> int:
    """Link the documents that are tagged with one of these values and wait for a patient who has it by now; how many.

    By a statement for what waits, one for whose it is, and one for each tag that documents wait with.
    """
    clock.lock(session, organization)  # before the documents, as whoever marks one does
    values = {value for _, value in pairs}
    named = one_of(session, Document.external_value, values)
    waiting = _tags(session, and_(_waits(organization), named)) if values else []
    owners, linked = find_patients(session, organization, waiting), 0
    for (system, value), patient in owners.items():
        tagged = Document.external_system == system
        tag = tagged if system else or_(tagged, Document.external_system.is_(None))
        link = update(Document).where(_waits(organization), Document.external_value == value, tag)
        link = link.values(patient_id=patient, version=Document.version + 1)
        found = session.execute(
            link.returning(Document.id, Document.version, Document.entered_in_error, Document.superseded)
        ).all()
        told = [clock.Change(ident, version, Status.of(*facts)) for ident, version, *facts in found]
        clock.tell(session, organization, told)
        linked += len(found)
    return linked


def relink(session: Session, organization: uuid.UUID) -> tuple[int, int]:
    """Link every document of an organization whose identifier a patient has by now: how many were tagged only and are
    linked now, and how many still are not."""
    linked = link_waiting(session, organization, _tags(session, _waits(organization)))
    left = session.scalar(select(func.count()).select_from(Document).where(_waits(organization)))
    return linked, int(left or 0)


def _waits(organization: uuid.UUID) -> ColumnElement[bool]:
    """A document is tagged and has no patient."""
    return and_(
        Document.organization_id == organization, Document.patient_id.is_(None), Document.external_value.is_not(None)
    )


def _tags(session: Session, where: ColumnElement[bool]) -> list[Pair]:
    """The different tags of documents; none has no value."""
    tags = select(func.coalesce(Document.external_system, ""), Document.external_value).where(where).distinct()
    return [(system, value or "") for system, value in session.execute(tags)]


def one_of(session: Session, column: Any, values: Iterable[Any]) -> ColumnElement[bool]:
    """The column holds one of the values, which are one parameter however many they are."""
    held = Binds("values", clock.dialect(session) is sqlite).equal(column, SOME)
    return held.params(values_0=_given(session, values))


def _given(session: Session, values: Iterable[Any]) -> Any:
    """The values as one parameter. Of many PostgreSQL has to know when it plans: it then hashes them, where the plan
    that it keeps of a statement compares each row with each of them."""
    arrays, some = clock.dialect(session) is not sqlite, list(values)
    if len(some) > FEW and arrays:
        session.execute(text("SET LOCAL plan_cache_mode = force_custom_plan"))
    return listed(some, not arrays)


@cache
def _owners_among(is_sqlite: bool) -> Select[str, str, uuid.UUID]:
    """Composed once: it is asked with every document that is posted."""
    owned = select(PatientIdentifier.value, PatientIdentifier.system, PatientIdentifier.patient_id)
    mine = PatientIdentifier.organization_id == bindparam("organization")
    return owned.where(mine, Binds("values", is_sqlite).equal(PatientIdentifier.value, SOME))
