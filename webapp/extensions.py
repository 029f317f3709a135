"""Database, translation, login, forms and limits as Flask extensions; `create_app` gives each its application."""

import ipaddress
import threading
import time

from flask import Flask, request
from flask.globals import request_ctx
from flask_babel import Babel
from flask_limiter import Limiter
from flask_login import LoginManager
from flask_wtf import CSRFProtect
from limits.storage import Storage

from webapp.database import Database


def network() -> str:
    """The rate-limit key of a request: its IPv4 address, or the /64 of its IPv6 one, which one person can use whole."""
    try:
        address = ipaddress.ip_address(request.remote_addr or "")
    except ValueError:
        return ""
    if isinstance(address, ipaddress.IPv6Address):
        mapped = address.ipv4_mapped
        return str(mapped or ipaddress.ip_network((address, 64), strict=False))
    return str(address)


SCHEME = "process-memory"
SWEEP_FROM = 1_000  # counters, 100 KB; one per address, limit and minute


class ProcessMemory(Storage):
    """Counters of the limits per address, in the memory of one process, unless they are in Redis.

    The storage of its library starts a thread with nearly every count, to look for what has expired:
    a tenth of the processor time of a sign-in, more with every address that called. Here old ones are looked
    for when there have been as many new ones as there are.

    Fixed windows: name -> (count, end of its window in seconds since the epoch). Safe under threads.
    """

    STORAGE_SCHEME = [SCHEME]  # noqa: RUF012 - read by the library

    def __init__(self, uri: str | None = None, wrap_exceptions: bool = False, **options: float | str | bool) -> None:
        super().__init__(uri, wrap_exceptions=wrap_exceptions, **options)
        self._counts: dict[str, tuple[int, float]] = {}
        self._sweep_at = SWEEP_FROM
        self._lock = threading.Lock()

    @property
    def base_exceptions(self) -> type[Exception]:
        """The exception that the library takes for an error of the storage: nothing here raises it."""
        return OSError

    def incr(self, key: str, expiry: float, amount: int = 1) -> int:
        """Add to a counter, which begins anew `expiry` seconds after its first count; the new count."""
        now = time.time()
        with self._lock:
            count, end = self._counts.get(key, (0, 0.0))
            if end <= now:
                count, end = 0, now + expiry
            self._counts[key] = (count + amount, end)
            if len(self._counts) > self._sweep_at:
                self._sweep(now)
        return count + amount

    def get(self, key: str) -> int:
        """The count of a window that is not over, else 0."""
        count, end = self._counts.get(key, (0, 0.0))
        return count if end > time.time() else 0

    def get_expiry(self, key: str) -> float:
        """The end of the counter's window, in seconds since the epoch; now for an unknown counter."""
        return self._counts.get(key, (0, time.time()))[1]

    def check(self) -> bool:
        """Memory is always there."""
        return True

    def reset(self) -> int:
        """Forget everything; how many counters there were."""
        with self._lock:
            number = len(self._counts)
            self._counts.clear()
        return number

    def clear(self, key: str) -> None:
        """Forget one counter."""
        with self._lock:
            self._counts.pop(key, None)

    def _sweep(self, now: float) -> None:
        self._counts = {key: kept for key, kept in self._counts.items() if kept[1] > now}
        self._sweep_at = max(SWEEP_FROM, 2 * len(self._counts))


def patience(limits_url: str) -> dict[str, float]:
    """Redis that hangs must not hang a request; memory takes no options."""
    return {"socket_timeout": 2.0, "socket_connect_timeout": 2.0} if limits_url.startswith("redis") else {}


LOOKED_AT = "_limiter_request_context"  # the library's own: there once a view has looked at its limits


class RequestLimits(Limiter):
    """The limits that single views are decorated with; each such view checks its own.

    Before every request the library looks for limits that hold for all views, and behind it for what is left to count
    and to forget. There are none for all views here, and looking cost more than counting, signing and logging a FHIR
    search together.
    """

    def init_app(self, app: Flask) -> None:
        """As it is, without those looks where no view with a limit was called."""
        super().init_app(app)
        app.before_request_funcs[None].remove(self._check_request_limit)
        app.teardown_request_funcs[None].pop()  # what it empties ends with the request
        count = app.after_request_funcs[None].pop()
        app.after_request(lambda answer: count(answer) if hasattr(request_ctx, LOOKED_AT) else answer)


db = Database()
babel = Babel()
login_manager = LoginManager()
csrf = CSRFProtect()
limiter = RequestLimits(key_func=network, strategy="fixed-window", headers_enabled=False)
