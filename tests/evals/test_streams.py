"""The measure of tiers 2 and 3 measures: it counts lies, sees calls that are left, and takes the model's time off."""

import asyncio
import json

import httpx

from evals.speed.slow_model import SlowModel
from evals.speed.streams import Liar, _allowed, at_once, lies, notes, overhead
from tests.fakes import tiny_catalog

CATALOG = tiny_catalog()


def test_no_lie_comes_through(index):
    assert lies(index, notes(index.catalog), 40) == 0


def test_the_liar_lies(index):
    liar = Liar(index.catalog)
    schema = {"$defs": {"Choice": {"properties": {"code": {"enum": ["R05"]}}}}}
    from clinical.llm import JsonSchema, Limits

    answer = asyncio.run(liar.complete([], schema=JsonSchema("Selection", schema), limits=Limits(1, 1)))
    said = {choice["code"] for choice in json.loads(answer.text)["codes"]}
    assert len(said - {"R05"}) > 3
    assert liar.shown == {"R05"}


def test_what_counts_as_a_lie():
    assert _allowed(CATALOG, "R05", {"R05"})
    assert _allowed(CATALOG, "E11.90", {"E11.9"})
    assert _allowed(CATALOG, "N77.1", {"B37.3"})
    assert not _allowed(CATALOG, "J18.9", {"R05"})
    assert not _allowed(CATALOG, "X99", {"X99"})


def test_overhead_gives_both_tiers(index):
    result = overhead(index, notes(index.catalog)[:15])
    assert set(result) == {f"tier_{tier}_overhead_p{share}_ms" for tier in (2, 3) for share in (50, 95)}
    assert all(value > 0 for value in result.values())


def test_the_slow_model_answers_late_and_notices_who_leaves():
    async def both() -> tuple[float, int, int]:
        model = SlowModel(0.3)
        server = await asyncio.start_server(model.client, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        base = f"http://127.0.0.1:{port}"
        question = {"role": "user", "content": json.dumps({"text": "Husten"})}
        body = {"messages": [question], "response_format": {"json_schema": {"name": "Findings"}}}
        async with httpx.AsyncClient(trust_env=False) as client:
            begun = asyncio.get_running_loop().time()
            answer = await client.post(f"{base}/v1/chat/completions", json=body)
            took = asyncio.get_running_loop().time() - begun
            assert "Husten" in answer.json()["choices"][0]["message"]["content"]
            model.seconds = 60
            call = asyncio.create_task(client.post(f"{base}/v1/chat/completions", json=body))
            await asyncio.sleep(0.2)
            during = (await client.get(f"{base}/running")).json()["running"]
            call.cancel()
            await asyncio.sleep(0.2)
            after = (await client.get(f"{base}/running")).json()["running"]
        server.close()
        return took, during, after

    took, during, after = asyncio.run(both())
    assert took >= 0.3
    assert (during, after) == (1, 0)


def test_streams_at_once_on_a_real_worker_leave_nothing_behind(starter_artifact, index):
    found = at_once(starter_artifact, notes(index.catalog), 5, seconds=0.5)
    assert {name.partition("_")[0] for name in found} == {"spread", "burst", "steady"}
    for name, value in found.items():
        if name.endswith("calls_left_after_2_s"):
            assert value == 0
        elif not name.endswith(("_client", "_model")):  # these may take less than the clock of the system counts
            assert value > 0
    for case in ("spread", "burst"):
        assert {f"{case}_5_processor_ms_{whose}" for whose in ("server", "client", "model")} < set(found)
