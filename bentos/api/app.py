"""The FastAPI application: routers, start-up, and the one place where errors become HTTP.

request -> OnlyContractPaths (service.py) -> Edge -> direct route or router: admitted (401, 429) -> body (413, 422) ->
ready (503)
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Literal

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.asyncexitstack import AsyncExitStackMiddleware
from fastapi.telemetry import TelemetryConfig
from starlette.exceptions import HTTPException
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.routing import Route

from bentos.api import bulk, coding, description, extraction, generation, health, terminology
from bentos.api.agents import PATH, Agents
from bentos.api.direct import Direct
from bentos.api.draining import Draining
from bentos.api.edge import Edge
from bentos.api.files import UPLOADS
from bentos.api.problems import Problem, of_error, of_status
from bentos.api.startup import lifespan, take
from bentos.metrics import REFUSED
from bentos.models import model_of
from bentos.terminology import OperationRefused
from clinical.coding import SearchQueue
from clinical.errors import BefundError
from clinical.letters import FileReader
from clinical.settings import Settings

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from clinical.llm import LanguageModel
    from clinical.reading import SearchIndex

log = logging.getLogger("befund")

Part = Literal["coding", "extraction", "generation"]
PARTS: tuple[Part, ...] = ("coding", "extraction", "generation")
_ROUTERS = {
    "coding": (bulk.router,),
    "extraction": (extraction.router,),
    "generation": (generation.router,),
}
_PATHS = {
    "coding": (coding.PATH, bulk.PATH, terminology.SUGGEST, f"{terminology.BASE}/"),
    "extraction": ("/api/documents/extract", "/api/documents/text"),
    "generation": ("/api/llm/generate",),
}


def contract_paths(parts: tuple[Part, ...] = PARTS) -> tuple[str, ...]:
    """The paths that a service with these parts answers; one that ends with a slash stands for all that begin so."""
    return (
        *(path for part in parts for path in _PATHS[part]),
        PATH,
        description.PATH,
        "/api/health",
        "/api/llm/health",
    )


SILENT: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}
"""The framework's own telemetry holds URLs, the values of dependencies and the texts of exceptions: never on."""


class Application(FastAPI):
    """FastAPI with the layers that do something here: its own answer to unforeseen errors is the edge's, its telemetry
    is off, its limit on bodies is that of admission."""

    def build_middleware_stack(self) -> ASGIApp:
        """Hosts, the edge, errors to HTTP, what FastAPI's routes need, and the routes."""
        app: ASGIApp = ExceptionMiddleware(AsyncExitStackMiddleware(self.router), self.exception_handlers)
        for kind, args, options in reversed(self.user_middleware):
            app = kind(app, *args, **options)
        return app


def internal_paths(settings: Settings) -> tuple[str, ...]:
    """Liveness, readiness and metrics for the operator; none when BEFUND_INTERNAL_PATH is `off`."""
    if settings.internal_path == "off":
        return ()
    return tuple(f"{settings.internal_path}/{name}" for name in health.INTERNAL)


def create_app(
    settings: Settings,
    index: SearchIndex | None = None,
    model: LanguageModel | None = None,
    parts: tuple[Part, ...] = PARTS,
    others: Sequence[SearchIndex] = (),
) -> FastAPI:
    """The application, or some parts of it; only coding needs the catalog.

    Without `index` the artifact of `settings.catalog` is loaded after the start; without `model` there is the one
    that the settings name, or none. `others`: catalogs of other years beside `index`.
    """
    app = Application(
        openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False, lifespan=lifespan, telemetry=SILENT
    )
    app.state.settings, app.state.keys = settings, None
    app.state.index, app.state.indexes, app.state.systems = None, {}, None
    if index is not None:
        take(app.state, (index, *others))
    app.state.model = model or model_of(settings)
    app.state.by_rules = app.state.model is None and settings.llm == "rules"
    app.state.parts, app.state.search_queue = parts, SearchQueue()
    app.state.files, app.state.uploads = FileReader(ocr=settings.ocr != "off"), asyncio.Semaphore(UPLOADS)
    app.state.draining = Draining(settings.drain_seconds, settings.workers)
    for part in parts:
        for router in _ROUTERS[part]:
            app.include_router(router)
    app.state.agents = Agents(app.state, parts)
    app.router.routes.append(Route(PATH, app.state.agents, methods=["GET", "POST", "DELETE"]))
    app.include_router(health.router)
    app.include_router(description.router)
    if settings.internal_path != "off":
        app.include_router(health.internal, prefix=settings.internal_path)
    app.add_exception_handler(BefundError, _befund_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    if "coding" in parts:
        app.add_middleware(Direct, routes=(*coding.ROUTES, *terminology.ROUTES), refused=_refused)
    app.add_middleware(Edge)
    if settings.hosts != ["*"]:
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=settings.hosts, www_redirect=False)
    return app


async def _befund_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, BefundError)  # noqa: S101 - registered for it
    problem = of_error(error)
    if problem.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
        REFUSED.labels(type(error).__name__).inc()
        log.warning("answered %d: %s: %s", problem.status_code, type(error).__name__, error)
    return _in_fhir(request, problem, error)


def _in_fhir(request: Request, problem: Problem, error: Exception | None = None) -> Response:
    """The same as an OperationOutcome where FHIR is spoken."""
    if not request.scope["path"].startswith(terminology.BASE):  # `url` is split by a function that keeps the last ones
        return problem
    if isinstance(error, OperationRefused):
        return terminology.refusal(request, error)
    kept = {name: problem.headers[name] for name in ("retry-after", "www-authenticate") if name in problem.headers}
    return terminology.outcome_of(request, problem.status_code, problem.detail, kept)


async def _http_error(request: Request, error: Exception) -> Response:
    """404 and 405 of the router."""
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for it
    return _in_fhir(request, of_status(error.status_code, headers=dict(error.headers or {})))


async def _refused(request: Request, error: Exception) -> Response:
    """Answer a BefundError or an HTTPException as FastAPI's handlers of them do."""
    return await (_befund_error if isinstance(error, BefundError) else _http_error)(request, error)


async def _validation_error(request: Request, error: Exception) -> Problem:
    """Validation by the framework itself; nothing of the input is repeated, as the framework would."""
    return of_status(422)
