"""Our client of a language model beside none: the same calls to the same server, in turn, through `OpenAIModel` and as
bytes over one kept connection of httpx.

The server is vLLM on CPU with a random model of two million parameters, where BEFUND_VLLM_VENV names an environment
with vLLM (`make test-vllm` makes one). The difference of the two is what our client takes: the queue, the manners of
servers, the reading of the answer, counts.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np

from bentos.language_model import Endpoint, OpenAIModel
from clinical.llm import Limits, Message
from clinical.settings import ROOT
from evals.speed.servers import answers, free_port, running

CALLS, WARM_UP = 150, 10
LOAD_SECONDS = 600.0
"""vLLM reads a gigabyte of libraries before it says a word: over two minutes on a busy machine."""
TOKENS = 8
NAME = "random-llama"
VENV = "BEFUND_VLLM_VENV"
QUESTION = "Husten und Fieber seit drei Tagen."
WITHOUT = f"not measured: {VENV} names no environment with vLLM (make test-vllm makes one)"


@dataclass(frozen=True, slots=True)
class Called:
    """One way of calling: milliseconds of a call."""

    way: str
    p50_ms: float
    p99_ms: float
    cpu_ms: float
    """Processor time of the calling process for a call."""


def beside_vllm() -> list[Called]:
    """Both ways; nothing where there is no vLLM."""
    venv = os.environ.get(VENV, "")
    if not Path(venv, "bin", "vllm").exists():
        return []
    with vllm(Path(venv)) as base:
        return asyncio.run(_compare(base))


@contextmanager
def vllm(venv: Path) -> Iterator[str]:
    """vLLM on CPU with a model made on the spot; its base URL up to /v1."""
    with tempfile.TemporaryDirectory(prefix="befund-bench-") as folder:
        texts = ROOT / "catalog_build" / "starter" / "icd10gm2026_alphaidse_edvtxt_starter.txt"
        make = [str(venv / "bin/python"), str(ROOT / "tests/vllm/make_model.py"), str(texts), f"{folder}/model"]
        subprocess.run(make, check=True, capture_output=True)
        port = free_port()
        command = [str(venv / "bin/vllm"), "serve", f"{folder}/model", "--served-model-name", NAME, "--port", str(port)]
        command += ["--host", "127.0.0.1", "--dtype", "bfloat16", "--enforce-eager", "--max-model-len", "2048"]
        environment = {**os.environ, "VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_NO_USAGE_STATS": "1"}
        environment |= {"PATH": f"{venv}/bin:{os.environ['PATH']}", "CUDA_VISIBLE_DEVICES": ""}
        base = f"http://127.0.0.1:{port}"
        with running(command, lambda: answers(f"{base}/health"), environment=environment, within=LOAD_SECONDS):
            yield f"{base}/v1"


async def _compare(base: str) -> list[Called]:
    model = OpenAIModel(Endpoint(base, model=NAME, context=2_048))
    limits = Limits(max_tokens=TOKENS, timeout_s=60)
    body = {"model": NAME, "messages": [{"role": "user", "content": QUESTION}], "max_tokens": TOKENS, "temperature": 0}
    async with httpx.AsyncClient(timeout=60, trust_env=False) as client:

        async def bare() -> None:
            (await client.post(f"{base}/chat/completions", json=body)).raise_for_status().json()

        async def ours() -> None:
            await model.complete((Message("user", QUESTION),), schema=None, limits=limits)

        try:
            return await in_turn({"bare httpx": bare, "our client": ours}, CALLS)
        finally:
            await model.close()


async def in_turn(ways: dict[str, Callable[[], Awaitable[None]]], calls: int) -> list[Called]:
    """Each way once, then again, so that what else the machine does meets both alike."""
    took: dict[str, list[float]] = {name: [] for name in ways}
    spent = dict.fromkeys(ways, 0.0)
    for number in range(WARM_UP + calls):
        for name, call in ways.items():
            began, cpu = time.perf_counter(), time.process_time()
            await call()
            if number >= WARM_UP:
                took[name].append(1_000 * (time.perf_counter() - began))
                spent[name] += 1_000 * (time.process_time() - cpu)
    return [_called(name, took[name], spent[name] / calls) for name in ways]


def _called(name: str, took: list[float], cpu_ms: float) -> Called:
    p50, p99 = np.percentile(took, (50, 99))
    return Called(name, float(p50), float(p99), cpu_ms)
