"""Programs update, patch and delete: versions are kept, what was read is what is changed, others' things are safe."""

import base64
import copy
import hashlib
import json
from typing import Any

import pytest
from sqlalchemy import select
from werkzeug.test import TestResponse

from tests.webapp.conftest import Outside
from tests.webapp.fhir.conftest import ALL, BODY, FHIR, SYSTEM, Caller, Place, document, make_place, resources_of
from webapp.extensions import db as database
from webapp.fhir.machines.accounts import ServiceAccount
from webapp.fhir.models import DocumentChange
from webapp.fhir.service import service
from webapp.models import AuditEvent

SHA1_OF_A = base64.b64encode(hashlib.sha1(b"A").digest()).decode()


def signed_in(place: Place, account: str, scopes: str) -> Caller:
    """The account by an access token with these scopes."""
    with place.app.app_context():
        row = database.session.get_one(ServiceAccount, account)
        return place.calls(service().callers.token(row, scopes))


def test_an_update_is_a_version_and_those_before_it_say_what_they_said(place: Place, writer: Caller) -> None:
    patient = place.add_patient((SYSTEM, "4711"))
    first = writer.made(description="Entwurf", type={"coding": [{"code": "A"}]}, date="2020-01-01T10:00:00Z",
                 attachment={"title": "Über/Brief.txt"})  # fmt: skip
    changed = copy.deepcopy(first) | {"description": "Fertig", "type": {"coding": [{"code": "B"}]}}
    changed["subject"] = {"reference": f"Patient/{patient}"}
    changed["content"][0]["attachment"]["title"] = "Brief.txt"
    answer = writer.put(changed, If_Match='W/"1"')
    assert answer.status_code == 200, answer.data
    second = answer.get_json(force=True)
    assert (answer.headers["ETag"], second["meta"]["versionId"]) == ('W/"2"', "2")
    assert (second["date"], second["meta"]["lastUpdated"]) == (first["date"], first["date"]), "the storing time stays"
    assert (second["description"], second["content"][0]["attachment"]["title"]) == ("Fertig", "Brief.txt")
    assert second["extension"] == first["extension"], "what was posted as date"
    assert writer.ids("DocumentReference?type=B") == writer.ids(f"DocumentReference?patient={patient}") == [first["id"]]
    assert writer.ids("DocumentReference?type=A") == []
    path = f"DocumentReference/{first['id']}"
    old = writer.bundle(f"{path}/_history/1")
    for one in (old, first):
        one["content"][0]["attachment"].pop("url")
    assert old == first
    listed = writer.bundle(f"{path}/_history")["entry"]
    assert [entry["resource"]["description"] for entry in listed] == ["Fertig", "Entwurf"]
    feed = writer.bundle("DocumentReference/_history")["entry"]
    assert [entry["request"]["method"] for entry in feed] == ["PUT", "POST"]
    for read in (writer.get(path), writer.get(f"{path}/_history/2")):
        assert read.headers["ETag"] == answer.headers["ETag"]
        assert read.headers["Last-Modified"] == answer.headers["Last-Modified"]
    assert resources_of(writer.bundle("DocumentReference"))[0]["meta"] == second["meta"]
    assert writer.get(f"Binary/{first['id']}").data == BODY


def test_what_is_read_is_put_back_without_a_difference(place: Place, writer: Caller) -> None:
    tagged = writer.made(subject={"identifier": {"system": SYSTEM, "value": "815"}}, date="2021-05-05T00:00:00Z",
                  content=[{"attachment": {"title": "a\u202eb.txt", "contentType": "TEXT/plain", "data": "QQ==",
                                           "hash": SHA1_OF_A}}])  # fmt: skip
    before = writer.bundle(f"DocumentReference/{tagged['id']}")
    after = writer.put(before)
    assert after.status_code == 200, after.data
    now = after.get_json(force=True)
    for one in (before, now):
        one["content"][0]["attachment"].pop("url")
        one["meta"].pop("versionId")
    assert now == before
    assert writer.bundle("DocumentReference?patient=815")["total"] == 1


