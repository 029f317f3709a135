"""Our parts of gunicorn: a log that quotes no request, and workers that wait for no client for ever."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socket import SHUT_RD
from typing import Any

from gunicorn.glogging import Logger
from gunicorn.workers.gthread import ThreadWorker

from clinical.settings import settings
from clinical.tracing import JsonLines, place_of

HEADERS_S = 10.0  # a request line and headers are one packet or two
BODY_S = 20.0  # for a body of any size, and
SLOWEST = 64 * 1024  # bytes a second beyond that: half a megabit, the slowest line a letter is uploaded over
TICK_S = 1.0


class QuietLogger(Logger):  # type: ignore[misc] # no types there
    """Says that a request failed, never what was in it: gunicorn quotes the whole line of one that is malformed, with
    the patient, the code and the state in it, and beside it the full address."""

    def setup(self, cfg: Any) -> None:
        """As it is, and as JSON where BEFUND_LOG_FORMAT says so."""
        super().setup(cfg)
        if settings().log_format == "json":
            for handler in (*self.error_log.handlers, *self.access_log.handlers):
                handler.setFormatter(JsonLines())

    def warning(self, msg: Any, *args: Any, **kwargs: Any) -> None:
        """As it is, but for the line about a malformed request, which it puts together itself."""
        if str(msg).startswith("Invalid request from ip="):
            msg, args = "a malformed request was refused", ()
        super().warning(msg, *args, **kwargs)

    def exception(self, msg: Any, *args: Any, **kwargs: Any) -> None:
        """Without arguments and without the error's own words: type and place, as `webapp.errors` logs them."""
        self.error_log.error("%s\n%s", _constant(msg), _place())

    def debug(self, msg: Any, *args: Any, **kwargs: Any) -> None:
        """Logs only the constant part of the message: its arguments come from the request or its parser."""
        super().debug(_constant(msg))


class DeadlineWorker(ThreadWorker):  # type: ignore[misc] # no types there
    """Threads that stop waiting for a client: its connection is then read as if it had ended."""

    def init_process(self) -> None:
        """Start the watch with the process."""
        self.deadlines = Deadlines()
        super().init_process()

    def handle(self, conn: Any) -> Any:
        """One request on a connection, from its first byte."""
        with self.deadlines.watching(conn):
            return super().handle(conn)

    def handle_request(self, req: Any, conn: Any) -> Any:
        """The headers are there: from here on the body has its own time, by the length it announces."""
        self.deadlines.extend(conn, BODY_S + _announced(req) / SLOWEST)
        return super().handle_request(req, conn)


class Deadlines:
    """Shuts the reading side of connections whose time is over. Answers can still be written to them."""

    def __init__(self) -> None:
        self._until: dict[Any, float] = {}
        self._lock = threading.Lock()
        threading.Thread(target=self._watch, daemon=True, name="deadlines").start()

    @contextmanager
    def watching(self, conn: Any) -> Iterator[None]:
        """The connection has HEADERS_S, until somebody extends it."""
        self.extend(conn, HEADERS_S)
        try:
            yield
        finally:
            with self._lock:
                self._until.pop(conn, None)

    def extend(self, conn: Any, seconds: float) -> None:
        """The connection has that many seconds from now."""
        with self._lock:
            self._until[conn] = time.monotonic() + seconds

    def _watch(self) -> None:
        pause = threading.Event()
        while not pause.wait(TICK_S):
            now = time.monotonic()
            with self._lock:
                over = [conn for conn, until in self._until.items() if until < now]
                for conn in over:
                    del self._until[conn]
                    with suppress(OSError):
                        conn.sock.shutdown(SHUT_RD)


def _announced(req: Any) -> int:
    """Content-Length, 0 when there is none (a chunked body has BODY_S)."""
    length = next((value for name, value in req.headers if name.upper() == "CONTENT-LENGTH"), "0")
    return int(length) if length.isascii() and length.isdigit() else 0


def _constant(msg: Any) -> str:
    return str(msg).partition("%")[0].strip() if isinstance(msg, str) else type(msg).__name__


def _place() -> str:
    import sys

    kind, _, trace = sys.exc_info()
    return f"{kind.__name__ if kind else ''}\n{place_of(trace)}"
