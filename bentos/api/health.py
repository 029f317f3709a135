"""GET /api/health and /api/llm/health (no key), and the operator's livez, readyz and metrics on an internal path."""

from __future__ import annotations

import asyncio
import hmac
import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import PlainTextResponse

from bentos.api.problems import RETRY_SECONDS, of_status
from bentos.metrics import CONTENT_TYPE, FAILURES, MODEL_UP, READY, exposition
from bentos.server_folder import written
from clinical import __version__
from clinical.contract import CatalogHealth, Health, ModelHealth
from clinical.errors import NoRoom
from clinical.llm import BY_RULES
from clinical.room import require_files, require_room

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from starlette.datastructures import State

    from bentos.keys import Keys
    from clinical.llm import LanguageModel
    from clinical.reading import SearchIndex
    from clinical.settings import Settings

log = logging.getLogger("befund.model")
log_of_server = logging.getLogger("befund")

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
    """The health report of the loaded artifact, taken from its manifest."""
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
        """Return True when `model` answers within two seconds; concurrent callers share one probe."""
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
    """Ask the key database, the counter of the rates and the disks at most once in two seconds."""

    def __init__(self) -> None:
        self._until = 0.0
        self._missing: asyncio.Future[tuple[str, ...]] | None = None

    async def missing(self, keys: Keys, pool: Executor) -> tuple[str, ...]:
        """The parts that do not answer within two seconds, both stores where it is not known which, and `disk` where
        one is full; concurrent callers share one probe."""
        loop = asyncio.get_running_loop()
        if self._missing is None or loop.time() >= self._until:
            self._until = loop.time() + STORES_SHARED_SECONDS
            self._missing = asyncio.ensure_future(loop.run_in_executor(pool, _missing, keys))
        try:
            return await asyncio.wait_for(asyncio.shield(self._missing), PROBE_SECONDS)
        except TimeoutError:
            return "keys", "limits"


def _missing(keys: Keys) -> tuple[str, ...]:
    rooms: dict[str, Callable[[], None]] = {
        "connections": require_files,
        "disk": partial(require_room, [*keys.folders, *written()]),
    }
    for part, require in rooms.items():
        try:
            require()
        except NoRoom as error:
            FAILURES.labels(part).inc()
            log_of_server.error("not ready: %s: %s", part, error)
            return (part,)
    return keys.missing()


@router.get("/api/llm/health")
async def model_health(request: Request) -> ModelHealth:
    """Availability of the language model; when it is down, tier 1 still works."""
    model = request.app.state.model
    if request.app.state.by_rules:
        return ModelHealth(status="ok", model=BY_RULES)
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
    """Answers 200 when the server is not ending and its needs are there: catalog (where it codes), keys, rates."""
    state = request.app.state
    if state.draining.begun:
        return _not_ready("Der Dienst wird beendet.")
    if missing := await _awaited(state):
        return _not_ready(f"Der Dienst wartet auf: {', '.join(PARTS_IN_WORDS[part] for part in missing)}.")
    return PlainTextResponse("ok\n")


async def _awaited(state: State) -> tuple[str, ...]:
    """The parts that a request needs and that are not there."""
    waited = {"keys": state.keys is None, "catalog": state.index is None and "coding" in state.parts}
    missing = tuple(part for part, awaited in waited.items() if awaited)
    return missing or tuple(await state.stores.missing(state.keys, state.pool))


PARTS_IN_WORDS: Final = {
    "keys": "Schlüsseldatenbank (BEFUND_API_DATABASE_URL)",
    "limits": "Zähler der Limits (BEFUND_LIMITS_URL)",
    "catalog": "Katalog (BEFUND_CATALOG)",
    "disk": "Datenträger ist voll",
    "connections": "zu viele offene Verbindungen (LimitNOFILE)",
}


def _not_ready(detail: str) -> Response:
    """503 that names what is missing; why, says the log."""
    return of_status(503, detail, {"Retry-After": str(RETRY_SECONDS)})


@internal.get("/metrics")
async def metrics(request: Request) -> Response:
    """Prometheus metrics of all workers: open in development, with BEFUND_INTERNAL_KEY as bearer in production."""
    settings: Settings = request.app.state.settings
    key = settings.internal_key.get_secret_value() if settings.internal_key else ""
    said = request.headers.get("Authorization", "").removeprefix("Bearer ").encode()
    if not (hmac.compare_digest(said, key.encode()) if key else settings.development):
        raise HTTPException(404)
    state = request.app.state
    READY.set(not (state.draining.begun or await _awaited(state)))
    MODEL_UP.set(state.by_rules or state.model is None or await state.probe.alive(state.model))
    return Response(await asyncio.to_thread(exposition), media_type=CONTENT_TYPE)
