"""`$docref` (International Patient Access), and `$everything` with the Patient and since an instant."""

from urllib.parse import quote

import pytest
from fhir.resources.R4B.bundle import Bundle

from tests.webapp.fhir.conftest import Caller, Place, make_place, resources_of
from webapp.fhir.models import Status

LETTER = {"type": {"coding": [{"system": "urn:kdl", "code": "AD01"}]}}


def kinds(bundle: dict[str, object]) -> list[str]:
    return [resource["resourceType"] for resource in resources_of(bundle)]


def test_everything_brings_the_patient_where_the_type_names_it(place: Place, caller: Caller) -> None:
    patient, other = place.add_patient(("urn:a", "1")), place.add_patient()
    place.add_document(patient_id=patient), place.add_document(patient_id=other)
    place.add_study(patient)
    path = f"Patient/{patient}/$everything"
    assert sorted(kinds(caller.bundle(path))) == ["DocumentReference", "ImagingStudy"], "as the contract says"
    assert sorted(kinds(caller.bundle(f"{path}?_type=Patient,DocumentReference"))) == ["DocumentReference", "Patient"]
    alone = caller.bundle(f"{path}?_type=Patient&start=2100")
    assert (alone["total"], resources_of(alone)) == (1, [caller.bundle(f"Patient/{patient}")])
    Bundle.model_validate(alone)
    paged = [kind for page in caller.pages(f"{path}?_type=Patient,DocumentReference,ImagingStudy&_count=1")
             for kind in kinds(page)]  # fmt: skip
    assert paged == ["ImagingStudy", "DocumentReference", "Patient"], "newest first"


def test_everything_since_an_instant_is_what_was_stored_from_then_on(place: Place, caller: Caller) -> None:
    patient = place.add_patient()
    ids = [str(place.add_document(patient_id=patient)) for _ in range(3)]
    at = caller.bundle(f"DocumentReference/{ids[1]}")["meta"]["lastUpdated"]
    path = f"Patient/{patient}/$everything?_type=Patient,DocumentReference"
    assert caller.ids(f"{path}&_since={quote(at)}") == [ids[2], ids[1]]
    assert caller.bundle(f"{path}&_since=2100&_count=1")["total"] == 0
    assert caller.bundle(f"{path}&_since=2000")["total"] == 4


@pytest.mark.parametrize(
    ("scopes", "asked", "status"),
    [
        ("system/DocumentReference.s system/Patient.r", "Patient/{patient}/$everything?_type=Patient", 200),
        ("system/DocumentReference.s system/Patient.s", "Patient/{patient}/$everything?_type=Patient", 403),
        ("system/Patient.r", "Patient/{patient}/$everything?_type=Patient,DocumentReference", 403),
        ("system/DocumentReference.s", "DocumentReference/$docref?patient={patient}", 200),
        ("system/DocumentReference.r system/Patient.rs", "DocumentReference/$docref?patient={patient}", 403),
    ],
)
def test_scopes_bound_operations(place: Place, scopes: str, asked: str, status: int) -> None:
    patient = place.add_patient()
    answer = place.program(scopes).get(asked.format(patient=patient))
    assert answer.status_code == status, answer.data


def test_docref_lists_a_patients_documents_in_force(place: Place, caller: Caller) -> None:
    patient, other = place.add_patient(("urn:a", "1")), place.add_patient()
    letter = str(place.add_document(patient_id=patient, details=LETTER, at="2026-03-01T10:00:00+00:00"))
    plain = str(place.add_document(patient_id=patient, at="2026-03-05T10:00:00+00:00"))
    place.add_document(patient_id=patient, status=Status.ENTERED_IN_ERROR)
    place.add_document(patient_id=other)
    for who in (patient, f"Patient/{patient}", "urn:a|1"):
        found = caller.bundle(f"DocumentReference/$docref?patient={who}")
        assert [item["id"] for item in resources_of(found)] == ([plain, letter] if "urn" not in str(who) else [])
    assert caller.ids(f"DocumentReference/$docref?patient={patient}&type=urn:kdl|AD01") == [letter]
    assert caller.ids(f"DocumentReference/$docref?patient={patient}&start=2026-03-02&end=2026-03-05") == [plain]
    assert caller.ids(f"DocumentReference/$docref?patient={patient}&end=2026-03-04&on-demand=false") == [letter]
    paged = [item["id"] for page in caller.pages(f"DocumentReference/$docref?patient={patient}&_count=1")
             for item in resources_of(page)]  # fmt: skip
    assert paged == [plain, letter]
    parameters = {"resourceType": "Parameters", "parameter": [{"name": "patient", "valueId": str(patient)}]}
    posted = caller.open("POST", "DocumentReference/$docref", json=parameters)
    assert posted.get_json(force=True)["total"] == 2
    elsewhere = make_place(place.app, "Andere", "max@example.org").add_patient()
    assert caller.bundle(f"DocumentReference/$docref?patient={elsewhere}")["total"] == 0


def test_docref_without_a_patient_is_refused_to_everybody(place: Place, caller: Caller) -> None:
    place.add_document()
    for path in (
        "DocumentReference/$docref",
        "DocumentReference/$docref?patient=",
        "DocumentReference/$docref?start=2026",
    ):
        assert caller.get(path).status_code == 400
    program = place.program()
    for wrong in ("on-demand=true", "status=current", "profile=x"):
        assert program.get(f"DocumentReference/$docref?patient={place.add_patient()}&{wrong}").status_code == 400
