"""Log formats, text or JSON: each line names the request to which it belongs."""

from __future__ import annotations

import json
import logging
import sys
import time
import traceback
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import PurePath
from types import TracebackType

from clinical.tracing.context import current

OUTER, INNER = 5, 20  # frames of an error that are told
LONGEST_PLACE = 6_000  # characters: a line of a library may be long
TEXT = "%(asctime)s %(levelname)s %(name)s %(message)s"


_ELSEWHERE = dict.fromkeys(("process", "processName", "thread", "threadName", "exc_info", "exc_text", "stack_info"))
_NOWHERE = dict.fromkeys(("pathname", "filename", "module", "funcName"), "")


class LineRecord(logging.LogRecord):
    """A line of INFO without what no format here prints (place in the code, thread, process), the most of a record's
    cost: for lines that every request writes."""

    def __init__(self, name: str, text: str, values: tuple[object, ...]) -> None:
        """Its fields alone: the constructor of the class above looks for the others."""
        now = time.time()
        self.__dict__ = {
            **_ELSEWHERE,
            **_NOWHERE,
            "name": name,
            "msg": text,
            "args": values,
            "levelname": "INFO",
            "levelno": logging.INFO,
            "lineno": 0,
            "created": now,
            "msecs": float(int(now % 1 * 1_000)),
            "relativeCreated": 0.0,
        }


@lru_cache(maxsize=2)
def _second(since: int, form: str | None) -> str:
    """Written once for all lines of a second."""
    return time.strftime(form or logging.Formatter.default_time_format, time.localtime(since))


class TextLines(logging.Formatter):
    """Time, level, logger, message, and the request's id at the end."""

    def __init__(self) -> None:
        super().__init__(TEXT)

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: N802 - logging's name
        """The local time to the millisecond."""
        return f"{_second(int(record.created), datefmt)},{int(record.msecs):03d}"

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line, trace = super().format(record), current()
        return f"{line} request={trace.request_id}" if trace else line


class JsonLines(logging.Formatter):
    """One JSON object a line: time (UTC), level, logger, message, and the ids of the request.

    Of an exception the kind and the places are said, never its text, which may quote what was sent.
    """

    def format(self, record: logging.LogRecord) -> str:
        """The line, ASCII only."""
        said: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info and (error := record.exc_info[1]):
            frames = frames_of(error.__traceback__)
            places = [f"{PurePath(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]
            said["exception"] = {"kind": type(error).__name__, "places": places}
        if trace := current():
            said |= {"request_id": trace.request_id, "trace_id": trace.trace_id, "span_id": trace.span_id}
        return json.dumps(said)


def frames_of(trace: TracebackType | None) -> list[traceback.FrameSummary]:
    """The frames of an error that tell where it came from: the first, where the request came in, and the last, where it
    failed. An error of recursion, which anybody may be able to cause, has a thousand."""
    depth = sum(1 for _ in traceback.walk_tb(trace))
    outer = traceback.extract_tb(trace, limit=OUTER)
    inner = min(INNER, depth - OUTER)
    return [*outer, *(traceback.extract_tb(trace, limit=-inner) if inner > 0 else [])]


def place_of(trace: TracebackType | None) -> str:
    """The same as `traceback` prints it, a page at most."""
    text = "".join(traceback.format_list(frames_of(trace)))
    return text if len(text) <= LONGEST_PLACE else f"{text[: LONGEST_PLACE // 2]}\n...\n{text[-LONGEST_PLACE // 2 :]}"


def formatter(form: str) -> logging.Formatter:
    """For `json` or `text` (BEFUND_LOG_FORMAT)."""
    return JsonLines() if form == "json" else TextLines()


class _ToStandardError(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes to what standard error is at the moment: it may be exchanged after this handler was made."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        super().emit(record)


def write_lines(form: str, ours: str, foreign: Sequence[str] = (), level: int = logging.NOTSET) -> None:
    """Write what the logger `ours` and those below it say; as JSON also what libraries (`foreign`) have handlers for.

    Where `foreign` is named the lines of `ours` are not handed to the libraries, which would write them again.
    `level` where one is given is the least that is written. Called again it changes the form and adds nothing.
    """
    logger = logging.getLogger(ours)
    handler = next((one for one in logger.handlers if isinstance(one, _ToStandardError)), None)
    if handler is None:
        handler = _ToStandardError()
        logger.addHandler(handler)
    handler.setFormatter(formatter(form))
    if level:
        logger.setLevel(level)
    logger.propagate = logger.propagate and not foreign
    if form == "json":
        for name in foreign:
            for other in logging.getLogger(name).handlers:
                other.setFormatter(JsonLines())
