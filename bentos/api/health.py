"""GET /api/health and /api/llm/health (no key), and the operator's livez, readyz and metrics on an internal path."""

from __future__ import annotations

import asyncio
import hmac
import logging
from typing import TYPE_CHECKING

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import PlainTextResponse

from bentos.api.problems import of_error
from bentos.metrics import CONTENT_TYPE, FAILURES, exposition
from clinical import __version__
from clinical.contract import CatalogHealth, Health, ModelHealth
from clinical.errors import NotReady

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from bentos.keys import Keys
    from clinical.llm import LanguageModel
    from clinical.search import SearchIndex
    from clinical.settings import Settings

log = logging.getLogger("befund.model")

router = APIRouter()
internal = APIRouter()

INTERNAL = ("livez", "readyz", "metrics")
NOT_THEIRS = 2
"""Layers below the operator's own: the official wordings and Befund's."""
PROBE_SECONDS = 2.0
PROBE_SHARED_SECONDS = 5.0
STORES_SHARED_SECONDS = 2.0


@router.get("/api/health")
async def health(request: Request) -> Health:
    """Basic availability and the size of the loaded catalog."""
    index = request.app.state.index
    if "coding" not in request.app.state.parts:
        return Health(status="ok", version=__version__, catalog=None)
    if index is None:
        return Health(status="starting", version=__version__, catalog=None)
    return Health(status="ok", version=__version__, catalog=catalog_health(index))


def catalog_health(index: SearchIndex) -> CatalogHealth:
    """What the manifest of the loaded artifact says."""
    manifest = index.manifest
    return CatalogHealth(
        version=str(manifest.year),
        codes=manifest.codes,
        terminal_codes=manifest.terminal_codes,
        synonyms=manifest.synonyms,
        encoder=manifest.encoder,
        built_at=manifest.built_at,
        vocabularies={row["name"]: row["taken"] for row in manifest.layers[NOT_THEIRS:]},
    )


class ModelProbe:
    """Ask the model for its health at most once in five seconds, however many callers ask."""

    def __init__(self) -> None:
        self._until = 0.0
        self._alive: asyncio.Future[bool] | None = None

    async def alive(self, model: LanguageModel) -> bool:
        """Whether `model` answers within two seconds; concurrent callers share one probe."""
        now = asyncio.get_running_loop().time()
        if self._alive is None or now >= self._until:
            self._until = now + PROBE_SHARED_SECONDS
            self._alive = asyncio.ensure_future(self._ask(model))
        return await asyncio.shield(self._alive)

    async def _ask(self, model: LanguageModel) -> bool:
        try:
            return await asyncio.wait_for(model.health(), PROBE_SECONDS)
        except TimeoutError:
            FAILURES.labels("model").inc()
            log.warning("the language model is not well: no answer within %.0f s", PROBE_SECONDS)
            return False


class StoresProbe:
    """Ask the key database and the counter of the rates at most once in two seconds."""

    def __init__(self) -> None:
        self._until = 0.0
        self._well: asyncio.Future[bool] | None = None

    async def well(self, keys: Keys, pool: Executor) -> bool:
        """Whether both answer within two seconds; concurrent callers share one probe."""
        loop = asyncio.get_running_loop()
        if self._well is None or loop.time() >= self._until:
            self._until = loop.time() + STORES_SHARED_SECONDS
            self._well = asyncio.ensure_future(loop.run_in_executor(pool, keys.well))
        try:
            return await asyncio.wait_for(asyncio.shield(self._well), PROBE_SECONDS)
        except TimeoutError:
            return False


@router.get("/api/llm/health")
async def model_health(request: Request) -> ModelHealth:
    """Availability of the language model; when it is down, tier 1 still works."""
    model = request.app.state.model
    if model is None:
        return ModelHealth(status="not_configured", model=None)
    alive = await request.app.state.probe.alive(model)
    return ModelHealth(status="ok" if alive else "down", model=model.name or None)


@internal.get("/livez")
async def livez() -> Response:
    """The process answers."""
    return PlainTextResponse("ok\n")


@internal.get("/readyz")
async def readyz(request: Request) -> Response:
    """What a request needs is there: the catalog where this service codes, keys, rates; and the server does not end."""
    state = request.app.state
    if state.draining.begun:
        return of_error(NotReady("the server stops"))
    if (state.index is None and "coding" in state.parts) or state.keys is None:
        return of_error(NotReady("still starting"))
    if not await state.stores.well(state.keys, state.pool):
        return of_error(NotReady("the key database or the counter of the rates does not answer"))
    return PlainTextResponse("ok\n")


@internal.get("/metrics")
async def metrics(request: Request) -> Response:
    """Prometheus metrics of all workers: open in development, with BEFUND_INTERNAL_KEY as bearer in production."""
    settings: Settings = request.app.state.settings
    key = settings.internal_key.get_secret_value() if settings.internal_key else ""
    said = request.headers.get("Authorization", "").removeprefix("Bearer ").encode()
    if not (hmac.compare_digest(said, key.encode()) if key else settings.development):
        raise HTTPException(404)
    return Response(await asyncio.to_thread(exposition), media_type=CONTENT_TYPE)
