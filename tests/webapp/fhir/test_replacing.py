"""`relatesTo: replaces`: the transaction that stores the new document supersedes the old one, and nothing else does."""

import uuid
from typing import Any

import pytest

from tests.webapp.conftest import add_organization
from tests.webapp.fhir.conftest import SYSTEM, WRITES, Caller, Place, Resource, bundle, document, element, resources_of
from webapp.extensions import db as database
from webapp.fhir import store
from webapp.fhir.models import Status

SEARCHES = (
    ("status=superseded", {"old"}), ("status=current", {"new", "other"}), ("", {"new", "old", "other", "wrong"}),
    ("status=entered-in-error", {"wrong"}), ("status:not=superseded", {"new", "other", "wrong"}),
    ("status=current,superseded", {"new", "old", "other"}), ("status=superseded,entered-in-error", {"old", "wrong"}),
    ("status=current,entered-in-error", {"new", "other", "wrong"}), ("status:not=current", {"old", "wrong"}),
    ("status=superseded&date=ge2020", {"old"}), ("status=superseded&contenttype=text/plain", {"old"}),
    ("status=superseded&identifier=urn:oid:1.2.3|a", {"old"}), ("status=current&identifier=urn:oid:1.2.3|a", set()),
)  # fmt: skip


def replacing(ident: str, **more: Any) -> Resource:
    return document(relatesTo=[{"code": "replaces", "target": {"reference": ident}}], **more)


def test_the_old_document_is_superseded_and_every_search_knows_it(place: Place, program: Caller) -> None:
    ids = {"old": program.made(document(identifier=[{"system": SYSTEM, "value": "a"}]))["id"]}
    ids |= {"other": str(place.add_document()), "wrong": str(place.add_document())}
    place.mark(uuid.UUID(ids["wrong"]))
    new = program.made(replacing(f"DocumentReference/{ids['old']}"))
    ids["new"] = new["id"]
    names = {ident: name for name, ident in ids.items()}
    found = {query: {names[one] for one in program.ids(f"DocumentReference?{query}")} for query, _ in SEARCHES}
    assert found == dict(SEARCHES)
    totals = {query: program.bundle(f"DocumentReference?{query}&_summary=count")["total"] for query, _ in SEARCHES}
    assert totals == {query: len(wanted) for query, wanted in SEARCHES}
    with place.app.app_context():
        assert store.miscounted(database.session, place.organization) == {}
    assert program.get(f"Binary/{ids['old']}").status_code == 200, "what was replaced is still there to be read"


def test_it_is_a_version_of_the_old_document_of_the_same_transaction(program: Caller) -> None:
    old = program.made(document())["id"]
    new = program.made(replacing(f"DocumentReference/{old}"))
    told = program.bundle("DocumentReference/_history")["entry"]
    assert [(entry["resource"]["id"], entry["resource"]["status"]) for entry in told] == [
        (old, "superseded"), (new["id"], "current"), (old, "current"),
    ]  # fmt: skip
    assert [entry["resource"]["meta"]["versionId"] for entry in told] == ["2", "1", "1"]
    assert program.bundle(f"DocumentReference/{old}/_history/1")["status"] == "current"
    assert program.bundle("DocumentReference/_history")["total"] == 3


def test_everything_of_a_patient_has_what_was_replaced(place: Place, program: Caller) -> None:
    patient = place.add_patient()
    subject = {"reference": f"Patient/{patient}"}
    old = program.made(document(subject=subject))["id"]
    new = program.made(replacing(f"DocumentReference/{old}", subject=subject))["id"]
    place.mark(place.add_document(patient_id=patient))
    found = resources_of(program.bundle(f"Patient/{patient}/$everything?_type=DocumentReference"))
    assert {item["id"]: item["status"] for item in found} == {new: "current", old: "superseded"}


def test_undoing_a_mark_does_not_put_a_replaced_document_in_force(place: Place, program: Caller) -> None:
    first, second = program.made(document())["id"], program.made(document())["id"]
    place.mark(uuid.UUID(first))
    program.made(replacing(f"DocumentReference/{first}"))  # marked, then replaced
    program.made(replacing(f"DocumentReference/{second}"))
    place.mark(uuid.UUID(second))  # replaced, then marked
    for ident in (first, second):
        assert program.bundle(f"DocumentReference/{ident}")["status"] == "entered-in-error"
        place.mark(uuid.UUID(ident), Status.CURRENT)
        assert program.bundle(f"DocumentReference/{ident}")["status"] == "superseded"
    versions = {ident: program.bundle(f"DocumentReference/{ident}/_history")["entry"] for ident in (first, second)}
    shown = {ident: [entry["resource"]["status"] for entry in told] for ident, told in versions.items()}
    assert shown[first] == ["superseded", "entered-in-error", "current"]
    assert shown[second] == ["superseded", "entered-in-error", "superseded", "current"]
    total = program.bundle("DocumentReference/_history")["total"]
    assert total == len(program.bundle("DocumentReference/_history?_count=200")["entry"]), "no gap in the numbers"
    with place.app.app_context():
        assert store.miscounted(database.session, place.organization) == {}