@pytest.mark.parametrize(
    ("wrong", "status", "where"),
    [
        ({"id": "other"}, 400, "DocumentReference.id"),
        ({"content": [{"attachment": {"data": "QUJD"}}]}, 422, "DocumentReference.content[0].attachment.data"),
        ({"content": [{"attachment": {"url": "Binary/x"}}]}, 422, "DocumentReference.content[0].attachment.url"),
        ({"content": [{"attachment": {"size": 1}}]}, 422, "DocumentReference.content[0].attachment.size"),
        ({"content": []}, 422, "DocumentReference.content"),
        ({"status": "superseded"}, 422, "DocumentReference.status"),
        ({"subject": {"reference": "Patient/nobody"}}, 422, "DocumentReference.subject.reference"),
        ({"meta": {"tag": [{"code": "SUBSETTED"}]}}, 422, "DocumentReference.meta.tag"),
        ({"unknown": 1}, 400, "DocumentReference.unknown"),
        ({"relatesTo": [{"code": "replaces", "target": {"reference": "DocumentReference/{other}"}}]}, 422,
         "DocumentReference.relatesTo"),
    ],
)  # fmt: skip
def test_what_an_update_must_not_do_is_named(
    place: Place, writer: Caller, wrong: dict[str, Any], status: int, where: str
) -> None:
    first, other = writer.made(), writer.made()
    wrong = json.loads(json.dumps(wrong).replace("{other}", other["id"]))
    path = f"DocumentReference/{first['id']}"
    answer = writer.open("PUT", path, json=first | wrong, headers={"Content-Type": FHIR})
    assert answer.status_code == status, answer.data
    assert answer.get_json(force=True)["issue"][0]["expression"][0].startswith(where)
    assert writer.bundle(path)["meta"]["versionId"] == "1"
    assert writer.bundle(f"DocumentReference/{other['id']}")["status"] == "current"


def test_another_version_than_the_one_that_was_read_is_left_alone(writer: Caller) -> None:
    first = writer.made()
    for headers in ({"If_Match": 'W/"2"'}, {"If_Match": '"0"'}, {"If_None_Match": "*"}):
        refused = writer.put(first, **headers)
        assert (refused.status_code, refused.get_json(force=True)["issue"][0]["code"]) == (412, "conflict")
    assert writer.put(first, If_Match='"1"').status_code == 200
    assert writer.put(first, If_Match='W/"1"').status_code == 412
    assert writer.put(first, If_Match="*").headers["ETag"] == 'W/"3"'


def test_a_mark_in_error_is_set_and_taken_back_and_what_is_replaced_stays_so(place: Place, writer: Caller) -> None:
    first = writer.made()
    assert writer.put(first | {"status": "entered-in-error"}).get_json(force=True)["status"] == "entered-in-error"
    assert writer.get(f"Binary/{first['id']}").status_code == 404
    assert writer.bundle("DocumentReference?status=current")["total"] == 0
    assert writer.put(first).get_json(force=True)["status"] == "current"
    target = {"code": "replaces", "target": {"reference": f"DocumentReference/{first['id']}"}}
    newer = writer.made(relatesTo=[target])
    old = writer.bundle(f"DocumentReference/{first['id']}")
    assert writer.put(old | {"description": "ersetzt"}).get_json(force=True)["status"] == "superseded"
    assert writer.put(newer | {"description": "neu"}).status_code == 200, "what it replaced it still replaces"
    totals = {name: writer.bundle(f"DocumentReference?status={name}")["total"] for name in ("current", "superseded")}
    assert totals == {"current": 1, "superseded": 1}


