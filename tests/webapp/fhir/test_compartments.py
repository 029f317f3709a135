"""Patients by their documents (`_has`), compartments, the history of everything, and batches of calls."""

from typing import Any

import pytest
from fhir.resources.R4B.bundle import Bundle

from tests.caches import kept_by_caches
from tests.webapp.fhir.conftest import Caller, Place, document, make_place, resources_of
from webapp.fhir.models import Status

LETTER = {"type": {"coding": [{"system": "urn:kdl", "code": "AD01"}]}}


def people(place: Place) -> dict[str, str]:
    """Somebody with a letter and a picture, somebody with a letter in error, somebody with nothing."""
    names = {name: place.add_patient(name=[{"family": name}]) for name in ("Brief", "Fehler", "Leer")}
    place.add_document(patient_id=names["Brief"], details=LETTER)
    place.add_document(patient_id=names["Brief"], content_type="image/png")
    place.add_document(patient_id=names["Fehler"], details=LETTER, status=Status.ENTERED_IN_ERROR)
    place.add_document(details=LETTER)
    return {str(ident): name for name, ident in names.items()}


HAVING = {
    "patient:type=AD01": ["Brief", "Fehler"], "subject:type=urn:kdl|": ["Brief", "Fehler"], "patient:type=no": [],
    "patient:contenttype=image/png": ["Brief"], "patient:status=entered-in-error": ["Fehler"],
    "patient:type=AD01&_has:DocumentReference:patient:contenttype=image/png": ["Brief"],
    "patient:type=AD01&family=f": ["Fehler"], "patient:type:missing=true": ["Brief"],
    "patient:date=ge2020&_sort=-family": ["Fehler", "Brief"], "patient:date=lt2020": [], "patient:_id=1": [],
}  # fmt: skip


@pytest.mark.parametrize("asked", HAVING)
def test_patients_are_found_by_the_documents_they_have(place: Place, caller: Caller, asked: str) -> None:
    people(place)
    people(make_place(place.app, "Andere Praxis", "max@example.org"))
    found = caller.get(f"Patient?_has:DocumentReference:{asked}")
    assert "Befund-Ignored" not in found.headers
    bundle = found.get_json(force=True)
    names = [resource["name"][0]["family"] for resource in resources_of(bundle)]
    assert (names if "_sort" in asked else sorted(names)) == HAVING[asked]
    assert bundle["total"] == len(HAVING[asked])


def test_has_that_is_not_understood_is_refused_to_programs_and_needs_the_right_to_search(place: Place) -> None:
    people(place)
    reader = place.program()
    for wrong in ("DocumentReference:author:type=1", "Observation:patient:code=1", "DocumentReference:patient:nix=1"):
        assert reader.get(f"Patient?_has:{wrong}").status_code == 400
    one = "_has:DocumentReference:patient:type=AD01"
    assert reader.get(f"Patient?{'&'.join(f'{one}{number}' for number in range(5))}").status_code == 400
    patients_only = place.program("system/Patient.rs system/DocumentReference.r")
    refused = patients_only.get(f"Patient?{one}")
    assert (refused.status_code, "system/DocumentReference.s" in refused.get_data(as_text=True)) == (403, True)


def test_a_compartment_holds_what_is_linked_to_its_patient(place: Place, caller: Caller) -> None:
    patient, other = place.add_patient(("urn:a", "1")), place.add_patient()
    ids = [str(place.add_document(patient_id=patient, details=LETTER)) for _ in range(3)]
    place.add_document(patient_id=other), place.add_document(external_value=str(patient))
    study = place.add_study(patient)
    place.add_study(other)
    assert sorted(caller.ids(f"Patient/{patient}/DocumentReference?type=AD01&_count=2")) == sorted(ids)
    first = caller.bundle(f"Patient/{patient}/DocumentReference?_count=2")
    assert first["link"][0]["url"].endswith(f"{place.path}/Patient/{patient}/DocumentReference?_count=2")
    assert caller.ids(f"Patient/{patient}/DocumentReference?patient={other}") == []
    posted = caller.open("POST", f"Patient/{patient}/DocumentReference/_search", data={"_count": "1"})
    assert posted.get_json(force=True)["total"] == 3
    assert caller.ids(f"Patient/{patient}/ImagingStudy") == [str(study)]
    elsewhere = make_place(place.app, "Andere", "max@example.org").add_patient()
    for unknown in (elsewhere, "nobody"):
        assert caller.get(f"Patient/{unknown}/DocumentReference").status_code == 404


@pytest.mark.parametrize(
    ("scopes", "path", "status"),
    [
        ("system/Patient.rs", "Patient/{patient}/DocumentReference", 403),
        ("system/DocumentReference.rs", "Patient/{patient}/DocumentReference", 403),
        ("system/DocumentReference.s system/Patient.r", "Patient/{patient}/DocumentReference", 200),
        ("system/DocumentReference.s system/Patient.r", "Patient/{patient}/ImagingStudy", 403),
        ("system/DocumentReference.r system/Patient.rs", "_history", 403),
        ("system/DocumentReference.s", "_history", 200),
    ],
)
def test_scopes_bound_compartments_and_the_history_of_everything(
    place: Place, scopes: str, path: str, status: int
) -> None:
    patient = place.add_patient()
    asked = place.program(scopes).get(path.format(patient=patient))
    assert asked.status_code == status
    assert place.app.test_client().get(f"{place.path}/{path.format(patient=patient)}").status_code == 401


