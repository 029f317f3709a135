"""A transaction Bundle: documents with their files and patients, all stored or none (FHIR R4, http, section 3.1.0.11).

After IHE MHD's Provide Document Bundle (ITI-65): its SubmissionSet, a List, is taken and not kept, which its entry's
answer says; a reference to another entry's `fullUrl` leads to what that entry has become.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from webapp.fhir.answers import FhirError
from webapp.fhir.details import Resource
from webapp.fhir.files import clean_content_type
from webapp.fhir.resources import outcome
from webapp.fhir.writing import given, storing
from webapp.fhir.writing.given import GivenDocument, GivenPatient
from webapp.fhir.writing.storing import Result, SentDocument, SentPatient
from webapp.storage import Files, Stored

MOST_ENTRIES = 200  # as many as an import stores at once: others wait for the organization's lock that long
MOST_ROWS = 4_000  # of indexes, for identifiers and words of all entries: 15 for each of 200 documents are 3,000
KINDS = ("Binary", "Patient", "DocumentReference", "List")


File = tuple[bytes, str]
"""A file of the bundle, inline in a document or a Binary, and its type."""


@dataclass(frozen=True, slots=True)
class BundleEntry:
    """One entry: its number, `fullUrl`, resource, condition, and how faults in it are named."""

    number: int
    name: str
    kind: str
    resource: Resource
    condition: storing.Condition | None
    at: str


class Transaction:
    """A bundle that was read and checked; `store` then does it. Raises FhirError for everything that is wrong."""

    def __init__(self, bundle: Resource) -> None:
        listed = bundle.get("entry", [])
        if bundle.get("type") != "transaction":
            raise FhirError(400, "Erwartet wird ein Bundle mit type transaction.", "Bundle.type")
        if not isinstance(listed, list) or not 0 < len(listed) <= MOST_ENTRIES:
            raise FhirError(400, f"Erwartet werden 1 bis {MOST_ENTRIES} Einträge.", "Bundle.entry")
        self.entries = [_entry(number, item) for number, item in enumerate(listed)]
        self.kinds = {entry.kind for entry in self.entries} - {"List"}
        self.files: dict[str, File] = {}
        self._attachments: dict[int, Resource] = {}
        self._documents: dict[int, GivenDocument] = {}
        self._patients: dict[int, GivenPatient] = {}
        for entry in self.entries:
            self._check(entry)
        self._require_files()
        self._bound()

    def documents(self, puts: Mapping[str, Stored]) -> list[SentDocument]:
        """The documents with their files, once these are put. Raises FhirError 422 where a file is another than its
        document says."""
        new = []
        for entry in self._of("DocumentReference"):
            name = self._file_name(entry)
            (body, content_type), put = self.files[name], puts[name]
            given.check_file(self._attachments[entry.number], put.digest, given.sha1_of(body), put.size, entry.at)
            document = self._documents[entry.number]
            new.append(SentDocument(document, put, content_type, entry.condition, entry.name))
        return new

    def store(
        self, session: Session, organization_id: uuid.UUID, documents: Sequence[SentDocument], files: Files
    ) -> dict[int, Result]:
        """Patients first, so that documents find them; by number of the entry."""
        people = [SentPatient(self._patients[entry.number], entry.condition) for entry in self._of("Patient")]
        patients = storing.put_patients(session, organization_id, people)
        results = {entry.number: result for entry, result in zip(self._of("Patient"), patients, strict=True)}
        references = {self.entries[number].name: f"Patient/{result.id}" for number, result in results.items()}
        stored = storing.put_documents(session, organization_id, documents, files, references)
        results |= {entry.number: one for entry, one in zip(self._of("DocumentReference"), stored, strict=True)}
        return results | self._binaries(results)

    def answer(self, base: str, results: Mapping[int, Result]) -> Resource:
        """A transaction-response with one entry for each, in their order."""
        listed: list[Resource] = []
        for entry in self.entries:
            result = results.get(entry.number)
            if result is None:
                said = "Wurde gelesen und wird nicht aufbewahrt."
                told = outcome("informational", said, entry.at + entry.kind, severity="information")
                listed.append({"response": {"status": "200 OK", "outcome": told}})
            else:
                status = "201 Created" if result.created else "200 OK"
                where = f"{base}/{result.kind}/{result.id}"
                listed.append({"response": {"status": status, "location": where}})
        return {"resourceType": "Bundle", "type": "transaction-response", "entry": listed}

    def _of(self, kind: str) -> list[BundleEntry]:
        return [entry for entry in self.entries if entry.kind == kind]

    def _check(self, entry: BundleEntry) -> None:
        if entry.kind == "Binary":
            body = given.decoded(entry.resource.get("data", ""), f"{entry.at}Binary.data")
            content_type = clean_content_type(str(entry.resource.get("contentType", "")))
            self.files[entry.name] = body, content_type
        elif entry.kind == "DocumentReference":
            data = given.taken_data(entry.resource, entry.at)
            resource = given.checked(entry.resource, entry.kind, entry.at)
            self._attachments[entry.number] = given.attachment_of(resource, entry.at)
            self._documents[entry.number] = given.document(resource, entry.at, inline=data is not None)
            if data is not None:
                self.files[f"inline {entry.number}"] = data, ""
        elif entry.kind == "Patient":
            self._patients[entry.number] = given.patient(entry.resource, entry.at)

    def _file_name(self, entry: BundleEntry) -> str:
        inline = f"inline {entry.number}"
        if inline in self.files:
            return inline
        return str(self._attachments[entry.number].get("url", ""))

    def _require_files(self) -> None:
        """Each document has a file; and one that nobody refers to could never be read."""
        named = {self._file_name(entry): entry for entry in self._of("DocumentReference")}
        for name, entry in named.items():
            if name not in self.files:
                where = f"{entry.at}DocumentReference.content[0].attachment.url"
                raise FhirError(422, "Erwartet wird data oder das fullUrl eines Binary in diesem Bundle.", where)
        for entry in self._of("Binary"):
            if entry.name not in named:
                raise FhirError(422, "Kein Dokument in diesem Bundle verweist auf diese Datei.", f"{entry.at}Binary")

    def _bound(self) -> None:
        """Others wait while the rows are written."""
        rows = sum(len(document.words) for document in self._documents.values())
        rows += sum(len(patient.words) + len(patient.pairs) for patient in self._patients.values())
        if rows > MOST_ROWS:
            raise FhirError(
                422, f"Das Bundle hat {rows} Kennungen und Suchwörter; erwartet werden höchstens {MOST_ROWS}. "
                "Bitte auf mehrere verteilen.", "Bundle.entry",
            )  # fmt: skip

    def _binaries(self, results: Mapping[int, Result]) -> dict[int, Result]:
        """A file is read under the id of the first document that refers to it."""
        first = {self._file_name(entry): results[entry.number] for entry in reversed(self._of("DocumentReference"))}
        there = ((entry.number, first[entry.name]) for entry in self._of("Binary"))
        return {number: Result("Binary", document.id, document.created) for number, document in there}


def _entry(number: int, item: Any) -> BundleEntry:
    at = f"Bundle.entry[{number}]."
    resource = item.get("resource") if isinstance(item, dict) else None
    asked = item.get("request") if isinstance(item, dict) else None
    kind = resource.get("resourceType") if isinstance(resource, dict) else None
    if not isinstance(resource, dict) or kind not in KINDS:
        raise FhirError(400, f"Erwartet wird eine Ressource: {', '.join(KINDS)}.", f"{at}resource")
    if not isinstance(asked, dict) or (asked.get("method"), asked.get("url")) != ("POST", kind):
        raise FhirError(400, f"Erwartet wird method POST mit url {kind}.", f"{at}request")
    name, condition = item.get("fullUrl", ""), asked.get("ifNoneExist", "")
    if not isinstance(name, str) or not isinstance(condition, str):
        raise FhirError(400, "Erwartet wird Text.", f"{at}fullUrl")
    return BundleEntry(
        number, name or f"entry {number}", kind, resource, storing.condition_of(condition, f"{at}request."), at
    )
