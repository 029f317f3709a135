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


@dataclass(frozen=True, slots=True)
class BundleDocument:
    """A document of the bundle: its entry, what was given of it, its attachment, and its file's name in `files`."""

    entry: BundleEntry
    given: GivenDocument
    attachment: Resource
    file: str


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
        self._documents: list[BundleDocument] = []
        self._patients: list[tuple[BundleEntry, GivenPatient]] = []
        for entry in self.entries:
            self._check(entry)
        self._require_files()
        self._bound()

    def documents(self, puts: Mapping[str, Stored]) -> list[SentDocument]:
        """The documents with their files, once these are put. Raises FhirError 422 where a file is another than its
        document says."""
        new = []
        for document in self._documents:
            (body, content_type), put, entry = self.files[document.file], puts[document.file], document.entry
            given.check_file(document.attachment, put.digest, given.sha1_of(body), put.size, entry.at)
            new.append(SentDocument(document.given, put, content_type, entry.condition, entry.name))
        return new

    def store(
        self, session: Session, organization_id: uuid.UUID, documents: Sequence[SentDocument], files: Files
    ) -> dict[int, Result]:
        """Patients first, so that documents find them; by number of the entry."""
        people = [SentPatient(patient, entry.condition) for entry, patient in self._patients]
        patients = storing.put_patients(session, organization_id, people)
        results = {entry.number: one for (entry, _), one in zip(self._patients, patients, strict=True)}
        references = {self.entries[number].name: f"Patient/{result.id}" for number, result in results.items()}
        stored = storing.put_documents(session, organization_id, documents, files, references)
        results |= {document.entry.number: one for document, one in zip(self._documents, stored, strict=True)}
        # a file is read under the id of the first document that refers to it
        first = {document.file: results[document.entry.number] for document in reversed(self._documents)}
        there = ((entry.number, first[entry.name]) for entry in self.entries if entry.kind == "Binary")
        return results | {number: Result("Binary", document.id, document.created) for number, document in there}

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

    def _check(self, entry: BundleEntry) -> None:
        if entry.kind == "Binary":
            body = given.decoded(entry.resource.get("data", ""), f"{entry.at}Binary.data")
            content_type = clean_content_type(str(entry.resource.get("contentType", "")))
            self.files[entry.name] = body, content_type
        elif entry.kind == "DocumentReference":
            document, attachment, data = given.posted_document(entry.resource, entry.at)
            name = str(attachment.get("url", "")) if data is None else f"inline {entry.number}"
            self._documents.append(BundleDocument(entry, document, attachment, name))
            if data is not None:
                self.files[name] = data, ""
        elif entry.kind == "Patient":
            self._patients.append((entry, given.patient(entry.resource, entry.at)))

    def _require_files(self) -> None:
        """Each document has a file; and one that nobody refers to could never be read."""
        named = {document.file: document.entry for document in self._documents}
        for name, entry in named.items():
            if name not in self.files:
                where = f"{entry.at}DocumentReference.content[0].attachment.url"
                raise FhirError(422, "Erwartet wird data oder das fullUrl eines Binary in diesem Bundle.", where)
        for entry in self.entries:
            if entry.kind == "Binary" and entry.name not in named:
                raise FhirError(422, "Kein Dokument in diesem Bundle verweist auf diese Datei.", f"{entry.at}Binary")

    def _bound(self) -> None:
        """Others wait while the rows are written."""
        rows = sum(len(document.given.words) for document in self._documents)
        rows += sum(len(patient.words) + len(patient.pairs) for _, patient in self._patients)
        if rows > MOST_ROWS:
            raise FhirError(
                422, f"Das Bundle hat {rows} Kennungen und Suchwörter; erwartet werden höchstens {MOST_ROWS}. "
                "Bitte auf mehrere verteilen.", "Bundle.entry",
            )  # fmt: skip


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
