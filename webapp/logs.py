"""Keeps query strings, malformed request lines, and the debug output of the OAuth libraries out of the logs.

They hold codes, states and patients; the libraries' debug output prints client secrets, codes and tokens. Gunicorn's
part is in `webapp.gunicorn_parts`.
"""

import logging
import re
from typing import Any

from flask import Flask

from clinical.tracing import write_lines

TALKATIVE = (
    "oauthlib",
    "requests_oauthlib",
    "requests_oauthlib.oauth2_session",
    "flask_dance",
    "flask_dance.consumer.oauth2",
    "flask_dance.consumer.base",
    "urllib3.connectionpool",
    "httpx2",
    "httpcore2",
    "httpcore2.connection",
    "httpcore2.http11",
    "httpcore2.proxy",
)
QUERY = re.compile(r"\?[^\s\"']*")


class WithoutQuery(logging.Filter):
    """Cuts query strings out of request lines (Werkzeug's development server logs them)."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Always true; the record is changed in place."""
        if isinstance(record.msg, str) and record.msg.startswith(
            "code %d, message"
        ):  # "Bad request syntax ('GET /...')"
            record.msg, record.args = "a malformed request was refused", ()
        record.msg = _cut(record.msg)
        if isinstance(record.args, tuple):
            record.args = tuple(_cut(argument) for argument in record.args)
        return True


class WarningsOnly(logging.Filter):
    """Holds back everything below WARNING, whatever level somebody sets."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Pass records of level WARNING and above."""
        return record.levelno >= logging.WARNING


def init_app(app: Flask) -> None:
    """Install the filters and the form of our lines, once per process however many applications are made."""
    # of all loggers: ours are `webapp` and `befund`, and libraries warn
    write_lines(app.config["BEFUND"].log_format, "")
    logging.captureWarnings(True)
    for name in TALKATIVE:
        _add(logging.getLogger(name), WarningsOnly())
        logging.getLogger(name).setLevel(logging.WARNING)
    _add(logging.getLogger("werkzeug"), WithoutQuery())


def _add(logger: logging.Logger, new: logging.Filter) -> None:
    if not any(type(old) is type(new) for old in logger.filters):
        logger.addFilter(new)


def _cut(value: Any) -> Any:
    return QUERY.sub("", value) if isinstance(value, str) else value
