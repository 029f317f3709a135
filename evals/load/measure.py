"""python -m evals load PART: time and memory, in process and of the real servers under load.

In process, in processor time, with `--against CHECKOUT` in turns with the code of another checkout: search, note (tier
1 of a short clinical note), grounding (60 values), letter (read by rules), file (a page of one to its boxes). Also:
tiers (own time of tiers 2 and 3), artifact, batch, moves (between files), slow-texts (texts made to be slow), start
(`make up`, to its greeting). Servers, by locust (extra `load`): instant (tier 1), streams (over a slow model), fhir
(searches, with `--against` too), documents, sign-in. Without it: terminology (in turns with bare FastAPI; memory of a
second year), hostile (others' writes beside a program that does harm), killed and soak (two text APIs and two webapps
behind nginx, every answer judged while they fail and come back).
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np

from batch.workers import cores
from clinical.command_line import PATH, Group, paragraphs
from clinical.settings import ROOT
from evals.command import JSON, main_of
from evals.load import batch, bench, faults, hostile, moves, served, slow_texts, terminology
from evals.load.servers import NotStarted, free_port, over_family
from evals.measures.results import MeasuredResult, Row, percentiles, printed, row

GREETING = "Befund is up."
START_SECONDS, REST_SECONDS, STOP_SECONDS = 900.0, 3.0, 30.0


@click.group(cls=Group, help=paragraphs(__doc__))
def command() -> None:
    """Time and memory."""


def _part(name: str, help_: str, measured: Callable[..., Iterable[Row]], *options: Callable[[Any], Any]) -> None:
    """Add a part: a function that gives rows, printed as lines or JSON, and written with --out. Its arguments are the
    options; status 1 where something failed."""

    def run(as_json: bool, out: Path | None, **given: Any) -> int:
        rows = list(measured(**given))
        result = MeasuredResult.of("load", f"python -m evals load {name}", rows, load=os.getloadavg()[0])
        if out:
            result.write(out)
        print(json.dumps(result.rows.to_dict("records")) if as_json else printed(rows))
        return int(any(one.measure == "failures" and one.value for one in rows))

    out = click.option("--out", type=PATH, help="also write the rows as a result")
    for option in reversed((out, JSON, *options)):
        run = option(run)
    command.command(name, help=help_)(run)


def tiers(catalog: Path, count: int) -> Iterator[Row]:
    """Milliseconds of each tier, the time inside the model taken off."""
    from clinical.coding import research_deeply, select, understand
    from clinical.reading import SearchIndex
    from evals.coding.costs import Metered
    from evals.rules_model import RulesModel

    index = SearchIndex.load(catalog)

    async def one(text: str) -> tuple[float, float]:
        model, began = Metered(RulesModel()), time.perf_counter()
        case = await understand(model, index, text)
        await select(model, index.catalog, case, False)
        smart = time.perf_counter() - began - sum(call.seconds for call in model.calls)
        model.calls, began = [], time.perf_counter()
        await research_deeply(model, index, case, False)
        deep = time.perf_counter() - began - sum(call.seconds for call in model.calls)
        return 1_000 * smart, 1_000 * deep

    async def every() -> list[tuple[float, float]]:
        return [await one(text) for text in bench.notes(index.catalog, count)]

    for tier, times in zip((2, 3), np.array(asyncio.run(every())[10:]).T, strict=True):
        yield from percentiles("own_p{}_ms", f"tier {tier}", times, (50, 95))


def artifact(catalog: Path) -> Iterator[Row]:
    """The best of three."""
    loads = [bench.fresh_load(catalog) for _ in range(3)]
    yield from row("load_s", "artifact", len(loads), min(one.seconds for one in loads))
    yield from row("resident_mb", "artifact", len(loads), max(one.resident for one in loads))


def start(clone: bool) -> Iterator[Row]:
    """Seconds, and the proportional set size of all processes together (shared pages divided by those who share)."""
    with tempfile.TemporaryDirectory(prefix="befund-start-") as name:
        folder, began = Path(name), time.perf_counter()
        place = folder / "clone" if clone else ROOT
        if clone:
            subprocess.run(["git", "clone", "--quiet", str(ROOT), str(place)], check=True)
        environment = {**os.environ, "BEFUND_API_PORT": str(free_port()), "BEFUND_WEB_PORT": str(free_port())}
        environment |= {"BEFUND_ENV": "development", "BEFUND_VAR": str(place / "var" if clone else folder / "var")}
        environment |= {} if clone else {"BEFUND_CATALOG": os.environ.get("BEFUND_CATALOG", str(ROOT / "var/catalog"))}
        environment.pop("VIRTUAL_ENV", None)
        command_line = ["make", "up"] if clone else [sys.executable, "-m", "bentos", "up"]
        with open(folder / "log", "wb") as log:
            server = subprocess.Popen(command_line, cwd=place, env=environment, stdout=log, stderr=subprocess.STDOUT)
        try:
            while GREETING not in (said := (folder / "log").read_text("utf-8", "replace")):
                if server.poll() is not None or time.perf_counter() - began > START_SECONDS:
                    raise NotStarted("make up gave no greeting", "one", said[-1_000:])
                time.sleep(0.1)
            yield from row("seconds_to_the_greeting", "make up", 1, time.perf_counter() - began)
            time.sleep(REST_SECONDS)
            sizes = over_family(lambda process: process.memory_full_info().pss / 1e6, server.pid)
            yield from row("memory_at_rest_mb", "make up", len(sizes), sum(sizes))
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(STOP_SECONDS)


# --- the parts ------------------------------------------------------------------------------------------------------

ELSEWHERE = click.Path(path_type=Path, resolve_path=True)
"""A server is started in another folder."""
CATALOG = click.option("--catalog", type=ELSEWHERE, required=True, help="the artifact folder")
AGAINST = click.option("--against", type=ELSEWHERE, help="a checkout of other code, measured in turns")
SECONDS = click.option("--seconds", type=float, default=10.0, show_default=True, help="of each case")
WORKERS = click.option("--workers", type=click.IntRange(1), default=1, show_default=True, help="processes that serve")


def _option(name: str, default: Any, help_: str, *names: str, least: float | None = None) -> Callable[[Any], Any]:
    """A number with a default that its help shows."""
    kind: Any = click.IntRange if isinstance(default, int) else click.FloatRange
    bounded = type(default) if least is None else kind(least)
    return click.option(name, *names, type=bounded, default=default, show_default=True, help=help_)


PARTS: tuple[tuple[Any, ...], ...] = (
    *((way, f"{way}: processor time of a text", partial(bench.measured, way), CATALOG,
       _option("--count", 200, "texts", least=20), AGAINST) for way in bench.WAYS),
    ("tiers", "own time of tiers 2 and 3, beside a model that answers at once", tiers, CATALOG,
     _option("--count", 300, "notes", least=20)),
    ("batch", "texts a second and memory of batch coding", batch.measured, CATALOG,
     _option("--rows", 1_000_000, "of the file"), _option("--seconds", 240.0, "stop after so many"),
     click.option("--workers", type=int, default=cores, help="processes (one for each core)")),
    ("slow-texts", "texts made to be slow, against an ordinary one; status 1 when one takes more than the limit",
     slow_texts.measured, CATALOG, _option("--limit", slow_texts.WORST, "times an ordinary text that is still good")),
    ("moves", "calls and returns between files of the search, and the files", moves.measured, CATALOG),
    ("artifact", "seconds to load an artifact in a fresh process, and its memory then", artifact, CATALOG),
    ("start", "`make up`: seconds until it greets, memory at rest", start,
     click.option("--clone", is_flag=True, help="from `git clone` on")),
    ("instant", "tier 1 of the text API: streams a second, first codes, memory", served.instant,
     CATALOG, WORKERS, SECONDS),
    ("terminology", "FHIR terminology: in process, over HTTP in turns with bare FastAPI, memory of a second year",
     terminology.measured, CATALOG, WORKERS, SECONDS,
     click.option("--earlier", type=ELSEWHERE, help="an artifact of another year: also its memory beside the first")),
    ("streams", "streams over a model that takes ten seconds a call: first codes, processor time, calls left",
     served.streams, CATALOG, WORKERS, _option("--model-seconds", 10.0, "of each call of the model"),
     click.option("--streams", "numbers", type=int, multiple=True, default=(200,), show_default=True,
                  help="open at once")),
    ("fhir", "FHIR searches in turns over a filled PostgreSQL", served.fhir,
     _option("--documents", 50_000, "in the organization", least=1_000),
     click.option("--only", multiple=True, type=click.Choice(served.CASES), help="this search; may be repeated"),
     _option("--rounds", 3, "of every search", least=1), SECONDS, AGAINST),
    ("documents", "documents stored over HTTP, polled and fetched: rate, none lost, none twice",
     partial(served.at_the_webapp, "Storing,Polling", 6), SECONDS),
    ("sign-in", "people who sign in over three vendors: rate, nobody mixed up",
     partial(served.at_the_webapp, "Person"), _option("--people", 24, "at once", "clients", least=1), SECONDS),
    ("hostile", "writes of others while one program posts what does harm, on PostgreSQL and SQLite",
     hostile.measured, SECONDS),
    ("killed", "two text APIs and two webapps behind the shipped nginx, each killed in turn under load",
     faults.killed, CATALOG, _option("--rounds", 10, "of kills", least=1),
     click.option("--only", type=click.Choice(["text API", "webapp"]), help="kill servers of this kind alone")),
    ("soak", "the same four servers for some minutes, with a fault every so many seconds", faults.soaked, CATALOG,
     _option("--minutes", 10.0, "under faults", least=0.1), _option("--every", 30.0, "seconds between faults", least=1),
     _option("--warm-up", 5.0, "minutes before growth counts", least=0)),
)  # fmt: skip
"""Name, help, the function that measures, and its options."""
for _one in PARTS:
    _part(*_one)

main = main_of(command, "load")
