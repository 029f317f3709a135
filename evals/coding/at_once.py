"""Many texts at once: answers in the order of the texts, whatever order they come in, and what they cost.

A thread a text waits for its answer; the calls of a model in this process share one event loop, to which its
connections belong. Rates are kept where the calls are made: `OpenAIModel` and `ServedTarget` wait as they are told.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import numpy as np

Found = TypeVar("Found")


class Spent(NamedTuple):
    """What one text took: calls and tokens of the model, seconds until its answer."""

    calls: int
    tokens_in: int
    tokens_out: int
    seconds: float


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


def costs(spent: Sequence[Spent], price_in: float = 0.0, price_out: float = 0.0) -> dict[str, Any]:
    """Per text asked in this run: calls, tokens, seconds; money where prices of a million tokens are given."""
    if not spent:
        return {}
    table = np.asarray(spent, dtype=float)
    calls, tokens_in, tokens_out, _ = table.mean(axis=0).round(3).tolist()
    p50, p95 = np.percentile(table[:, 3], [50, 95]).round(3).tolist()
    result = {"texts": len(spent), "calls": calls, "tokens_in": tokens_in, "tokens_out": tokens_out}
    result |= {"p50_s": p50, "p95_s": p95}
    if price_in or price_out:
        result["money"] = round((tokens_in * price_in + tokens_out * price_out) / 1e6, 6)
    return result
