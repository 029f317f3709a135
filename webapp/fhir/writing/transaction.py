"""A transaction Bundle: documents with their files and patients, all stored or none (FHIR R4, http, section 3.1.0.11).

After IHE MHD's Provide Document Bundle (ITI-65): its SubmissionSet, a List, is taken and not kept, which its entry's
answer says; a reference to another entry's `fullUrl` leads to what that entry has become.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from webapp.fhir.answers import FhirError
from webapp.fhir.resources import Resource, outcome
from webapp.fhir.titles import clean_content_type
from webapp.fhir.writing import given, storing
from webapp.fhir.writing.storing import Prepared, Result
from webapp.storage import Files, Stored

MOST_ENTRIES = 200  # as many as an import stores at once: others wait for the organization's lock that long
KINDS = ("Binary", "Patient", "DocumentReference", "List")


@dataclass(frozen=True, slots=True)
class File:
    """A file of the bundle: inline in a document, or a Binary."""

    body: bytes
    content_type: str


@dataclass(frozen=True, slots=True)
class BundleEntry:
    """One entry: its number, `fullUrl`, resource, condition, and how faults in it are named."""

    number: int
    name: str
    kind: str
    resource: Resource
    condition: str
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
        for entry in self.entries:
            self._check(entry)
        for entry in self.entries:
            self._require_file(entry)

    def store(
        self, session: Session, organization_id: uuid.UUID, puts: Mapping[str, Stored], files: Files
    ) -> dict[int, Result]:
        """Patients first, so that documents find them; by number of the entry."""
        results: dict[int, Result] = {}
        references: dict[str, str] = {}
        for entry in self._of("Patient"):
            result = storing.put_patient(session, organization_id, entry.resource, entry.condition, entry.at)
            results[entry.number], references[entry.name] = result, f"Patient/{result.id}"
        for entry in self._of("DocumentReference"):
            name = self._file_name(entry)
            given.check_file(
                given.attachment_of(entry.resource, entry.at), puts[name].digest, given.sha1_of(self.files[name].body),
                puts[name].size, entry.at,
            )  # fmt: skip
            prepared = Prepared(
                entry.resource, puts[name], self.files[name].content_type, entry.condition, entry.at
            )  # fmt: skip
            results[entry.number] = storing.put_document(session, organization_id, prepared, references, files)
        self._place_binaries(results)
        return results

    def answer(self, base: str, results: Mapping[int, Result]) -> Resource:
        """A transaction-response with one entry for each, in their order."""
        listed: list[Resource] = []
        for entry in self.entries:
            result = results.get(entry.number)
            if result is None:
                told = outcome("informational", "Wurde gelesen und wird nicht aufbewahrt.", entry.at + entry.kind)
                told["issue"][0]["severity"] = "information"
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
            self.files[entry.name] = File(body, content_type)
        elif entry.kind == "DocumentReference":
            data = given.taken_data(entry.resource, entry.at)
            given.checked(entry.resource, entry.kind, entry.at)
            given.attachment_of(entry.resource, entry.at)
            if data is not None:
                self.files[f"inline {entry.number}"] = File(data, "")
        elif entry.kind == "Patient":
            given.checked(entry.resource, entry.kind, entry.at)

    def _file_name(self, entry: BundleEntry) -> str:
        inline = f"inline {entry.number}"
        if inline in self.files:
            return inline
        return str(given.attachment_of(entry.resource, entry.at).get("url", ""))

    def _require_file(self, entry: BundleEntry) -> None:
        if entry.kind == "DocumentReference" and self._file_name(entry) not in self.files:
            where = f"{entry.at}DocumentReference.content[0].attachment.url"
            raise FhirError(422, "Erwartet wird data oder das fullUrl eines Binary in diesem Bundle.", where)

    def _place_binaries(self, results: dict[int, Result]) -> None:
        """A file is read under the id of the first document that refers to it; one that nobody refers to is refused,
        since it could never be read."""
        first = {self._file_name(entry): results[entry.number] for entry in reversed(self._of("DocumentReference"))}
        for entry in self._of("Binary"):
            if entry.name not in first:
                raise FhirError(422, "Kein Dokument in diesem Bundle verweist auf diese Datei.", f"{entry.at}Binary")
            document = first[entry.name]
            results[entry.number] = Result("Binary", document.id, document.created)


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
    return BundleEntry(number, name or f"entry {number}", kind, resource, condition, at)
