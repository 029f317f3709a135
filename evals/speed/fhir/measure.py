"""python -m evals fhir-speed [--json] [--only PART ...]: how fast documents are found and fetched.

PostgreSQL (over its Unix socket) and SQLite, gunicorn as shipped with 2 workers, 8 clients on the same machine, pages
of 50 with the exact total, presigned URLs and authentication. Cases take turns, several rounds of them, and the round
in the middle counts: what else the machine does then falls on all of them alike. `cpu_ms` and `db_ms` are the processor
time of a request in the webapp's and in PostgreSQL's processes, which depends on that least. `plain_flask` is what
gunicorn and Flask give without any of our work; `load` is the machine's load average at the end.
"""

import json
import os
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click
import psutil

from clinical.command_line import Command, Several, paragraphs
from evals.command import JSON, main_of
from evals.speed.fhir import rig as fhir_rig
from evals.speed.fhir import writing as fhir_writing
from evals.speed.fhir.rig import Rig
from evals.speed.load import Load, measure
from evals.wire import connect, request_bytes

SMALL, LARGE = 50_000, 1_000_000
CLIENTS = 8
DEEP = 40_000
SKIPPED = 150_000
WRITTEN_BESIDE = 1_000  # documents that are there when the part `writing` begins
MEGABYTES = 100
IMPORTED = 3_000
MEASURED_DAYS = 300
PARTS = ("plain", "searches", "skewed", "binary", "import", "sqlite", "large", "writing")
Result = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Pace:
    """How long a case is measured, in how many rounds."""

    seconds: float
    rounds: int


@click.command(cls=Command, help=paragraphs(__doc__))
@JSON
@click.option("--only", cls=Several, type=click.Choice(PARTS), default=PARTS, metavar="PART...", help=", ".join(PARTS))
@click.option("--seconds", type=float, default=6.0, help="how long each case is measured, over all rounds")
@click.option("--rounds", type=int, default=5)
@click.option("--small", type=int, default=SMALL, help="documents in the organization (50,000)")
@click.option("--large", type=int, default=LARGE, help="documents in the large one (1,000,000)")
def command(as_json: bool, only: Sequence[str], seconds: float, rounds: int, small: int, large: int) -> None:
    """Measure and print, as a table or as JSON."""
    result = run(Pace(seconds, rounds), only, small, large)
    print(json.dumps(result) if as_json else table(result))


main = main_of(command, "fhir-speed")


def run(pace: Pace, only: Collection[str], small: int, large: int) -> Result:
    """The chosen parts; rates in requests a second, times in ms, memory in MB (10^6 bytes)."""
    result: Result = {"documents": small, "clients": CLIENTS, "seconds": pace.seconds, "rounds": pace.rounds}
    if "plain" in only:
        with fhir_rig.plain_flask() as address:
            asked = request_bytes(f"http://{address[0]}:{address[1]}/", {})
            load = measure(address, lambda _: asked, clients=CLIENTS, seconds=pace.seconds)
            result["plain_flask"] = _shown(load, {})
    if {"searches", "skewed", "binary", "import", "large"} & set(only):
        with fhir_rig.postgres() as url, fhir_rig.running(url, small) as rig:
            if "searches" in only:
                result |= alternating({name: (rig, paths) for name, paths in cases(rig).items()}, pace)
            if "skewed" in only:
                result |= alternating({name: (rig, paths) for name, paths in skewed(rig).items()}, pace)
            if "binary" in only:
                result["binary"] = binary(rig)
            if "import" in only:
                result["import"] = importing(rig)
            if "large" in only:
                result |= compared(rig, large, pace)
    if "sqlite" in only:
        with tempfile.TemporaryDirectory() as folder, fhir_rig.running(f"sqlite:///{folder}/a.sqlite3", small) as rig:
            result |= alternating({"newest_sqlite": (rig, ["DocumentReference"])}, pace)
    if "writing" in only:
        with fhir_rig.postgres() as url, fhir_rig.running(url, WRITTEN_BESIDE) as rig:
            result["writing"] = writing(rig, pace)
    result["load"] = round(os.getloadavg()[0], 1)
    return result


def cases(rig: Rig) -> dict[str, list[str]]:
    """The searches of the table, as the paths that are asked in turn."""
    last = datetime.fromtimestamp(fhir_rig.NEWEST / 1e6, UTC)
    days = [(last - timedelta(days=back)).date() for back in range(2, MEASURED_DAYS)]
    return {
        "newest": ["DocumentReference"],
        "one_day": [f"DocumentReference?date={day}" for day in days],
        "one_patient": [f"DocumentReference?patient={patient}" for patient in rig.patients],
        "by_offset": [f"DocumentReference?_offset={min(DEEP, rig.documents // 2)}"],
        "by_next": [deep_link(rig)],
        "everything": [f"Patient/{patient}/$everything" for patient in rig.patients],
    }


