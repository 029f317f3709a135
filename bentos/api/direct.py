"""Routes in front of the frameworks: an application of few layers for what is asked most.

The layers of the frameworks (an exit stack, two of errors, a search through all routes, dependencies, models of
answers) take several times as long as looking a code up, and as much as a short search.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from clinical.errors import BefundError


class Direct:
    """The application of these routes, in front of `rest`, which answers all other paths; `refused` answers an error.

    Each route takes a request and gives its response; the checks of `bentos.api.admission` are its own to call.
    """

    def __init__(
        self, rest: ASGIApp, routes: Sequence[Route], refused: Callable[[Request, Exception], Awaitable[Response]]
    ) -> None:
        self._rest, self._refused = rest, refused
        self._exact = {route.path: route for route in routes if "{" not in route.path}
        self._patterns = [route for route in routes if "{" in route.path]
        self._begun = tuple({route.path.partition("{")[0] for route in self._patterns})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._rest(scope, receive, send)
            return
        path = scope["path"]
        if path not in self._exact and not (self._begun and path.startswith(self._begun)):
            await self._rest(scope, receive, send)
            return
        request = Request(scope, receive)
        try:
            response: Response = await self._route(scope).endpoint(request)
        except (BefundError, HTTPException) as error:
            response = await self._refused(request, error)
        await response(scope, receive, send)

    def _route(self, scope: Scope) -> Route:
        """The first route of this path, noted in the scope. Raises HTTPException where there is none, or not for this
        method."""
        exact = self._exact.get(scope["path"])
        for route in (exact,) if exact else self._patterns:
            match, found = (Match.FULL, {}) if exact else route.matches(scope)
            if match is Match.NONE:
                continue
            scope.update(found, route=route)
            if scope["method"] not in (methods := route.methods or ()):
                raise HTTPException(405, headers={"Allow": ", ".join(sorted(methods))})
            return route
        raise HTTPException(404)
