"""Counts and traces each request: WSGI middleware around the application, so that nothing passes by it.

Its ids go in and out and stand in every line of the log; it counts by route, method and status, and has a span.
"""

import time
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from prometheus_client import Counter, Histogram
from werkzeug.wsgi import ClosingIterator

from clinical.tracing import Serving
from webapp.urls import Wsgi
from webapp.watching.metrics import REQUESTS, REQUESTS_OPEN, RESPONSE_START

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
NOWHERE = "other"


class Watched:
    """WSGI middleware: counts, takes `X-Request-ID` and `traceparent`, gives both back, ends the span with the answer.
    The route is its pattern, never the path: what no route matches is `other`."""

    def __init__(self, app: Wsgi) -> None:
        self.app = app

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Serve one request; it counts when its head is sent, and as 500 when the application gave none. A file that
        the server hands to the kernel itself is passed on as it is."""
        serving = Serving(environ.get("HTTP_X_REQUEST_ID"), environ.get("HTTP_TRACEPARENT"))
        began, status, route = time.perf_counter(), "500", NOWHERE

        def noted(line: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            nonlocal status, route
            status, route = line[:3], _route_of(environ)
            return start_response(line, [*headers, *serving.headers.items()], *rest)

        def end() -> None:
            serving.end(environ.get("REQUEST_METHOD", ""), route, int(status))

        body: Iterable[bytes] | None = None
        REQUESTS_OPEN.inc()
        try:
            body = self.app(environ, noted)
        finally:
            REQUESTS_OPEN.dec()
            answered, started = _counters(route, _method(environ), status)
            answered.inc()
            started.observe(time.perf_counter() - began)
            handed_over = isinstance(body, environ.get("wsgi.file_wrapper", ()))
            if body is None or handed_over:
                end()
        return body if handed_over else ClosingIterator(body, end)


@lru_cache(maxsize=2048)
def _counters(route: str, method: str, status: str) -> tuple[Counter, Histogram]:
    """Those of one kind of request: finding them by their labels takes two locks and costs more than counting."""
    return REQUESTS.labels(route, method, status), RESPONSE_START.labels(route)


def _route_of(environ: dict[str, Any]) -> str:
    """The pattern that Flask found; it is in the environment until the request's context ends."""
    rule = getattr(environ.get("werkzeug.request"), "url_rule", None)
    return str(rule.rule) if rule is not None else NOWHERE


def _method(environ: dict[str, Any]) -> str:
    method = environ.get("REQUEST_METHOD", "")
    return method if method in METHODS else NOWHERE
