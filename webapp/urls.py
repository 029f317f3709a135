"""Absolute URLs of this server: by BEFUND_PUBLIC_URL when set, else by the request (behind a proxy: ProxyFix).

And presigned ones, which hand out one document's file for an hour to whoever holds them.
"""

import hashlib
import hmac
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import SplitResult, quote_plus, urlsplit

from flask import current_app, has_request_context, url_for
from flask.ctx import RequestContext
from flask.globals import request_ctx

from webapp.config import Settings, settings

LIFETIME = 3600  # seconds a presigned URL is valid, as the contract says
_EXPIRES = re.compile("[0-9]{1,12}")

split_request_url: Callable[[str], SplitResult] = inspect.unwrap(urlsplit)
"""As `urlsplit`, for a URL out of a request: that one keeps the last it has split for the whole process."""

Wsgi = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def external_url(endpoint: str, **values: Any) -> str:
    """The URL of `endpoint` as the world outside sees it; without a request BEFUND_PUBLIC_URL must be set, else the
    address of `make up` is taken."""
    return public_origin() + url_for(endpoint, _external=False, **values)


def as_outside() -> RequestContext:
    """For commands: URLs are built in a request context, here one of the public address."""
    return current_app.test_request_context("/", base_url=public_origin() + (prefix_of(settings()) or "/"))


def public_origin() -> str:
    """Scheme and host, without a trailing slash."""
    given = settings()
    if given.public_url:
        parts = urlsplit(given.public_url)
        return f"{parts.scheme}://{parts.netloc}"
    if not has_request_context():
        return f"http://127.0.0.1:{given.web_port}"
    asked = request_ctx.request  # `request` looks for it each time
    return f"{asked.scheme}://{asked.host}"


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


class Presigner:
    """Own presigned URLs: keyed BLAKE2b (RFC 7693) over organization, expiry, key id, token id and document.

    A page of 50 has 50 of them: HMAC-SHA-256 by OpenSSL was an eighth of a search's processor time. Of a page only the
    document differs, so all before it is taken in once.
    """

    def __init__(self, secret: str, window: int = 0, previous: str = "") -> None:
        """Signs with `secret`; links signed with the secret before it stay good for their hour."""
        self._key, self.key_id = _link_key(secret)
        self._keys = {key_id: key for key, key_id in map(_link_key, filter(None, (previous, secret)))}
        self._window = window

    def signer(self, base: str, organization: str, token: str, now: float) -> Callable[[str], str]:
        """A function from document id to URL below `base`, with all that is the same for a page done once."""
        expires = self.expiry(now)
        head = f"{base}/{organization}/files/"
        tail = f"?expires={expires}&key={self.key_id}&token={quote_plus(token)}&signature="
        page = _signature(self._key, f"{organization}\0{expires}\0{self.key_id}\0{token}\0")

        def url(document: str) -> str:
            own = page.copy()
            own.update(document.encode())
            return f"{head}{document}{tail}{own.hexdigest()}"

        return url

    def expiry(self, now: float) -> int:
        """An hour from now; with a window, rounded up to it, so that the same URL comes back within the window."""
        expires = int(now) + LIFETIME
        return -(-expires // self._window) * self._window if self._window else expires

    def grants(self, organization: str, document: str, given: Mapping[str, str], now: float) -> bool:
        """Return True when the query of a link (`expires`, `key`, `token`, `signature`) has our signature for exactly
        this document, and the link has not expired. `token` is the id of the access token it was made for."""
        expires, key_id, signature = (given.get(name, "") for name in ("expires", "key", "signature"))
        expires_at = int(expires) if _EXPIRES.fullmatch(expires) else 0
        message = f"{organization}\0{expires_at}\0{key_id}\0{given.get('token', '')}\0{document}"
        made = _signature(self._keys.get(key_id, self._key), message).hexdigest()
        genuine = hmac.compare_digest(made.encode(), signature.encode())
        return genuine and key_id in self._keys and now < expires_at


def _signature(key: bytes, message: str) -> "hashlib.blake2b":
    return hashlib.blake2b(message.encode(), key=key, digest_size=32)


def _link_key(secret: str) -> tuple[bytes, str]:
    key = hashlib.sha256(b"befund presigned url\0" + secret.encode()).digest()
    return key, hashlib.sha256(key).hexdigest()[:8]
