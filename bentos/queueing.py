"""Limits on concurrent and waiting calls of the language model, and the connections they use."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import cycle

import httpx2

from bentos.metrics import MODEL_OPEN, MODEL_WAITING
from clinical.errors import ModelBusy

POOL_CALLS, POOLS_MAX = 16, 128
"""Calls at once that share a pool of connections, and how many pools there are at most."""
CLOSED = "the connection was closed while it was looked at"
MORE_ROOM = "raise BEFUND_LLM_CONCURRENCY with the capacity of the model server, or BEFUND_LLM_QUEUE"


class Queue:
    """A bounded number of calls at once and a bounded number waiting; never a pile-up.

    `full` is asked before a request is taken on. A stream that was taken on makes up to two calls side by side and must
    not fail half way because others came; so calls are refused only at twice the number.
    """

    def __init__(self, concurrency: int, waiting: int) -> None:
        self._slots = asyncio.Semaphore(concurrency)
        self._room = concurrency + waiting
        self._inside = 0

    @property
    def full(self) -> bool:
        """True when no further request should be accepted."""
        return self._inside >= self._room

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Wait for a slot; ModelBusy at once when there is not even room to wait."""
        if self._inside >= 2 * self._room:
            raise ModelBusy("the queue towards the language model is full", remedy=MORE_ROOM)
        self._inside += 1
        try:
            with MODEL_OPEN.track_inprogress():
                with MODEL_WAITING.track_inprogress():
                    await self._slots.acquire()
                try:
                    yield
                finally:
                    self._slots.release()
        finally:
            self._inside -= 1


class Pools(httpx2.AsyncBaseTransport):
    """Connections in many small pools, used in turn.

    A pool looks at every connection it has when a call begins and when it ends: with one pool a thousand calls at once
    cost a thousand looks each. How many calls are under way is bounded by `Queue`, so the pools need no bound.
    """

    def __init__(self, calls: int) -> None:
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=POOL_CALLS)
        tls = httpx2.create_ssl_context(trust_env=False)
        count = min(POOLS_MAX, -(-calls // POOL_CALLS))
        self._pools = [httpx2.AsyncHTTPTransport(verify=tls, limits=limits, trust_env=False) for _ in range(count)]
        self._turn = cycle(self._pools)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """By the pool whose turn it is. Raises what httpx2 raises, also for a socket that broke a moment before anyio
        looks at it: that is an AttributeError there."""
        try:
            return await next(self._turn).handle_async_request(request)
        except AttributeError as error:
            raise httpx2.ReadError(CLOSED, request=request) from error

    async def aclose(self) -> None:
        """Close all connections."""
        for pool in self._pools:
            await pool.aclose()
