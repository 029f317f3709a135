"""Group commit: those who wait share a transaction, each gets its own answer, and nobody waits for nothing."""

import concurrent.futures
import io
import threading
import uuid
from collections.abc import Sequence

import pytest

from tests.webapp.fhir.conftest import WRITES, Caller, Place, document
from webapp.extensions import db as database
from webapp.fhir.answers import FhirError
from webapp.fhir.service import service
from webapp.fhir.writing import given, storing
from webapp.fhir.writing.together import Together

BOUND = 20


class Writes:
    """Work whose first call goes on only when it is told to."""

    def __init__(self) -> None:
        self.calls: list[list[int]] = []
        self.begun, self.may_end = threading.Event(), threading.Event()

    def __call__(self, jobs: Sequence[int]) -> list[str | Exception]:
        self.calls.append(list(jobs))
        self.begun.set()
        assert self.may_end.wait(BOUND)
        if 13 in jobs:
            raise RuntimeError("the transaction failed")
        return [ValueError(str(job)) if job < 0 else f"done {job}" for job in jobs]


def started(line: Together[int, str], work: Writes, jobs: list[int]) -> list[concurrent.futures.Future[str]]:
    """The first job is under way, the others wait behind it in their order."""
    pool = concurrent.futures.ThreadPoolExecutor(len(jobs))
    futures = [pool.submit(line.do, "place", jobs[0], work)]
    assert work.begun.wait(BOUND)
    pause = threading.Event()
    for waiting, job in enumerate(jobs[1:], start=1):
        futures.append(pool.submit(line.do, "place", job, work))
        for _ in range(BOUND * 1000):
            if len(line._waiting["place"]) == waiting:
                break
            pause.wait(0.001)
    work.may_end.set()
    pool.shutdown()
    return futures


def test_who_waits_goes_together_and_gets_its_own_answer() -> None:
    line, work = Together[int, str](most=3), Writes()
    done = started(line, work, [1, 2, -3, 4, 5])
    assert work.calls == [[1], [2, -3, 4], [5]]
    assert [done[0].result(), done[1].result(), done[3].result(), done[4].result()] == [
        "done 1", "done 2", "done 4", "done 5",
    ]  # fmt: skip
    with pytest.raises(ValueError, match="-3"):
        done[2].result()
    assert line._waiting == {}, "nothing is kept of a key that nobody writes for"
    assert line.do("place", 6, work) == "done 6"


def test_a_transaction_that_fails_ends_those_in_it_and_no_other() -> None:
    line, work = Together[int, str](most=2), Writes()
    done = started(line, work, [1, 13, 2, 3])
    assert [done[0].result(), done[3].result()] == ["done 1", "done 3"]
    for failed in done[1:3]:
        with pytest.raises(RuntimeError):
            failed.result()
    assert line._waiting == {}


def test_a_document_whose_trace_is_the_one_that_also_purges_is_stored(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("secrets.randbelow", lambda below: 0)
    program = place.program(WRITES)
    assert program.post("DocumentReference", document()).status_code == 201


def test_documents_posted_at_once_are_all_there_and_bad_ones_are_refused(place: Place) -> None:
    program = place.program(WRITES)
    reader = Caller(place)
    unknown = {"reference": "Patient/00000000-0000-4000-8000-000000000000"}
    sent = [document(subject=unknown) if number % 4 == 3 else document() for number in range(24)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda one: program.post("DocumentReference", one), sent))
    statuses = [answer.status_code for answer in answers]
    assert statuses == [422 if number % 4 == 3 else 201 for number in range(24)]
    made = {answer.headers["Location"].rpartition("/")[2] for answer in answers if answer.status_code == 201}
    assert len(made) == 18
    assert set(reader.ids("DocumentReference")) == made
    feed = reader.bundle("DocumentReference/_history?_sort=_lastUpdated&_count=50")
    assert {entry["resource"]["id"] for entry in feed["entry"]} == made
    assert feed["total"] == 18
    dates = [resource["date"] for resource in reader.all("DocumentReference?_count=50")]
    assert dates == sorted(set(dates), reverse=True)


def test_a_condition_takes_nothing_for_there_that_is_not_stored(place: Place) -> None:
    """Two that wait for the same transaction have the same condition, and the first of them is refused in it."""
    given_twice = [
        given.document(document(identifier=[{"value": "1"}], **more), inline=True)
        for more in ({"subject": {"reference": f"Patient/{uuid.uuid4()}"}}, {})
    ]
    with place.app.app_context():
        file = service().files.put(io.BytesIO(b"x"))
        posted = [storing.SentDocument(one, file, "", ("", "1"), sender=("sender", "")) for one in given_twice]
        with database.write() as session:
            results = storing.put_posted(session, place.organization, posted, service().files)
        with database.write() as session:
            again = storing.put_posted(session, place.organization, posted[1:], service().files)
    assert [result.status for result in results if isinstance(result, FhirError)] == [422, 503]
    assert [result.created for result in again if isinstance(result, storing.Result)] == [True]
