"""python -m evals speed --catalog DIR [--json]: how fast search and the served API are, and what they take.

Search is measured in this process, HTTP against real workers (`python -m bentos serve`) on the same machine, so that
the client's work is part of the numbers. Queries are made from the catalog's own titles with a fixed seed. Other work
on the machine shows in every number: run it alone.
"""

from __future__ import annotations

import gc
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from clinical.command_line import paragraphs
from evals.command import CATALOG, JSON, main_of

# One search is one core, as in the server: set before anything loads OpenMP.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import psutil

from clinical.catalog import Catalog
from clinical.contract import QUERY_MAX
from clinical.search import Manifest
from evals.speed.api import serving

SEED = 2026
SHORT_QUERIES, LONG_QUERIES = 2_000, 100
WARM_UP = 100


@click.command(help=paragraphs(__doc__))
@CATALOG
@JSON
@click.option("--seconds", type=float, default=10.0, help="how long throughput is measured")
def command(catalog: Path, as_json: bool, seconds: float) -> None:
    """Measure and print, as a table or as JSON."""
    result = measure(catalog.resolve(), seconds)
    print(json.dumps(result) if as_json else table(result))


main = main_of(command, "speed")


def measure(catalog: Path, seconds: float) -> dict[str, float]:
    """All numbers; times in ms unless the name says otherwise, memory in MB (10^6 bytes)."""
    Manifest.load(catalog).verify(catalog)
    titles = [code.title for code in Catalog.load(catalog / "codes.json")]
    short, long = queries(titles)
    result = in_process(catalog, short, long)
    load, resident = fresh_load(catalog)
    result |= {"load_seconds": load, "load_resident_mb": resident}
    with serving(catalog, workers=1) as server:
        result |= spread("http_first_partial", server.first_partials(short[:WARM_UP], short))
    with serving(catalog, workers=2) as server:
        result["streams_per_second_2_workers"] = server.throughput(short, seconds)
        result["worker_resident_mb"] = max(server.resident_mb())
    return {name: round(value, 2) for name, value in result.items()}


def in_process(catalog: Path, short: Sequence[str], long: Sequence[str]) -> dict[str, float]:
    """Search without HTTP; what is loaded is kept from the garbage collector, as in the server."""
    from clinical.search import SearchIndex

    index = SearchIndex.load(catalog)
    gc.collect()
    gc.freeze()
    return {**spread("search_short", timed(index.search, short)), **spread("search_long", timed(index.search, long))}


def spread(name: str, times: Sequence[float]) -> dict[str, float]:
    """Median and 99th percentile of times in ms."""
    return {f"{name}_p50_ms": percentile(times, 50), f"{name}_p99_ms": percentile(times, 99)}


def queries(titles: Sequence[str]) -> tuple[list[str], list[str]]:
    """Short queries as people type them (one to four words), and texts of the full 2,000 characters."""
    chance = random.Random(SEED)  # noqa: S311 - reproducible, not secret
    short = [" ".join(chance.choice(titles).split()[: chance.randint(1, 4)])[:60] for _ in range(SHORT_QUERIES)]
    long = [", ".join(chance.choices(titles, k=80))[:QUERY_MAX] for _ in range(LONG_QUERIES)]
    return [query for query in short if query.strip()], long


def timed(search: Callable[[str], object], texts: Sequence[str], warm_up: int = WARM_UP) -> list[float]:
    """Milliseconds of each search, after a warm-up with the first of the texts."""
    for text in texts[:warm_up]:
        search(text)
    times = []
    for text in texts:
        begun = time.perf_counter()
        search(text)
        times.append(1_000 * (time.perf_counter() - begun))
    return times


def least(search: Callable[[str], object], texts: Sequence[str], rounds: int) -> list[float]:
    """Milliseconds of each search, the least of several rounds, of which each warms up the next: what else the machine
    does only ever adds."""
    return [min(times) for times in zip(*(timed(search, texts, warm_up=0) for _ in range(rounds)), strict=True)]


def percentile(values: Sequence[float], percent: int) -> float:
    """The nearest-rank percentile (NIST handbook, 7.2.6.2)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -(-len(ordered) * percent // 100) - 1))]


_LOAD = """
import sys, time, pathlib
from clinical.search import SearchIndex
begun = time.perf_counter()
index = SearchIndex.load(pathlib.Path(sys.argv[1]))
print(time.perf_counter() - begun, flush=True)
sys.stdin.read()
"""


def fresh_load(catalog: Path) -> tuple[float, float]:
    """Seconds to load the artifact after the imports, and the resident memory then, in a process of its own."""
    command = [sys.executable, "-c", _LOAD, str(catalog)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None  # noqa: S101 - a pipe was asked for
        seconds = float(process.stdout.readline())
        resident = psutil.Process(process.pid).memory_info().rss / 1e6
        process.communicate("")
    return seconds, resident


_ROWS = (
    ("search, short query", ("search_short_p50_ms", "search_short_p99_ms"), "ms p50 / p99"),
    ("search, 2,000 characters", ("search_long_p50_ms", "search_long_p99_ms"), "ms p50 / p99"),
    ("HTTP, first partial, one client", ("http_first_partial_p50_ms", "http_first_partial_p99_ms"), "ms p50 / p99"),
    ("tier-1 streams, 2 workers", ("streams_per_second_2_workers",), "per second"),
    ("load after imports", ("load_seconds",), "s"),
    ("resident per worker", ("worker_resident_mb",), "MB"),
)


def table(result: dict[str, float]) -> str:
    """The numbers as the table in docs/measured.md has them."""
    lines = [f"{name:<34}{' / '.join(f'{result[key]:g}' for key in keys):>16} {unit}" for name, keys, unit in _ROWS]
    return "\n".join(lines)
