"""The BentoML services: `Befund` is all in one process; `Coding`, `Extraction` and `Generation` can go apart.

    bentoml serve bentos.service:Befund          or, with every check before it: python -m bentos serve
    bentoml serve bentos.service:Coding          one part alone, behind one address with the others (bentos/proxy.conf)

BentoML's own pages, access log (which holds paths), metrics (which label by path) and traces are off; what the
application writes instead holds no content.
"""

from __future__ import annotations

import gc
import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

os.environ.setdefault("BENTOML_DO_NOT_TRACK", "True")  # before the import that would read it

from bentos.server_folder import enter

if enter():  # before the import that loads the library of the metrics
    gc.disable()  # while all that stays is imported (until `Mounted` has its application): a fifth of a second
    from bentos.patience import be_patient

    be_patient()
else:
    from bentos.listening import listen_when_ready

    listen_when_ready()

import bentoml
from starlette.applications import Starlette

from clinical.loaded import keep_loaded
from clinical.settings import server_settings
from clinical.tracing import write_lines

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from bentos.api import Part

FOREIGN = ("", "bentoml", "uvicorn", "uvicorn.error", "circus")
"""Loggers of others, whose lines are formatted as ours when ours are JSON."""


_settings = server_settings()
write_lines(_settings.log_format, "befund", FOREIGN, logging.INFO)


class Mounted(Starlette):
    """The application of some parts (all, when none is named), made where it is served, with the start of the process.

    The process that only starts the others reads this module too: it never loads what answers requests, which would be
    half of its memory, and no process makes the applications of the other services.
    """

    def __init__(self, *parts: Part) -> None:
        super().__init__(lifespan=self._alive)
        self.parts = parts
        self._application: ASGIApp | None = None

    @asynccontextmanager
    async def _alive(self, _: Starlette) -> AsyncIterator[None]:
        try:
            from bentos.api import PARTS, create_app

            application = create_app(_settings, parts=self.parts or PARTS)
            keep_loaded()
        finally:
            gc.enable()
        async with application.router.lifespan_context(application):
            self._application = application
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on; the server asks nothing before the start is over."""
        assert self._application is not None  # noqa: S101 - see above
        await self._application(scope, receive, send)


def _closed(app: ASGIApp, mounted: Mounted) -> ASGIApp:
    """Nothing is left open but the contract's paths of these parts and the operator's."""
    from bentos.api import PARTS, OnlyContractPaths, contract_paths, internal_paths

    paths = frozenset((*contract_paths(mounted.parts or PARTS), *internal_paths(_settings)))
    return OnlyContractPaths(app, paths, mounted)


def _options(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "workers": _settings.workers,
        "http": {"host": _settings.api_host, "port": _settings.api_port},
        "metrics": {"enabled": False},
        "logging": {"access": {"enabled": False}},
        "tracing": {"excluded_urls": ".*"},
        # One search is one core: threads inside it would only fight with the other workers.
        "envs": [{"name": "OMP_NUM_THREADS", "value": "1"}],
    }


BEFUND, CODING = Mounted(), Mounted("coding")
EXTRACTION, GENERATION = Mounted("extraction"), Mounted("generation")


@bentoml.service(**_options("Befund"))
@bentoml.asgi_app(BEFUND, path="/")
class Befund:
    """German clinical text to ICD-10-GM codes, grounded fields and free text."""


@bentoml.service(**_options("Coding"))
@bentoml.asgi_app(CODING, path="/")
class Coding:
    """ICD-10-GM codes alone; on CPU, needs the catalog."""


@bentoml.service(**_options("Extraction"))
@bentoml.asgi_app(EXTRACTION, path="/")
class Extraction:
    """Letters to grounded fields alone; needs the language model, no catalog."""


@bentoml.service(**_options("Generation"))
@bentoml.asgi_app(GENERATION, path="/")
class Generation:
    """Free text by instruction alone; needs the language model, no catalog."""


def _close(service: Any, mounted: Mounted) -> None:
    service.add_asgi_middleware(_closed, mounted=mounted)


_close(Befund, BEFUND)
_close(Coding, CODING)
_close(Extraction, EXTRACTION)
_close(Generation, GENERATION)
