"""The routes as the contract words them, on both databases."""

import base64
import hashlib

import pytest


def test_a_document_has_the_fields_of_the_contract(place, caller):
    patient = place.add_patient(("urn:oid:1.2.3", "4711"))
    document = place.add_document(b"Befundtext", patient_id=patient, title="Befund Müller.txt")
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


# --- what standard clients do by themselves --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body", ["{", "[]", '{"resourceType": "Patient"}', '{"resourceType": "Parameters", "parameter": 1}']
)
def test_posted_nonsense_is_an_operation_outcome(place, caller, body):
    patient = place.add_patient()
    answer = caller.open("POST", f"Patient/{patient}/$everything", data=body, content_type="application/json")
    assert (answer.status_code, answer.get_json(force=True)["resourceType"]) == (400, "OperationOutcome")


METHODS = {
    "ImagingStudy": "GET, HEAD, OPTIONS",
    "DocumentReference/_search": "GET, HEAD, OPTIONS, POST",
    "Patient/1/$everything": "GET, HEAD, OPTIONS, POST",
    "metadata": "GET, HEAD, OPTIONS",
}


@pytest.mark.parametrize("path", METHODS)
def test_options_and_405_name_the_methods_that_are_there(caller, path):
    asked, refused = caller.open("OPTIONS", path), caller.open("DELETE", path)
    assert (asked.status_code, refused.status_code) == (200, 405)
    told = [sorted(answer.headers["Allow"].split(", ")) for answer in (asked, refused)]
    assert told == [METHODS[path].split(", ")] * 2
    assert refused.get_json(force=True)["issue"][0]["code"] == "not-supported"


def test_what_is_not_there_is_404_whatever_the_method(caller):
    for method in ("GET", "POST", "DELETE", "OPTIONS"):
        assert caller.open(method, "Observation/1/x").status_code == 404
