"""Absolute URLs of this server: by BEFUND_PUBLIC_URL when set, else by the request (behind a proxy: ProxyFix)."""

from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import urlsplit

from flask import request, url_for

from webapp.config import Settings, settings

Wsgi = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def external_url(endpoint: str, **values: Any) -> str:
    """The URL of `endpoint` as the world outside sees it; without a request BEFUND_PUBLIC_URL must be set, else the
    address of `make up` is taken."""
    return public_origin() + url_for(endpoint, _external=False, **values)


def public_origin() -> str:
    """Scheme and host, without a trailing slash."""
    given = settings()
    if given.public_url:
        parts = urlsplit(given.public_url)
        return f"{parts.scheme}://{parts.netloc}"
    return request.host_url.rstrip("/") if request else f"http://127.0.0.1:{given.web_port}"


class UnderPrefix:
    """WSGI middleware: the path of BEFUND_PUBLIC_URL (`https://host/befund`) becomes the root of all our URLs, whether
    the proxy in front cuts it off or passes it on."""

    def __init__(self, app: Wsgi, prefix: str) -> None:
        self.app, self.prefix = app, prefix

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Serve one request below the prefix."""
        path = environ.get("PATH_INFO", "")
        if path == self.prefix or path.startswith(f"{self.prefix}/"):
            environ["PATH_INFO"] = path.removeprefix(self.prefix) or "/"
        environ["SCRIPT_NAME"] = self.prefix
        return self.app(environ, start_response)


def prefix_of(given: Settings) -> str:
    """The path of BEFUND_PUBLIC_URL without a trailing slash, often ""."""
    return urlsplit(given.public_url).path.rstrip("/")
