"""`make soak`, shortened to one round of its faults: nothing outside the contract, nothing lost, counters right.

Growth of memory takes minutes to show and is judged by the command alone, from five minutes on (docs/measured.md).
"""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import replace

import httpx
import pytest

from clinical.contract import ExtractResponse
from clinical.contract.extraction import Arztbrief, FieldState, Patient
from clinical.contract.shared import Usage
from evals.soak import judged
from evals.soak.measure import JUDGED_FROM_MINUTES, Soaked, soak, table
from evals.soak.memory import Growth, medians
from evals.soak.model import INVENTED
from evals.soak.tally import Route, SoakTally, miscounted, samples
from tests.webapp import postgres

FAULTS = 10
ROUTE = Route("webapp", "GET", "/accounts/")


@pytest.mark.timeout(900)  # under a minute alone; what else the machine does must not fail it
def test_both_servers_answer_by_the_contract_while_each_part_fails_once(starter_artifact):
    if postgres.missing() or shutil.which("redis-server") is None:
        pytest.skip(postgres.missing() or "redis-server is not installed (apt-get install redis-server)")
    found = soak(starter_artifact, minutes=0)
    assert Counter(found.tally.outside) == {}
    assert found.wrong_counts == []
    assert (found.lost, found.twice) == (0, 0)
    assert len(found.faults) == FAULTS
    assert len(found.tally.acknowledged) > FAULTS
    assert min(found.tally.streams, found.tally.left, found.tally.compared, found.tally.signed_in) > 0
    assert found.passed
    assert "outside the contract                         0" in table(found)


def _soaked(**changes) -> Soaked:
    return replace(Soaked(600.0, SoakTally(), [], [], {}, "a folder"), **changes)


def test_what_goes_wrong_fails_the_run():
    assert _soaked().passed
    assert not _soaked(tally=SoakTally(outside=["x"])).passed
    assert not _soaked(wrong_counts=["x"]).passed
    assert not _soaked(tally=SoakTally(acknowledged={"a"})).passed
    assert not _soaked(tally=SoakTally(acknowledged={"a"}, found={"1": "a", "2": "a"})).passed
    grown = [Growth("webapp, process 1", (100.0, 102.1))]
    assert not _soaked(growth=grown).passed
    assert _soaked(growth=grown, seconds=60 * JUDGED_FROM_MINUTES - 1).passed
    assert _soaked(growth=[Growth("webapp, process 1", (100.0, 101.9))]).passed


def test_growth_is_the_line_through_all_points_and_no_single_one_makes_it():
    assert Growth("x", (100.0, 101.0, 102.0, 103.0, 104.0)).percent == pytest.approx(4)
    assert Growth("x", (100.0, 100.0, 130.0, 100.0, 100.0)).percent == 0
    assert Growth("x", (100.0, 100.0, 100.0, 100.0, 130.0)).percent == pytest.approx(0)
    sizes = [(float(second), 50.0 + second) for second in range(60)]
    assert medians(sizes, 0.0, 60.0) == (55.0, 65.0, 75.0, 85.0, 95.0, 104.5)
    assert medians(sizes, 0.0, 90.0) == ()  # it had ended by then


def test_counters_that_differ_are_named_and_a_broken_connection_may_have_counted_or_not():
    def exposed(count):
        line = f'befund_web_requests_total{{method="GET",route="/accounts/",status="200"}} {count}\n'
        return {"webapp": samples(f"# TYPE befund_web_requests counter\n{line}"), "text API": {}}

    tally = SoakTally(answered=Counter({(ROUTE, 200): 5}))
    assert miscounted(tally, exposed(2), exposed(7)) == []
    assert len(miscounted(tally, exposed(2), exposed(8))) == 2
    assert len(miscounted(tally, exposed(2), exposed(6))) == 2
    tally.broken[ROUTE] = 1
    assert miscounted(tally, exposed(2), exposed(8)) == []
    assert len(miscounted(tally, exposed(2), exposed(6))) == 2
    tally.kills["webapp"] = 1  # it may have answered what it had not counted
    assert miscounted(tally, exposed(2), exposed(6)) == []
    assert len(miscounted(tally, exposed(2), exposed(5))) == 2
    tally.kills.clear()
    tally.results = 1
    assert any("befund_streams_total" in one for one in miscounted(tally, exposed(2), exposed(7)))


