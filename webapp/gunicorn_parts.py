"""Gunicorn's log, which quotes no request, and its worker, which hangs up on nobody who is still sending and sends no
headers alone."""

import sys
import time
from typing import Any, Final

from gunicorn.glogging import Logger
from gunicorn.http import wsgi
from gunicorn.workers.gthread import TConn, ThreadWorker

from clinical.settings import settings
from clinical.tracing import JsonLines, place_of

LINGER_SECONDS: Final = 2.0
LINGER_BYTES: Final = 64 * 1024 * 1024


class LingeringWorker(ThreadWorker):  # type: ignore[misc] # no types there
    """Reads on, within bounds, when a request is answered before all of it is there, as an upload without a session
    is. Gunicorn gives up after 64 KiB and closes; a proxy that is still sending then finds the connection reset and
    answers 502 in place of the answer. A proxy that has read the answer stops sending and closes, in milliseconds."""

    def init_process(self) -> None:
        """Requests are taken from here on; gunicorn has no setting for the class of their answers."""
        wsgi.Response = WholeResponse
        super().init_process()

    def _keepalive_after(self, conn: TConn, keepalive: bool) -> bool:
        drained = conn.parser.finish_body(deadline=time.monotonic() + LINGER_SECONDS, max_bytes=LINGER_BYTES)
        return bool(drained and keepalive)


class WholeResponse(wsgi.Response):  # type: ignore[misc] # no types there
    """Sends the headers together with the first bytes of the body. Gunicorn sends them before, and another thread may
    run between the two: a process that is killed there leaves a proxy with headers that it has passed on already, so
    that it cannot ask the next server."""

    sock: Any

    def write(self, arg: bytes) -> None:
        """As it is, but for its first call, which is sent as one."""
        if self.headers_sent:
            super().write(arg)
            return
        sock, self.sock = self.sock, Kept()
        try:
            super().write(arg)
        finally:
            kept, self.sock = self.sock, sock
        sock.sendall(b"".join(kept))


class Kept(list[bytes]):
    """Stands in for a socket: what is sent is kept."""

    def sendall(self, data: bytes) -> None:
        """Keep it."""
        self.append(data)


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
        kind, _, trace = sys.exc_info()
        self.error_log.error("%s\n%s\n%s", _constant(msg), kind.__name__ if kind else "", place_of(trace))

    def debug(self, msg: Any, *args: Any, **kwargs: Any) -> None:
        """Logs only the constant part of the message: its arguments come from the request or its parser."""
        super().debug(_constant(msg))


def _constant(msg: Any) -> str:
    return str(msg).partition("%")[0].strip() if isinstance(msg, str) else type(msg).__name__