def test_what_was_replaced_may_be_replaced_again(program: Caller) -> None:
    old = program.made(document())["id"]
    program.made(replacing(f"DocumentReference/{old}"))
    program.made(replacing(f"DocumentReference/{old}"))
    assert program.bundle(f"DocumentReference/{old}")["meta"]["versionId"] == "2"
    by_identifier = program.made(document(identifier=[{"system": SYSTEM, "value": "b"}]))["id"]
    target = {"identifier": {"system": SYSTEM, "value": "b"}}
    program.made(document(relatesTo=[{"code": "replaces", "target": target}]))
    assert program.bundle(f"DocumentReference/{by_identifier}")["status"] == "superseded"
    refused = program.post("DocumentReference", document(
        relatesTo=[{"code": "replaces", "target": {"identifier": {"value": "nowhere"}}}]))  # fmt: skip
    assert (refused.status_code, element(refused)) == (422, "DocumentReference.relatesTo[0].target.identifier")


def test_only_documents_of_the_same_organization_and_patient_are_replaced(place: Place, program: Caller) -> None:
    elsewhere = Place(place.app, add_organization(place.app, "Andere Praxis").id, place.user, place.token)
    theirs, one, other = elsewhere.add_document(), place.add_patient(), place.add_patient()
    old = program.made(document(subject={"reference": f"Patient/{one}"}))["id"]
    target = "DocumentReference.relatesTo[0].target"
    refused = {
        f"DocumentReference/{theirs}": f"{target}.reference",
        f"DocumentReference/{uuid.uuid4()}": f"{target}.reference",
        "https://archiv.example/fhir/DocumentReference/5": f"{target}.reference",
        "Patient/5": f"{target}.reference",
    }
    for reference, where in refused.items():
        answer = program.post("DocumentReference", replacing(reference))
        assert (answer.status_code, element(answer)) == (422, where)
    strange = replacing(f"DocumentReference/{old}", subject={"reference": f"Patient/{other}"})
    answer = program.post("DocumentReference", strange)
    assert (answer.status_code, element(answer)) == (422, target)
    wrong = program.post("DocumentReference", replacing(f"DocumentReference/{old}", status="entered-in-error"))
    assert (wrong.status_code, element(wrong)) == (422, "DocumentReference.status")
    dangling = document(relatesTo=[{"code": "appends", "target": {"reference": f"DocumentReference/{theirs}"}}])
    assert element(program.post("DocumentReference", dangling)) == f"{target}.reference"
    many = document(relatesTo=[{"code": "appends", "target": {"display": "x"}}] * 11)
    assert element(program.post("DocumentReference", many)) == "DocumentReference.relatesTo"
    assert program.bundle("DocumentReference")["total"] == 1
    assert program.bundle(f"DocumentReference/{old}")["status"] == "current"


def test_documents_of_a_bundle_refer_to_each_other_and_to_its_patient(program: Caller) -> None:
    sent = document(
        content=[{"attachment": {"url": "urn:uuid:file", "title": "Brief.txt"}}],
        subject={"reference": "urn:uuid:patient"},
        author=[{"reference": "urn:uuid:patient"}],
        context={"sourcePatientInfo": {"reference": "urn:uuid:patient"}, "related": [{"reference": "urn:uuid:newer"}]},
    )
    answer = program.post("", bundle(document=sent, newer=replacing("urn:uuid:document")))
    assert answer.status_code == 200, answer.get_data(as_text=True)
    told = [entry["response"].get("location", "") for entry in answer.get_json(force=True)["entry"]]
    patient, newer = told[1].rpartition("/")[2], told[4].rpartition("/")[2]
    older = told[3].rpartition("/")[2]
    read = program.bundle(f"DocumentReference/{older}")
    assert read["status"] == "superseded"
    assert read["author"] == [{"reference": f"Patient/{patient}"}]
    assert read["context"] == {
        "sourcePatientInfo": {"reference": f"Patient/{patient}"},
        "related": [{"reference": f"DocumentReference/{newer}"}],
    }
    assert program.bundle(f"DocumentReference/{newer}")["relatesTo"][0]["target"]["reference"] == (
        f"DocumentReference/{older}"
    )
    assert program.ids(f"DocumentReference?author=Patient/{patient}") == [older]


@pytest.mark.parametrize("together", [False, True])
def test_nothing_is_superseded_when_the_new_document_is_not_stored(place: Place, together: bool) -> None:
    program = place.program(WRITES)
    old = program.made(document())["id"]
    new = replacing(f"DocumentReference/{old}", subject={"reference": f"Patient/{uuid.uuid4()}"})
    answer = program.post("", bundle(more=new)) if together else program.post("DocumentReference", new)
    assert answer.status_code == 422
    assert program.bundle(f"DocumentReference/{old}")["status"] == "current"
    assert program.bundle("DocumentReference")["total"] == 1
