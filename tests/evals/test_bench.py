"""`make bench`: every system answers every query, and the tables say what is whose."""

from __future__ import annotations

import asyncio

import pytest
from fastapi.testclient import TestClient

from evals.bench.bare import application
from evals.bench.client import WITHOUT, beside_vllm, in_turn
from evals.bench.measure import EVERYDAY, Bench, table
from evals.bench.overhead import Answered
from evals.bench.rivals import BEFUND, DEPTH, compared
from evals.coding.datasets import read_examples

STREAM = 'data: {"type":"partial"}\n\ndata: {"type":"result"}\n\n'


def test_all_systems_answer_the_same_queries_and_befund_finds_most(index):
    rows = [(one.query, one.codes) for one in read_examples(EVERYDAY)[:60]]
    found = {one.system: one for one in compared(index, rows)}
    assert set(found) == {BEFUND, "bm25s", "scikit-learn TF-IDF", "rank_bm25", "rapidfuzz"}
    assert {one.queries for one in found.values()} == {len(rows)}
    for one in found.values():
        assert 0 < one.top_1 <= one.top_10 <= 1, one
        assert 0 < one.p50_ms <= one.p99_ms
        assert one.system == BEFUND or one.top_10 < found[BEFUND].top_10
    assert found["rank_bm25"].top_10 == pytest.approx(found["bm25s"].top_10, abs=0.1), "the same method, twice"


def test_bare_fastapi_gives_what_was_recorded_event_by_event():
    client = TestClient(application({"Husten": STREAM}))
    answer = client.post("/api/deep-research", json={"query": "Husten"})
    assert answer.text == STREAM
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert client.post("/api/deep-research", json={}).status_code == 422


def test_both_ways_of_calling_are_called_alike_often():
    called = []

    async def one() -> None:
        called.append(1)

    async def other() -> None:
        called.append(2)

    rows = asyncio.run(in_turn({"one": one, "other": other}, calls=5))
    assert [row.way for row in rows] == ["one", "other"]
    assert called.count(1) == called.count(2) > 5


def test_without_vllm_the_table_says_that_its_part_is_not_measured(index, monkeypatch):
    monkeypatch.delenv("BEFUND_VLLM_VENV", raising=False)
    rows = [(one.query, one.codes) for one in read_examples(EVERYDAY)[:5]]
    api = [Answered("text API", 4.0, 8.0, 100.0, 2.0), Answered("bare FastAPI", 1.0, 2.0, 400.0, 0.5)]
    said = table(Bench(compared(index, rows), api, beside_vllm()))
    assert WITHOUT in said
    assert f"{0.25:>10.2f}" in said
    assert DEPTH == 10
