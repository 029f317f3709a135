"""Targets of a measurement: the search in this process, any tier in this process, or any tier of a served address.

A target answers a text with codes and their confidence, best first, or with None where it failed. Tier 1 in process
is the search with codes of every confidence; everywhere else it is what the stream shows.

Many texts may be asked at once: a thread each waits for its answer, answers come in the order of the texts, and the
calls of a model in this process share one event loop. Answers of a slow target are kept as they come, in a journal
beside the result (`OUT.partial`): hashes of the queries and codes, no text. Its first line says what answered (target,
tier, model, prompts, artifact); with anything else it is begun anew. A query that failed is asked again.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import threading
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol, TypeVar

import httpx2

from bentos.models import model_of
from clinical.coding import PROMPT_VERSION, SearchQueue
from clinical.contract import Event
from clinical.errors import BefundError, SettingError
from clinical.llm import LanguageModel
from clinical.reading import TOGETHER, Candidate, SearchIndex
from clinical.settings import Settings
from clinical.sse import Decoder
from evals.coding.costs import Coded, coded, codes_of
from evals.exchange import AnswerFile
from evals.rules_model import RulesModel

LIMIT = 10
SECONDS = 120.0
"""The client timeout that the contract recommends for deep research."""
CALLS_OF_A_TEXT = 2
"""Calls that one text may have under way: tiers 2 and 3 work side by side. 64 texts at 64 calls took 96 s for 1,000,
of which 62 were waiting for a place (evals/LOG.md)."""
TRIES, LONGEST_WAIT = 5, 61.0
"""Waits for the rate of the key before a query counts as failed, and seconds of each."""


# --- many at once -----------------------------------------------------------------------------------------------------


Found = TypeVar("Found")


def in_order(ask: Callable[[str], Found], texts: Sequence[str], concurrency: int) -> Iterator[Found]:
    """One after the other for 1; else each different text once. Who stops early leaves nothing waiting behind."""
    if concurrency == 1:
        yield from map(ask, texts)
        return
    pool = ThreadPoolExecutor(concurrency)
    try:
        asked = {text: pool.submit(ask, text) for text in dict.fromkeys(texts)}
        for text in texts:
            yield asked[text].result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


class Loop:
    """An event loop in a thread of its own; `run` may be called from any other thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="model calls", daemon=True).start()

    def run(self, work: Coroutine[Any, Any, Found]) -> Found:
        """Wait for its result, or for what it raises."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def stop(self) -> None:
        """Cancel what is under way: whoever waits for it goes on at once."""
        self._loop.call_soon_threadsafe(lambda: [task.cancel() for task in asyncio.all_tasks(self._loop)])


# --- targets ----------------------------------------------------------------------------------------------------------


class Target(Protocol):
    """A system under test. `about`: its description, stored in every result beside the figures."""

    about: dict[str, str]

    def ask(self, query: str) -> tuple[Coded, ...] | None:
        """The codes of one text; None where the target failed."""
        ...


def answers(target: Target, queries: Sequence[str], concurrency: int = 1) -> Iterator[tuple[Coded, ...] | None]:
    """The answers to many texts in their order; the search in this process takes TOGETHER of them at once, any other
    target `concurrency`."""
    if not isinstance(target, SearchTarget):
        yield from in_order(target.ask, queries, concurrency)
        return
    for start in range(0, len(queries), TOGETHER):
        yield from target.ask_together(queries[start : start + TOGETHER])


class SearchTarget:
    """Tier 1 in this process."""

    def __init__(self, index: SearchIndex) -> None:
        self._index = index
        self.about = {"target": "in-process", "tier": "1", "encoder": index.manifest.encoder}

    def ask(self, query: str) -> tuple[Coded, ...] | None:
        try:
            return _of_hits(self._index.search(query, LIMIT))
        except (BefundError, ValueError):
            return None

    def ask_together(self, queries: Sequence[str]) -> list[tuple[Coded, ...] | None]:
        """The same answers in less time; where one query fails, each is asked alone."""
        try:
            return [_of_hits(hits) for hits in self._index.search_many(queries, LIMIT)]
        except (BefundError, ValueError):
            return [self.ask(query) for query in queries]


def _of_hits(hits: Iterable[Candidate]) -> tuple[Coded, ...]:
    return tuple(Coded(hit.code, hit.confidence, hit.confidence != "low", hit.probability) for hit in hits)


class TierTarget:
    """Tier 2 or 3 in this process, with the model that the settings name, or another, for so many texts at once.

    `offered` holds the codes that the tier's model could choose from, by text."""

    def __init__(self, index: SearchIndex, tier: int, texts: int = 1, model: LanguageModel | None = None) -> None:
        settings = settings_for(texts)
        model = model or model_of(settings) or (RulesModel() if settings.llm == "rules" else None)
        if model is None:
            remedy = "set BEFUND_LLM_BASE_URL, or BEFUND_LLM=rules for the baseline"
            raise SettingError(f"tier {tier} needs a language model and none is set up", "one", remedy)
        self._index, self._tier, self._model = index, tier, model
        self._loop, self._search_queue = Loop(), SearchQueue()
        self.offered = dict[str, frozenset[str]]()
        self._loop.run(model.health())  # a server that lists its models names the one that answers
        self.about = {"target": "in-process", "tier": str(tier), "model": model.name, "prompts": PROMPT_VERSION}

    def ask(self, query: str) -> tuple[Coded, ...] | None:
        """From any thread. Raises CancelledError once `stop` was called."""
        text = self._loop.run(coded(query, self._index, self._model, self._search_queue))
        self.offered[query] = text.offered[self._tier]
        return text.found[self._tier]

    def stop(self) -> None:
        """Give up what is under way."""
        self._loop.stop()


