"""Middleware around every request: the paths that answer, the access log and counts, and unforeseen errors.

Nothing that a caller wrote is logged or counted: not the path (the route's template stands for it), not the query
string, not the text of an exception, which may quote its input.
"""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from pathlib import PurePath

from starlette.requests import ClientDisconnect, HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bentos.api.problems import of_status
from bentos.metrics import FAILURES, answered
from clinical.tracing import LineRecord, Serving

log = logging.getLogger("befund")
access = logging.getLogger("befund.access")


def where(error: BaseException) -> str:
    """The kind of an error and the places it came through, without its text."""
    frames = traceback.extract_tb(error.__traceback__)
    places = " < ".join(f"{PurePath(frame.filename).name}:{frame.lineno} {frame.name}" for frame in reversed(frames))
    return f"{type(error).__name__} at {places or 'unknown'}"


SAID = "befund.said"


def say(request: HTTPConnection, name: str, value: str) -> None:
    """Add a header to the answer of this request, whatever answers it in the end."""
    request.scope.get(SAID, {})[name] = value


class OnlyContractPaths:
    """Answer 404 for every path that is not named; the server around the application has pages of its own.

    A name that ends with a slash stands for every path that begins so. `direct` answers them, where it is given, and
    requests come here first: the layers of the server around (a tracer that traces nothing, a timer for each request
    that outlives it by minutes, a folder for files that are never written) cost as much as a whole answer.
    """

    def __init__(self, app: ASGIApp, paths: frozenset[str], direct: ASGIApp | None = None) -> None:
        self.app, self.paths, self.direct = app, paths, direct or app
        self.begun = tuple(path for path in paths if path.endswith("/"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass what is named, and the lifespan; close everything else."""
        if scope["type"] == "http" and self._is_named(scope["path"]):
            await self.direct(scope, receive, send)
        elif scope["type"] == "lifespan":
            if self.direct is not self.app:
                scope["app"].middleware_stack = self
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await of_status(404)(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1000})

    def _is_named(self, path: str) -> bool:
        return path in self.paths or path.startswith(self.begun)


FIRST_BYTE_SECONDS = 180.0
"""Time to the first byte of an answer, at most: extraction and generation wait for a language model."""


class Edge:
    """Log and count each request, and answer an unforeseen error with a generic 500, one without an end with 504."""

    def __init__(self, app: ASGIApp, seconds: float = FIRST_BYTE_SECONDS) -> None:
        self.app, self.seconds = app, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; its log line is written when the answer is complete or the client has left."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers: dict[bytes, bytes] = dict(scope["headers"])
        named, traced = (headers.get(name, b"").decode("latin-1") for name in (b"x-request-id", b"traceparent"))
        serving = Serving(named, traced)
        limit = asyncio.timeout(None)
        watch = _Watch(send, serving, asyncio.get_running_loop().call_later(self.seconds, limit.reschedule, 0))
        scope[SAID] = watch.said
        try:
            async with limit:
                await self.app(scope, receive, watch)
        except ClientDisconnect:
            pass  # the client left while it was still sending: nobody is there to be answered
        except Exception as error:  # noqa: BLE001 - the edge of the server
            FAILURES.labels("request").inc()
            log.error("unforeseen error: %s", where(error))
            if not watch.status:
                await of_status(504 if limit.expired() else 500)(scope, receive, watch)
        finally:
            watch.finish(scope)


class _Watch:
    """`send`, noting status and times, and saying which request this was."""

    def __init__(self, send: Send, serving: Serving, limit: asyncio.TimerHandle) -> None:
        self._send, self._serving, self._limit = send, serving, limit
        self._begun = self._answered = time.perf_counter()
        self.status = 0
        self.said: dict[str, str] = {}

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status, self._answered = message["status"], time.perf_counter()
            self._limit.cancel()
            ours = {**self._serving.headers, **self.said}.items()
            said = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in ours]
            message = {**message, "headers": [*message.get("headers", ()), *said]}
        await self._send(message)

    def finish(self, scope: Scope) -> None:
        self._limit.cancel()
        route = getattr(scope.get("route"), "path", "other")
        method = scope["method"] if scope["method"] in _METHODS else "other"
        answered(route, method, self.status, self._answered - self._begun)
        if access.isEnabledFor(logging.INFO):
            took = 1_000 * (time.perf_counter() - self._begun)
            access.handle(LineRecord(access.name, "%s %s %d %.1f ms", (method, route, self.status, took)))
        self._serving.end(method, route, self.status)


_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
