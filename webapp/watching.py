"""Monitoring of the webapp: counts, probes, and failures of the services it depends on.

All metrics are in docs/operate.md, "What to watch"; a test compares the two. They say nothing of a request but its
route, its method and how it ended. The processes of one server keep their counts in a folder that the one that becomes
gunicorn makes: the library reads its name once, when it is loaded, so it is in the environment before gunicorn loads
anything. What was there already is another server's.

`livez`, `readyz` and `metrics` lie below BEFUND_INTERNAL_PATH, for the operator; `off` closes them. They are answered
before the application: no session, no host name and no prefix has a say, and a probe is no request that counts. A part
of the webapp says what it needs with `need`; `readyz` asks all of that, at most once in two seconds for each process
however many ask, and says which of it does not answer.
"""

import errno
import hmac
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as Late
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from flask import Flask
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from sqlalchemy.exc import InterfaceError, InternalError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from werkzeug.wsgi import ClosingIterator

from clinical.errors import BefundError, cause_of
from clinical.room import require_files, require_room
from clinical.settings import Settings
from clinical.tracing import Serving
from webapp.database import parsed
from webapp.urls import Wsgi

log = logging.getLogger("befund.web")

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
_BEGINS = "befund-web-"

SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60)
"""Up to the time after which gunicorn ends a worker that says nothing."""

REQUESTS = Counter("befund_web_requests", "Requests answered", ["route", "method", "status"])
RESPONSE_START = Histogram(
    "befund_web_response_start_seconds", "Seconds to the head of the answer", ["route"], buckets=SECONDS
)
REQUESTS_OPEN = Gauge("befund_web_requests_open", "Requests in a thread", multiprocess_mode="livesum")
SIGN_INS = Counter(
    "befund_web_sign_ins",
    "Sign-ins that came back from a vendor: signed_in, address (one must be proven), or the outcome that was shown",
    ["outcome"],
)
DOCUMENTS_STORED = Counter("befund_web_documents_stored", "Documents stored, when their transaction is committed")
DOCUMENTS_SERVED = Counter("befund_web_documents_served", "Files of documents handed out, parts and 304 included")
FAILURES = Counter(
    "befund_web_failures",
    "Requests and probes that failed of database, limits, files, keys, disk or connections; unforeseen errors: request",
    ["part"],
)
RESTARTS = Counter("befund_web_worker_restarts", "Processes that ended and were started again")
READY = Gauge(
    "befund_web_ready", "1 when all is there that a request needs, else 0", multiprocess_mode="livemostrecent"
)
BACKUP = Gauge(
    "befund_web_backup_timestamp_seconds",
    "When the newest backup in BEFUND_BACKUPS ended; 1 where there is none, 0 where none is looked for",
    multiprocess_mode="livemostrecent",
)
CERTIFICATE = Gauge(
    "befund_web_certificate_expiry_timestamp_seconds",
    "When the certificate in BEFUND_TLS_CERTIFICATE expires; 1 where it cannot be read, 0 where none is looked at",
    multiprocess_mode="livemostrecent",
)
for part in ("database", "limits", "files", "keys", "disk", "connections", "request"):
    FAILURES.labels(part)  # a series that starts at its first failure shows no increase, and no alert


def exposition() -> bytes:
    """All metrics in the text format, summed over the processes by the files they share."""
    if FOLDER not in os.environ:
        return generate_latest(REGISTRY)
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return generate_latest(registry)


def a_worker_ended(pid: int) -> None:
    """Counts an ended worker, and removes its gauges from the shared metrics; its counters stay."""
    RESTARTS.inc()
    if FOLDER in os.environ:
        mark_process_dead(pid)  # type: ignore[no-untyped-call]


def in_a_folder() -> None:
    """Name a new folder in the environment of the server that this process is about to become."""
    os.environ[FOLDER] = tempfile.mkdtemp(prefix=_BEGINS)