def test_a_document_that_was_never_acknowledged_may_be_uncounted_and_an_acknowledged_one_may_not():
    def exposed(count):
        line = f"befund_web_documents_stored_total {count}\n"
        return {"webapp": samples(f"# TYPE befund_web_documents_stored counter\n{line}"), "text API": {}}

    tally = SoakTally(acknowledged={"a", "b"}, found={"1": "a", "2": "b", "3": "c"})
    assert miscounted(tally, exposed(0), exposed(3)) == miscounted(tally, exposed(0), exposed(2)) == []
    assert len(miscounted(tally, exposed(0), exposed(1))) == len(miscounted(tally, exposed(0), exposed(4))) == 1


def test_a_connection_that_breaks_is_excused_by_a_killed_worker_of_that_server_alone():
    tally = SoakTally()
    tally.broke(ROUTE, "ReadError")
    assert len(tally.outside) == 1
    tally.killed["text API"] = float("inf")
    tally.broke(ROUTE, "ReadError")
    assert len(tally.outside) == 2
    tally.killed["webapp"] = float("inf")
    tally.broke(ROUTE, "ReadError")
    assert (len(tally.outside), tally.broken[ROUTE]) == (2, 3)


STREAM = 'data: {"type":"status","status":"searching","message":"x"}\n\n'
PARTIAL = (
    'data: {"type":"partial","layer":1,"summary":"","codes":[{"code":"I10.90","description":"x","confidence":"high"}]}'
)
RESULT = 'data: {"type":"result","layer":3,"summary":"","codes":[]}\n\n'


def _answer(status, kind, body="", **headers):
    return httpx.Response(status, headers={"content-type": kind, **headers}, text=body)


@pytest.mark.parametrize(
    ("judge", "answer", "why"),
    [
        (judged.stream, _answer(200, judged.STREAM, STREAM + PARTIAL + "\n\n"), "without an end"),
        (judged.stream, _answer(200, judged.STREAM, RESULT), "tiers in the order"),
        (judged.stream, _answer(200, judged.STREAM, "data: {}\n\n"), "no|none"),
        (judged.stream, _answer(200, judged.STREAM, f"{PARTIAL.replace('I10.90', 'Z99.99')}\n\n{STREAM}"), "end|codes"),
        (judged.stream, _answer(500, judged.PROBLEM, "{}"), "status 500"),
        (judged.stream, _answer(503, "text/html", "no"), "media type"),
        (judged.stream, _answer(503, judged.PROBLEM, '{"status": 503, "type": "x", "title": "x"}'), "without type"),
        (judged.draft, _answer(200, "application/json", "{}"), "fields"),
        (judged.bundle, _answer(503, "text/html", "<h1>"), "media type"),
        (judged.bundle, _answer(200, judged.FHIR, '{"resourceType": "Bundle"}'), "searchset"),
        (judged.stored, _answer(201, judged.FHIR), "Location"),
        (judged.file, _answer(200, "text/html", "<script>"), "media type"),
        (lambda got: judged.page(got, 200), _answer(500, "text/html", "<h1>"), "status 500"),
        (lambda got: judged.page(got, 503), _answer(503, "text/html", "<h1>"), "Retry-After"),
    ],
)
def test_an_answer_that_is_none_of_the_contracts_is_named(judge, answer, why):
    assert any(word in judge(answer) for word in why.split("|")), judge(answer)


def test_an_invented_value_in_the_fields_is_found_and_one_that_was_removed_is_not():
    def answer(name, *states):
        data = Arztbrief(patient=Patient(nachname=name))
        usage = Usage(tokens_in=1, tokens_out=1)
        said = ExtractResponse(
            document_type="arztbrief", data=data, model="x", usage=usage, processing_time_ms=1.0, states=states
        )
        return _answer(200, "application/json", said.model_dump_json())

    removed = FieldState(path="patient.vorname", state="removed", value=INVENTED)
    assert judged.extraction(answer("Musterfrau", removed)) == ""
    assert judged.extraction(answer(INVENTED)) == "an invented value"
