"""Storage times: a poller with an inclusive cursor sees every document exactly once, however slow a writer is."""

import io
import threading
import time
import uuid

import pytest

from tests.webapp.fhir.conftest import Caller, link, resources_of
from webapp.extensions import db as database
from webapp.fhir import clock, dates, store
from webapp.fhir.models import DocumentCount, StorageClock
from webapp.fhir.service import service
from webapp.storage import Stored

FILE = Stored(b"\0" * 32, 1)
NEW = store.NewDocument(FILE, "a.txt", "text/plain")


def poll(caller, cursor, known):
    """One round by the contract's four rules; returns the new cursor and adds to `known`."""
    url, newest = f"DocumentReference?_count=5&date=ge{cursor.replace('+00:00', 'Z')}", cursor
    while url:
        bundle = caller.bundle(url)
        for resource in resources_of(bundle):
            known.append(resource["id"]) if resource["id"] not in known else None
            newest = max(newest, resource["meta"]["lastUpdated"])
        url = link(bundle, "next")
    return newest


def test_counters_are_mended_while_others_go_on_storing(place, app, caller):
    """Counting needs no lock: a writer that holds it does not make it wait, and what is stored meanwhile counts too."""
    documents = place.add_documents([{} for _ in range(5)])
    with app.app_context(), database.write() as session:
        session.query(DocumentCount).filter_by(organization_id=place.organization).update({"number": 7})
    with app.app_context():
        with database.write() as writer:
            clock.lock(writer, place.organization)
            differences = store.miscounted(database.session, place.organization)
        assert sorted(differences.values()) == [-2, -2]
        place.mark(documents[0])
        place.add_document(content_type="application/pdf")
        with database.write() as session:
            store.add_counts(session, place.organization, differences)
        assert store.miscounted(database.session, place.organization) == {}
    assert caller.bundle("DocumentReference?_summary=count")["total"] == 6


def test_a_writer_that_commits_late_is_not_missed(place, app):
    """The slow one has its stamp and sleeps; the fast one must not become visible with a later stamp before it."""
    slow_has_stamp, order = threading.Event(), []

    def slow():
        with app.app_context(), database.write() as session:
            (document,) = store.store_documents(session, place.organization, [NEW])
            slow_has_stamp.set()
            time.sleep(0.6)
            order.append((document.id, document.stored_at))

    def fast():
        slow_has_stamp.wait(5)
        with app.app_context(), database.write() as session:
            (document,) = store.store_documents(session, place.organization, [NEW])
        order.append((document.id, document.stored_at))

    threads = [threading.Thread(target=work) for work in (slow, fast)]
    for thread in threads:
        thread.start()
    slow_has_stamp.wait(5)
    caller, known, cursor = Caller(place), [], "2020-01-01T00:00:00.000000+00:00"
    while any(thread.is_alive() for thread in threads):
        cursor = poll(caller, cursor, known)
    poll(caller, cursor, known)
    assert [stamp for _, stamp in order] == sorted(stamp for _, stamp in order)
    assert sorted(known) == sorted(str(ident) for ident, _ in order)


def test_stamps_increase_even_when_the_clock_stands_still(place, app):
    with app.app_context(), database.write() as session:
        ahead = store.stamp(session, place.organization) + 3_600_000_000
        session.query(StorageClock).update({"last": ahead})
        stamps = [row.stored_at for row in store.store_documents(session, place.organization, [NEW] * 3)]
    assert stamps == [ahead + 1, ahead + 2, ahead + 3]


def test_original_times_are_kept_and_later_stamps_lie_behind_them(place, caller):
    early, tie, late = place.add_documents([{"at": "2020-05-05T05:05:05.000005+00:00"}] * 2 + [{}])
    shown = {resource["id"]: resource["date"] for resource in caller.all("DocumentReference")}
    assert shown[str(early)] == shown[str(tie)] == "2020-05-05T05:05:05.000005+00:00"
    assert shown[str(late)] > "2026"


@pytest.mark.parametrize("at", ["2999-01-01T00:00:00+00:00", "1969-12-31T23:59:59+00:00"])
def test_impossible_times_are_refused(place, at):
    with pytest.raises(clock.ImpossibleTime):
        place.add_document(at=at)


def test_a_rolled_back_document_leaves_nothing(place, caller, app):
    class Stop(Exception):
        pass

    def store_and_stop():
        with app.app_context(), database.write() as session:
            store.store_documents(session, place.organization, [NEW])
            raise Stop

    with pytest.raises(Stop):
        store_and_stop()
    assert caller.bundle("DocumentReference")["total"] == 0


def test_everything_is_ordered_newest_first_then_by_id(place, caller):
    patient, at = place.add_patient(), "2024-01-01T00:00:00.000001+00:00"
    ids = sorted((str(ident) for ident in place.add_documents([{"patient_id": patient, "at": at}] * 12)), reverse=True)
    newer = str(place.add_document(patient_id=patient))
    for size in (1, 5, 50):
        assert caller.ids(f"Patient/{patient}/$everything?_count={size}") == [newer, *ids]
    assert caller.bundle(f"Patient/{patient}/$everything?_offset=3&_count=4")["total"] == 13