def server_ended() -> None:
    """Remove the folder, if it is one of ours."""
    folder = os.environ.get(FOLDER, "")
    if os.path.basename(folder).startswith(_BEGINS):
        shutil.rmtree(folder, ignore_errors=True)


# --- requests ---------------------------------------------------------------------------------------------------------

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


# --- outages: an error is attributed to the part that failed; such a request can be sent again ------------------------

RETRY_SECONDS = 5
"""As Retry-After: a database that is started anew takes about as long."""
_DATABASE = (OperationalError, InterfaceError, InternalError, PoolTimeout)
_DRIVERS = ("psycopg", "sqlite3")
_OF_DRIVERS = ("OperationalError", "InterfaceError", "InternalError")
"""Names, since the settings decide on the installed driver (`fhir.searching.reading` uses it directly)."""
_DISK = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EFBIG))
_LIBRARIES = {"redis": "limits", "limits": "limits", "botocore": "files"}
"""By name: each of them takes time to load, and is loaded only where the settings ask for it."""


def part_of(error: BaseException) -> str:
    """`database`, `limits` or `files`; "" for an error that says nothing about them."""
    if isinstance(error, _DATABASE) or any(_is_of_a_driver(kind) for kind in type(error).__mro__):
        return "database"
    if isinstance(error, OSError) and error.errno in _DISK:
        return "files"
    return _LIBRARIES.get(type(error).__module__.partition(".")[0], "")


def _is_of_a_driver(kind: type) -> bool:
    return kind.__name__ in _OF_DRIVERS and kind.__module__ in _DRIVERS


# --- probes -----------------------------------------------------------------------------------------------------------

SHARED_SECONDS = 2.0
LONGEST_SECONDS = 2.0
"""For all questions together; what takes longer does not answer."""
PLAIN = "text/plain; charset=utf-8"
_NEEDS = "befund_needs"
_STATUS = {200: "200 OK", 404: "404 Not Found", 405: "405 Method Not Allowed", 503: "503 Service Unavailable"}
_Answer = tuple[int, bytes, str]
NEVER = 1.0
"""As old as can be, where something is looked for and not there."""


def need(app: Flask, part: str, well: Callable[[], bool | None]) -> None:
    """`readyz` of `app` asks `well`, inside an application context; False or an error: `part` does not answer."""
    app.extensions.setdefault(_NEEDS, {})[part] = well


def need_room(app: Flask, given: Settings) -> None:
    """`readyz` of `app` asks for room among open files, and in the folders that are written into."""
    need(app, "connections", require_files)
    need(app, "disk", lambda: require_room(_written(given)))


def unanswered(app: Flask, parts: Collection[str]) -> Iterator[tuple[str, str]]:
    """Those of `parts` that `app` needs and that do not answer, each with why, inside an application context."""
    for part, well in app.extensions.get(_NEEDS, {}).items():
        if part in parts and (why := _why_not(well)) is not None:
            yield part, why


