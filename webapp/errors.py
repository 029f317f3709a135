"""Errors become HTTP here and nowhere else in the webapp. Pages say what happened and what to do, in plain words.

    Outcome                     a deliberate end of a request with a page: `key` picks the words, `status` the code
    HTTPException               404, 405, 413, 429, CSRF: the same page with general words
    DatabaseBusy                503 at the same page: nothing was written, and later it may work
    an outage                   503: the database, the counters or the storage do not answer (`watching.part_of`)
    anything else               500 without any detail; the traceback goes to the log, without request contents

The FHIR blueprints, whose wire format is another (OperationOutcome), register handlers of their own. For paths that
look like theirs and reach no view `fhir.answers` gives `befund_api_page`: none of them gets an HTML page.
"""

import logging
from typing import Any

from flask import Flask, Response, current_app, g, make_response, render_template, request
from werkzeug.exceptions import HTTPException, InternalServerError, SecurityError

from clinical.errors import BefundError
from clinical.tracing import place_of
from webapp.database import DatabaseBusy
from webapp.extensions import login_manager
from webapp.watching import FAILURES, RETRY_SECONDS, part_of

log = logging.getLogger(__name__)

RETRY_S = 10  # a lock that is only held for long is free again by then


class ErrorPage(Exception):
    """A request ends here with a page. `code` is the vendor's own error code, shown escaped beneath the words."""

    def __init__(self, key: str, status: int, code: str = "", **values: Any) -> None:
        self.key, self.status, self.code, self.values = key, status, code, values
        super().__init__(key)


def init_app(app: Flask) -> None:
    """Register the handlers on `app`."""
    app.register_error_handler(ErrorPage, _outcome)
    app.register_error_handler(HTTPException, _http)
    app.register_error_handler(DatabaseBusy, busy_page)
    app.register_error_handler(Exception, _unexpected)


def error_page(key: str, status: int, **values: Any) -> Response:
    """The error page with the words of `key` (see templates/error.html)."""
    return make_response(render_template("error.html", key=key, status=status, **values), status)


def _outcome(error: ErrorPage) -> Response:
    return error_page(error.key, error.status, code=error.code, **error.values)


def busy_page(error: DatabaseBusy) -> Response:
    """The answer to a request that could not write; its session is not written either."""
    FAILURES.labels("database").inc()
    log.error("%s", error)
    return _later("http_503", RETRY_S)


def outage_page(part: str, error: BaseException) -> Response:
    """The answer to a request that a part of what the server rests on did not answer; nobody is signed out by it."""
    FAILURES.labels(part).inc()
    log.error("%s: %s on endpoint %s", part, type(error).__name__, request.endpoint)
    g._login_user = login_manager.anonymous_user()  # the page asks nothing more of the database
    return _later("outage", RETRY_SECONDS)


def is_outage() -> bool:
    """Return True when this request ended as `busy_page` or `outage_page`."""
    return bool(g.get("unsaved_session"))


def _later(key: str, seconds: int) -> Response:
    g.unsaved_session = True  # it would wait for the same once more
    response = _page_for(503, key)
    response.headers["Retry-After"] = str(seconds)
    return response


def _http(error: HTTPException) -> Response:
    status = error.code or 500
    if isinstance(error, InternalServerError) and (behind := error.original_exception) and (part := part_of(behind)):
        return outage_page(part, behind)  # raised behind the view, where no handler of it is asked
    if isinstance(error, SecurityError):  # a host that is not ours: there is no URL a page could link to
        return Response("This host name is not answered here.\n", status, content_type="text/plain; charset=utf-8")
    if error.response is not None or status < 400:
        return make_response(error.get_response())
    response = _page_for(status)
    for name, value in error.get_headers(request.environ):
        if name.lower() not in ("content-type", "content-length"):
            response.headers.setdefault(name, value)
    return response


def _page_for(status: int, key: str = "") -> Response:
    of_api: Response | None = current_app.extensions["befund_api_page"](status)
    return of_api or error_page(key or f"http_{status}", status)


def _unexpected(error: Exception) -> Response:
    """Type and place go to the log. The message of a foreign error may quote what was sent, so only ours is said."""
    if part := part_of(error):
        return outage_page(part, error)
    FAILURES.labels("request").inc()
    said = str(error) if isinstance(error, BefundError) else ""
    place = place_of(error.__traceback__)
    log.error("unexpected %s on endpoint %s: %s\n%s", type(error).__name__, request.endpoint, said, place)
    return _page_for(500)
