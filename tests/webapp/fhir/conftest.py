"""An organization with a member, a token and documents; `Caller` is the HTTP side of an integrator."""

import base64
import io
import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.serving import make_server
from werkzeug.test import TestResponse

from tests.serving import serving
from tests.webapp.conftest import add_organization, add_user, command
from webapp.extensions import db as database
from webapp.fhir import dates, store, tokens
from webapp.fhir.models import ImagingStudy, Patient, PatientIdentifier, Status
from webapp.fhir.service import service

TEXT, FHIR, XML = "text/plain", "application/fhir+json", "application/fhir+xml"
WRITES = "system/DocumentReference.crs system/Binary.cr system/Patient.crs"
ALL = "system/DocumentReference.cruds system/Binary.cr system/Patient.crus"
BODY = "Befund: unauffällig.".encode()
SYSTEM = "urn:oid:1.2.3"
Resource = dict[str, Any]


@dataclass(frozen=True)
class Place:
    """An organization, its FHIR path, and the token of one of its members."""

    app: Flask
    organization: uuid.UUID
    user: uuid.UUID
    token: str

    @property
    def path(self) -> str:
        return f"/{self.organization}/fhir/r4"

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def program(self, scopes: str = "") -> "Caller":
        """A new service account's program, with these scopes."""
        return self.calls(self.machine(*(("--scopes", scopes) if scopes else ()))[1])

    def allow(self, *what: str) -> None:
        """Give the organization's programs leave."""
        for one in what:
            command(self.app, "orgs", "allow", self.organization, one)

    def imported(self, kind: str, lines: Path, *, fails: bool = False) -> str:
        """The words of the command that imports the documents, patients or studies of a manifest."""
        return command(self.app, kind, "import", "--org", self.organization, lines, fails=fails)

    def machine(self, *more: str) -> tuple[str, str]:
        """A new account of the place and a secret of it."""
        account = run(self.app, "add", "Archiv", "--org", str(self.organization), *more)
        return account, run(self.app, "add-secret", account)

    def calls(self, secret: str) -> "Caller":
        """A program that calls with that secret."""
        return Caller(Place(self.app, self.organization, self.user, secret))

    def add_document(self, body: bytes = b"Befund", at: str | None = None, **values: Any) -> uuid.UUID:
        """Store a document; `at` is an ISO instant, the other values are fields of `NewDocument`."""
        return self.add_documents([{"body": body, "at": at, **values}])[0]

    def add_documents(self, documents: list[dict[str, Any]]) -> list[uuid.UUID]:
        """Store documents in one transaction."""
        with self.app.app_context():
            new = [_new(document) for document in documents]
            with database.write() as session:
                return [row.id for row in store.store_documents(session, self.organization, new)]

    def add_patient(self, *identifiers: tuple[str, str], **resource: Any) -> uuid.UUID:
        """Store a patient with external identifiers (system, value)."""
        with self.app.app_context(), database.write() as session:
            patient = Patient(
                organization_id=self.organization,
                stored_at=store.stamp(session, self.organization),
                resource=resource or {"name": [{"family": "Mustermann", "given": ["Max"]}]},
                identifiers=[
                    PatientIdentifier(organization_id=self.organization, system=system, value=value)
                    for system, value in identifiers
                ],
            )
            session.add(patient)
            session.flush()
            return patient.id

    def add_person(self, value: str, family: str, given: str, born: str, gender: str) -> uuid.UUID:
        """Store a patient with a name, a birth date and a sex."""
        name = [{"family": family, "given": given.split()}]
        return self.add_patient((SYSTEM, value), name=name, birthDate=born, gender=gender)

    def add_study(self, patient: uuid.UUID, **resource: Any) -> uuid.UUID:
        """Store an imaging study of a patient."""
        study = ImagingStudy(
            id=uuid.uuid4(),
            organization_id=self.organization,
            patient_id=patient,
            resource={"status": "available"} | resource,
        )
        with self.app.app_context(), database.write() as session:
            study.stored_at = store.stamp(session, self.organization)
            session.add(study)
        return study.id

    def mark(self, document: uuid.UUID, status: Status = Status.ENTERED_IN_ERROR) -> None:
        """Mark a document, as the command does."""
        with self.app.app_context(), database.write() as session:
            store.mark(session, document, status)


