"""The text API beside bare FastAPI with the same payload: what keys, limits, search, counts and BentoML cost.

Both run one process and answer the same requests with the same bytes, in turns. What searching takes is measured in
this process on the same queries, so that the rest can be told from it.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np
import psutil

from clinical.search import SearchIndex
from evals.speed.api import Server, serving
from evals.speed.servers import answers, free_port, running

ROUNDS = 3
WARM_UP = 20


@dataclass(frozen=True, slots=True)
class Answered:
    """One server: milliseconds to the first codes, streams a second over sixteen connections, processor time of one."""

    server: str
    p50_ms: float
    p99_ms: float
    per_second: float
    cpu_ms: float


def beside_fastapi(catalog: Path, queries: Sequence[str], seconds: float) -> list[Answered]:
    """Befund, and FastAPI with Befund's answers, by the round in the middle; then the search alone."""
    with serving(catalog, 1) as befund, bare(recorded(befund, queries)) as plain:
        servers = {"text API": befund, "bare FastAPI": plain}
        rounds: dict[str, list[Answered]] = {name: [] for name in servers}
        for _ in range(ROUNDS):
            for name, server in servers.items():
                rounds[name].append(_round(name, server, queries, seconds))
    middle = [_middle(name, found) for name, found in rounds.items()]
    return [*middle, _search_alone(catalog, queries)]


def recorded(server: Server, queries: Sequence[str]) -> dict[str, str]:
    """What the text API answers to each query."""
    headers = {"Authorization": f"Bearer {server.key}"}
    with httpx.Client(
        base_url=f"http://127.0.0.1:{server.port}", headers=headers, timeout=60, trust_env=False
    ) as client:
        return {query: client.post("/api/deep-research", json={"query": query}).text for query in queries}


@contextmanager
def bare(streams: dict[str, str]) -> Iterator[Server]:
    """Bare FastAPI with these answers."""
    with tempfile.TemporaryDirectory(prefix="befund-bench-") as folder:
        (Path(folder) / "answers").write_text(json.dumps(streams), "utf-8")
        port = free_port()
        command = [sys.executable, "-m", "evals.bench.bare", str(port), f"{folder}/answers"]
        with running(command, lambda: answers(f"http://127.0.0.1:{port}/api/health")) as process:
            yield Server(port, "none", process)


def _round(name: str, server: Server, queries: Sequence[str], seconds: float) -> Answered:
    firsts = server.first_partials(queries[:WARM_UP], queries)
    before, began = _cpu_seconds(server), time.perf_counter()
    rate = server.throughput(queries, seconds)
    whole = time.perf_counter() - began
    cpu = 1_000 * (_cpu_seconds(server) - before) / max(1.0, rate * whole)
    p50, p99 = np.percentile(firsts, (50, 99))
    return Answered(name, float(p50), float(p99), rate, cpu)


def _cpu_seconds(server: Server) -> float:
    parent = psutil.Process(server.process.pid)
    times = [one.cpu_times() for one in (parent, *parent.children(recursive=True))]
    return float(sum(spent.user + spent.system for spent in times))


def _middle(name: str, rounds: Sequence[Answered]) -> Answered:
    def of(field: str) -> float:
        return float(statistics.median(getattr(one, field) for one in rounds))

    return Answered(name, of("p50_ms"), of("p99_ms"), of("per_second"), of("cpu_ms"))


def _search_alone(catalog: Path, queries: Sequence[str]) -> Answered:
    index = SearchIndex.load(catalog)
    for query in queries[:WARM_UP]:
        index.search(query)
    took = []
    began = time.process_time()
    for query in queries:
        start = time.perf_counter()
        index.search(query)
        took.append(1_000 * (time.perf_counter() - start))
    cpu = 1_000 * (time.process_time() - began) / len(queries)
    p50, p99 = np.percentile(took, (50, 99))
    return Answered("of it, search in process", float(p50), float(p99), 0.0, cpu)
