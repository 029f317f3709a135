"""FHIRPath Patch: the operations of FHIR R4 over elements that a path names, as JSON, as XML and in a batch."""

import json
import time
from typing import Any

import pytest
from werkzeug.test import TestResponse

from clinical.fhir import to_xml
from tests.webapp.fhir.conftest import FHIR, SYSTEM, Caller, Place
from webapp.fhir.answers import FhirError
from webapp.fhir.writing import pathpatch


def operation(kind: str, path: str, **parts: Any) -> dict[str, Any]:
    """`value` is a part as it stands; numbers and texts become theirs."""
    told: list[dict[str, Any]] = [{"name": "type", "valueCode": kind}, {"name": "path", "valueString": path}]
    for name, value in parts.items():
        if name == "value":
            told.append({"name": name} | value)
        else:
            told.append({"name": name, "valueInteger" if isinstance(value, int) else "valueString": value})
    return {"name": "operation", "part": told}


def patch(caller: Caller, path: str, *operations: dict[str, Any], xml: bool = False) -> TestResponse:
    sent = {"resourceType": "Parameters", "parameter": list(operations)}
    kind, body = ("application/fhir+xml", to_xml(sent)) if xml else (FHIR, json.dumps(sent).encode())
    return caller.open("PATCH", path, data=body, headers={"Content-Type": kind})


CODED = {"valueCodeableConcept": {"coding": [{"system": "urn:a", "code": "2"}]}}
PATIENT: dict[str, Any] = {
    "resourceType": "Patient", "deceasedBoolean": False, "active": True,
    "name": [{"use": "official", "family": "Alt", "given": ["Anna", "Eva"]}, {"use": "maiden", "family": "Jung"}],
    "extension": [{"url": "urn:x", "valueString": "1"}, {"url": "urn:y", "valueString": "2"}],
    "identifier": [{"system": "urn:a", "value": "1"}, {"system": "urn:b", "value": "2"}],
    "contained": [{"resourceType": "Organization", "id": "o", "name": "Haus"}],
    "contact": [{"name": {"family": "Ott"}}],
}  # fmt: skip
APPLIED = {
    ("replace", "Patient.active"): ({"valueBoolean": False}, ("active",), False),
    ("replace", "active"): ({"valueBoolean": False}, ("active",), False),
    ("replace", "Patient.name[0].given[1]"): ({"valueString": "Ida"}, ("name", 0, "given"), ["Anna", "Ida"]),
    ("replace", "Patient.name.first().given.last()"): ({"valueString": "Ida"}, ("name", 0, "given"), ["Anna", "Ida"]),
    ("replace", "Patient.name.where(use = 'maiden').family"): ({"valueString": "X"}, ("name", 1, "family"), "X"),
    ("replace", "name.where(use='official' and given='Eva').use"): ({"valueCode": "x"}, ("name", 0, "use"), "x"),
    ("replace", "Patient.deceased"): ({"valueBoolean": True}, ("deceasedBoolean",), True),
    ("replace", "Patient.extension('urn:y').value"): ({"valueString": "3"}, ("extension", 1, "valueString"), "3"),
    ("replace", "Patient.contained.where(id='o').name"): ({"valueString": "Neu"}, ("contained", 0, "name"), "Neu"),
    ("delete", "Patient.name[1].family"): (None, ("name", 1), {"use": "maiden"}),
    ("delete", "Patient.identifier.where(system='urn:a')"): (None, ("identifier",), PATIENT["identifier"][1:]),
    ("delete", "Patient.photo"): (None, ("active",), True),
    ("add", "Patient name=gender"): ({"valueCode": "male"}, ("gender",), "male"),
    ("add", "Patient.name[1] name=given"): ({"valueString": "Ida"}, ("name", 1, "given"), ["Ida"]),
    ("add", "Patient.name[0] name=given"): ({"valueString": "Ida"}, ("name", 0, "given"), ["Anna", "Eva", "Ida"]),
    ("add", "Patient name=contact"): (
        {"part": [{"name": "name", "valueHumanName": {"family": "Neu"}},
                  {"name": "relationship", "valueCodeableConcept": {"text": "Nachbar"}},
                  {"name": "relationship", "valueCodeableConcept": {"text": "Arzt"}}]},
        ("contact", 1),
        {"name": {"family": "Neu"}, "relationship": [{"text": "Nachbar"}, {"text": "Arzt"}]}),
    ("add", "Patient.contained[0] name=alias"): ({"valueString": "H"}, ("contained", 0, "alias"), ["H"]),
    ("insert", "Patient.name[0].given index=1"): ({"valueString": "B"}, ("name", 0, "given"), ["Anna", "B", "Eva"]),
    ("insert", "Patient.contact index=0"): ({"part": [{"name": "gender", "valueCode": "male"}]}, ("contact", 0),
                                            {"gender": "male"}),
    ("move", "Patient.identifier source=1 destination=0"): (None, ("identifier",), PATIENT["identifier"][::-1]),
}  # fmt: skip


@pytest.mark.parametrize("asked", APPLIED)
def test_an_operation_does_what_fhir_says_and_nothing_else(asked: tuple[str, str]) -> None:
    import jsonpatch

    kind, words = asked
    value, way, wanted = APPLIED[asked]
    path, *more = words.split(" ") if kind in ("add", "insert", "move") else [words]
    parts: dict[str, Any] = dict(word.split("=") for word in more)
    parts = {name: int(one) if one.isdigit() else one for name, one in parts.items()}
    parts |= {} if value is None else {"value": value}
    changed = jsonpatch.JsonPatch(pathpatch.steps(operation(kind, path, **parts), PATIENT)).apply(PATIENT)
    found: Any = changed
    for step in way:
        found = found[step]
    assert found == wanted
    others = {name: one for name, one in PATIENT.items() if name != way[0]}
    assert {name: one for name, one in changed.items() if name != way[0]} == others


