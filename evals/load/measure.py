"""python -m evals load PART: time and memory, in process and of the real servers under load.

In process, in processor time, with `--against CHECKOUT` in turns with the code of another checkout: search, note (tier
1 of a short clinical note), grounding (60 values), letter (read by rules), file (a page of one to its boxes). Also:
tiers (own time of tiers 2 and 3), artifact, batch, moves (between files), nearest (kinds of vector index), slow-texts
(texts made to be slow), start (`make up`, to its greeting). Servers, by locust (extra `load`): instant (tier 1),
streams (over a slow model), fhir (searches, with `--against` too), documents, sign-in. Without it: terminology (in
turns with bare FastAPI; memory of a second year), hostile (others' writes beside a program that does harm), killed and
soak (two text APIs and two webapps behind nginx, every answer judged while they fail and come back).
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
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from batch.workers import cores
from clinical.command_line import PATH, Group, paragraphs
from clinical.settings import ROOT
from evals.command import CATALOG, main_of
from evals.load import batch, bench, faults, hostile, moves, served, slow_texts, terminology
from evals.load.servers import NotStarted, free_port, over_family
from evals.measures.results import MeasuredResult, Row, printed, row

GREETING = "Befund is up."
START_SECONDS, REST_SECONDS, STOP_SECONDS = 900.0, 3.0, 30.0
NEAREST_SIZES = (7_000, 20_000, 50_000, 1_000_000)


@click.group(cls=Group, help=paragraphs(__doc__))
def command() -> None:
    """Time and memory."""


AGAINST = click.option("--against", type=PATH, help="a checkout of other code, measured in turns")


def _part(name: str, help_: str) -> Callable[[Callable[..., Iterable[Row]]], Callable[..., Iterable[Row]]]:
    """Add a part: a function that gives rows, printed as lines or JSON, and written with --out."""

    def added(measured: Callable[..., Iterable[Row]]) -> Callable[..., Iterable[Row]]:
        def run(as_json: bool, out: Path | None, **given: Any) -> int:
            rows = list(measured(**given))
            result = MeasuredResult.of("load", f"python -m evals load {name}", rows, load=os.getloadavg()[0])
            if out:
                result.write(out)
            print(json.dumps(result.rows.to_dict("records")) if as_json else printed(rows))
            return int(any(one.measure == "failures" and one.value for one in rows))

        run.__click_params__ = getattr(measured, "__click_params__", [])  # type: ignore[attr-defined]
        run = click.option("--json", "as_json", is_flag=True, help="print JSON")(run)
        run = click.option("--out", type=PATH, help="also write the rows as a result")(run)
        command.command(name, help=help_)(run)
        return measured

    return added


def _in_process(way: str) -> None:
    @_part(way, f"{way}: processor time of a text")
    @CATALOG
    @click.option("--count", type=click.IntRange(20), default=200, show_default=True, help="texts")
    @AGAINST
    def _(catalog: Path, count: int, against: Path | None) -> Iterator[Row]:
        return bench.measured(way, catalog.resolve(), count, against and against.resolve())


for _way in bench.WAYS:
    _in_process(_way)


@_part("tiers", "own time of tiers 2 and 3, beside a model that answers at once")
@CATALOG
@click.option("--count", type=click.IntRange(20), default=300, show_default=True, help="notes")
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
        for percent in (50, 95):
            yield from row(f"own_p{percent}_ms", f"tier {tier}", len(times), float(np.percentile(times, percent)))


@_part("batch", "texts a second and memory of batch coding")
@CATALOG
@click.option("--rows", type=int, default=1_000_000, show_default=True, help="of the file")
@click.option("--seconds", type=float, default=240.0, show_default=True, help="stop after so many")
@click.option("--workers", type=int, default=cores, help="processes (one for each core)")
def coded(catalog: Path, rows: int, seconds: float, workers: int) -> Iterator[Row]:
    """See `batch.measured`."""
    return batch.measured(catalog.resolve(), rows, seconds, workers)


@_part("slow-texts", "texts made to be slow, against an ordinary one; status 1 when one takes more than the limit")
@CATALOG
@click.option("--limit", default=slow_texts.WORST, show_default=True, help="times an ordinary text that is still good")
def slowed(catalog: Path, limit: float) -> Iterator[Row]:
    """See `slow_texts.measured`."""
    return slow_texts.measured(catalog, limit)


@_part("moves", "calls and returns between files of the search, and the files")
@CATALOG
def moved(catalog: Path) -> Iterator[Row]:
    """Of one word and of a short note."""
    return moves.measured(catalog)


@_part("artifact", "seconds to load an artifact in a fresh process, and its memory then")
@CATALOG
def artifact(catalog: Path) -> Iterator[Row]:
    """The best of three."""
    loads = [bench.fresh_load(catalog) for _ in range(3)]
    yield from row("load_s", "artifact", len(loads), min(one.seconds for one in loads))
    yield from row("resident_mb", "artifact", len(loads), max(one.resident for one in loads))


@_part("nearest", "flat, HNSW and IVF over the artifact's vectors, by how many there are")
@CATALOG
def nearest(catalog: Path) -> Iterator[Row]:
    """Seconds to build, milliseconds of a search for the 100 nearest, and the share that the exact scan finds too."""
    import faiss

    from clinical.reading import SearchIndex
    from clinical.search import built
    from clinical.search import nearest as found_by

    faiss.omp_set_num_threads(1)
    wordings = SearchIndex.load(catalog).wordings
    every = wordings.vectors(np.arange(len(wordings)))
    for size in sorted({min(size, len(every)) for size in NEAREST_SIZES}):
        chance, exact = np.random.default_rng(bench.SEED), None
        vectors = every[chance.permutation(len(every))[:size]]
        queries = np.asarray(vectors[:150] + chance.normal(0, 0.03, vectors[:150].shape), dtype=np.float32)
        for kind in ("flat", "hnsw", "ivf"):
            began = time.process_time()
            index = built(vectors, kind)
            done = time.process_time()
            numbers = found_by(index, queries, min(100, size))[1]
            spent = 1_000 * (time.process_time() - done) / len(queries)
            exact = numbers if exact is None else exact
            recall = np.mean([np.isin(own, right).mean() for own, right in zip(numbers, exact, strict=True)])
            of = f"{size:,} wordings, {kind}"
            yield from row("build_s", of, size, done - began) + row("search_ms", of, len(queries), spent)
            yield from row("recall", of, len(queries), float(recall))


@_part("start", "`make up`: seconds until it greets, memory at rest")
@click.option("--clone", is_flag=True, help="from `git clone` on")
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


# --- servers --------------------------------------------------------------------------------------------------------

SECONDS = click.option("--seconds", type=float, default=10.0, show_default=True, help="of each case")
WORKERS = click.option("--workers", type=click.IntRange(1), default=1, show_default=True, help="processes that serve")


@_part("instant", "tier 1 of the text API: streams a second, first codes, memory")
@CATALOG
@WORKERS
@SECONDS
def instant(catalog: Path, workers: int, seconds: float) -> Iterator[Row]:
    """See `served.instant`."""
    return served.instant(catalog.resolve(), workers, seconds)


@_part("terminology", "FHIR terminology: in process, over HTTP in turns with bare FastAPI, memory of a second year")
@CATALOG
@WORKERS
@SECONDS
@click.option("--earlier", type=PATH, help="an artifact of another year: also its memory beside the first")
def terminology_(catalog: Path, workers: int, seconds: float, earlier: Path | None) -> Iterator[Row]:
    """See `terminology`."""
    yield from terminology.in_process(catalog.resolve())
    if earlier is not None:
        yield from terminology.second_year(catalog.resolve(), earlier.resolve())
    yield from terminology.over_http(catalog.resolve(), workers, seconds)


@_part("streams", "streams over a model that takes ten seconds a call: first codes, processor time, calls left")
@CATALOG
@WORKERS
@click.option("--streams", "numbers", type=int, multiple=True, default=(200,), show_default=True, help="open at once")
@click.option("--model-seconds", type=float, default=10.0, show_default=True, help="of each call of the model")
def streams(catalog: Path, workers: int, numbers: Sequence[int], model_seconds: float) -> Iterator[Row]:
    """See `served.streams`."""
    for number in numbers:
        yield from served.streams(catalog.resolve(), number, workers, model_seconds)


@_part("fhir", "FHIR searches in turns over a filled PostgreSQL")
@click.option("--documents", type=click.IntRange(1_000), default=50_000, show_default=True, help="in the organization")
@click.option("--only", multiple=True, help="newest, one day, one patient, everything, ...; may be repeated")
@click.option("--rounds", type=click.IntRange(1), default=3, show_default=True)
@SECONDS
@AGAINST
def fhir(documents: int, only: Sequence[str], rounds: int, seconds: float, against: Path | None) -> Iterator[Row]:
    """See `served.fhir`."""
    return served.fhir(documents, seconds, rounds, only, against and against.resolve())


@_part("documents", "documents stored over HTTP, polled and fetched: rate, none lost, none twice")
@SECONDS
@click.option("--s3", is_flag=True, help="their files in an S3 server on this machine (moto) instead of a folder")
def documents(seconds: float, s3: bool) -> Iterator[Row]:
    """See `served.at_the_webapp`."""
    return served.at_the_webapp("Storing,Polling", 6, seconds, s3)


@_part("sign-in", "people who sign in over three vendors: rate, nobody mixed up")
@click.option("--people", type=click.IntRange(1), default=24, show_default=True, help="at once")
@SECONDS
def sign_in(people: int, seconds: float) -> Iterator[Row]:
    """See `served.at_the_webapp`."""
    return served.at_the_webapp("Person", people, seconds)


@_part("hostile", "writes of others while one program posts what does harm, on PostgreSQL and SQLite")
@SECONDS
def harmed(seconds: float) -> Iterator[Row]:
    """See `hostile.measured`."""
    return hostile.measured(seconds)


@_part("killed", "two text APIs and two webapps behind the shipped nginx, each killed in turn under load")
@CATALOG
@click.option("--rounds", type=click.IntRange(1), default=10, show_default=True)
@click.option("--only", type=click.Choice(["text API", "webapp"]), default=None, help="kill servers of this kind alone")
def killed(catalog: Path, rounds: int, only: str | None) -> Iterator[Row]:
    """See `faults.killed`."""
    return faults.killed(catalog.resolve(), rounds, only or "")


@_part("soak", "the same four servers for some minutes, with a fault every so many seconds")
@CATALOG
@click.option("--minutes", type=click.FloatRange(0.1), default=10, show_default=True)
@click.option("--every", type=click.FloatRange(1), default=30, show_default=True, help="seconds between faults")
@click.option("--warm-up", type=click.FloatRange(0), default=5, show_default=True, help="minutes before growth counts")
def soak(catalog: Path, minutes: float, every: float, warm_up: float) -> Iterator[Row]:
    """See `faults.soaked`."""
    return faults.soaked(catalog.resolve(), minutes, every, warm_up)


main = main_of(command, "load")
