"""The routes as the contract words them, on both databases."""

import base64
import hashlib

from tests.webapp.fhir.conftest import add_document, add_patient, add_study, link, mark, resources_of


def test_a_document_has_the_fields_of_the_contract(place, caller):
    patient = add_patient(place, ("urn:oid:1.2.3", "4711"))
    document = add_document(place, b"Befundtext", patient_id=patient, title="Befund Müller.txt")
    bundle = caller.bundle("DocumentReference")
    (entry,) = bundle["entry"]
    resource = entry["resource"]
    assert bundle["resourceType"] == "Bundle"
    assert bundle["type"] == "searchset"
    assert bundle["total"] == 1
    assert entry["search"] == {"mode": "match"}
    assert entry["fullUrl"] == f"http://localhost{place.path}/DocumentReference/{document}"
    attachment = resource["content"][0]["attachment"]
    assert attachment.pop("url").startswith(f"http://localhost/{place.organization}/files/{document}?")
    assert attachment == {
        "contentType": "text/plain",
        "title": "Befund Müller.txt",
        "size": 10,
        "hash": base64.b64encode(hashlib.sha256(b"Befundtext").digest()).decode(),
    }
    assert resource["meta"]["lastUpdated"] == resource["date"]
    assert resource["subject"] == {"reference": f"Patient/{patient}"}
    assert resource["status"] == "current"


def test_everything_of_a_patient(place, caller):
    patient = add_patient(place)
    first = add_document(place, patient_id=patient)
    study = add_study(place, patient)
    second = add_document(place, patient_id=patient)
    mark(place, add_document(place, patient_id=patient))
    bundle = caller.bundle(f"Patient/{patient}/$everything")
    assert [resource["id"] for resource in resources_of(bundle)] == [str(second), str(study), str(first)]
    assert bundle["total"] == 3
    assert link(bundle, "self") == f"http://localhost{place.path}/Patient/{patient}/$everything"