def skewed(rig: Rig) -> dict[str, list[str]]:
    """Searches whose cost would grow with what they match or skip, on data that is as uneven as an organization's."""
    middle = datetime.fromtimestamp(fhir_rig.NEWEST / 1e6, UTC) - timedelta(days=1, hours=11)
    system, kind = quote(fhir_rig.SYSTEM), quote(fhir_rig.KIND)
    offset = min(SKIPPED, rig.documents // 2)
    return {
        "shared_value": [f"DocumentReference?patient={fhir_rig.VALUE}"],
        "shared_pair": [f"DocumentReference?patient={system}1%7C{fhir_rig.VALUE}"],
        "system_unknown": [f"DocumentReference?patient={system}9%7C"],
        "offset_mid_day": [f"DocumentReference?date=lt{middle:%Y-%m-%dT%H:%M}&_offset={offset}"],
        "one_type": [f"DocumentReference?type={kind}"],
        "changes": [f"DocumentReference/_history?_since={middle:%Y-%m-%dT%H:%M:%SZ}"],
        "all_changes": ["DocumentReference/_history"],
    }


def alternating(asked: Mapping[str, tuple[Rig, Sequence[str]]], pace: Pace) -> Result:
    """Each case in turn, round by round; of each the round with the middle rate."""
    rounds = [
        {name: _measure(rig, paths, pace.seconds / pace.rounds) for name, (rig, paths) in asked.items()}
        for _ in range(pace.rounds)
    ]
    return {
        name: sorted((done[name] for done in rounds), key=lambda one: float(one["per_second"]))[pace.rounds // 2]
        for name in asked
    }


def compared(small: Rig, documents: int, pace: Pace) -> Result:
    """The searches in the small and in a large organization in turns; how many times the large one takes longer."""
    with fhir_rig.postgres() as url, fhir_rig.running(url, documents) as large:
        rigs = {"small": small, "large": large}
        asked = {f"{name} {size}": (rig, paths) for size, rig in rigs.items() for name, paths in all_cases(rig).items()}
        found = alternating(dict(sorted(asked.items())), pace)
    ratios = {}
    for name in all_cases(small):
        one, many = found[f"{name} small"], found[f"{name} large"]
        ratios[name] = {
            "rate": round(one["per_second"] / many["per_second"], 2),
            "cpu": round((many["cpu_ms"] + many["db_ms"]) / (one["cpu_ms"] + one["db_ms"]), 2),
        }
    return {**found, "large_to_small": ratios, "large_documents": documents}


def all_cases(rig: Rig) -> dict[str, list[str]]:
    """Both kinds."""
    return cases(rig) | skewed(rig)


def deep_link(rig: Rig) -> str:
    """The `next` link that leads to the page at `DEEP`, below the base."""
    path = f"DocumentReference?_offset={min(DEEP, rig.documents // 2) - 50}"
    answer = json.loads(_whole(rig, path))
    link = next(link["url"] for link in answer["link"] if link["relation"] == "next")
    return str(link).removeprefix(f"{rig.base}/")


def binary(rig: Rig) -> Result:
    """A file of 100 MB, fetched three times: the workers' memory above what it was before, and MB/s."""
    with tempfile.TemporaryDirectory() as folder:
        with (Path(folder) / "big.bin").open("wb") as file:
            for _ in range(MEGABYTES):
                file.write(os.urandom(1_000_000))
        manifest = Path(folder) / "manifest.jsonl"
        manifest.write_text(json.dumps({"path": "big.bin", "patient": "gross"}) + "\n")
        rig.flask("documents", "import", "--org", rig.organization, str(manifest))
    document = json.loads(_whole(rig, "DocumentReference?patient=gross"))["entry"][0]["resource"]["id"]
    _fetch(rig, f"Binary/{document}")
    before, speeds = _memory(rig.server), []
    with _Peak(rig.server) as peak:
        for _ in range(3):
            begin = time.perf_counter()
            size = _fetch(rig, f"Binary/{document}")
            speeds.append(size / (time.perf_counter() - begin) / 1e6)
    return {"mb_per_second": round(max(speeds)), "grown_mb": round((peak.highest - before) / 1e6, 1)}


def importing(rig: Rig) -> Result:
    """`documents import` of small files by its command, its start included: files a second, and the command's own
    processor time, which depends less on what else the machine does."""
    with tempfile.TemporaryDirectory() as folder:
        lines = []
        for number in range(IMPORTED):
            Path(folder, f"{number}.txt").write_text(f"Befund {number}\n" * 40)
            lines.append(json.dumps({"path": f"{number}.txt", "patient": f"urn:oid:1.2.3|{number % 500}"}))
        manifest = Path(folder, "manifest.jsonl")
        manifest.write_text("\n".join(lines))
        begin, before = time.perf_counter(), os.times()
        rig.flask("documents", "import", "--org", rig.organization, str(manifest))
        after, seconds = os.times(), time.perf_counter() - begin
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return {"files": IMPORTED, "files_per_second": round(IMPORTED / seconds), "cpu_seconds": round(spent, 1)}


def table(result: Result) -> str:
    """One line a case."""
    lines = [f"{result['documents']:,} documents, {result['clients']} clients, machine load {result['load']}"]
    lines.append(f"{'':18}{'requests/s':>12}{'p50 ms':>9}{'p99 ms':>9}{'cpu ms':>9}{'db ms':>9}")
    for name, row in result.items():
        if isinstance(row, dict) and "per_second" in row:
            spent = "".join(f"{row[key]:>9.2f}" for key in ("cpu_ms", "db_ms") if row.get(key) is not None)
            lines.append(f"{name:18}{row['per_second']:>12.0f}{row['p50_ms']:>9.1f}{row['p99_ms']:>9.1f}{spent}")
    if "large_to_small" in result:
        lines.append(f"{result['large_documents']:,} documents against {result['documents']:,}:")
        for name, ratio in result["large_to_small"].items():
            lines.append(f"{name:18}{ratio['rate']:>7} times the time, {ratio['cpu']} times the processor time")
    if found := result.get("binary"):
        lines.append(f"Binary of {MEGABYTES} MB: {found['mb_per_second']} MB/s, memory grown by {found['grown_mb']} MB")
    if done := result.get("import"):
        lines.append(
            f"import of {done['files']:,} files: {done['files_per_second']} files/s, {done['cpu_seconds']} s of CPU"
        )
    return "\n".join(lines)


def writing(rig: Rig, pace: Pace) -> Result:
    """Documents stored over HTTP by one service account; of several rounds the one in the middle."""
    program = fhir_writing.WritingAccount(rig)
    rounds = [_timed(rig, lambda: program.stores(pace.seconds / pace.rounds)) for _ in range(pace.rounds)]
    return sorted(rounds, key=lambda one: float(one["per_second"]))[pace.rounds // 2]


def _measure(rig: Rig, paths: Sequence[str], seconds: float) -> Result:
    requests = [rig.request(path) for path in paths]
    take: Callable[[int], bytes] = lambda number: requests[number % len(requests)]  # noqa: E731
    return _timed(rig, lambda: measure(rig.address, take, clients=CLIENTS, seconds=seconds))


def _timed(rig: Rig, load_it: Callable[[], Load]) -> Result:
    """A load, and the processor time of a request in the servers."""
    servers = {"cpu_ms": rig.server} | ({"db_ms": rig.database} if rig.database else {})
    before = {name: _cpu(server) for name, server in servers.items()}
    load = load_it()
    spent = {name: (_cpu(server) - before[name]) / load.answered * 1000 for name, server in servers.items()}
    return _shown(load, spent)


def _shown(load: Load, spent: Mapping[str, float]) -> Result:
    rates = {"per_second": round(load.per_second, 1), "p50_ms": round(load.p50_ms, 2), "p99_ms": round(load.p99_ms, 2)}
    return rates | {name: round(value, 3) for name, value in spent.items()}


def _processes(server: int) -> list[psutil.Process]:
    parent = psutil.Process(server)
    return [parent, *parent.children(recursive=True)]


def _cpu(server: int) -> float:
    times = [process.cpu_times() for process in _processes(server)]
    return float(sum(spent.user + spent.system for spent in times))


def _memory(server: int) -> int:
    return sum(process.memory_info().rss for process in _processes(server))


class _Peak:
    """The highest memory of the server's processes while the block runs."""

    def __init__(self, server: int) -> None:
        self.highest, self._server, self._over = 0, server, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def _watch(self) -> None:
        while not self._over.wait(0.005):
            self.highest = max(self.highest, _memory(self._server))

    def __enter__(self) -> "_Peak":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self.highest = max(self.highest, _memory(self._server))


def _whole(rig: Rig, path: str) -> bytes:
    """The body of one answer."""
    received = bytearray()
    _receive(rig, path, received.extend)
    return bytes(received).partition(b"\r\n\r\n")[2]


def _fetch(rig: Rig, path: str) -> int:
    """Read an answer and throw it away; bytes of it."""
    return _receive(rig, path, lambda chunk: None)


def _receive(rig: Rig, path: str, take: Callable[[memoryview], object]) -> int:
    buffer, total = bytearray(1 << 20), 0
    with connect(rig.address, timeout=30) as connection:
        request = rig.request(path).replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
        connection.sendall(request)
        while read := connection.recv_into(buffer):
            take(memoryview(buffer)[:read])
            total += read
    return total