def test_the_history_of_the_system_is_that_of_documents(place: Place, caller: Caller) -> None:
    for _ in range(3):
        place.add_document()
    whole, typed = caller.bundle("_history?_count=2"), caller.bundle("DocumentReference/_history?_count=2")
    assert [entry["response"] for entry in whole["entry"]] == [entry["response"] for entry in typed["entry"]]
    assert "/fhir/r4/_history?" in whole["link"][0]["url"]
    assert sum(len(page["entry"]) for page in caller.pages("_history?_count=2")) == 3


def batch(*asked: tuple[str, str] | dict[str, Any]) -> dict[str, Any]:
    entries = [one if isinstance(one, dict) else {"request": {"method": one[0], "url": one[1]}} for one in asked]
    return {"resourceType": "Bundle", "type": "batch", "entry": entries}


def test_each_call_of_a_batch_stands_for_itself(place: Place, program: Caller) -> None:
    patient = place.add_patient(name=[{"family": "Brief"}])
    kept = place.add_document(patient_id=patient)
    create = {"request": {"method": "POST", "url": "DocumentReference"}, "resource": document(description="neu")}
    answer = program.post("", batch(
        ("GET", f"Patient/{patient}"), ("GET", "DocumentReference?_count=1"), create, ("GET", "Patient/nobody"),
        ("GET", "ImagingStudy"), ("GET", f"DocumentReference/{kept}/_history"), {"request": {
            "method": "GET", "url": f"DocumentReference/{kept}", "ifNoneMatch": 'W/"1"'}},
    ))  # fmt: skip
    bundle = answer.get_json(force=True)
    Bundle.model_validate(bundle)
    assert bundle["type"] == "batch-response"
    statuses = [entry["response"]["status"][:3] for entry in bundle["entry"]]
    assert statuses == ["200", "200", "201", "404", "403", "200", "304"]
    assert bundle["entry"][0]["resource"]["name"] == [{"family": "Brief"}]
    assert bundle["entry"][1]["resource"]["total"] == 1
    made = bundle["entry"][2]
    assert made["response"]["location"].endswith(made["resource"]["id"])
    assert made["response"]["etag"] == 'W/"1"'
    assert bundle["entry"][3]["response"]["outcome"]["issue"][0]["code"] == "not-found"
    assert "system/ImagingStudy.s" in str(bundle["entry"][4]["response"]["outcome"])
    assert program.bundle("DocumentReference")["total"] == 2


def test_people_read_by_batches_and_write_nothing(place: Place, caller: Caller) -> None:
    create = {"request": {"method": "POST", "url": "DocumentReference"}, "resource": document()}
    bundle = caller.post("", batch(("GET", "Patient"), create)).get_json(force=True)
    assert [entry["response"]["status"][:3] for entry in bundle["entry"]] == ["200", "403"]
    assert caller.post("", {"resourceType": "Bundle", "type": "transaction", "entry": [create]}).status_code == 403


@pytest.mark.parametrize("url", ["https://elsewhere.example/Patient", "/Patient", "", "//x/Patient", "Binary/1"])
def test_a_batch_stays_below_its_base(program: Caller, url: str) -> None:
    answer = program.post("", batch(("GET", "Patient"), ("GET", url)))
    assert answer.status_code == 400
    assert answer.get_json(force=True)["issue"][0]["expression"] == ["Bundle.entry[1].request.url"]


def test_no_word_of_a_call_of_a_batch_is_kept(program: Caller) -> None:
    calls = batch(("GET", "Patient?family=Zwirnwald"), ("GET", "Patient/Quendolina"))
    bundle = program.post("", calls).get_json(force=True)
    assert [entry["response"]["status"][:3] for entry in bundle["entry"]] == ["200", "404"]
    assert kept_by_caches("Zwirnwald") == kept_by_caches("Quendolina") == []


def test_a_batch_reaches_no_other_organization_and_has_a_bound(place: Place, program: Caller) -> None:
    other = make_place(place.app, "Andere", "max@example.org")
    climbing = f"../../../{other.organization}/fhir/r4/Patient"
    bundle = program.post("", batch(("GET", climbing))).get_json(force=True)
    assert bundle["entry"][0]["response"]["status"][:3] == "404"
    assert program.post("", batch(*[("GET", "Patient")] * 51)).status_code == 400
    assert program.post("", batch()).status_code == 400
    nested = {"request": {"method": "POST", "url": " "}, "resource": batch(("GET", "Patient"))}
    assert program.post("", batch(nested)).status_code == 400
