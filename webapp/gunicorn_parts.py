"""Gunicorn's log, which quotes no request."""

from typing import Any

from gunicorn.glogging import Logger

from clinical.settings import settings
from clinical.tracing import JsonLines, place_of


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


def _constant(msg: Any) -> str:
    return str(msg).partition("%")[0].strip() if isinstance(msg, str) else type(msg).__name__


def _place() -> str:
    import sys

    kind, _, trace = sys.exc_info()
    return f"{kind.__name__ if kind else ''}\n{place_of(trace)}"
