"""From a view to the text API: the address and the key of the settings, a free place, and the answer as a stream.

Each open call takes a thread: their number is bounded, so that the others stay free.
"""

import uuid
from collections import Counter
from collections.abc import Iterator, Mapping
from threading import Lock
from typing import Any, cast

from flask import Flask, Response, current_app, jsonify, request
from flask_login import current_user
from pydantic import BaseModel, ValidationError

from clinical.settings import Settings, address
from webapp.config import settings
from webapp.workbench.failures import failure_words
from webapp.workbench.relay import ApiCall, browser_left, relayed

_KEY = "befund_workbench_slots"
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
BUSY_WAIT_S = 3


PER_PERSON = 4  # a tab has one; the one it left a moment ago may not be over yet


class Slots:
    """A bounded number of open calls, and of one person's."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._open: Counter[uuid.UUID] = Counter()
        self._lock = Lock()

    def take(self, person: uuid.UUID) -> bool:
        """Take a slot; False when none is left for the process or the person. It is given back with `free`."""
        with self._lock:
            if self._open.total() >= self.most or self._open[person] >= PER_PERSON:
                return False
            self._open[person] += 1
            return True

    def free(self, person: uuid.UUID) -> None:
        """Give a place back."""
        with self._lock:
            self._open[person] -= 1
            self._open += Counter()  # drops those who hold none

    @property
    def taken(self) -> int:
        """The number of calls open now."""
        with self._lock:
            return self._open.total()


class Held(Iterator[bytes]):
    """An iterator that holds a place until it is closed, also when it is never begun."""

    def __init__(self, slots: Slots, person: uuid.UUID, chunks: Iterator[bytes]) -> None:
        self._slots, self._person, self._chunks, self._held = slots, person, chunks, True

    def __next__(self) -> bytes:
        return next(self._chunks)

    def close(self) -> None:
        """End the call and give its place back."""
        try:
            self._chunks.close()  # type: ignore[attr-defined] # a generator
        finally:
            if self._held:
                self._held = False
                self._slots.free(self._person)


def init_app(app: Flask) -> None:
    """A bounded number of open calls for this process."""
    app.extensions[_KEY] = Slots(app.config["BEFUND"].workbench_streams)


def stream(path: str, wanted: type[BaseModel], fixed: Mapping[str, Any], *, streams: bool = False) -> Response:
    """ApiCall `path` with the request's JSON and `fixed` on top; 422 what is no `wanted`, 503 when no place is free."""
    words = failure_words()
    given = request.get_json(silent=True)
    try:
        body = wanted.model_validate({**(given if isinstance(given, dict) else {}), **fixed}).model_dump(mode="json")
    except ValidationError:
        return _refused(words["refused"], 422)
    held, person = slots(), current_user.id
    if not held.take(person):
        return _refused({**words["busy"], "retry_after": BUSY_WAIT_S}, 503)
    call = ApiCall(api_url(settings()) + path, api_key(settings()), body, streams)
    chunks = Held(held, person, relayed(call, words, browser_left(request.environ)))
    return Response(chunks, mimetype="text/event-stream", headers=HEADERS)


def slots() -> Slots:
    """The places for open calls of this process."""
    return cast(Slots, current_app.extensions[_KEY])


def api_url(given: Settings) -> str:
    """The base URL of the text API, without a trailing slash."""
    return given.workbench_api_url.rstrip("/") or f"http://{address(given.api_host, given.api_port)}"


def api_key(given: Settings) -> str:
    """The workbench's key; in development the one that `make up` made, when there is no other; else ""."""
    if given.workbench_api_key:
        return given.workbench_api_key.get_secret_value()
    made = given.var / "demo-key"
    return made.read_text("ascii").strip() if given.development and made.is_file() else ""


def _refused(failure: Mapping[str, Any], status: int) -> Response:
    answer = jsonify(failure)
    answer.status_code = status
    if failure.get("retry_after"):
        answer.headers["Retry-After"] = str(failure["retry_after"])
    return answer
