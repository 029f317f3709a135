"""A program that does not know whether it wrote already: conditional updates, keys of calls, $update-metadata."""

import base64
from typing import Any

from werkzeug.test import TestResponse

from tests.webapp.conftest import Outside
from tests.webapp.fhir.conftest import ALL, SYSTEM, Caller, Place, document
from tests.webapp.sso.threads import at_once

WHERE = f"identifier={SYSTEM}%7Cbrief-7"
NAMED = {"identifier": [{"system": SYSTEM, "value": "brief-7"}]}


def read(answer: TestResponse, status: int) -> Any:
    assert answer.status_code == status, answer.data
    return answer.get_json(force=True)


# --- conditional update ----------------------------------------------------------------------------------------------


def test_a_conditional_update_stores_updates_and_refuses_where_several_have_the_identifier(writer: Caller) -> None:
    first = read(writer.put(document(**NAMED, description="A"), f"DocumentReference?{WHERE}"), 201)
    sent = document(**NAMED, description="B")
    second = read(writer.put(sent, f"DocumentReference?{WHERE}"), 200)
    assert (second["id"], second["meta"]["versionId"], second["description"]) == (first["id"], "2", "B")
    third = {name: value for name, value in second.items() if name not in ("id", "meta")} | {"description": "C"}
    assert read(writer.put(third, f"DocumentReference?{WHERE}"), 200)["meta"]["versionId"] == "3"
    assert writer.bundle("DocumentReference")["total"] == 1
    assert writer.put(third, f"DocumentReference?{WHERE}", If_Match='W/"2"').status_code == 412
    read(writer.post("DocumentReference", document(**NAMED)), 201)
    assert writer.put(third, f"DocumentReference?{WHERE}").status_code == 412, "two have it by now"


def test_the_id_that_is_sent_is_that_of_the_one_found_or_needs_leave(place: Place, writer: Caller) -> None:
    other = "6f0cb0f4-5a52-4c5c-9c8b-111111111111"
    named = document(**NAMED) | {"id": other}
    assert writer.put(named, f"DocumentReference?{WHERE}").status_code == 403, "ids are the server's to choose"
    place.allow("client-ids")
    assert read(writer.put(named, f"DocumentReference?{WHERE}"), 201)["id"] == other
    assert writer.put(named | {"id": other[:-1] + "2"}, f"DocumentReference?{WHERE}").status_code == 400
    for path in ("DocumentReference", "DocumentReference?type=x", "DocumentReference?identifier=%7C"):
        assert writer.put(document(), path).status_code == 400, path


def test_a_patient_is_updated_by_its_identifier(place: Place, writer: Caller) -> None:
    known = str(place.add_patient((SYSTEM, "4711")))
    patient = {"resourceType": "Patient", "identifier": [{"system": SYSTEM, "value": "4711"}]}
    where = f"Patient?identifier={SYSTEM}%7C4711"
    told = read(writer.put(patient | {"name": [{"family": "Neu"}]}, where), 200)
    assert (told["id"], told["name"][0]["family"]) == (known, "Neu")
    new = patient | {"identifier": [{"system": SYSTEM, "value": "4712"}]}
    made = read(writer.put(new, f"Patient?identifier={SYSTEM}%7C4712"), 201)
    assert read(writer.put(new | {"gender": "male"}, f"Patient?identifier={SYSTEM}%7C4712"), 200)["id"] == made["id"]


def test_the_one_that_has_the_identifier_is_patched_and_deleted(place: Place, writer: Caller) -> None:
    patch = {"json": [{"op": "replace", "path": "/description", "value": "B"}],
             "headers": {"Content-Type": "application/json-patch+json"}}  # fmt: skip
    assert writer.open("PATCH", f"DocumentReference?{WHERE}", **patch).status_code == 404
    made = read(writer.post("DocumentReference", document(**NAMED, description="A")), 201)
    told = read(writer.open("PATCH", f"DocumentReference?{WHERE}", **patch), 200)
    assert (told["id"], told["description"], told["meta"]["versionId"]) == (made["id"], "B", "2")
    assert writer.open("DELETE", f"DocumentReference?{WHERE}").status_code == 403, "the organization has to allow it"
    place.allow("client-deletes")
    second = read(writer.post("DocumentReference", document(**NAMED)), 201)
    for method in ("PATCH", "DELETE"):
        assert writer.open(method, f"DocumentReference?{WHERE}", **patch).status_code == 412, "two have it"
        assert writer.open(method, "DocumentReference", **patch).status_code == 400, "all of them were not meant"
    assert writer.open("DELETE", f"DocumentReference/{second['id']}").status_code == 204
    assert writer.open("DELETE", f"DocumentReference?{WHERE}").status_code == 204
    assert writer.get(f"DocumentReference/{made['id']}").status_code == 410
    assert writer.open("DELETE", f"DocumentReference?{WHERE}").status_code == 404


