"""The feed of changes: stored, marked, restored, linked, deleted; in order, nothing behind the cursor."""

import threading
import uuid

from fhir.resources.R4B import get_fhir_model_class

from tests.webapp.conftest import command
from tests.webapp.fhir.conftest import Caller, link, make_place
from webapp.extensions import db as database
from webapp.fhir import linking
from webapp.fhir.models import Status


def entries(caller, path="DocumentReference/_history"):
    """All entries of all pages, each Bundle valid."""
    found = []
    while path:
        bundle = caller.bundle(path)
        get_fhir_model_class("Bundle").model_validate(bundle)
        assert bundle["type"] == "history"
        found += bundle.get("entry", [])
        path = link(bundle, "next")
    return found


def told(entry):
    """Id, what was done, and the status from then on."""
    ident, resource = entry["fullUrl"].rpartition("/")[2], entry.get("resource", {})
    return ident, entry["request"]["method"], resource.get("status")


def test_marks_and_their_undoing_are_versions(place, caller):
    first, second = place.add_document(), place.add_document()
    place.mark(first)
    place.mark(first, Status.CURRENT)
    place.mark(first, Status.CURRENT)
    found = entries(caller)
    assert [told(entry) for entry in found] == [
        (str(first), "PUT", "current"),
        (str(first), "PUT", "entered-in-error"),
        (str(second), "POST", "current"),
        (str(first), "POST", "current"),
    ]
    times = [entry["response"]["lastModified"] for entry in found]
    assert times == sorted(times, reverse=True)
    assert len(set(times)) == 4
    stored = found[3]["resource"]["meta"]
    assert stored["lastUpdated"] == found[0]["resource"]["date"] == times[3]
    assert [entry["resource"]["meta"]["versionId"] for entry in found] == ["3", "2", "1", "1"]
    own = entries(caller, f"DocumentReference/{first}/_history?_count=2")
    assert [entry["response"]["etag"] for entry in own] == ['W/"3"', 'W/"2"', 'W/"1"']


def test_each_version_is_read_by_its_number(place, caller):
    document, other = place.add_document(), place.add_document()
    place.mark(document)
    path = f"DocumentReference/{document}/_history"
    versions = [caller.get(f"{path}/{number}") for number in (1, 2)]
    shown = [answer.get_json(force=True) for answer in versions]
    for resource in shown:
        get_fhir_model_class("DocumentReference").model_validate(resource)
    assert [resource["status"] for resource in shown] == ["current", "entered-in-error"]
    assert [resource["meta"]["versionId"] for resource in shown] == ["1", "2"]
    assert [answer.headers["ETag"] for answer in versions] == ['W/"1"', 'W/"2"']
    assert [resource["id"] for resource in shown] == [str(document)] * 2
    unknown = [f"{path}/{number}" for number in ("3", "0", "01", "-1", "x", "9" * 30)]
    unknown += [f"DocumentReference/{uuid.uuid4()}/_history/1", f"DocumentReference/{other}/_history/2"]
    assert {caller.get(one).status_code for one in unknown} == {404}
    stranger = make_place(place.app, "Andere Praxis", "max@example.org")
    assert Caller(stranger).get(f"{path}/1").status_code == 404
    command(place.app, "documents", "purge", document, "--reason", "x", "--yes")
    assert {caller.get(f"{path}/{number}").status_code for number in (1, 2, 3)} == {410}


def test_pages_continue_in_both_orders_and_totals_are_exact(place, caller):
    ids = [str(ident) for ident in place.add_documents([{} for _ in range(7)])]
    for order, wanted in (("_lastUpdated", ids), ("-_lastUpdated", ids[::-1])):
        path = f"DocumentReference/_history?_sort={order}&_count=3"
        assert [told(entry)[0] for entry in entries(caller, path)] == wanted
        assert caller.bundle(path)["total"] == 7
        assert [told(entry)[0] for entry in caller.bundle(f"{path}&_offset=5")["entry"]] == wanted[5:]
    middle = entries(caller)[3]["response"]["lastModified"].replace("+00:00", "Z")
    since = caller.bundle(f"DocumentReference/_history?_since={middle}")
    assert (since["total"], len(since["entry"])) == (4, 4)
    counted = caller.bundle(f"DocumentReference/_history?_since={middle}&_summary=count")
    assert (counted["total"], "entry" in counted) == (4, False)
    assert caller.bundle("DocumentReference/_history?_since=2100")["total"] == 0


def test_the_feed_is_complete_up_to_the_instant_it_names(place, caller):
    """A writer that has its stamp and has not committed holds the instant back; an older stored_at is told as new."""
    place.add_document()
    response = caller.get("DocumentReference/_history")
    until = response.headers["Befund-Complete-Until"]
    assert response.get_json(force=True)["entry"][0]["response"]["lastModified"] == until
    late = place.add_document(at="2020-01-01T00:00:00+00:00")
    (entry,) = [item for item in entries(caller, f"DocumentReference/_history?_since={until.replace('+00:00', 'Z')}")
                if item["response"]["lastModified"] > until]  # fmt: skip
    assert told(entry) == (str(late), "POST", "current")
    assert entry["resource"]["date"] == "2020-01-01T00:00:00.000000+00:00"


def test_a_document_that_is_linked_later_is_told_again(place, caller):
    document = place.add_document(external_system="urn:a", external_value="1")
    patient = place.add_patient(("urn:a", "1"))
    with place.app.app_context(), database.write() as session:
        linking.link_waiting(session, place.organization, [("urn:a", "1")])
    assert [told(entry)[1] for entry in entries(caller)] == ["PUT", "POST"]
    newest = entries(caller)[0]["resource"]
    assert (newest["id"], newest["subject"]) == (str(document), {"reference": f"Patient/{patient}"})


def test_changes_of_others_are_not_told(place, caller):
    other = make_place(place.app, "Andere Praxis", "max@example.org")
    theirs = other.add_document()
    assert entries(caller) == []
    assert caller.get(f"DocumentReference/{theirs}/_history").status_code == 404
    assert caller.get("DocumentReference/unsinn/_history").status_code == 404
    assert caller.get("DocumentReference/_history", headers={"Authorization": ""}).status_code == 401
    strict = {"Prefer": "handling=strict"}
    assert caller.get("DocumentReference/_history?_since=gestern", headers=strict).status_code == 400
    assert caller.get("DocumentReference/_history?_since=2026-01-01&_count=5", headers=strict).status_code == 200


def test_a_reader_of_the_feed_misses_nothing_while_writers_store_and_mark(place):
    """Four writers; the reader asks from its cursor on and replays; at the end it holds what is stored."""
    caller, state, cursor = Caller(place), {}, "2020-01-01T00:00:00Z"

    def write():
        for number in range(8):
            document = place.add_document()
            if number % 2:
                place.mark(document)
            if number % 4 == 3:
                place.mark(document, Status.CURRENT)

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    while True:
        writing = any(thread.is_alive() for thread in threads)
        for entry in entries(caller, f"DocumentReference/_history?_sort=_lastUpdated&_count=5&_since={cursor}"):
            ident, _, status = told(entry)
            at = entry["response"]["lastModified"].replace("+00:00", "Z")
            assert at >= cursor
            state[ident], cursor = status, at
        if not writing:
            break
    for thread in threads:
        thread.join()
    assert state == {resource["id"]: resource["status"] for resource in caller.all("DocumentReference")}
    assert caller.bundle("DocumentReference/_history?_summary=count")["total"] == 4 * (8 + 4 + 2)