def test_a_patient_is_updated_and_found_by_what_it_is_now(place: Place, writer: Caller) -> None:
    waiting = place.add_document(external_system=SYSTEM, external_value="2")
    sent = {"resourceType": "Patient", "identifier": [{"system": SYSTEM, "value": "1"}], "name": [{"family": "Alt"}]}
    first = writer.post("Patient", sent).get_json(force=True)
    taken = writer.post("Patient", {"resourceType": "Patient", "identifier": [{"system": SYSTEM, "value": "9"}]})
    changed = first | {"name": [{"family": "Neu"}], "identifier": [{"system": SYSTEM, "value": "2"}]}
    answer = writer.put(changed, If_Match=f'W/"{first["meta"]["versionId"]}"')
    assert answer.status_code == 200, answer.data
    second = answer.get_json(force=True)
    assert second["meta"]["versionId"] != first["meta"]["versionId"]
    assert answer.headers["ETag"] == writer.get(f"Patient/{first['id']}").headers["ETag"]
    assert writer.ids("Patient?family=neu") == writer.ids(f"Patient?identifier={SYSTEM}|2") == [first["id"]]
    assert writer.ids("Patient?family=alt") + writer.ids(f"Patient?identifier={SYSTEM}|1") == []
    assert writer.bundle(f"DocumentReference/{waiting}")["subject"] == {"reference": f"Patient/{first['id']}"}
    stolen = writer.put(changed | {"identifier": [{"system": SYSTEM, "value": "9"}]})
    assert (taken.status_code, stolen.status_code) == (201, 409)
    assert writer.put(changed, If_Match='W/"1"').status_code == 412


NEW = "7f3e2a10-0000-4000-8000-00000000000"


def test_an_id_is_chosen_only_with_the_organizations_leave(place: Place, writer: Caller) -> None:
    new, person = document() | {"id": NEW + "1"}, {"resourceType": "Patient", "id": NEW + "2", "gender": "male"}
    assert [writer.put(one).status_code for one in (new, person)] == [403, 403]
    place.allow("client-ids")
    answers = [writer.put(one) for one in (new, person)]
    assert [one.status_code for one in answers] == [201, 201]
    assert answers[0].headers["Location"].endswith(f"DocumentReference/{NEW}1")
    assert writer.get(f"Binary/{NEW}1").data == BODY
    assert writer.bundle(f"Patient/{NEW}2")["gender"] == "male"
    assert writer.put(document() | {"id": NEW + "1", "description": "x"}).status_code == 200
    assert writer.put(document(content=[{"attachment": {"title": "x"}}]) | {"id": NEW + "3"}).status_code == 422
    assert writer.put(document() | {"id": NEW + "3"}, If_Match='W/"1"').status_code == 412
    assert writer.put(document() | {"id": "brief-1"}).status_code == 400
    other = make_place(place.app, "Andere", "max@example.org")
    other.allow("client-ids")
    stranger = other.program(ALL)
    assert [stranger.put(one).status_code for one in (new, person)] == [409, 409], "the ids of another organization"
    updater = place.program("system/DocumentReference.ru system/Patient.ru")
    assert updater.put(document() | {"id": NEW + "4"}).status_code == 403, "it may update and not create"


def patch(caller: Caller, path: str, *steps: dict[str, Any], kind: str = "application/json-patch+json") -> TestResponse:
    return caller.open("PATCH", path, data=json.dumps(steps), headers={"Content-Type": kind})


def test_a_patch_changes_what_it_names(place: Place, writer: Caller) -> None:
    first = writer.made(description="alt", securityLabel=[{"coding": [{"code": "N"}]}])
    path = f"DocumentReference/{first['id']}"
    done = patch(writer, path, {"op": "test", "path": "/description", "value": "alt"},
                 {"op": "replace", "path": "/description", "value": "neu"},
                 {"op": "add", "path": "/docStatus", "value": "final"},
                 {"op": "remove", "path": "/securityLabel"})  # fmt: skip
    assert done.status_code == 200, done.data
    now = done.get_json(force=True)
    assert (now["description"], now["docStatus"], "securityLabel" in now) == ("neu", "final", False)
    assert (now["meta"]["versionId"], now["date"]) == ("2", first["date"])
    statuses = [
        patch(writer, path, {"op": "test", "path": "/description", "value": "alt"}).status_code,
        patch(writer, path, {"op": "remove", "path": "/nothing"}).status_code,
        patch(writer, path, {"op": "replace", "path": "/id", "value": NEW + "1"}).status_code,
        patch(writer, path, {"op": "replace", "path": "/status", "value": "unknown"}).status_code,
        patch(writer, path, {"op": "remove", "path": ""}).status_code,
        patch(writer, path, {"nothing": 1}).status_code,
        patch(writer, path, *[{"op": "copy", "from": "/content", "path": "/content/-"}] * 40).status_code,
        patch(writer, path, kind="text/plain").status_code,
        patch(writer, f"DocumentReference/{NEW}9", {"op": "remove", "path": "/x"}).status_code,
    ]
    assert statuses == [422, 400, 400, 422, 400, 400, 422, 415, 404]
    assert writer.bundle(path)["meta"]["versionId"] == "2"
    patient = place.add_patient()
    assert patch(writer, f"Patient/{patient}", {"op": "add", "path": "/gender", "value": "male"}).status_code == 200
    assert writer.ids("Patient?gender=male") == [str(patient)]
    blind = place.program("system/DocumentReference.u")
    refused = patch(blind, path, {"op": "test", "path": "/description", "value": "neu"})
    assert refused.status_code == 403, "a patch that tests reads"


