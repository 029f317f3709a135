"""A request is followed through the text API to the model: by its ids, in the log, in spans without content."""

from __future__ import annotations

import pytest

from clinical.tracing import end_export
from tests.bentos.conftest import ask, running
from tests.collector import CANARY, IDS, PARENT, REQUEST, attributes, collector
from tests.openai_server import model_server


@pytest.fixture
def exporting(monkeypatch):
    """OpenTelemetry is on for this test, and off again behind it."""
    monkeypatch.delenv("OTEL_SDK_DISABLED", raising=False)
    yield
    end_export()


def test_ids_come_in_go_on_to_the_model_and_come_back(make_settings, index, key):
    with (
        model_server() as server,
        running(make_settings(llm_base_url=server.base_url), index, key) as client,
    ):
        answer = client.post("/api/deep-research", json={"query": "Husten"}, headers=IDS)
        fresh = client.get("/api/health")
    place = answer.headers["traceparent"].split("-")
    assert answer.headers["X-Request-ID"] == REQUEST
    assert place[1] == PARENT.split("-")[1]
    assert place[2] != PARENT.split("-")[2]
    asked = [headers for headers in server.headers if "traceparent" in headers]
    assert asked
    assert {headers["x-request-id"] for headers in asked} == {REQUEST}
    assert {headers["traceparent"] for headers in asked} == {answer.headers["traceparent"]}
    assert fresh.headers["X-Request-ID"] not in ("", REQUEST)


def test_spans_say_how_long_what_took_and_nothing_of_what_was_in_it(make_settings, index, key, exporting):
    hostile = {
        "X-Request-ID": CANARY,
        "traceparent": f"00-{CANARY}",
        "tracestate": f"befund={CANARY}",
        "baggage": f"patient={CANARY}",
        "User-Agent": CANARY,
    }
    with collector() as found, model_server() as server:
        settings = make_settings(llm_base_url=server.base_url, traces_url=found.url)
        with running(settings, index, key) as client:
            client.post("/api/deep-research", json={"query": "Husten"}, headers=IDS)
            ask(client, f"Husten {CANARY}")
            client.post(f"/api/deep-research?q={CANARY}", json={"query": f"Fieber {CANARY}"}, headers=hostile)
            client.post("/api/deep-research", content=f'{{"query": "{CANARY}'.encode(), headers=hostile)
            client.post("/api/llm/generate", json={"prompt": CANARY, "text": CANARY}, headers=hostile)
            client.post("/api/documents/extract", json={"text": CANARY, "document_type": "arztbrief"}, headers=hostile)
            client.get(f"/{CANARY}", headers=hostile)
        end_export()
    assert CANARY.encode() not in b"".join(found.bodies)
    first, *_ = [span for span in found.named("POST /api/deep-research") if span.trace_id.hex() == PARENT.split("-")[1]]
    assert first.parent_span_id.hex() == PARENT.split("-")[2]
    assert attributes(first) == {
        "http.request.method": "POST",
        "http.route": "/api/deep-research",
        "http.response.status_code": 200,
        "befund.request_id": REQUEST,
    }
    assert [event.name for event in first.events][:1] == ["tier 1"]
    calls = [span for span in found.named("model call") if span.parent_span_id == first.span_id]
    assert calls
    for call in calls:
        said = attributes(call)
        assert said["befund.outcome"] == "answered"
        assert set(said) == {"befund.outcome", "befund.form", "befund.tokens_in", "befund.tokens_out"}
    below = {headers["traceparent"].split("-")[2] for headers in server.headers if "traceparent" in headers}
    assert {call.span_id.hex() for call in calls} <= below, "the model server is told the call that asks it"
    known = {
        "POST /api/deep-research",
        "POST /api/llm/generate",
        "POST /api/documents/extract",
        "model call",
        "GET other",
    }
    assert {span.name for span in found.spans} <= known


@pytest.mark.parametrize("mode", ["echoing-500", "garbage", "drop"])
def test_a_failed_call_is_an_error_without_its_words(make_settings, index, key, exporting, mode):
    with collector() as found, model_server(mode=mode) as server:
        with running(make_settings(llm_base_url=server.base_url, traces_url=found.url), index, key) as client:
            client.post("/api/llm/generate", json={"prompt": CANARY, "text": CANARY})
        end_export()
    assert CANARY.encode() not in b"".join(found.bodies)
    assert found.named("POST /api/llm/generate")
    if mode != "garbage":
        assert all(call.status.code == 2 for call in found.named("model call"))
