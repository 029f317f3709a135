"""`livez`, `readyz` and `metrics` below BEFUND_INTERNAL_PATH, for the operator; `off` closes them.

They are answered before the application: no session, no host name and no prefix has a say, and a probe is no request
that counts. A part of the webapp says what it needs with `need`; `readyz` asks all of that, at most once in two seconds
for each process however many ask, and says which of it does not answer.
"""

import hmac
import logging
import os
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as Late
from pathlib import Path
from threading import Lock
from typing import Any

from flask import Flask

from clinical.errors import BefundError, cause_of
from clinical.room import require_files, require_room
from clinical.settings import Settings
from webapp.database import parsed
from webapp.urls import Wsgi
from webapp.watching.metrics import BACKUP, CERTIFICATE, CONTENT_TYPE, FAILURES, FOLDER, READY, exposition

log = logging.getLogger("befund.web")

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
        return 200, exposition(), CONTENT_TYPE


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
