"""Load on the terminology: operations in process, over HTTP in turns with bare FastAPI, memory of a second year.

What is compared with is FastAPI under uvicorn with as many workers, which answers fixed bytes of the same length. The
callers are ten connections of one event loop that send what was written beforehand, so that the callers' own time,
which both share, is small; `cpu_ratio` leaves it out.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Final
from urllib.parse import urlencode, urlsplit

import httpx2

import bentos.terminology as fhir
from bentos.terminology import SYSTEM, Inputs, Systems, Year
from clinical.icd import Catalog
from clinical.reading import SearchIndex
from evals.load import rigs
from evals.load.bare import LENGTH
from evals.load.bench import fresh_load
from evals.load.rigs import ServedUnderLoad
from evals.load.servers import answers, environment_with, free_port, running
from evals.measures.results import Row, percentiles, row

BASE: Final = "/api/fhir/r4"
CLIENTS: Final = 10
CODES: Final = 200
TYPED: Final = (
    "diab", "herz", "bluthochdr", "rücken", "copd", "depr", "gicht", "asthma", "schwindel", "neph", "insuff",
)  # fmt: skip
ALL: Final = f"{SYSTEM}?fhir_vs"
ROUNDS: Final = 5
LAST_CHUNK: Final = b"\r\n0\r\n\r\n"


def measured(catalog: Path, workers: int, seconds: float, earlier: Path | None) -> Iterator[Row]:
    """All of it; the memory of a second year where an artifact of one is named."""
    yield from in_process(catalog)
    if earlier is not None:
        yield from second_year(catalog, earlier)
    yield from over_http(catalog, workers, seconds)


def in_process(catalog: Path) -> Iterator[Row]:
    """Milliseconds of a call without HTTP, median: `$expand` with a filter, `$lookup`, `$validate-code`."""
    systems = Systems([Year.of(SearchIndex.load(catalog))])
    codes = _codes(systems.newest.catalog)
    calls: dict[str, Callable[[int], object]] = {
        "$expand with filter": lambda turn: fhir.expand(
            systems, Inputs([("url", ALL), ("filter", TYPED[turn % len(TYPED)]), ("count", "20")])
        ),
        "$lookup": lambda turn: fhir.lookup(systems, Inputs([("system", SYSTEM), ("code", codes[turn % len(codes)])])),
        "$validate-code": lambda turn: fhir.validate_code(
            systems, Inputs([("url", SYSTEM), ("code", codes[turn % len(codes)])])
        ),
    }
    for name, call in calls.items():
        spent = []
        for turn in range(-20, CODES):
            began = time.perf_counter()
            call(turn)
            spent.append(1_000 * (time.perf_counter() - began))
        yield from percentiles("ms_p{}", name, spent[20:])


def over_http(catalog: Path, workers: int, seconds: float) -> Iterator[Row]:
    """Suggestions of one caller; `$lookup` and `$validate-code` of ten, in turns with the bare server."""
    codes = _codes(Catalog.load(catalog / "codes.json"))
    with rigs.text_api(catalog, workers) as api:
        yield from _suggested(api)
        head = f"Host: {urlsplit(api.base).netloc}\r\nAuthorization: Bearer {api.key}\r\n"
        kinds = {
            "$lookup": [_get("CodeSystem/$lookup", head, system=SYSTEM, code=code) for code in codes],
            "$validate-code": [_get("CodeSystem/$validate-code", head, url=SYSTEM, code=code) for code in codes],
        }
        for name, requests in kinds.items():
            yield from beside_bare(api, name, requests, workers, seconds)


def beside_bare(
    api: ServedUnderLoad, name: str, requests: Sequence[bytes], workers: int, seconds: float
) -> Iterator[Row]:
    """Requests of one kind in turns with the bare server, which answers as many bytes: rates, processor time, and the
    ratios of both."""
    with bare(workers, asyncio.run(_length(api.base, requests))) as plain:
        ours, theirs = [], []
        for _ in range(ROUNDS):
            ours.append(_loaded(api, requests, seconds / ROUNDS / 2))
            theirs.append(_loaded(plain, requests, seconds / ROUNDS / 2))
    of = f"{name}, {workers} workers"
    for whose, found in ((of, ours), (f"{of}, bare", theirs)):
        yield from row("requests_per_second", whose, ROUNDS, median(rate for rate, _ in found))
        yield from row("cpu_ms", whose, ROUNDS, median(cpu for _, cpu in found))
    pairs = list(zip(ours, theirs, strict=True))
    yield from row("rate_ratio", of, ROUNDS, median(mine[0] / plain[0] for mine, plain in pairs))
    yield from row("cpu_ratio", of, ROUNDS, median(plain[1] / mine[1] for mine, plain in pairs))


def second_year(catalog: Path, earlier: Path) -> Iterator[Row]:
    """Memory (MB) of a process that has loaded the catalog, and what another beside it adds: its own, and with the
    mapped files, which all workers share and the system may drop."""
    alone, both = fresh_load(catalog), fresh_load(catalog, earlier)
    for measure, before, after in (("own_mb", alone.own, both.own), ("resident_mb", alone.resident, both.resident)):
        yield from row(measure, "one year", 1, before)
        yield from row(measure, "the second year", 1, after - before)


def _codes(catalog: Catalog) -> list[str]:
    terminal = [code.code for code in catalog if code.terminal]
    return terminal[:: max(1, len(terminal) // CODES)][:CODES]


def _suggested(api: ServedUnderLoad) -> Iterator[Row]:
    """One caller who types, a request after each character from the third on."""
    beginnings = [word[:end] for word in TYPED for end in range(3, len(word) + 1)]
    spent = []
    with httpx2.Client(base_url=api.base, headers={"Authorization": f"Bearer {api.key}"}, trust_env=False) as client:
        for typed in beginnings[:20] + beginnings * 4:
            began = time.perf_counter()
            client.post("/api/codes/suggest", json={"text": typed}).raise_for_status()
            spent.append(1_000 * (time.perf_counter() - began))
    yield from percentiles("ms_p{}", "suggest, one caller", spent[20:])


def _get(path: str, head: str, **parameters: str) -> bytes:
    return f"GET {BASE}/{path}?{urlencode(parameters)} HTTP/1.1\r\n{head}\r\n".encode()


# --- callers ----------------------------------------------------------------------------------------------------------


def _loaded(server: ServedUnderLoad, requests: Sequence[bytes], seconds: float) -> tuple[float, float]:
    """Requests a second, and the server's processor time of one in milliseconds."""
    return asyncio.run(_called(server, requests, seconds))


