"""python -m evals streams --catalog DIR [--json]: tiers 2 and 3 with models made for measuring.

- lies: streams with a model that names any code it likes; counted is every code that is not in the catalog or was not
  among the candidates of that call. Must be 0.
- overhead: our own time of tiers 2 and 3 with a model that answers at once, in process.
- at once: the first `partial` of streams on one worker (`--workers`) with a model that takes 10 s for each call.
  `steady`: N streams are open at any time; each goes on to its end, which takes three calls, and as one ends another
  begins. `spread`: N begin evenly over ten seconds, three times as many a second, and stay open. `burst`: N begin in
  the same instant. Of these two also the processor's time for a stream until all have had their first `partial`: of the
  workers, of this program, which is the client, and of the model.
- left: calls still under way at the model server two seconds after every client has left.
"""

from __future__ import annotations

import asyncio
import json
import random
import resource
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
import httpx
import psutil

from bentos.embedded import RehearsalModel
from clinical.catalog import Catalog
from clinical.coding import research, research_deeply, select, understand
from clinical.command_line import Command, Several, paragraphs
from clinical.contract import PartialEvent, ResearchRequest, ResultEvent
from clinical.llm import Completion, JsonSchema, Limits, Message
from evals.command import CATALOG, JSON, main_of
from evals.speed.api import END, PARTIAL, Server, serving
from evals.speed.search import percentile
from evals.speed.servers import answers, free_port, running

if TYPE_CHECKING:
    from clinical.search import SearchIndex

SEED = 2026
LIES = 2_000
OVERHEAD_STREAMS = 300
MODEL_SECONDS = 10.0
CALLS = 3
"""Calls to the model one after the other in a stream that the rehearsal rules answer: findings, a step of research with
tier 2's choice beside it, recommendation."""
LEFT_AFTER_SECONDS = 2.0


@click.command(cls=Command, help=paragraphs(__doc__))
@CATALOG
@click.option("--streams", cls=Several, type=int, default=[200, 1_000], metavar="N...", help="streams at once")
@click.option("--workers", type=int, default=1, help="processes that serve (default: 1)")
@click.option("--lies", "lying", type=int, default=LIES, help="streams with a lying model")
@JSON
def command(catalog: Path, streams: Sequence[int], workers: int, lying: int, as_json: bool) -> None:
    """Measure and print."""
    from clinical.search import SearchIndex

    folder = catalog.resolve()
    index = SearchIndex.load(folder)
    texts = notes(index.catalog)
    result: dict[str, float] = {"lying_streams": lying, "codes_not_allowed": lies(index, texts, lying)}
    result |= overhead(index, texts[:OVERHEAD_STREAMS])
    for number in streams:
        result |= at_once(folder, texts, number, workers=workers)
    for name, value in result.items():
        print(json.dumps({name: value}) if as_json else f"{name:<44} {value:>10}")


main = main_of(command, "streams")


def notes(catalog: Catalog) -> list[str]:
    """Short clinical notes made from the catalog's titles with a fixed seed: present, past, excluded, in the family."""
    chance = random.Random(SEED)  # noqa: S311 - reproducible, not secret
    titles = [code.title.partition(":")[0] for code in catalog if code.level == 3]
    forms = (
        "{}, V. a. {}. Kein {}.",
        "Z. n. {}. Jetzt {} und {}.",
        "{} bei {}; Mutter mit {}.",
        "Kontrolle: {}. {}, {}.",
    )
    return [chance.choice(forms).format(*chance.sample(titles, 3)) for _ in range(LIES)]


# --- lies -----------------------------------------------------------------------------------------------------------


