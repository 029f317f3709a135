"""The answers of the text API that the README shows are real ones, shortened."""

from __future__ import annotations

import json

import pytest

from clinical.sse import Decoder
from tests import docs
from tests.bentos.conftest import running
from tests.test_docs import README


@pytest.fixture
def client(settings, index, key):
    with running(settings.model_copy(update={"llm": "rules"}), index, key) as client:
        yield client


def test_the_stream_of_codes(client):
    body, shown = docs.example(README, "/api/deep-research")
    answer = client.post("/api/deep-research", json=json.loads(body))
    decoder = Decoder()
    real = [json.loads(event.model_dump_json()) for event in decoder.feed(answer.content)]
    assert docs.events(shown)
    assert docs.shortened(docs.events(shown), real), real


def test_the_fields_of_a_letter(client):
    body, shown = docs.example(README, "/api/documents/extract")
    answer = client.post("/api/documents/extract", json=json.loads(body)).json()
    assert docs.shortened(json.loads(shown.text), answer), answer
