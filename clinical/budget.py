"""The time an answer by rules may take, and whether anybody still waits for it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from clinical.errors import ModelTimeout

Item = TypeVar("Item")
Answer = TypeVar("Answer")

CHECKED = 16
"""Steps between two looks at the clock: looking takes as long as a line of one character (`evals load slow-texts`)."""


class Budget:
    """Seconds of one answer. The thread that works asks between its steps; the one that waits may stop it."""

    def __init__(self, seconds: float = 60.0) -> None:
        self._until = time.monotonic() + seconds
        self._stopped = False  # set once by another thread, read before each step

    def stop(self) -> None:
        """End the work at its next `check`: no caller waits any more."""
        self._stopped = True

    def check(self) -> None:
        """Raises ModelTimeout when the time is used up or the work was stopped."""
        if self._stopped or time.monotonic() > self._until:
            raise ModelTimeout("the rules used up their time, or nobody waits for them any more")

    def each(self, items: Iterable[Item]) -> Iterator[Item]:
        """The items, with a check before the first and every CHECKED-th: lines and sentences, microseconds each."""
        for n, item in enumerate(items):
            if not n % CHECKED:
                self.check()
            yield item


async def in_thread(seconds: float, work: Callable[[Budget], Answer]) -> Answer:
    """Do the work in a thread, off the event loop. Raises ModelTimeout past the time; cancelled, the work ends at its
    next check."""
    budget = Budget(seconds)
    thread = asyncio.create_task(asyncio.to_thread(work, budget))
    try:
        return await asyncio.shield(thread)
    except asyncio.CancelledError:
        budget.stop()
        thread.add_done_callback(_ended)
        raise


def _ended(thread: asyncio.Task[Answer]) -> None:
    """Retrieve the exception of abandoned work, so that it is not logged."""
    if not thread.cancelled():
        thread.exception()