class Liar:
    """Finds what the rules find, then names random codes of the catalog, random strings, and some that it was shown."""

    name, busy = "liar", False

    def __init__(self, catalog: Catalog) -> None:
        self._honest, self._codes = RehearsalModel(), [code.code for code in catalog]
        self._chance = random.Random(SEED)  # noqa: S311 - reproducible, not secret
        self.shown: set[str] = set()

    async def complete(self, messages: Sequence[Message], *, schema: JsonSchema | None, limits: Limits) -> Completion:
        """Findings as they are; choices as it pleases."""
        if schema is None or schema.name not in ("Selection", "Recommendation"):
            return await self._honest.complete(messages, schema=schema, limits=limits)
        shown = schema.schema["$defs"]["Choice"]["properties"]["code"]["enum"]
        self.shown |= set(shown)
        pool = [
            *self._chance.sample(self._codes, 6),
            *self._chance.sample(shown, min(3, len(shown))),
            "X99.99",
            "",
            "E11",
        ]
        choices = [
            {"finding": self._chance.randint(-1, 14), "reasoning": "x", "code": code, "confidence": "high"}
            for code in pool
        ]
        return Completion(json.dumps({"codes": choices, "summary": "x"}), 1, 1)

    async def health(self) -> bool:
        """Always there."""
        return True


def lies(index: SearchIndex, texts: Sequence[str], number: int) -> int:
    """Codes that came through although they are not in the catalog, or were neither shown nor a rule's own addition."""

    async def one(text: str) -> int:
        model = Liar(index.catalog)
        request = ResearchRequest(query=text)
        events = [event async for event in research(request, index, model)]
        later = (event for event in events if isinstance(event, PartialEvent | ResultEvent) and event.layer > 1)
        codes = [entry.code for event in later for entry in event.codes]
        return sum(not _allowed(index.catalog, code, model.shown) for code in codes)

    async def all_of_them() -> int:
        return sum([await one(texts[place % len(texts)]) for place in range(number)])

    return asyncio.run(all_of_them())


def _allowed(catalog: Catalog, code: str, shown: set[str]) -> bool:
    """In the catalog, and shown; or the terminal child or the pair partner, by rule, of a code that was shown."""
    if code not in catalog:
        return False
    partners = {ref for name in shown if (own := catalog.get(name)) for note in own.notes for ref in note.references}
    return code in shown or code in partners or any(code.startswith(name) for name in shown)


# --- overhead -------------------------------------------------------------------------------------------------------


def overhead(index: SearchIndex, texts: Sequence[str]) -> dict[str, float]:
    """Our own milliseconds per tier; the time inside the model is taken off."""

    async def one(text: str) -> tuple[float, float]:
        model = Clocked()
        begun = time.perf_counter()
        case = await understand(model, index, text)
        await select(model, index.catalog, case, False)
        smart = time.perf_counter() - begun - model.seconds
        model.seconds, begun = 0.0, time.perf_counter()
        await research_deeply(model, index, case, False)
        return 1_000 * smart, 1_000 * (time.perf_counter() - begun - model.seconds)

    async def all_of_them() -> list[tuple[float, float]]:
        return [await one(text) for text in texts]

    times = asyncio.run(all_of_them())[10:]
    tiers = {"tier_2": [smart for smart, _ in times], "tier_3": [deep for _, deep in times]}
    return {
        f"{tier}_overhead_p{share}_ms": round(percentile(values, share), 1)
        for tier, values in tiers.items()
        for share in (50, 95)
    }


class Clocked(RehearsalModel):
    """The rehearsal model with the time that was spent inside it."""

    seconds = 0.0

    async def complete(self, messages: Sequence[Message], *, schema: JsonSchema | None, limits: Limits) -> Completion:
        """As the rehearsal model, timed."""
        begun = time.perf_counter()
        answer = await super().complete(messages, schema=schema, limits=limits)
        self.seconds += time.perf_counter() - begun
        return answer


# --- at once --------------------------------------------------------------------------------------------------------