def test_a_deletion_leaves_a_tombstone_that_the_feed_shows(place: Place, writer: Caller, db: Outside) -> None:
    first, other = writer.made(description="geheim"), writer.made(attachment={"data": "QUJD"})
    writer.put(first | {"description": "noch geheimer"})
    path = f"DocumentReference/{first['id']}"
    assert writer.open("DELETE", path).status_code == 403
    place.allow("client-deletes")
    assert writer.open("DELETE", path, headers={"If-Match": 'W/"1"'}).status_code == 412
    assert writer.open("DELETE", path, headers={"If-Match": 'W/"2"'}).status_code == 204
    assert [writer.get(one).status_code for one in (path, f"{path}/_history/1", f"Binary/{first['id']}")] == [
        410,
        410,
        404,
    ]
    newest = writer.bundle("DocumentReference/_history")["entry"][0]
    assert (newest["request"]["method"], "resource" in newest) == ("DELETE", False)
    assert writer.ids("DocumentReference") == [other["id"]]
    assert db.session.scalars(select(DocumentChange.kept).where(DocumentChange.kept.is_not(None))).all() == []
    with place.app.app_context():
        assert not service().files.has(base64.b64decode(first["content"][0]["attachment"]["hash"]))
    assert writer.open("DELETE", path).status_code == 204, "once more is as good"
    assert writer.open("DELETE", f"DocumentReference/{NEW}1").status_code == 404
    assert writer.put(first).status_code in (403, 409)
    place.allow("client-ids")
    assert writer.put(document() | {"id": first["id"]}).status_code == 409, "a deleted id is not used again"
    trail = db.session.scalars(select(AuditEvent.detail).where(AuditEvent.event == "purged")).one()
    assert "DELETE by s" in trail


def test_nobody_changes_what_is_not_theirs(place: Place, writer: Caller, caller: Caller) -> None:
    first, person = writer.made(), place.add_patient()
    place.allow("client-deletes", "client-ids")
    other = make_place(place.app, "Andere", "max@example.org")
    stranger = other.program(ALL)
    reader = place.program("system/DocumentReference.crs system/Patient.crs")
    narrowed = signed_in(place, place.machine("--scopes", ALL)[0], "system/DocumentReference.crs system/Patient.crs")
    path = f"DocumentReference/{first['id']}"
    assert signed_in(place, place.machine("--scopes", ALL)[0], "system/DocumentReference.u").put(first).data == b""
    for somebody, status in ((caller, 403), (reader, 403), (narrowed, 403)):
        for method, at in (("PUT", path), ("PATCH", path), ("DELETE", path), ("PUT", f"Patient/{person}")):
            sent = {"resourceType": at.partition("/")[0], "id": at.partition("/")[2]}
            assert somebody.open(method, at, json=sent, headers={"Content-Type": FHIR}).status_code == status
    assert place.app.test_client().put(f"{place.path}/{path}", json=first).status_code == 401
    assert stranger.put(first).status_code == 403
    other.allow("client-deletes")
    assert stranger.open("DELETE", path).status_code == 404
    assert patch(stranger, path, {"op": "remove", "path": "/x"}).status_code == 404
    assert writer.bundle(path)["meta"]["versionId"] == "2"
    assert writer.open("DELETE", f"Patient/{person}").status_code == 403, "no scope; and there is no such route"
