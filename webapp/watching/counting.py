"""Counts each request by route, method and status: around the application, so that nothing passes uncounted."""

import time
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from prometheus_client import Counter, Histogram

from webapp.urls import Wsgi
from webapp.watching.metrics import REQUESTS, REQUESTS_OPEN, RESPONSE_START

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
NOWHERE = "other"


class Counted:
    """WSGI middleware. The route is its pattern, never the path: what no route matches is `other`."""

    def __init__(self, app: Wsgi) -> None:
        self.app = app

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Serve one request; it counts when its head is sent, and as 500 when the application gave none."""
        began, status, route = time.perf_counter(), "500", NOWHERE

        def noted(line: str, *rest: Any) -> Any:
            nonlocal status, route
            status, route = line[:3], route_of(environ)
            return start_response(line, *rest)

        REQUESTS_OPEN.inc()
        try:
            return self.app(environ, noted)
        finally:
            REQUESTS_OPEN.dec()
            answered, started = _counters(route, _method(environ), status)
            answered.inc()
            started.observe(time.perf_counter() - began)


@lru_cache(maxsize=2048)
def _counters(route: str, method: str, status: str) -> tuple[Counter, Histogram]:
    """Those of one kind of request: finding them by their labels takes two locks and costs more than counting."""
    return REQUESTS.labels(route, method, status), RESPONSE_START.labels(route)


def route_of(environ: dict[str, Any]) -> str:
    """The pattern that Flask found; it is in the environment until the request's context ends."""
    rule = getattr(environ.get("werkzeug.request"), "url_rule", None)
    return str(rule.rule) if rule is not None else NOWHERE


def _method(environ: dict[str, Any]) -> str:
    method = environ.get("REQUEST_METHOD", "")
    return method if method in METHODS else NOWHERE