def at_once(
    catalog: Path, texts: Sequence[str], number: int, seconds: float = MODEL_SECONDS, workers: int = 1
) -> dict[str, float]:
    """First partial of `number` streams open at the same time, and what is left after they have gone.

    A call to the model takes `seconds`, over which the streams begin in the first case; in the second all at once.
    """
    _allow_files(4 * number + 512)
    found: dict[str, float] = {}
    with slow_model(seconds) as model_url:
        settings = {
            "LLM_BASE_URL": f"{model_url}/v1",
            "LLM_CONCURRENCY": str(2 * number),
            "LLM_QUEUE": str(number),
        }
        with serving(catalog, workers=workers, settings=settings) as server:
            server.first_partials(texts[:0], ["R05"])
            for name, over in (("spread", seconds), ("burst", 0.0)):
                times, left, cost = asyncio.run(_open_all(server, model_url, texts, number, over))
                found[f"{name}_{number}_first_partial_p99_ms"] = round(percentile(times, 99), 1)
                found[f"{name}_{number}_calls_left_after_2_s"] = left
                found |= {f"{name}_{number}_processor_ms_{whose}": value for whose, value in cost.items()}
            times = asyncio.run(_keep_open(server, texts, number, seconds))
            found[f"steady_{number}_first_partial_p99_ms"] = round(percentile(times, 99), 1)
    return found


async def _keep_open(server: Server, texts: Sequence[str], number: int, seconds: float) -> list[float]:
    """First partials in ms of streams that begin while `number` others are open, as many as end meanwhile."""
    life = CALLS * seconds

    async def one(place: int) -> float:
        await asyncio.sleep(life * place / number)
        milliseconds, reader, writer = await _begun(server, texts[place % len(texts)])
        while piece := await reader.read(65_536):
            if piece.endswith(END):
                break
        writer.close()
        return milliseconds

    times = await asyncio.gather(*(one(place) for place in range(2 * number)))
    return times[number:]


async def _begun(server: Server, text: str) -> tuple[float, asyncio.StreamReader, asyncio.StreamWriter]:
    """Open a stream; milliseconds until its first partial."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    begun = time.perf_counter()
    writer.write(server.request(text))
    seen = b""
    while PARTIAL not in seen:
        piece = await reader.read(65_536)
        if not piece:
            raise ConnectionError(f"the stream ended: {seen[:200]!r}")
        seen += piece
    return 1_000 * (time.perf_counter() - begun), reader, writer


async def _open_all(
    server: Server, model_url: str, texts: Sequence[str], number: int, seconds: float
) -> tuple[list[float], int, dict[str, float]]:
    """Open all streams over `seconds`, keep them open, leave them all; their first partials in ms, calls left, and the
    processor's time in ms for a stream, until all have had their first partial."""

    async def one(place: int) -> tuple[float, asyncio.StreamWriter]:
        await asyncio.sleep(seconds * place / number)
        milliseconds, _, writer = await _begun(server, texts[place % len(texts)])
        return milliseconds, writer

    before = _processor_seconds(server)
    opened = await asyncio.gather(*(one(place) for place in range(number)))
    used = {
        whose: round(1_000 * (value - before[whose]) / number, 1) for whose, value in _processor_seconds(server).items()
    }
    for _, writer in opened:
        writer.close()
    await asyncio.sleep(LEFT_AFTER_SECONDS)
    async with httpx.AsyncClient(trust_env=False, timeout=10) as client:
        left = (await client.get(f"{model_url}/running")).json()["running"]
    return [milliseconds for milliseconds, _ in opened], left, used


def _processor_seconds(server: Server) -> dict[str, float]:
    """Processor time so far: of the server with its workers, of this program, and of all else that it has started."""
    own = psutil.Process()
    serving_ones = {server.process.pid, *(child.pid for child in psutil.Process(server.process.pid).children(True))}
    used = {"server": 0.0, "client": sum(own.cpu_times()[:2]), "model": 0.0}
    for child in own.children(recursive=True):
        used["server" if child.pid in serving_ones else "model"] += sum(child.cpu_times()[:2])
    return used


@contextmanager
def slow_model(seconds: float = MODEL_SECONDS) -> Iterator[str]:
    """The slow model server in a process of its own; its base URL."""
    port = free_port()
    command = [sys.executable, "-m", "evals.speed.slow_model", str(port), str(seconds)]
    with running(command, lambda: answers(f"http://127.0.0.1:{port}/running")):
        yield f"http://127.0.0.1:{port}"


def _allow_files(number: int) -> None:
    """Each stream is a connection here, and two in the worker, which inherits the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < number:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(number, hard), hard))
