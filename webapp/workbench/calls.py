"""From a view to the text API: the address and the key of the settings, a free place, and the answer as a stream."""

from collections.abc import Mapping
from typing import Any, cast

from flask import Flask, Response, current_app, jsonify, request
from flask_login import current_user
from pydantic import BaseModel, ValidationError

from clinical.settings import Settings, address
from webapp.config import settings
from webapp.workbench.failures import failure_words
from webapp.workbench.relay import ApiCall, browser_left, relayed
from webapp.workbench.slots import Held, Slots

_KEY = "befund_workbench_slots"
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
BUSY_WAIT_S = 3


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
