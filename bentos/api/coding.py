"""POST /api/deep-research: a text to ICD-10-GM codes as a stream of events."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import StreamingResponse

from bentos.api.admission import body_of
from bentos.api.draining import Draining
from bentos.api.edge import where
from bentos.api.problems import YearNotLoaded
from bentos.metrics import FAILURES, STREAMS, STREAMS_OPEN, TIERS, TIERS_ENDED
from clinical.coding import research
from clinical.contract import Event, PartialEvent, ResearchRequest, ResultEvent, StatusEvent
from clinical.errors import ModelBusy, NotReady
from clinical.reading import SearchIndex
from clinical.sse import PING, PING_SECONDS, encode
from clinical.tracing import note

router = APIRouter()
log = logging.getLogger("befund")

FAILED = "Die Recherche ist fehlgeschlagen. Bitte erneut versuchen."
STOPPING = "Der Dienst wird neu gestartet. Bisherige Ergebnisse bleiben gültig; bitte erneut versuchen."
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


@router.post("/api/deep-research")
async def deep_research(
    request: Request, body: Annotated[ResearchRequest, Depends(body_of(ResearchRequest))]
) -> StreamingResponse:
    """Open the stream; once it is open every failure is a status event."""
    state = request.app.state
    index = catalog_of(request, body.year)
    if state.model is not None and state.model.busy and index.catalog.parse(body.query) is None:
        raise ModelBusy("the queue towards the language model is full")
    events = research(body, index, state.model, state.search_queue, by_rules=state.by_rules)
    chunks = stream(events, draining=state.draining)
    return StreamingResponse(chunks, media_type="text/event-stream; charset=utf-8", headers=HEADERS)


def catalog_of(request: Request, year: int | None) -> SearchIndex:
    """The catalog of a year, the newest without one. Raises NotReady, YearNotLoaded."""
    state = request.app.state
    if state.index is None:
        raise NotReady("the catalog is not loaded")
    index: SearchIndex | None = state.index if year is None else state.indexes.get(year)
    if index is None:
        raise YearNotLoaded(f"the year {year} is not loaded", ", ".join(map(str, sorted(state.indexes))))
    return index


async def stream(
    events: AsyncGenerator[Event], silence: float = PING_SECONDS, draining: Draining | None = None
) -> AsyncIterator[bytes]:
    """Encoded events, a ping after `silence` seconds without one; a failure becomes the last event.

    The work runs in a task of its own. When the client leaves, this generator is cancelled, and the task with it, so
    that a language model stops. Events that are ready together travel in one piece.
    """
    ready: asyncio.Queue[bytes] = asyncio.Queue()
    draining = draining or Draining(0)
    work = asyncio.create_task(_work(events, ready, draining))
    with draining.tells(work), STREAMS_OPEN.track_inprogress():
        async for chunk in _chunks(ready, work, silence):
            yield chunk


async def _chunks(ready: asyncio.Queue[bytes], work: asyncio.Task[None], silence: float) -> AsyncIterator[bytes]:
    try:
        while chunk := await _next(ready, silence):
            last = False
            while not ready.empty():
                more = ready.get_nowait()
                last, chunk = not more, chunk + more
            yield chunk
            if last:
                return
    finally:
        work.cancel()


async def _next(ready: asyncio.Queue[bytes], silence: float) -> bytes:
    try:
        return await asyncio.wait_for(ready.get(), silence)
    except TimeoutError:
        return PING


async def _work(events: AsyncGenerator[Event], ready: asyncio.Queue[bytes], draining: Draining) -> None:
    """Put every encoded event, then an empty piece as the end."""
    outcome, began, tier = "left", time.perf_counter(), 0
    try:
        async with aclosing(events):
            async for event in events:
                ready.put_nowait(encode(event))
                if isinstance(event, PartialEvent | ResultEvent):
                    tier = event.layer
                    note(f"tier {tier}")
                    TIERS.labels(str(tier)).observe(time.perf_counter() - began)
                    TIERS_ENDED.labels(str(tier), "answered").inc()
                outcome = _outcome(event, outcome)
    except asyncio.CancelledError:
        if not draining.over:
            raise
        outcome = "error"
        log.warning("a stream was ended: the server stops")
        ready.put_nowait(encode(StatusEvent(status="error", message=STOPPING)))
    except Exception as error:  # noqa: BLE001 - the edge of the server: the stream is open, no status code is left
        outcome = "error"
        FAILURES.labels("stream").inc()
        log.error("deep-research failed: %s", where(error))
        ready.put_nowait(encode(StatusEvent(status="error", message=FAILED)))
    finally:
        STREAMS.labels(outcome).inc()
        if outcome == "error":
            TIERS_ENDED.labels(str(tier + 1), "failed").inc()
        ready.put_nowait(b"")


def _outcome(event: Event, before: str) -> str:
    """The outcome to count for a stream after this event: `result`, `error`, else `before`."""
    if isinstance(event, ResultEvent):
        return "result"
    return "error" if isinstance(event, StatusEvent) and event.status == "error" else before