class Probes:
    """WSGI middleware around everything else of one application."""

    def __init__(self, wsgi: Wsgi, app: Flask, settings: Settings) -> None:
        self.wsgi, self._readiness = wsgi, _Readiness(app)
        self._key = settings.internal_key.get_secret_value() if settings.internal_key else ""
        self._open, self._settings = settings.development, settings
        paths = {"livez": self._livez, "readyz": self._readyz, "metrics": self._metrics}
        inside = "" if settings.internal_path == "off" else settings.internal_path
        self._paths = {f"{inside}/{name}": answer for name, answer in paths.items()} if inside else {}

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer a probe, or pass the request on."""
        probe = self._paths.get(environ.get("PATH_INFO", ""))
        if probe is None:
            return self.wsgi(environ, start_response)
        method = environ.get("REQUEST_METHOD")
        status, body, kind = probe(environ) if method in ("GET", "HEAD") else (405, b"", PLAIN)
        length = ("Content-Length", str(len(body)))
        start_response(_STATUS[status], [("Content-Type", kind), length, ("Cache-Control", "no-store")])
        return [] if method == "HEAD" else [body]

    def _livez(self, _: Mapping[str, Any]) -> _Answer:
        """A thread of this process answers."""
        return 200, b"ok\n", PLAIN

    def _readyz(self, _: Mapping[str, Any]) -> _Answer:
        """Answers 200 when all that a request needs is there, else 503 with the missing parts."""
        missing = self._readiness.missing()
        if missing:
            return 503, f"not ready: {', '.join(missing)}\n".encode(), PLAIN
        return 200, b"ok\n", PLAIN

    def _metrics(self, environ: Mapping[str, Any]) -> _Answer:
        """Open in development, with BEFUND_INTERNAL_KEY as bearer in production, as those of the text API."""
        said = str(environ.get("HTTP_AUTHORIZATION", "")).removeprefix("Bearer ").encode("latin-1", "replace")
        if not (hmac.compare_digest(said, self._key.encode()) if self._key else self._open):
            return 404, b"", PLAIN
        READY.set(not self._readiness.missing())
        _look(self._settings)
        return 200, exposition(), CONTENT_TYPE_LATEST


class _Readiness:
    """Asks what the parts need, in a thread of its own; whoever asks meanwhile shares the answer."""

    def __init__(self, app: Flask) -> None:
        self._app, self._lock = app, Lock()
        self._asking: Future[list[str]] | None = None
        self._pool: ThreadPoolExecutor | None = None
        self._until = 0.0

    def missing(self) -> list[str]:
        """The parts that do not answer."""
        with self._lock:
            self._pool = self._pool or ThreadPoolExecutor(1, thread_name_prefix="readiness")
            if self._asking is None or (time.monotonic() >= self._until and self._asking.done()):
                self._until = time.monotonic() + SHARED_SECONDS
                self._asking = self._pool.submit(self._ask)
            asking = self._asking
        try:
            return asking.result(LONGEST_SECONDS)
        except Late:
            return ["no answer in time"]

    def _ask(self) -> list[str]:
        missing = []
        with self._app.app_context():
            for part, why in unanswered(self._app, self._app.extensions.get(_NEEDS, {})):
                FAILURES.labels(part).inc()
                log.error("not ready: %s: %s", part, why)
                missing.append(part)
        return missing


def _why_not(well: Callable[[], bool | None]) -> str | None:
    """Our own words for it or the kind of error, never its words: a driver's may hold an address with its password; our
    own errors hold none."""
    try:
        return "no" if well() is False else None
    except Exception as error:  # noqa: BLE001 - whatever is wrong with a part, the answer is that it does not answer
        return str(error) if isinstance(error, BefundError) else cause_of(error)


def _look(given: Settings) -> None:
    """Bring the ages of what nobody misses before it is needed up to date: of the newest backup, and of the proxy's
    certificate. What no setting names is left at 0."""
    if given.backups:
        BACKUP.set(max((file.stat().st_mtime for file in given.backups.glob("*/manifest.json")), default=NEVER))
    if given.tls_certificate:
        CERTIFICATE.set(_expiry(given.tls_certificate))


def _expiry(file: Path) -> float:
    """The earliest end of all certificates in a PEM file."""
    from cryptography import x509  # most servers look at none

    try:
        return min(each.not_valid_after_utc.timestamp() for each in x509.load_pem_x509_certificates(file.read_bytes()))
    except (OSError, ValueError):
        return NEVER


def _written(given: Settings) -> list[Path]:
    """The folders of SQLite's file, of mails in development, of uploads until they are stored, and of the counts."""
    database = parsed(given.database_url)
    folders = [Path(tempfile.gettempdir())]
    if database.get_backend_name() == "sqlite" and database.database:
        folders.append(Path(database.database).parent)
    if given.development and not given.mail_url:
        folders.append(given.var)
    if counts := os.environ.get(FOLDER):
        folders.append(Path(counts))
    return folders
