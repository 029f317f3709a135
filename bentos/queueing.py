"""Limits on concurrent and waiting calls of the language model, and the connections they use."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256
from itertools import cycle
from uuid import uuid4

import httpx2
from redis.asyncio import Redis
from redis.exceptions import RedisError

from bentos.metrics import FAILURES, MODEL_OPEN, MODEL_WAITING
from clinical.errors import ModelBusy, cause_of

POOL_CALLS, POOLS_MAX = 16, 128
"""Calls at once that share a pool of connections, and how many pools there are at most."""
CLOSED = "the connection was closed while it was looked at"
MORE_ROOM = "raise BEFUND_LLM_CONCURRENCY with the capacity of the model server, or BEFUND_LLM_QUEUE"
REDIS_SECONDS = 2.0
PLACE_SECONDS = 180
"""Seconds after which a place ends by itself: no call takes as long (`Limits.timeout_s`)."""
ASK_AGAIN = (0.02, 0.1)
"""Seconds between two questions for a place."""
TAKE = """
local now = tonumber(redis.call('TIME')[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[3]), ARGV[1])
redis.call('EXPIRE', KEYS[1], tonumber(ARGV[3]))
return 1
"""

log = logging.getLogger("befund.model")


class SharedPlaces:
    """Places at one language model, counted in Redis by all workers of all hosts that ask the same one.

    A place is a row with the time at which it ends by itself, longer than any call may take: what a killed worker held
    comes back. Where Redis does not answer, each worker's own number holds alone.
    """

    def __init__(self, redis_url: str, base_url: str, places: int) -> None:
        self._redis = Redis.from_url(redis_url, socket_timeout=REDIS_SECONDS, socket_connect_timeout=REDIS_SECONDS)
        self._name, self._places = f"befund:model:{sha256(base_url.encode()).hexdigest()[:16]}", places
        self._take = self._redis.register_script(TAKE)

    async def take(self, holder: str) -> None:
        """Wait for a place."""
        try:
            while not await self._take([self._name], [holder, self._places, PLACE_SECONDS]):
                await asyncio.sleep(random.uniform(*ASK_AGAIN))  # noqa: S311 - so that nobody always comes second
        except RedisError as error:
            self._failed(error)

    async def give_back(self, holder: str) -> None:
        """End a place, also one that was asked for and perhaps not taken."""
        try:
            await self._redis.zrem(self._name, holder)
        except RedisError as error:
            self._failed(error)

    async def close(self) -> None:
        """Close the connections."""
        await self._redis.aclose()

    def _failed(self, error: RedisError) -> None:
        FAILURES.labels("limits").inc()
        log.error("the places at the language model cannot be shared: %s; see BEFUND_LIMITS_URL", cause_of(error))


class Queue:
    """A bounded number of calls at once and a bounded number waiting; never a pile-up.

    `full` is asked before a request is taken on. A stream that was taken on makes up to two calls side by side and must
    not fail half way because others came; so calls are refused only at twice the number.
    """

    def __init__(self, concurrency: int, waiting: int, shared: SharedPlaces | None = None) -> None:
        self._slots, self._shared = asyncio.Semaphore(concurrency), shared
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
                    async with self._place():
                        yield
                finally:
                    self._slots.release()
        finally:
            self._inside -= 1

    @asynccontextmanager
    async def _place(self) -> AsyncIterator[None]:
        if self._shared is None:
            yield
            return
        holder = uuid4().hex
        try:
            with MODEL_WAITING.track_inprogress():
                await self._shared.take(holder)
            yield
        finally:
            await self._shared.give_back(holder)


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