REFUSED = {
    ("replace", "Patient.name.family"): 422, ("replace", "Patient.photo"): 422, ("replace", "Patient"): 400,
    ("delete", "Patient.name"): 422, ("delete", "Patient"): 400, ("upsert", "Patient.active"): 400,
    ("replace", "Patient.name.matches('(a+)+$')"): 400, ("replace", "Patient.repeat(children())"): 400,
    ("replace", "Patient..active"): 400, ("replace", "Patient.active "): 400, ("replace", ""): 400,
    ("replace", "Observation.active"): 422, ("replace", "Patient.name[99999]"): 400,
    ("replace", "Patient.where(" + "active=true and " * 40 + "active=true).active"): 400,
}  # fmt: skip


@pytest.mark.parametrize("asked", REFUSED)
def test_what_is_not_understood_or_not_one_element_is_refused(asked: tuple[str, str]) -> None:
    kind, path = asked
    with pytest.raises(FhirError) as refused:
        pathpatch.steps(operation(kind, path, value={"valueBoolean": True}), PATIENT)
    assert refused.value.status == REFUSED[asked]


@pytest.mark.parametrize(
    ("kind", "path", "parts"),
    [
        ("add", "Patient", {"name": "active", "value": {"valueBoolean": True}}),
        ("add", "Patient", {"name": "nothing", "value": {"valueBoolean": True}}),
        ("add", "Patient", {"name": "gender"}),
        ("add", "Patient.active", {"name": "x", "value": {"valueBoolean": True}}),
        ("insert", "Patient.name", {"value": {"valueString": "x"}}),
        ("replace", "Patient.active", {}),
        ("move", "Patient.name", {"source": 0}),
    ],
)
def test_what_an_operation_lacks_is_said(kind: str, path: str, parts: dict[str, Any]) -> None:
    with pytest.raises((FhirError, AttributeError)):
        pathpatch.steps(operation(kind, path, **parts), PATIENT)


def test_a_path_costs_its_length() -> None:
    for path in ("where(" * 80, "a." * 249 + "a", "name.where(family='" + "a" * 470, "(" * 500, "a" * 10**6):
        started = time.process_time()
        with pytest.raises(FhirError):
            pathpatch.steps(operation("replace", path, value={"valueString": "x"}), PATIENT)
        assert time.process_time() - started < 5


@pytest.mark.parametrize("xml", [False, True])
def test_a_document_is_patched_by_paths(place: Place, writer: Caller, xml: bool) -> None:
    first = writer.made(description="alt", category=[{"coding": [{"code": "1"}]}])
    path = f"DocumentReference/{first['id']}"
    related = {
        "part": [{"name": "code", "valueCode": "appends"}, {"name": "target", "valueReference": {"display": "x"}}]
    }
    done = patch(writer, path, operation("replace", "DocumentReference.description", value={"valueString": "neu"}),
                 operation("add", "DocumentReference", name="category", value=CODED),
                 operation("add", "DocumentReference", name="docStatus", value={"valueCode": "final"}),
                 operation("add", "DocumentReference", name="relatesTo", value=related),
                 operation("replace", "DocumentReference.content.attachment.title", value={"valueString": "B.txt"}),
                 xml=xml)  # fmt: skip
    assert done.status_code == 200, done.data
    now = done.get_json(force=True)
    assert (now["description"], now["docStatus"], now["meta"]["versionId"]) == ("neu", "final", "2")
    assert now["category"] == [{"coding": [{"code": "1"}]}, CODED["valueCodeableConcept"]]
    assert now["relatesTo"] == [{"code": "appends", "target": {"display": "x"}}]
    assert now["content"][0]["attachment"]["title"] == "B.txt"
    assert writer.ids("DocumentReference?category=urn:a|2") == [first["id"]]
    for wrong, status in ((operation("replace", "DocumentReference.id", value={"valueId": "x"}), 400),
                          (operation("replace", "DocumentReference.status", value={"valueCode": "x"}), 422),
                          (operation("delete", "DocumentReference.content"), 422)):  # fmt: skip
        refused = patch(writer, path, wrong, xml=xml)
        assert (refused.status_code, refused.get_json(force=True)["resourceType"]) == (status, "OperationOutcome")
    assert patch(writer, path, *[operation("delete", "DocumentReference.x")] * 101, xml=xml).status_code == 400
    assert writer.bundle(path)["meta"]["versionId"] == "2"


def test_the_one_that_has_the_identifier_and_an_entry_of_a_batch_are_patched(place: Place, writer: Caller) -> None:
    patient = place.add_patient((SYSTEM, "1"), name=[{"family": "Alt"}], identifier=[{"system": SYSTEM, "value": "1"}])
    renamed = operation("replace", "Patient.name[0].family", value={"valueString": "Neu"})
    done = patch(writer, f"Patient?identifier={SYSTEM}%7C1", renamed)
    assert done.status_code == 200, done.data
    sent = {
        "resourceType": "Parameters",
        "parameter": [operation("add", "Patient", name="gender", value={"valueCode": "male"})],
    }
    entry = {"request": {"method": "PATCH", "url": f"Patient/{patient}"}, "resource": sent}
    body = {"resourceType": "Bundle", "type": "batch", "entry": [entry]}
    answer = writer.open("POST", "", json=body, headers={"Content-Type": FHIR}).get_json(force=True)
    assert answer["entry"][0]["response"]["status"].startswith("200"), answer
    now = writer.bundle(f"Patient/{patient}")
    assert (now["name"], now["gender"]) == ([{"family": "Neu"}], "male")
    assert writer.ids("Patient?family=neu&gender=male") == [str(patient)]