def settings_for(texts: int) -> Settings:
    """The settings, with room for every call of so many texts at once; a bound that somebody has set stays."""
    settings = Settings.read()
    if "llm_concurrency" in settings.model_fields_set:
        return settings
    return settings.model_copy(update={"llm_concurrency": max(settings.llm_concurrency, CALLS_OF_A_TEXT * texts)})


class ServedTarget:
    """Any tier of a served address, by its stream. The key is read from BEFUND_API_KEY, never from the command line."""

    def __init__(self, url: str, tier: int) -> None:
        key = os.environ.get("BEFUND_API_KEY")
        if not key:
            raise SettingError("no key for the served address", "BEFUND_API_KEY in the environment", "set it")
        self._tier = tier
        self._client = httpx2.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=SECONDS)
        try:
            model = str(self._client.get("/api/llm/health").json()["model"])
            encoder = str(self._client.get("/api/health").json()["catalog"]["encoder"])
        except (httpx2.HTTPError, ValueError, KeyError, TypeError):
            raise SettingError(f"{url} does not answer as a text API", "its address", "start it, or mend it") from None
        self.about = {"target": url, "tier": str(tier), "encoder": encoder, "model": model, "prompts": PROMPT_VERSION}

    def ask(self, query: str) -> tuple[Coded, ...] | None:
        for _ in range(TRIES):
            wait = 0.0
            try:
                with self._client.stream("POST", "/api/deep-research", json={"query": query}) as answer:
                    if answer.status_code == httpx2.codes.OK:
                        return self._codes(answer)
                    wait = _wait_of(answer)
            except httpx2.HTTPError:
                return None
            if not wait:
                return None
            time.sleep(wait)
        return None

    def _codes(self, answer: httpx2.Response) -> tuple[Coded, ...] | None:
        """Read the stream up to our tier, not further."""
        decoder, events = Decoder(), list[Event]()
        for piece in answer.iter_bytes():
            events += decoder.feed(piece)
            if codes_of(events, self._tier) is not None:
                break
        return codes_of(events, self._tier)


def _wait_of(answer: httpx2.Response) -> float:
    """Seconds until the limit of the key allows a request again; 0 for any other refusal. Raises SettingError where
    that is longer than a minute: the quota of the day is used up, and what follows would all count as failed."""
    if answer.status_code != httpx2.codes.TOO_MANY_REQUESTS:
        return 0.0
    seconds = float(answer.headers.get("Retry-After", 1))
    if seconds > LONGEST_WAIT:
        remedy = "use a key without one (--per-day 0), or run the same command again tomorrow"
        raise SettingError("the key has used up its quota of the day", "one that lasts", remedy)
    return max(1.0, seconds)


def target_of(where: str, index: SearchIndex, tier: int, texts: int = 1, model: LanguageModel | None = None) -> Target:
    """`in-process`, or the address of a text API, for so many texts at once; `model`: another than the settings name.
    Raises SettingError where a model or a key is missing."""
    if where != "in-process":
        return ServedTarget(where, tier)
    return SearchTarget(index) if tier == 1 else TierTarget(index, tier, texts, model)


# --- the journal of a slow target -------------------------------------------------------------------------------------


def journal_of(out: Path) -> Path:
    """The path of the journal of a result."""
    return out.with_name(f"{out.name}.partial")


def journalled(
    target: Target, queries: Sequence[str], path: Path, about: Mapping[str, str], concurrency: int = 1
) -> Iterator[tuple[Coded, ...] | None]:
    """The answers to the queries in their order; those of the journal are not asked for again. Each is kept when it
    comes, not when its turn does."""
    kept, one_at_a_time = AnswerFile(path, about, begun_anew=True), threading.Lock()

    def answer(query: str) -> tuple[Coded, ...] | None:
        name = hashlib.sha256(query.encode()).hexdigest()
        if name not in kept.known:
            if (found := target.ask(query)) is None:
                return None
            with one_at_a_time:
                kept.keep(name, found)
        return tuple(Coded(*row) for row in kept.known[name][0])

    with closing(kept):
        yield from in_order(answer, queries, concurrency)
