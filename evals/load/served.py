"""Load on real servers by locust: streams, FHIR searches, documents stored, and sign-ins.

What carries over to other machines is the processor time of a request in the servers (`cpu_ms`, `db_ms`) and the ratio
of two versions in turns; rates share the machine with the callers. locust is the extra `load`.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

import httpx2
import numpy as np

from clinical.errors import SettingError
from clinical.icd import EXAMPLE, Catalog
from clinical.settings import ROOT
from evals.load import rigs, terminology
from evals.load.bench import notes
from evals.load.rigs import Filled, ServedUnderLoad
from evals.load.servers import processor_seconds
from evals.measures.results import Row, percentiles, row

USERS: Final = Path(__file__).with_name("users.py")
CLIENTS: Final = 8
DEEP: Final = 40_000
MEASURED_DAYS: Final = 300
TEXTS: Final = 400
LEFT_AFTER_SECONDS: Final = 2.0
PATIENCE: Final = 60.0
"""Seconds for the model to say how many calls are left: a thousand callers who leave at once keep its one loop busy."""
ENDING_SECONDS: Final = 120
"""For what is under way when a run ends."""


class LoadEntry(NamedTuple):
    """One kind of request of a run: counts, requests a second, and milliseconds that half and 99 % stayed below."""

    requests: int
    failures: int
    per_second: float
    p50_ms: float
    p99_ms: float


def run(
    users: Sequence[str], given: Mapping[str, Any], clients: int, rate: float, seconds: float
) -> dict[str, LoadEntry]:
    """The entries of a run of locust by name. Raises SettingError where locust is missing or ends with an error."""
    if importlib.util.find_spec("locust") is None:
        remedy = "install the extra: pip install 'befund[load]'"
        raise SettingError("the package locust is not installed", "what puts load on servers", remedy)
    with tempfile.TemporaryDirectory(prefix="befund-load-") as folder:
        command = [sys.executable, "-m", "locust", "-f", str(USERS), "--headless", "-u", str(clients)]
        command += ["-r", f"{rate:g}", "-t", f"{max(1, round(seconds))}s", "--exit-code-on-error", "0"]
        command += ["--stop-timeout", str(ENDING_SECONDS)]
        command += ["--json-file", f"{folder}/stats", "--only-summary", "--loglevel", "ERROR", *users]
        path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        environment = {**os.environ, "BEFUND_LOAD": json.dumps(given), "PYTHONPATH": path}
        done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)
        stats = Path(folder) / "stats.json"
        if done.returncode or not stats.is_file():
            said = (done.stderr or done.stdout)[-2_000:]
            raise SettingError("locust ended with an error", "a run to its end", said)
        entries = json.loads(stats.read_text("utf-8"))
        failed = [line for line in done.stdout.splitlines() if line[:1].isdigit()]
    if failed:
        print("\n".join(failed), file=sys.stderr)
    return {each["name"]: _entry(each) for each in entries}


def _entry(stats: Mapping[str, Any]) -> LoadEntry:
    times = np.array([(float(ms), count) for ms, count in stats["response_times"].items()] or [(0.0, 1)])
    below = np.quantile(times[:, 0], (0.5, 0.99), method="inverted_cdf", weights=times[:, 1])
    took = max(1e-9, stats["last_request_timestamp"] - stats["start_time"])
    found = (stats["num_requests"], stats["num_failures"], stats["num_requests"] / took)
    return LoadEntry(*found, *below.tolist())


def rows_of(name: str, entry: LoadEntry) -> list[Row]:
    """The rows of an entry."""
    found = row("requests_per_second", name, entry.requests, entry.per_second)
    found += row("p50_ms", name, entry.requests, entry.p50_ms) + row("p99_ms", name, entry.requests, entry.p99_ms)
    return found + row("failures", name, entry.requests, float(entry.failures))


# --- the text API ---------------------------------------------------------------------------------------------------


def streams(catalog: Path, numbers: Sequence[int], workers: int, model_seconds: float) -> Iterator[Row]:
    """So many streams that begin within ten seconds over a model that takes so long a call, and go on to their end
    while others begin; then the calls that are left at the model when all callers have left."""
    texts = notes(Catalog.load(catalog / "codes.json"), TEXTS)
    for number in numbers:
        yield from _streams(catalog, texts, number, workers, model_seconds)


def _streams(catalog: Path, texts: Sequence[str], number: int, workers: int, seconds: float) -> Iterator[Row]:
    with rigs.model_server(seconds) as model:
        given = {"LLM_BASE_URL": f"{model}/v1", "LLM_CONCURRENCY": str(2 * number), "LLM_QUEUE": str(number)}
        with rigs.text_api(catalog, workers, given) as api:
            rigs.first_codes_ms(api, [EXAMPLE])
            asked = {"api": api.base, "key": api.key, "texts": texts}
            for name, users in (("to their end", "Streams"), ("left after the first codes", "Leaving")):
                before = api.cpu_seconds()
                found = run([users], asked, number, max(1.0, number / 10), 4 * seconds)
                of = f"{number} streams {name}, {workers} workers"
                yield from rows_of(of, found["first codes"])
                spent = 1_000 * (api.cpu_seconds() - before) / max(1, found["first codes"].requests)
                yield from row("cpu_ms", of, found["first codes"].requests, spent)
            time.sleep(LEFT_AFTER_SECONDS)
            left = httpx2.get(f"{model}/running", timeout=PATIENCE, trust_env=False).json()["running"]
            yield from row("calls_left", of, number, float(left))


def instant(catalog: Path, workers: int, seconds: float) -> Iterator[Row]:
    """Tier 1 alone: streams a second over sixteen callers, the first codes of one caller, memory of a worker; codes and
    texts in turns with bare FastAPI."""
    texts = notes(Catalog.load(catalog / "codes.json"), TEXTS)
    with rigs.text_api(catalog, workers) as api:
        alone = rigs.first_codes_ms(api, texts[:20] + texts)[20:]
        yield from percentiles("p{}_ms", "first codes, one caller", alone)
        before = api.cpu_seconds()
        found = run(["Streams"], {"api": api.base, "key": api.key, "texts": texts}, 16, 16, seconds)["stream"]
        of = f"tier 1, {workers} workers"
        yield from rows_of(of, found)
        yield from row("cpu_ms", of, found.requests, 1_000 * (api.cpu_seconds() - before) / max(1, found.requests))
        yield from row("resident_mb", of, workers, api.resident_mb()[0])
        for name, asked in (("a code", [EXAMPLE]), ("notes", texts)):
            requests = [_posted(api, text) for text in asked]
            yield from terminology.beside_bare(api, f"tier 1 of {name}", requests, workers, seconds)


def _posted(api: ServedUnderLoad, text: str) -> bytes:
    """A request for a stream, as it is sent."""
    body = json.dumps({"query": text}).encode()
    head = f"Host: {httpx2.URL(api.base).netloc.decode()}\r\nAuthorization: Bearer {api.key}\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return f"POST /api/deep-research HTTP/1.1\r\n{head}\r\n".encode() + body


# --- documents ------------------------------------------------------------------------------------------------------


CASES: Final = ("newest", "one day", "one patient", "everything", "by offset", "by next")


def cases(base: str, there: Filled, web: ServedUnderLoad) -> dict[str, list[str]]:
    """The paths of each of CASES, which are asked in turn."""
    last = datetime.fromtimestamp(rigs.NEWEST / 1e6, UTC)
    days = [(last - timedelta(days=back)).date() for back in range(2, MEASURED_DAYS)]
    deep = min(DEEP, there.documents // 2)
    found = (
        [f"{base}/DocumentReference"],
        [f"{base}/DocumentReference?date={day}" for day in days],
        [f"{base}/DocumentReference?patient={patient}" for patient in there.patients],
        [f"{base}/Patient/{patient}/$everything" for patient in there.patients],
        [f"{base}/DocumentReference?_offset={deep}"],
        [_deep_link(web, f"{base}/DocumentReference?_offset={deep - 50}", there.token)],
    )
    return dict(zip(CASES, found, strict=True))


def _deep_link(web: ServedUnderLoad, path: str, token: str) -> str:
    """The path of the `next` link of a page."""
    answer = httpx2.get(f"{web.base}{path}", headers={"Authorization": f"Bearer {token}"}, timeout=60, trust_env=False)
    links = answer.raise_for_status().json()["link"]
    return httpx2.URL(next(link["url"] for link in links if link["relation"] == "next")).raw_path.decode()


def fhir(documents: int, seconds: float, rounds: int, only: Sequence[str], against: Path | None) -> Iterator[Row]:
    """Each search in turns, round by round, of each the round in the middle; with `against` the code of another
    checkout over the same rows in the same turns, and the ratio of processor times."""
    with rigs.filled(documents) as there, ExitStack() as served:
        codes = {"": ROOT} | ({", the other code": against} if against else {})
        webs = {
            name: served.enter_context(rigs.webapp(there.environment, there.token, place))
            for name, place in codes.items()
        }
        paths = cases(f"/{there.organization}/fhir/r4", there, webs[""])
        chosen = [name for name in paths if name in only or not only]
        seen: dict[str, list[tuple[LoadEntry, float, float]]] = {}
        for _ in range(rounds):
            for case in chosen:
                for whose, web in webs.items():
                    one = _searched(web, there, paths[case], seconds / rounds)
                    seen.setdefault(case + whose, []).append(one)
        for name, found in seen.items():
            entry, cpu, db = sorted(found, key=lambda one: one[0].per_second)[len(found) // 2]
            yield from rows_of(name, entry)
            yield from row("cpu_ms", name, entry.requests, cpu) + row("db_ms", name, entry.requests, db)
        for case in chosen if against else ():
            ours, theirs = (sum(cpu + db for _, cpu, db in seen[case + whose]) for whose in webs)
            yield from row("cpu_ratio", case, rounds, ours / theirs)


def _searched(
    web: ServedUnderLoad, there: Filled, paths: Sequence[str], seconds: float
) -> tuple[LoadEntry, float, float]:
    """A round of a case: its entry, and milliseconds of processor time a request of webapp and database."""
    before = web.cpu_seconds(), processor_seconds(there.database)
    given = {"web": web.base, "token": there.token, "paths": paths}
    entry = run(["Searching"], given, CLIENTS, CLIENTS, seconds)["search"]
    after = web.cpu_seconds(), processor_seconds(there.database)
    cpu, db = (1_000 * (late - early) / max(1, entry.requests) for early, late in zip(before, after, strict=True))
    return entry, cpu, db


def at_the_webapp(users: str, clients: int, seconds: float) -> Iterator[Row]:
    """Documents stored, polled and fetched (`Storing`, `Polling`), or people who sign in (`Person`)."""
    with rigs.filled(1_000) as there, rigs.vendor(there.environment), rigs.webapp(there.environment) as web:
        given: dict[str, Any] = {"web": web.base, "documents": f"/{there.organization}/fhir/r4/DocumentReference"}
        given |= {"secret": rigs.service_account(there), "providers": list(rigs.PROVIDERS)}
        before = web.cpu_seconds()
        found = run(users.split(","), given, clients, clients, seconds)
        spent = 1_000 * (web.cpu_seconds() - before)
        for name, entry in found.items():
            yield from rows_of(name, entry)
        if main := next((name for name in ("sign-in", "store") if name in found), None):
            yield from row("cpu_ms", main, found[main].requests, spent / max(1, found[main].requests))
