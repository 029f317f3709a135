"""POST /api/deep-research: a text to ICD-10-GM codes as a stream of events."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from bentos.api.admission import admitted, read_body, understood
from bentos.api.disconnect import left
from bentos.api.draining import Draining
from bentos.api.edge import where
from bentos.api.problems import YearNotLoaded
from bentos.metrics import FAILURES, STREAMS, STREAMS_OPEN, TIERS, TIERS_ENDED
from clinical.coding import Research
from clinical.contract import Event, ResearchRequest, StatusEvent
from clinical.errors import ModelBusy, NotReady
from clinical.reading import SearchIndex
from clinical.sse import PING, PING_SECONDS, encode
from clinical.tracing import note

log = logging.getLogger("befund")

PATH: Final = "/api/deep-research"
FAILED = "Die Recherche ist fehlgeschlagen. Bitte erneut versuchen."
STOPPING = "Der Dienst wird neu gestartet. Bisherige Ergebnisse bleiben gültig; bitte erneut versuchen."


async def deep_research(request: Request) -> Response:
    """Open the stream; once it is open every failure is a status event."""
    await admitted(request)
    body = understood(request, ResearchRequest, await read_body(request))
    state = request.app.state
    index = catalog_of(request, body.year)
    if state.model is not None and state.model.busy and index.catalog.parse(body.query) is None:
        raise ModelBusy("the queue towards the language model is full")
    work = Research(body, index, state.model, state.search_queue, by_rules=state.by_rules)
    return EventStream(work, state.draining)


ROUTES: Final = (Route(PATH, deep_research, methods=["POST"]),)


def catalog_of(request: Request, year: int | None) -> SearchIndex:
    """The catalog of a year, the newest without one. Raises NotReady, YearNotLoaded."""
    state = request.app.state
    if state.index is None:
        raise NotReady("the catalog is not loaded")
    index: SearchIndex | None = state.index if year is None else state.indexes.get(year)
    if index is None:
        raise YearNotLoaded(f"the year {year} is not loaded", ", ".join(map(str, sorted(state.indexes))))
    return index


class CountedEvents:
    """The events of one stream as they are sent, counted; its outcome is counted when it has ended."""

    def __init__(self) -> None:
        self._outcome, self._began, self._tier = "left", time.perf_counter(), 0

    def event(self, event: Event) -> bytes:
        """The bytes of an event."""
        if event.type != "status":
            self._tier = event.layer
            note(f"tier {event.layer}")
            seconds, answered = _TIERS[event.layer]
            seconds.observe(time.perf_counter() - self._began)
            answered.inc()
            self._outcome = "result" if event.type == "result" else self._outcome
        elif event.status == "error":
            self._outcome = "error"
        return encode(event)

    def failed(self, error: Exception) -> bytes:
        """The last event of a stream that cannot go on; nothing of the error's text is logged."""
        FAILURES.labels("stream").inc()
        log.error("deep-research failed: %s", where(error))
        return self.event(StatusEvent(status="error", message=FAILED))

    def ended(self) -> None:
        """No event follows."""
        STREAMS.labels(self._outcome).inc()
        if self._outcome == "error":
            TIERS_ENDED.labels(str(self._tier + 1), "failed").inc()


_TIERS: Final = {tier: (TIERS.labels(str(tier)), TIERS_ENDED.labels(str(tier), "answered")) for tier in (1, 2, 3)}
"""The series of the tiers: finding them takes longer than counting."""


class EventStream(Response):
    """The answer: what waits for nothing in one piece, at once; the other events as they come."""

    _HEADERS = (
        (b"content-type", b"text/event-stream; charset=utf-8"),
        (b"cache-control", b"no-store"),
        (b"x-accel-buffering", b"no"),
    )

    def __init__(self, work: Research, draining: Draining) -> None:
        self.status_code, self.background = 200, None
        self.raw_headers = list(self._HEADERS)
        self._work, self._draining, self._told = work, draining, CountedEvents()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it; the work ends when the client leaves."""
        pieces: list[bytes] = []
        over = False
        try:
            pieces.extend(map(self._told.event, self._work.at_once()))
            over = self._work.is_over
        except Exception as error:  # noqa: BLE001 - the edge of the server: the stream is open, no status code is left
            pieces.append(self._told.failed(error))
            over = True
        if over:
            self._told.ended()
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": b"".join(pieces), "more_body": not over})
        if over:
            return
        leaving = asyncio.ensure_future(left(receive))
        try:
            async with aclosing(stream(self._work.later(), PING_SECONDS, self._draining, self._told, leaving)) as rest:
                async for chunk in rest:
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            leaving.cancel()


async def stream(
    events: AsyncGenerator[Event],
    silence: float = PING_SECONDS,
    draining: Draining | None = None,
    told: CountedEvents | None = None,
    leaving: asyncio.Future[None] | None = None,
) -> AsyncGenerator[bytes]:
    """Encoded events, a ping after `silence` seconds without one; a failure becomes the last event.

    The work runs in a task of its own. When `leaving` is done, or this generator is closed or cancelled, the task is
    cancelled, so that a language model stops. Events that are ready together travel in one piece.
    """
    ready: asyncio.Queue[bytes] = asyncio.Queue()
    draining = draining or Draining(0)
    work = asyncio.create_task(_work(events, ready, draining, told or CountedEvents()))
    if leaving is not None:
        leaving.add_done_callback(lambda _: work.cancel())
    with draining.tells(work), STREAMS_OPEN.track_inprogress():
        try:
            async for chunk in _chunks(ready, silence):
                yield chunk
        finally:
            work.cancel()


async def _chunks(ready: asyncio.Queue[bytes], silence: float) -> AsyncIterator[bytes]:
    loop, last = asyncio.get_running_loop(), False
    while not last:
        ping = loop.call_later(silence, ready.put_nowait, PING)
        try:
            chunk = await ready.get()
        finally:
            ping.cancel()
        last = not chunk
        while not ready.empty():
            more = ready.get_nowait()
            last, chunk = not more, chunk + more
        if chunk:
            yield chunk


async def _work(
    events: AsyncGenerator[Event], ready: asyncio.Queue[bytes], draining: Draining, told: CountedEvents
) -> None:
    """Put every encoded event, then an empty piece as the end."""
    try:
        async with aclosing(events):
            async for event in events:
                ready.put_nowait(told.event(event))
    except asyncio.CancelledError:
        if not draining.over:
            raise
        log.warning("a stream was ended: the server stops")
        ready.put_nowait(told.event(StatusEvent(status="error", message=STOPPING)))
    except Exception as error:  # noqa: BLE001 - the edge of the server: the stream is open, no status code is left
        ready.put_nowait(told.failed(error))
    finally:
        told.ended()
        ready.put_nowait(b"")
