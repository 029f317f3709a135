"""One version, one ETag, one Last-Modified: created, read, listed and told; and 304 leaves nobody with a dead link."""

import time
import uuid
from email.utils import parsedate_to_datetime

from sqlalchemy import update
from werkzeug.http import http_date
from werkzeug.test import TestResponse

from tests.webapp.conftest import Outside
from tests.webapp.fhir.conftest import SYSTEM, Caller, Place, document, resources_of
from webapp.fhir.dates import parse_bound
from webapp.fhir.models import DocumentChange
from webapp.fhir.routes import HALF_LIFE
from webapp.urls import LIFETIME


def version_of(answer: TestResponse) -> tuple[str, str]:
    return answer.headers["ETag"], answer.headers["Last-Modified"]


def seconds(answer: TestResponse) -> int:
    return int(parsedate_to_datetime(answer.headers["Last-Modified"]).timestamp())


def micros(text: str) -> int:
    window = parse_bound(text)
    assert window
    assert window.start is not None
    return window.start


def test_a_version_is_the_same_wherever_it_is_seen(place: Place, program: Caller) -> None:
    created = program.post("DocumentReference", document())
    ident = created.get_json(force=True)["id"]
    path = f"DocumentReference/{ident}"
    place.mark(place.add_document())
    for number, change in (("1", None), ("2", "mark")):
        if change:
            place.mark(uuid.UUID(ident))
        read, vread = program.get(path), program.get(f"{path}/_history/{number}")
        (told, *_) = program.bundle(f"{path}/_history")["entry"]
        (listed,) = [one for one in resources_of(program.bundle("DocumentReference")) if one["id"] == ident]
        assert version_of(read) == version_of(vread)
        assert version_of(read)[0] == told["response"]["etag"] == f'W/"{number}"'
        assert seconds(read) == micros(told["response"]["lastModified"]) // 1_000_000
        shown = [answer.get_json(force=True) for answer in (read, vread)] + [listed, told["resource"]]
        assert [resource["meta"]["versionId"] for resource in shown] == [number] * 4
        if not change:
            assert version_of(created) == version_of(read)
            assert created.get_json(force=True)["meta"] == read.get_json(force=True)["meta"]


def test_a_create_tells_its_version_also_without_the_resource(program: Caller) -> None:
    for kind, what in (("DocumentReference", document()), ("Patient", {"resourceType": "Patient"})):
        answer = program.post(kind, what, Prefer="return=minimal")
        read = program.get(answer.headers["Location"])
        assert (answer.status_code, answer.data) == (201, b"")
        assert version_of(answer) == version_of(read)
        assert read.headers["ETag"] == f'W/"{read.get_json(force=True)["meta"]["versionId"]}"'


def test_what_was_there_is_answered_with_its_version(place: Place, program: Caller) -> None:
    sent, condition = document(identifier=[{"system": SYSTEM, "value": "1"}]), f"identifier={SYSTEM}|1"
    first = program.post("DocumentReference", sent).get_json(force=True)
    place.mark(uuid.UUID(first["id"]))
    for prefer in ("return=minimal", "return=representation"):
        again = program.post("DocumentReference", sent, If_None_Exist=condition, Prefer=prefer)
        assert (again.status_code, again.headers["ETag"]) == (200, 'W/"2"')


def test_what_is_kept_as_it_came_has_a_version_of_its_own(place: Place, program: Caller) -> None:
    patient = place.add_patient((SYSTEM, "1"))
    read = program.get(f"Patient/{patient}")
    meta = read.get_json(force=True)["meta"]
    assert meta["versionId"] == str(micros(meta["lastUpdated"]))
    assert read.headers["ETag"] == f'W/"{meta["versionId"]}"'
    (listed,) = resources_of(program.bundle("Patient"))
    assert listed["meta"] == meta
    held = {"If-None-Match": read.headers["ETag"]}
    assert program.get(f"Patient/{patient}", headers=held).status_code == 304


def made_long_ago(db: Outside, ident: object) -> None:
    """The document's last version was made so long ago that a link of that time is good for less than half."""
    long_ago = int((time.time() - HALF_LIFE - 60) * 1_000_000)
    with db.write() as session:
        session.execute(update(DocumentChange).where(DocumentChange.document_id == ident).values(at=long_ago))


def test_304_is_answered_only_while_every_link_of_that_version_is_good_for_half_its_life(
    place: Place, caller: Caller, db: Outside
) -> None:
    ident = place.add_document()
    path = f"DocumentReference/{ident}"
    held = {"If-None-Match": caller.get(path).headers["ETag"]}
    fresh = caller.get(path, headers=held)
    assert (fresh.status_code, fresh.data, fresh.headers["ETag"]) == (304, b"", held["If-None-Match"])
    made_long_ago(db, ident)
    for value in (held["If-None-Match"], "*", f'W/"7", {held["If-None-Match"]}'):
        again = caller.get(path, headers={"If-None-Match": value})
        assert again.status_code == 200
        url = again.get_json(force=True)["content"][0]["attachment"]["url"]
        assert int(url.partition("expires=")[2].partition("&")[0]) > time.time() + HALF_LIFE
    assert again.headers["ETag"] == held["If-None-Match"], "the version has not changed"
    assert caller.get(path, headers={"If-Modified-Since": again.headers["Last-Modified"]}).status_code == 200
    place.mark(ident)
    marked = caller.get(path, headers=held)
    assert (marked.status_code, marked.headers["ETag"]) == (200, 'W/"2"')
    with db.write() as session:
        session.execute(update(DocumentChange).where(DocumentChange.version == 2).values(at=0))
    gone = caller.get(path, headers={"If-None-Match": 'W/"2"'})
    assert gone.status_code == 304, "there is no link that works, so that none can be dead"
    assert HALF_LIFE * 2 <= LIFETIME


def test_if_modified_since_is_answered_304_only_where_it_names_one_version(
    place: Place, caller: Caller, db: Outside
) -> None:
    ident, patient = place.add_document(), place.add_patient()
    path, now = f"DocumentReference/{ident}", int(time.time())

    def made(*at: float) -> None:
        with db.write() as session:
            for version, second in enumerate(at, 1):
                mine = (DocumentChange.document_id == ident, DocumentChange.version == version)
                session.execute(update(DocumentChange).where(*mine).values(at=int(second * 1_000_000)))

    def asked(second: int, path: str = path, **more: str) -> int:
        since = {"If-Modified-Since": http_date(second)}
        return caller.get(path, headers=since | {name.replace("_", "-"): one for name, one in more.items()}).status_code

    made(now - 60.5)
    assert [asked(second) for second in (now - 62, now - 61, now - 60)] == [200, 304, 304]
    place.mark(ident)
    made(now - 60.75, now - 60.25)
    assert [asked(second) for second in (now - 61, now - 60)] == [200, 304], "two versions are of one second"
    made(now - 62, now - 60.25)
    assert [asked(second) for second in (now - 62, now - 61)] == [200, 304]
    assert asked(now, If_None_Match='W/"1"') == 200, "the version that is named goes before"
    assert caller.get(path, headers={"If-Modified-Since": "yesterday"}).status_code == 200
    stamp = seconds(caller.get(f"Patient/{patient}"))
    assert [asked(second, f"Patient/{patient}") for second in (stamp, stamp + 1)] == [200, 304]
