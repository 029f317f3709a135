"""Priority queue of searches: a first answer goes before the research of tiers 2 and 3.

A search holds a core for milliseconds. Threads let the event loop go on meanwhile, but many searches at once only take
turns at the interpreter lock, all late alike. So few run at a time, and a stream that has shown nothing yet goes before
all others: its answer is awaited, while the others have just waited seconds for a model.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

AT_ONCE: Final = 2
"""Searches in threads at the same time; half of a search is inside libraries that leave the lock to others."""


class SearchQueue:
    """For one event loop. Within each of the two ranks it is first come, first served."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._free = at_once
        self._first: deque[asyncio.Future[None]] = deque()
        self._later: deque[asyncio.Future[None]] = deque()

    async def first(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run `work` in a thread, before everything that came by `later` and has not begun."""
        return await self._run(self._first, lambda: work(*args, **kwargs))

    async def later(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run `work` in a thread once no caller of `first` waits."""
        return await self._run(self._later, lambda: work(*args, **kwargs))

    async def turn(self) -> None:
        """Return once no caller of `first` waits: before what is no search and keeps the event loop busy, as a call of
        the model does, for a few milliseconds that all who wait for their first answer would wait longer."""
        if self._first:
            await self._wait(self._later)
            self._pass_on()

    async def _run(self, queue: deque[asyncio.Future[None]], work: Callable[[], R]) -> R:
        if self._free and not self._first and not (queue is self._later and self._later):
            self._free -= 1
        else:
            await self._wait(queue)
        thread = asyncio.ensure_future(asyncio.to_thread(work))
        # The place is free when the thread has ended, also where the one who asked has left before.
        thread.add_done_callback(self._ended)
        return await asyncio.shield(thread)

    def _ended(self, thread: asyncio.Future[R]) -> None:
        self._pass_on()
        if not thread.cancelled():
            thread.exception()  # where nobody waits for it any more, it is not to be logged: it may quote the text

    async def _wait(self, queue: deque[asyncio.Future[None]]) -> None:
        turn = asyncio.get_running_loop().create_future()
        queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._pass_on()
            raise

    def _pass_on(self) -> None:
        """Give the place to the next who still waits."""
        for queue in (self._first, self._later):
            while queue:
                turn = queue.popleft()
                if not turn.done():
                    turn.set_result(None)
                    return
        self._free += 1