def test_a_program_that_may_only_update_stores_nothing_new(place: Place) -> None:
    updater = place.program("system/DocumentReference.ru system/Patient.ru")
    assert updater.put(document(**NAMED), f"DocumentReference?{WHERE}").status_code == 403
    assert updater.put({"resourceType": "Patient"}, f"Patient?{WHERE}").status_code == 403


def test_the_same_conditional_update_at_the_same_moment_makes_one_document(writer: Caller) -> None:
    def send() -> int:
        return Caller(writer.place).put(document(**NAMED), f"DocumentReference?{WHERE}").status_code

    assert sorted(at_once(*[send] * 4)) == [200, 200, 200, 201]
    assert writer.bundle("DocumentReference")["total"] == 1


# --- Idempotency-Key -------------------------------------------------------------------------------------------------


def test_a_call_that_is_sent_again_stores_nothing_and_is_answered_as_before(
    place: Place, writer: Caller, db: Outside
) -> None:
    key = {"Idempotency_Key": '"8e03978e-40d5-43dd-bc93-6894a57f9324"'}
    first = writer.post("DocumentReference", document(), **key)
    again = writer.post("DocumentReference", document(), **key)
    assert read(first, 201)["id"] == read(again, 201)["id"]
    assert first.headers["Location"] == again.headers["Location"]
    assert writer.bundle("DocumentReference")["total"] == 1
    changed = read(first, 201) | {"description": "später"}
    assert writer.put(changed).status_code == 200
    assert read(writer.post("DocumentReference", document(), **key), 201)["id"] == changed["id"], "updated meanwhile"
    other = base64.b64encode(b"another file").decode()
    refused = writer.post("DocumentReference", document(attachment={"data": other}), **key)
    assert read(refused, 422)["issue"][0]["expression"] == ["Idempotency-Key"]
    assert writer.bundle("DocumentReference")["total"] == 1
    somebody = place.program(ALL)
    assert read(somebody.post("DocumentReference", document(), **key), 201)["id"] != changed["id"], "own keys"
    assert writer.post("DocumentReference", document(), Idempotency_Key='""').status_code == 400
    assert writer.post("DocumentReference", document(), Idempotency_Key="x" * 256).status_code == 400


def test_what_failed_may_be_sent_again_with_the_same_key(writer: Caller) -> None:
    assert writer.post("DocumentReference", document(status="x"), Idempotency_Key="k").status_code in (400, 422)
    assert writer.post("DocumentReference", document(), Idempotency_Key="k").status_code == 201


# --- $update-metadata ------------------------------------------------------------------------------------------------


def parameters(status: str) -> dict[str, Any]:
    return {"resourceType": "Parameters", "parameter": [{"name": "docStatus", "valueCode": status}]}


def test_the_status_of_a_documents_content_is_updated_alone(writer: Caller) -> None:
    first = read(writer.post("DocumentReference", document(docStatus="preliminary", **NAMED)), 201)
    path = f"DocumentReference/{first['id']}/$update-metadata"
    final = read(writer.post(path, parameters("final")), 200)
    assert final["meta"]["versionId"] == "2"
    assert final["docStatus"] == "final"
    unchanged = set(first) - {"meta", "docStatus", "content"}
    assert {name: final[name] for name in unchanged} == {name: first[name] for name in unchanged}
    assert read(writer.open("POST", f"{path}?docStatus=amended"), 200)["docStatus"] == "amended"
    wrong = read(writer.post(path, parameters("entered-in-error")), 200)
    assert (wrong["docStatus"], wrong["status"]) == ("entered-in-error", "entered-in-error")
    for bad in (parameters("current"), {"resourceType": "Parameters"}, document()):
        assert writer.post(path, bad).status_code == 400
    nobody = "DocumentReference/00000000-0000-4000-8000-000000000000/$update-metadata"
    assert writer.post(nobody, parameters("final")).status_code == 404


def test_who_may_not_update_may_not_update_the_status(place: Place, writer: Caller, caller: Caller) -> None:
    made = read(writer.post("DocumentReference", document()), 201)
    path = f"DocumentReference/{made['id']}/$update-metadata"
    reader = place.program("system/DocumentReference.rs")
    for one in (reader, caller):
        assert one.post(path, parameters("final")).status_code == 403