def test_bounds_of_everything_are_inclusive(place, caller):
    patient = place.add_patient()
    days = [f"2024-01-0{day}T{time}+00:00" for day in (1, 2, 3) for time in ("00:00:00.000000", "23:59:59.999999")]
    ids = list(map(str, place.add_documents([{"patient_id": patient, "at": at} for at in days])))

    def found(query):
        return set(caller.ids(f"Patient/{patient}/$everything?{query}"))

    assert found("start=2024-01-02&end=2024-01-02") == {ids[2], ids[3]}
    assert found("start=2024-01-02") == set(ids[2:])
    assert found("end=2024-01-02T23:59:59.999998Z") == set(ids[:3])
    assert found("end=2024-01-02T00:00&_type=DocumentReference") == set(ids[:3])
    assert found("start=ge2024-01-03") == set(ids)  # a prefix is not understood there
    assert found("_type=Observation") == set()
    assert caller.get(f"Patient/{uuid.uuid4()}/$everything").status_code == 404


def test_a_document_with_an_identifier_only_is_found_by_it_and_not_by_everything(place, caller):
    patient = place.add_patient(("urn:a", "4711"))
    tagged = str(place.add_document(external_system="urn:a", external_value="4711"))
    assert caller.ids(f"Patient/{patient}/$everything") == []
    (resource,) = caller.all("DocumentReference?patient=4711")
    assert resource["id"] == tagged
    identifier = {"system": "urn:a", "value": "4711"}
    assert resource["subject"] == {"reference": "urn:a|4711", "identifier": identifier}
    assert caller.ids("DocumentReference?patient=urn%3Aa%7C4711") == [tagged]
    assert caller.ids(f"DocumentReference?patient={patient}") == []


def test_patients_are_resolved_by_identifier(place, caller):
    first = str(place.add_patient(("urn:a", "1"), ("urn:b", "2")))
    second = str(place.add_patient(("", "1")))
    assert caller.ids("Patient?identifier=urn:a%7C1") == [first]
    assert caller.ids("Patient?identifier=1") == [second, first]
    assert caller.ids("Patient?identifier=%7C1") == [second]
    assert caller.ids("Patient?identifier=urn:b%7C") == [first]
    assert caller.ids("Patient?identifier=urn:a%7C1&identifier=2&_count=1") == [first]
    assert caller.ids("Patient?_count=1") == [second, first]
    nobody = caller.bundle("Patient?identifier=urn:a%7C9")
    assert nobody.pop("meta")["extension"][0]["url"] == "urn:befund:complete-until"
    assert nobody == {
        "resourceType": "Bundle",
        "type": "searchset",
        "total": 0,
        "link": [
            {"relation": "self", "url": f"http://localhost{place.path}/Patient?identifier=urn:a%7C9"},
        ],
    }
    assert caller.get(f"Patient/{first}").get_json(force=True)["name"][0]["family"] == "Mustermann"


def test_every_search_says_up_to_when_it_saw_everything(place, caller):
    """While a transaction that has its storage time is open, the mark lies before that time; afterwards at it."""
    empty = caller.get("DocumentReference")
    assert empty.headers["Befund-Complete-Until"] == "1970-01-01T00:00:00.000000+00:00"
    first = str(place.add_document())
    with place.app.app_context():
        new = store.NewDocument(service().files.put(io.BytesIO(b"x")), "x", "text/plain")
        with database.write() as session:
            (waiting,) = store.store_documents(session, place.organization, [new])
            stamped = dates.to_text(waiting.stored_at)
            during = caller.get("DocumentReference?status=current")
    after = caller.get("DocumentReference?date=lt2000&status=current&status=entered-in-error")
    assert [entry["resource"]["id"] for entry in during.get_json(force=True)["entry"]] == [first]
    assert during.headers["Befund-Complete-Until"] < stamped == after.headers["Befund-Complete-Until"]
    mark = after.get_json(force=True)["meta"]["extension"]
    assert mark == [{"url": "urn:befund:complete-until", "valueInstant": stamped}]


def test_every_search_says_up_to_when_it_is_complete(place, caller):
    patient = place.add_patient(("urn:a", "1"))
    place.add_document(patient_id=patient)
    asked = [
        "DocumentReference",
        "DocumentReference?_id=x",
        "Patient",
        "Patient?_id=x",
        "ImagingStudy",
        "ImagingStudy?_count=1",
    ]
    asked += [
        f"Patient/{patient}/$everything",
        f"Patient/{patient}/$everything?_summary=count",
        "DocumentReference/_history",
    ]
    marks = {path: caller.get(path).headers.get("Befund-Complete-Until") for path in asked}
    (stored,) = caller.all("DocumentReference")
    assert marks == dict.fromkeys(asked, stored["date"])
