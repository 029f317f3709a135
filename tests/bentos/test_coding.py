"""POST /api/deep-research: what a client sees."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator

import httpx2
import pytest

from bentos.api.coding import FAILED, EventStream, stream
from bentos.api.draining import Draining
from clinical.coding.stream import NO_MODEL
from clinical.contract import Event, StatusEvent
from clinical.sse import PING
from tests.bentos.conftest import UNLIMITED, ask, running
from tests.serving import connect, served, wait_until

ONE_API = True

FIELDS = {"code", "description", "confidence", "reasoning", "score"}


def test_the_answer_is_an_event_stream_that_nobody_may_keep(api):
    answer = api.post("/api/deep-research", json={"query": "Hypertonie"})
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-accel-buffering"] == "no"
    assert answer.content.isascii()
    events = [json.loads(block.removeprefix("data: ")) for block in answer.text.split("\n\n") if block]
    assert all(isinstance(event, dict) and "\n" not in json.dumps(event) for event in events)


def test_tier_one_comes_after_a_status_and_holds_only_confident_codes(api, index):
    searching, partial, end = ask(api, "Essentielle Hypertonie")
    assert (searching.type, searching.status) == ("status", "searching")
    assert (partial.type, partial.layer, partial.summary) == ("partial", 1, "")
    assert 0 < len(partial.codes) <= 10
    assert {entry.confidence for entry in partial.codes} <= {"high", "medium"}
    assert len({entry.code for entry in partial.codes}) == len(partial.codes)
    for entry in partial.codes:
        assert entry.description == index.catalog.get(entry.code).title
        assert (entry.reasoning, entry.score) == ("", 0)
    assert (end.status, end.message) == ("error", NO_MODEL)


def test_an_entry_has_exactly_the_fields_of_the_contract(api):
    raw = api.post("/api/deep-research", json={"query": "Essentielle Hypertonie"}).text.split("\n\n")[1]
    entries = json.loads(raw.removeprefix("data: "))["codes"]
    assert {frozenset(entry) for entry in entries} == {frozenset(FIELDS)}


def test_details_are_added_only_when_asked_for(api):
    entry = ask(api, "Essentielle Hypertonie", details=True)[1].codes[0].model_dump()
    assert set(entry) > FIELDS
    assert entry["evidence"] == {"start": 0, "end": 22}


def test_rerank_gives_scores_from_0_to_100(api):
    entries = ask(api, "Essentielle Hypertonie", rerank=True)[1].codes
    assert {entry.confidence for entry in entries} == {"score"}
    scores = [entry.score for entry in entries]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 100 and round(score, 1) == score for score in scores)


@pytest.mark.parametrize("query", ["E11.90", "e1190", " E11.90* ", "E11 90"])
def test_a_bare_code_is_looked_up_in_all_three_layers_without_a_model(api, query):
    events = ask(api, query)
    assert [getattr(event, "layer", event.type) for event in events] == ["status", 1, "status", 2, "status", 3]
    one, two, three = events[1], events[3], events[5]
    assert (one.codes[0].code, one.codes[0].confidence) == ("E11.90", "high")
    assert {entry.confidence for entry in one.codes[1:]} == {"medium"}
    near = [entry.code for entry in one.codes[1:]]
    for layer in (two, three):
        assert [entry.code for entry in layer.codes] == near
        assert all(e.confidence == "low" and e.reasoning and e.score is None for e in layer.codes)


@pytest.mark.parametrize(
    ("query", "begins", "ends"),
    [
        (
            "E11.90",
            "E11.90 gibt es im Katalog ICD-10-GM 2026: endständig und gültig. Titel: „Diabetes mellitus, Typ 2: ",
            "Aufgeführt sind seine Nachbarn, nicht der Kode selbst.",
        ),
        (
            "E11",
            "E11 gibt es im Katalog ICD-10-GM 2026: nicht endständig und so nicht gültig; zu wählen ist ein Unterkode. "
            "Titel: „Diabetes mellitus, Typ 2“.",
            "Aufgeführt sind seine Unterkodes und Nachbarn, nicht der Kode selbst.",
        ),
        (
            "E11.99",
            "E11.99 gibt es im Katalog ICD-10-GM 2026 nicht.",
            "Aufgeführt sind die nächstliegenden vorhandenen Kodes.",
        ),
        ("X99.9", "X99.9 gibt es im Katalog ICD-10-GM 2026 nicht.", "Auch seine Kategorie fehlt."),
        (
            "F00.1*",
            "F00.1 gibt es im Katalog ICD-10-GM 2026: endständig und gültig, als Stern-Kode nur zusammen mit einem "
            "Kreuz-Kode. Titel: „Demenz bei Alzheimer-Krankheit",
            "nicht der Kode selbst.",
        ),
        (
            "B95.2",
            "B95.2 gibt es im Katalog ICD-10-GM 2026: endständig und gültig, als Ausrufezeichen-Kode nur zusätzlich zu "
            "einem anderen. Titel: „Streptokokken",
            "nicht der Kode selbst.",
        ),
    ],
)
def test_the_summary_of_a_code_query_begins_with_the_asked_code_itself(api, query, begins, ends):
    events = ask(api, query)
    assert events[3].summary == events[5].summary
    assert events[5].summary.startswith(begins)
    assert events[5].summary.endswith(ends)


def test_a_code_that_does_not_exist_leads_to_its_parent_and_the_children(api, index):
    one = ask(api, "E11.99")[1]
    parent = index.catalog.nearest_existing("E11.99")
    assert one.codes[0].code == parent.code
    assert {entry.confidence for entry in one.codes} == {"medium"}
    assert {entry.code for entry in one.codes[1:]} == {child.code for child in index.catalog.children(parent.code)}


def test_a_code_far_from_any_gives_empty_layers_and_says_so(api):
    events = ask(api, "X99.9")
    assert events[1].codes == ()
    assert "X99.9" in events[-1].summary
    assert events[-1].type == "result"


def test_a_code_inside_a_text_is_a_candidate(api):
    found = {entry.code: entry.confidence for entry in ask(api, "Z. n. I21.9, jetzt Dyspnoe")[1].codes}
    assert found["I21.9"] in {"medium", "high"}


@pytest.mark.parametrize(
    "query", ["Vitamin I10 fehlt", "Band I10/I15 betroffen", "Segment I10-I15 betroffen", "Gerät I21.9.4 defekt"]
)
def test_what_only_looks_like_a_code_is_none(api, query):
    assert not {"I10", "I21.9"} & {entry.code for entry in ask(api, query)[1].codes}


def test_while_the_catalog_loads_the_answer_is_503_and_health_says_starting(make_settings, keys, tmp_path):
    key = keys.create("test", UNLIMITED)
    with running(make_settings(catalog=tmp_path / "none"), None, key) as client:
        answer = client.post("/api/deep-research", json={"query": "Husten"})
        assert (answer.status_code, answer.headers["content-type"]) == (503, "application/problem+json")
        assert int(answer.headers["retry-after"]) > 0
        assert client.get("/api/health").json()["status"] == "starting"
        waiting = client.get("/internal/readyz")
        assert (waiting.status_code, waiting.json()["detail"]) == (
            503,
            "Der Dienst wartet auf: Katalog (BEFUND_CATALOG).",
        )


async def _failing() -> AsyncIterator[Event]:
    yield StatusEvent(status="searching", message="Katalog wird durchsucht.")
    raise RuntimeError("Max Mustermann")


def test_a_failure_inside_the_stream_is_a_status_event_and_logs_no_content(caplog):
    async def collect() -> bytes:
        return b"".join([chunk async for chunk in stream(_failing())])

    text = asyncio.run(collect()).decode()
    last = json.loads(text.strip().rpartition("data: ")[2])
    assert last == {"type": "status", "status": "error", "message": FAILED}
    assert "RuntimeError" in caplog.text
    assert "Mustermann" not in caplog.text + text


async def _slow(cancelled: list[bool]) -> AsyncIterator[Event]:
    try:
        await asyncio.sleep(30)
        yield StatusEvent(status="searching", message="")
    finally:
        cancelled.append(True)


def test_a_silent_stream_is_kept_alive_by_pings():
    async def first() -> bytes:
        chunks = stream(_slow([]), silence=0.01)
        return await anext(chunks) + await anext(chunks)

    assert asyncio.run(first()) == 2 * PING


class _Slowly:
    """A research whose first event waits for nothing and whose second never comes."""

    is_over = False

    def __init__(self) -> None:
        self.cancelled: list[bool] = []

    def at_once(self) -> Iterator[Event]:
        yield StatusEvent(status="searching", message="")

    def later(self) -> AsyncIterator[Event]:
        return _slow(self.cancelled)


def test_a_client_that_leaves_ends_the_work():
    work = _Slowly()

    async def app(scope, receive, send):
        if scope["type"] == "http":
            await receive()
            await EventStream(work, Draining(0))(scope, receive, send)

    with served(app) as base, httpx2.stream("GET", base, trust_env=False) as answer:
        assert b"searching" in next(answer.iter_raw())
        answer.close()
        wait_until(lambda: work.cancelled == [True], "the work went on without its client", 5)


class _Failing(_Slowly):
    def at_once(self) -> Iterator[Event]:
        yield StatusEvent(status="searching", message="")
        raise RuntimeError("Max Mustermann")


def test_a_failure_at_once_is_the_last_event_of_an_open_stream(caplog):
    async def app(scope, receive, send):
        if scope["type"] == "http":
            await EventStream(_Failing(), Draining(0))(scope, receive, send)

    with served(app) as base:
        answer = httpx2.get(base, trust_env=False)
    assert answer.status_code == 200
    assert [json.loads(part[6:])["status"] for part in answer.text.split("\n\n") if part] == ["searching", "error"]
    assert FAILED in answer.text
    assert "Mustermann" not in caplog.text + answer.text


def test_a_connection_cut_mid_stream_leaves_the_server_well(api, key):
    url = httpx2.URL(api.base_url)
    body = b'{"query": "Essentielle Hypertonie"}'
    head = f"POST /api/deep-research HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nContent-Length: {len(body)}"
    for _ in range(20):
        with connect((url.host, url.port)) as connection:
            connection.sendall(head.encode() + b"\r\n\r\n" + body)
            connection.recv(10)
    assert ask(api, "Essentielle Hypertonie")[1].codes