class Caller:
    """Calls below an organization's base with its token, or follows absolute links."""

    def __init__(self, place: Place) -> None:
        self.place, self.client = place, place.app.test_client()

    def get(self, path: str, **more: Any) -> TestResponse:
        return self.open("GET", path, **more)

    def open(self, method: str, path: str, headers: dict[str, str] | None = None, **more: Any) -> TestResponse:
        parts = urlsplit(path)
        url = parts._replace(scheme="", netloc="").geturl() if parts.scheme else f"{self.place.path}/{path}"
        return self.client.open(url, method=method, headers=self.place.headers | (headers or {}), **more)

    def post(self, path: str, what: Any, **headers: str) -> TestResponse:
        """Post a resource; `If_None_Exist` is the header of that name."""
        return self._sent("POST", path, what, headers)

    def put(self, resource: Resource, path: str = "", **headers: str) -> TestResponse:
        """Update a resource, at its own address unless another is given."""
        return self._sent("PUT", path or f"{resource['resourceType']}/{resource['id']}", resource, headers)

    def made(self, sent: Resource | None = None, **changed: Any) -> Resource:
        """The document as it is stored once it is posted."""
        answer = self.post("DocumentReference", sent or document(**changed))
        assert answer.status_code == 201, answer.data
        stored: Resource = answer.get_json(force=True)
        return stored

    def _sent(self, method: str, path: str, what: Any, headers: dict[str, str]) -> TestResponse:
        named = {"Content-Type": FHIR} | {name.replace("_", "-"): value for name, value in headers.items()}
        return self.open(method, path, json=what, headers=named)

    def bundle(self, path: str, **more: Any) -> dict[str, Any]:
        response = self.get(path, **more)
        assert response.status_code == 200, response.get_data(as_text=True)
        assert response.content_type == "application/fhir+json"
        return response.get_json(force=True)

    def pages(self, path: str) -> Iterator[dict[str, Any]]:
        while path:
            bundle = self.bundle(path)
            yield bundle
            path = link(bundle, "next")

    def all(self, path: str) -> list[dict[str, Any]]:
        return [resource for bundle in self.pages(path) for resource in resources_of(bundle)]

    def link(self, path: str = "DocumentReference") -> str:
        """The presigned address of the file of the first document there, without its host."""
        url: str = resources_of(self.bundle(path))[0]["content"][0]["attachment"]["url"]
        return url.removeprefix("http://localhost")

    def ids(self, path: str) -> list[str]:
        return [resource["id"] for resource in self.all(path)]


@pytest.fixture
def place(app: Flask) -> Place:
    """An organization of its own with a member's token."""
    return make_place(app)


@pytest.fixture
def caller(place: Place) -> Caller:
    """That member's program."""
    return Caller(place)


@pytest.fixture
def program(place: Place) -> Caller:
    """A program that may read and write."""
    return place.program(WRITES)


@pytest.fixture
def writer(place: Place) -> Caller:
    """A program that may also update and delete."""
    return place.program(ALL)


@pytest.fixture
def browser(app: Flask) -> FlaskClient:
    """Somebody without a token."""
    return app.test_client()


@pytest.fixture
def base(place: Place) -> Iterator[str]:
    """The organization's FHIR base URL on a real server."""
    server = make_server("127.0.0.1", 0, place.app, threaded=True)
    with serving(server):
        yield f"http://127.0.0.1:{server.server_port}{place.path}"


def make_place(app: Flask, name: str = "Praxis am Beispielplatz", email: str = "erika@example.org") -> Place:
    """A stored organization, a member of it, and the text of the member's token."""
    user = add_user(app, email)
    organization = add_organization(app, name, member=user)
    with app.app_context(), database.write() as session:
        _, text = tokens.create(session, user.id)
    return Place(app, organization.id, user.id, text)


def _new(values: dict[str, Any]) -> store.NewDocument:
    values = dict(values)
    body, at = values.pop("body", b"Befund"), values.pop("at", None)
    stored_at = dates.to_micros(datetime.fromisoformat(at)) if isinstance(at, str) else at
    given = {"title": "befund.txt", "content_type": TEXT} | values
    return store.NewDocument(file=service().files.put(io.BytesIO(body)), stored_at=stored_at, **given)


def manifest(folder: Path, *lines: str | Resource) -> Path:
    """A manifest of these lines for `Place.imported`."""
    path = folder / "manifest.jsonl"
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines) + "\n")
    return path


def link(bundle: dict[str, Any], relation: str) -> str:
    """URL of a link, empty when there is none."""
    return next((item["url"] for item in bundle["link"] if item["relation"] == relation), "")


def resources_of(bundle: dict[str, Any]) -> list[dict[str, Any]]:
    """The resources on a page."""
    return [entry["resource"] for entry in bundle.get("entry", [])]


def now() -> str:
    """Now as an ISO instant."""
    return datetime.now(UTC).isoformat()


def run(app: Flask, *arguments: str, fails: bool = False) -> str:
    """The words that a command about service accounts prints."""
    return command(app, "services", *arguments, fails=fails).strip()


def document(**changed: Any) -> Resource:
    """A DocumentReference to send, with these elements instead of its own."""
    attachment = {"contentType": TEXT, "title": "Befund.txt", "data": base64.b64encode(BODY).decode()}
    attachment |= changed.pop("attachment", {})
    given = {"resourceType": "DocumentReference", "status": "current", "content": [{"attachment": attachment}]}
    return {name: value for name, value in (given | changed).items() if value is not None}


def bundle(**changed: Any) -> Resource:
    """A Provide Document Bundle: SubmissionSet, patient, file and document that refer to each other."""
    entries = {
        "set": {"resourceType": "List", "status": "current", "mode": "working"},
        "patient": {"resourceType": "Patient", "identifier": [{"system": SYSTEM, "value": "99"}]},
        "file": {"resourceType": "Binary", "contentType": TEXT, "data": base64.b64encode(BODY).decode()},
        "document": document(
            content=[{"attachment": {"url": "urn:uuid:file", "title": "Brief.txt"}}],
            subject={"reference": "urn:uuid:patient"},
        ),
    } | changed
    return {
        "resourceType": "Bundle",
        "type": "transaction",
        "entry": [
            {"fullUrl": f"urn:uuid:{name}", "resource": resource,
             "request": {"method": "POST", "url": resource["resourceType"]}}
            for name, resource in entries.items()
        ],
    }  # fmt: skip


def element(answer: TestResponse) -> str:
    """The element that an error names."""
    issue = answer.get_json(force=True)["issue"][0]
    assert issue["severity"] == "error"
    return str(issue.get("expression", [""])[0])
