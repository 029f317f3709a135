"""/mcp: the text API for agents (Model Context Protocol, streamable HTTP), by the official package.

Every HTTP request is admitted like all others: the key, its rate and its quota; no token is passed on. Nothing is kept
between requests (no sessions), and nothing of a call is logged: the package's own loggers, which write exceptions with
their texts, are off. The tools are made at the first call: most servers have none.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from fastapi import Request
from starlette.datastructures import State
from starlette.types import ASGIApp, Receive, Scope, Send

from bentos.api.admission import admitted
from bentos.api.problems import of_error, of_status
from clinical.contract import SuggestedCode, SuggestRequest, SuggestResponse
from clinical.errors import BefundError, NotReady
from clinical.search import KnownPatient

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

PATH: Final = "/mcp"
DAYS_PER_YEAR: Final = 365

Parts = tuple[str, ...]


def suggestions(index: Any, body: SuggestRequest) -> SuggestResponse:
    """Codes for the first characters of words, the likeliest first. Raises NotReady."""
    if index is None or getattr(index, "suggester", None) is None:
        raise NotReady("the catalog is not loaded, or holds no suggestions")
    days = None if body.age is None else int(body.age * DAYS_PER_YEAR)
    found = index.suggester.suggest(body.text, body.limit, KnownPatient(body.sex, days))
    codes = tuple(
        SuggestedCode(
            code=code.code,
            mark=code.marked[len(code.code) :],
            description=code.title,
            terminal=code.terminal,
            wording=wording,
        )
        for code, wording in found
    )
    return SuggestResponse(version=str(index.catalog.version), codes=codes)


def server_of(state: State, parts: Parts) -> MCPServer:
    """The tools of these parts over the state of the application, and the guide."""
    from bentos.api import tools

    return tools.server_of(state, parts)


class Agents:
    """The ASGI application at /mcp: admission before the protocol."""

    def __init__(self, state: State, parts: Parts) -> None:
        self._state, self._parts = state, parts
        self._asked: asyncio.Event | None = None
        self._app: asyncio.Future[ASGIApp] | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve while the block runs."""
        self._asked, self._app = asyncio.Event(), asyncio.get_running_loop().create_future()
        ended = asyncio.Event()
        serving = asyncio.create_task(self._serve(self._asked, self._app, ended))
        try:
            yield
        finally:
            self._app = None
            ended.set()
            self._asked.set()
            await serving

    async def _serve(self, asked: asyncio.Event, made: asyncio.Future[ASGIApp], ended: asyncio.Event) -> None:
        """Make the tools once they are asked for, and serve them to the end."""
        await asked.wait()
        if ended.is_set():
            return
        try:
            server, app = await asyncio.to_thread(self._tools)
        except Exception as error:  # noqa: BLE001 - who asked gets it; nobody else waits for this task before the end
            made.set_exception(error)
            return
        async with server.session_manager.run():
            made.set_result(app)
            await ended.wait()

    def _tools(self) -> tuple[MCPServer, ASGIApp]:
        from bentos.api.tools import application_of

        server = server_of(self._state, self._parts)
        return server, application_of(server)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check origin and key, count the request, pass it on without the key."""
        request = Request(scope, receive)
        if _is_foreign(request):
            await of_status(403, "Anfragen aus fremden Webseiten sind nicht zugelassen.")(scope, receive, send)
            return
        try:
            await admitted(request)
            if self._app is None or self._asked is None:
                raise NotReady("the server is not running")
            self._asked.set()
            app = await asyncio.shield(self._app)
        except BefundError as error:
            await of_error(error)(scope, receive, send)
            return
        headers = [(name, value) for name, value in scope["headers"] if name != b"authorization"]
        await app({**scope, "headers": headers, "state": {}}, receive, send)


def _is_foreign(request: Request) -> bool:
    """True for a request of a web page of another host (Origin against Host: the specification demands the check)."""
    origin = request.headers.get("origin")
    return origin is not None and urlsplit(origin).netloc != request.headers.get("host")
