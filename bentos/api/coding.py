"""POST /api/deep-research: a text to ICD-10-GM codes as a stream of events."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import StreamingResponse

from bentos.api.admission import body_of
from bentos.api.edge import where
from clinical.coding import research
from clinical.contract import Event, ResearchRequest, StatusEvent
from clinical.errors import ModelBusy, NotReady
from clinical.sse import PING, PING_SECONDS, encode

router = APIRouter()
log = logging.getLogger("befund")

FAILED = "Die Recherche ist fehlgeschlagen. Bitte erneut versuchen."
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


@router.post("/api/deep-research")
async def deep_research(
    request: Request, body: Annotated[ResearchRequest, Depends(body_of(ResearchRequest))]
) -> StreamingResponse:
    """Open the stream; once it is open every failure is a status event."""
    state = request.app.state
    if state.index is None:
        raise NotReady("the catalog is not loaded")
    if state.model is not None and state.model.busy and state.index.catalog.parse(body.query) is None:
        raise ModelBusy("the queue towards the language model is full")
    events = research(body, state.index, state.model, state.turns)
    return StreamingResponse(stream(events), media_type="text/event-stream; charset=utf-8", headers=HEADERS)


async def stream(events: AsyncGenerator[Event], silence: float = PING_SECONDS) -> AsyncIterator[bytes]:
    """Encoded events, a ping after `silence` seconds without one; a failure becomes the last event.

    The work runs in a task of its own. When the client leaves, this generator is cancelled, and the task with it, so
    that a language model stops. Events that are ready together travel in one piece.
    """
    ready: asyncio.Queue[bytes] = asyncio.Queue()
    work = asyncio.create_task(_work(events, ready))
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


async def _work(events: AsyncGenerator[Event], ready: asyncio.Queue[bytes]) -> None:
    """Put every encoded event, then an empty piece as the end."""
    try:
        async with aclosing(events):
            async for event in events:
                ready.put_nowait(encode(event))
    except Exception as error:  # noqa: BLE001 - the edge of the server: the stream is open, no status code is left
        log.error("deep-research failed: %s", where(error))
        ready.put_nowait(encode(StatusEvent(status="error", message=FAILED)))
    finally:
        ready.put_nowait(b"")
