"""Request tracing: ids in and out, in every line of the log, and the request's span."""

from collections.abc import Callable, Iterable
from typing import Any

from werkzeug.wsgi import ClosingIterator

from clinical.tracing import Serving
from webapp.urls import Wsgi
from webapp.watching.counting import NOWHERE, route_of


class Traced:
    """WSGI middleware: takes `X-Request-ID` and `traceparent`, gives both back, ends the span with the answer."""

    def __init__(self, app: Wsgi) -> None:
        self.app = app

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Serve one request. A file that the server hands to the kernel itself is passed on as it is."""
        serving = Serving(environ.get("HTTP_X_REQUEST_ID"), environ.get("HTTP_TRACEPARENT"))
        status, route = 500, NOWHERE

        def noted(line: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            nonlocal status, route
            status, route = int(line[:3]), route_of(environ)
            return start_response(line, [*headers, *serving.headers.items()], *rest)

        def end() -> None:
            serving.end(environ.get("REQUEST_METHOD", ""), route, status)

        body: Iterable[bytes] | None = None
        try:
            body = self.app(environ, noted)
        finally:
            if body is None or isinstance(body, environ.get("wsgi.file_wrapper", ())):
                end()
        return body if isinstance(body, environ.get("wsgi.file_wrapper", ())) else ClosingIterator(body, end)