async def _called(server: ServedUnderLoad, requests: Sequence[bytes], seconds: float) -> tuple[float, float]:
    """CLIENTS callers who came one after another: the worker that wakes first takes all who come at once, and keeps
    them for as long as they stay."""
    connections = []
    for number in range(CLIENTS):
        connections.append(await _connected(server.base))
        await _answer(*connections[-1], requests[number % len(requests)])
    before, began = server.cpu_seconds(), time.perf_counter()

    async def caller(number: int) -> int:
        reader, writer = connections[number]
        done = 0
        while time.perf_counter() < began + seconds:
            await _answer(reader, writer, requests[(number + CLIENTS * done) % len(requests)])
            done += 1
        writer.close()
        return done

    done = sum(await asyncio.gather(*map(caller, range(CLIENTS))))
    return done / (time.perf_counter() - began), 1_000 * (server.cpu_seconds() - before) / max(1, done)


async def _length(base: str, requests: Sequence[bytes]) -> int:
    """Bytes of an answer, in the middle."""
    reader, writer = await _connected(base)
    found = [await _answer(reader, writer, request) for request in requests]
    writer.close()
    return int(median(found))


async def _connected(base: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    place = urlsplit(base)
    return await asyncio.open_connection(place.hostname, place.port)


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> int:
    """Bytes of the body, with the lines around chunks. Raises RuntimeError for any status but 200."""
    writer.write(request)
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    if b" 200 " not in head[:20]:
        raise RuntimeError(f"expected 200, found {head[:40]!r}")
    if b"chunked" in head:
        return len(await reader.readuntil(LAST_CHUNK)) - len(LAST_CHUNK)
    length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
    await reader.readexactly(length)
    return length


# --- the server that does nothing -------------------------------------------------------------------------------------


@contextmanager
def bare(workers: int, length: int) -> Iterator[ServedUnderLoad]:
    """FastAPI with one route of every path that answers fixed bytes, under uvicorn with so many workers."""
    port = free_port()
    command = [sys.executable, "-m", "uvicorn", "evals.load.bare:app", "--port", str(port), "--log-level", "warning"]
    environment = environment_with({}) | {LENGTH: str(length), "OMP_NUM_THREADS": "1"}
    base = f"http://127.0.0.1:{port}"
    with running([*command, "--workers", str(workers)], lambda: answers(base), environment=environment) as process:
        yield ServedUnderLoad(base, "", process.pid)
