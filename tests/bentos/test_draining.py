"""SIGTERM with open streams: each ends in words, nothing new is let in, and the server is gone in time."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx

from bentos.keys.database import open_database
from bentos.keys.keys import KeyLimits, Keys
from clinical.contract import PartialEvent, StatusEvent
from clinical.sse import Decoder
from tests.openai_server import model_server
from tests.serving import answers, free_port, wait_until

ROOT = Path(__file__).resolve().parents[2]
STREAMS = 200


def test_two_hundred_open_streams_end_in_words_at_sigterm(tmp_path, starter_artifact):
    database = f"sqlite:///{tmp_path / 'api.sqlite'}"
    key, port = Keys(open_database(database)).create("test", KeyLimits(0, 0)), free_port()
    base = f"http://127.0.0.1:{port}"
    with model_server(mode="stall") as model, open(tmp_path / "log", "wb") as log:
        settings = {
            "CATALOG": starter_artifact,
            "API_DATABASE_URL": database,
            "API_PORT": port,
            "ENV": "development",
            "LLM_BASE_URL": model.base_url,
            "DRAIN_SECONDS": 10,
        }
        environment = {**os.environ, **{f"BEFUND_{name}": str(value) for name, value in settings.items()}}
        environment["PROMETHEUS_MULTIPROC_DIR"] = str(tmp_path)
        command = [sys.executable, "-m", "bentos", "serve"]
        server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT)
        try:
            ready = f"{base}/internal/readyz"
            wait_until(lambda: server.poll() is not None or answers(ready), "it did not become ready", 90)
            endings = asyncio.run(_stopped(base, key, server))
            server.wait(30)
        finally:
            server.kill()
    assert [ending for ending in endings if ending != "error"] == []
    assert (tmp_path / "log").read_text("utf-8").count("a stream was ended: the server stops") > 0


async def _stopped(base: str, key: str, server: subprocess.Popen[bytes]) -> list[str]:
    """How each stream ended, when the server is told to stop once all of them show their first tier."""
    shown = asyncio.Semaphore(0)
    limits = httpx.Limits(max_connections=None)
    headers = {"Authorization": f"Bearer {key}"}

    async def one(client: httpx.AsyncClient) -> str:
        decoder, last = Decoder(), None
        try:
            async with client.stream("POST", f"{base}/api/deep-research", json={"query": "Husten"}) as answer:
                async for chunk in answer.aiter_bytes():
                    for last in decoder.feed(chunk):
                        if isinstance(last, PartialEvent):
                            shown.release()
        except httpx.HTTPError as error:
            return type(error).__name__
        return last.status if isinstance(last, StatusEvent) else "cut"

    async with httpx.AsyncClient(headers=headers, timeout=60, trust_env=False, limits=limits) as client:
        streams = [asyncio.create_task(one(client)) for _ in range(STREAMS)]
        async with asyncio.timeout(60):
            for _ in streams:
                await shown.acquire()
        server.send_signal(signal.SIGTERM)
        return await asyncio.gather(*streams)
