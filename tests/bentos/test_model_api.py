"""The whole API over HTTP with a model server that misbehaves: what a caller sees, and what nobody sees."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator

import httpx2
import pytest

from clinical.contract import Event, PartialEvent, ResultEvent, StatusEvent
from clinical.settings import Settings
from clinical.sse import Decoder
from tests.bentos.conftest import ask, running
from tests.openai_server import FAILURES, ModelServer
from tests.serving import free_port, wait_until

QUERY = "Husten und Diabetes mellitus Typ 2"
CANARY = "Kanarienvogel-Mustermann-4711"
LETTER = {"text": "Sehr geehrte Kollegin, Husten.", "prompt": "Fasse zusammen."}
EXTRACTED = {"document_type": "arztbrief", "text": f"Frau {CANARY}, Husten."}


@pytest.fixture
def api(server: ModelServer, make_settings: Callable[..., Settings], index, key) -> Iterator[httpx2.Client]:
    with running(make_settings(llm_base_url=server.base_url), index, key) as client:
        yield client


def layers(events: list[Event]) -> list[int]:
    return [event.layer for event in events if isinstance(event, PartialEvent | ResultEvent)]


def codes(events: list[Event], layer: int) -> list[str]:
    return [entry.code for event in events if getattr(event, "layer", 0) == layer for entry in event.codes]


def test_all_three_tiers_come_in_order_and_the_stream_ends_with_the_result(api):
    events = ask(api, QUERY)
    assert [event.type for event in events] == ["status", "partial", "status", "partial", "status", "result"]
    assert layers(events) == [1, 2, 3]
    assert "R05" in codes(events, 2)
    assert "E11.90" in codes(events, 3)


def test_tier_1_is_sent_before_any_model_call(server, api):
    server.mode = "stall"
    with api.stream("POST", "/api/deep-research", json={"query": QUERY}) as answer:
        decoder, seen = Decoder(), []
        for chunk in answer.iter_bytes():
            seen += decoder.feed(chunk)
            if layers(seen):
                break
    assert layers(seen) == [1]


@pytest.mark.parametrize("mode", sorted(FAILURES))
def test_a_failing_model_ends_the_stream_with_a_status_after_tier_1(server, api, mode):
    server.mode = mode
    events = ask(api, QUERY)
    assert layers(events) == [1]
    assert isinstance(events[-1], StatusEvent)
    assert events[-1].status == "error"


@pytest.mark.parametrize("mode", ["garbage", "half-json", "wrong-schema", "drop"])
def test_what_fails_once_is_mended(server, api, mode):
    server.mode, server.failures_left = mode, 1
    assert layers(ask(api, QUERY)) == [1, 2, 3]


def test_a_failure_in_tier_3_leaves_tier_2(server, api):
    server.mode, server.failing_forms = "echoing-500", frozenset({"Recommendation"})
    events = ask(api, QUERY)
    assert layers(events) == [1, 2]
    assert events[-1].status == "error"


def test_a_draft_has_the_form_of_the_contract(server, api):
    server.text = "## Entwurf\n\nText."
    answer = api.post("/api/llm/generate", json=LETTER)
    assert answer.status_code == 200
    body = answer.json()
    assert set(body) == {"output", "model", "usage", "processing_time_ms"}
    assert (body["output"], body["model"]) == ("## Entwurf\n\nText.", "test/model-1b")
    assert body["usage"] == {"tokens_in": 11, "tokens_out": 7}
    assert body["processing_time_ms"] > 0
    assert answer.headers["cache-control"] == "no-store"


def test_a_draft_sends_prompt_and_text_and_nothing_else(server, api):
    api.post("/api/llm/generate", json=LETTER)
    assert server.calls[0]["messages"] == [
        {"role": "system", "content": LETTER["prompt"]},
        {"role": "user", "content": LETTER["text"]},
    ]
    assert "response_format" not in server.calls[0]


def test_usage_sums_all_attempts(server, api):
    server.mode, server.failures_left = "empty", 1
    assert api.post("/api/llm/generate", json=LETTER).json()["usage"] == {"tokens_in": 22, "tokens_out": 14}


@pytest.mark.parametrize("mode", sorted(set(FAILURES) - {"garbage", "half-json", "wrong-schema"}))
def test_a_failing_model_is_502_with_a_fixed_sentence(server, api, mode):
    server.mode = mode
    answer = api.post("/api/llm/generate", json={"text": CANARY, "prompt": CANARY})
    assert answer.status_code == 502
    assert answer.headers["content-type"].startswith("application/problem+json")
    assert CANARY not in answer.text
    assert answer.json()["detail"] == "Das Sprachmodell hat keine verwertbare Antwort geliefert."


@pytest.mark.parametrize(
    ("text", "prompt", "status"),
    [
        ("x" * 20_000, "p" * 5_000, 200),
        ("x" * 20_001, "p", 422),
        ("x", "p" * 5_001, 422),
        ("x", "", 422),
        ("", "p", 422),
        ("  \n", "p", 422),
        ("🙂" * 20_000, "p", 200),
        ("Больной кашляет. 患者咳嗽。 \u2028\u0085\x00", "اكتب ملخصًا", 200),
        ("x", None, 422),
        (7, "p", 422),
    ],
)
def test_lengths_and_scripts(api, text, prompt, status):
    answer = api.post("/api/llm/generate", json={"text": text, "prompt": prompt})
    assert answer.status_code == status


def test_without_a_model_drafts_and_letters_are_503_and_streams_end_after_tier_1(make_settings, index, key):
    with running(make_settings(), index, key) as client:
        assert client.get("/api/llm/health").json() == {"status": "not_configured", "model": None}
        assert client.post("/api/llm/generate", json=LETTER).status_code == 503
        assert client.post("/api/documents/extract", json=EXTRACTED).status_code == 503
        assert layers(ask(client, QUERY)) == [1]


def test_health_names_the_model_and_notices_its_end(server, make_settings, index, key):
    with running(make_settings(llm_base_url=server.base_url), index, key) as client:
        assert client.get("/api/llm/health").json() == {"status": "ok", "model": "test/model-1b"}
    dead = f"http://127.0.0.1:{free_port()}/v1"
    with running(make_settings(llm_base_url=dead), index, key) as client:
        assert client.get("/api/llm/health").json() == {"status": "down", "model": None}
    with running(make_settings(llm_base_url=dead, llm_model="m"), index, key) as client:
        assert client.get("/api/llm/health").json() == {"status": "down", "model": "m"}
        assert layers(ask(client, QUERY)) == [1]


def test_answers_by_rules_say_so(make_settings, index, key):
    with running(make_settings(llm="rules"), index, key) as client:
        assert client.get("/api/llm/health").json() == {"status": "ok", "model": "rules"}
        assert client.post("/api/llm/generate", json=LETTER).json()["model"] == "rules"
        assert layers(ask(client, QUERY)) == [1, 2, 3]


def test_over_the_queue_limit_it_is_503_before_a_stream_and_codes_are_still_looked_up(
    server, make_settings, index, key
):
    server.mode = "stall"
    settings = make_settings(llm_base_url=server.base_url, llm_concurrency=1, llm_queue=0)
    with running(settings, index, key) as client:
        with client.stream("POST", "/api/deep-research", json={"query": QUERY}) as first:
            chunks = first.iter_bytes()
            next(chunks)
            wait_until(lambda: server.running == 1, "no call was made", 3)
            second = client.post("/api/deep-research", json={"query": QUERY})
            assert (second.status_code, second.headers["retry-after"]) == (503, "5")
            assert client.post("/api/llm/generate", json=LETTER).status_code == 503
            assert layers(ask(client, "R05")) == [1, 2, 3]
        wait_until(lambda: server.running == 0, "the call went on", 2)
        server.mode = "answer"
        wait_until(lambda: layers(ask(client, QUERY)) == [1, 2, 3], "the queue stayed full", 3)


@pytest.mark.parametrize("mode", ["answer", "echoing-500", "echoing-400", "drop", "half-json", "not-json", "stall"])
def test_nothing_of_a_request_is_logged(server, api, mode, caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("befund"), "propagate", True)
    caplog.set_level(logging.DEBUG)
    server.mode = mode
    wait = 1.0 if mode == "stall" else 20.0
    for path, body in (
        ("/api/deep-research", {"query": f"{CANARY} Husten"}),
        ("/api/llm/generate", {"text": CANARY, "prompt": CANARY}),
        ("/api/llm/generate", {"text": CANARY, "prompt": CANARY * 400}),
        ("/api/documents/extract", EXTRACTED),
    ):
        try:
            answer = api.post(path, json=body, timeout=wait)
        except httpx2.ReadTimeout:
            continue
        assert CANARY not in answer.text or mode == "answer"
    time.sleep(0.1)
    assert len(caplog.records) > 0
    assert CANARY not in caplog.text
