"""Answers in the form of FHIR: media type, errors as OperationOutcome, ETag and 304, gzip.

Errors are raised as `FhirError` where they are found and become HTTP here.
"""

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson
from flask import Blueprint, Flask, Response, g, request
from flask.globals import request_ctx
from isal import igzip
from werkzeug.datastructures import Headers
from werkzeug.exceptions import HTTPException

from clinical.fhir import FORMATS, MEDIA_TYPE, XML_TYPE, NotXml, format_of, to_xml
from webapp.fhir.details import Resource
from webapp.fhir.resources import etag, outcome
from webapp.fhir.searching.wanted import UUID
from webapp.urls import public_origin

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

WORTH_COMPRESSING = 1400  # bytes: what fits one packet does not get faster
CODES = {400: "invalid", 401: "login", 403: "forbidden", 404: "not-found", 405: "not-supported", 406: "not-supported",
         413: "too-long", 409: "conflict", 410: "deleted", 412: "conflict",
         415: "not-supported", 422: "processing", 429: "throttled", 502: "transient", 503: "transient",
         504: "timeout"}  # fmt: skip
TEXTS = {
    400: "Die Anfrage ist nicht lesbar.",
    401: "Das Zugriffstoken fehlt oder ist ungültig. Erwartet wird: Authorization: Bearer <ACCESS_TOKEN>.",
    403: "Dieses Zugriffstoken gehört zu keinem Mitglied der Organisation.",
    404: "Das gibt es in dieser Organisation nicht.",
    405: "Diese Methode gibt es hier nicht; welche es gibt, steht in der Kopfzeile Allow.",
    406: "Gesendet wird application/fhir+json oder application/fhir+xml (Accept oder _format).",
    413: "Die Anfrage ist zu groß.",
    429: "Von dieser Adresse kamen zu viele Aufrufe. Bitte einen Moment warten.",
    503: "Das ist im Augenblick nicht möglich. Bitte gleich noch einmal versuchen.",
    500: "Ein unerwarteter Fehler ist aufgetreten. Bitte später noch einmal versuchen.",
}
BELOW = "/fhir/r4"
_ACCEPTED = [name for name in FORMATS if "/" in name]
_USUAL = {name: FORMATS[name] for name in _ACCEPTED} | {"": MEDIA_TYPE, "*/*": MEDIA_TYPE}


class FhirError(Exception):
    """A call ends with an OperationOutcome. Without a text, the general one of the status."""

    def __init__(self, status: int, text: str = "", *expressions: str) -> None:
        self.status, self.text, self.expressions = status, text, expressions
        super().__init__(status)


class FhirAnswer(Response):
    """An answer with all of its headers: of one that succeeds nothing is left to be added or mended, and the headers
    are not copied and checked once more for that."""

    def get_wsgi_headers(self, environ: "WSGIEnvironment") -> Headers:
        """The headers as they are sent."""
        return self.headers if self.status_code == 200 else super().get_wsgi_headers(environ)


def answer(resource: Resource, status: int = 200) -> Response:
    """A resource as the answer, in the format that was asked for. Raises FhirError 406 where it has no form in it."""
    if _asked_format() != XML_TYPE:
        return FhirAnswer(orjson.dumps(resource), status, content_type=MEDIA_TYPE)
    try:
        return Response(to_xml(resource), status, content_type=XML_TYPE)
    except NotXml as error:
        g.fhir_format = MEDIA_TYPE
        raise FhirError(406, error.text, error.element) from None


def negotiate(stated: str | None = None, *, strict: bool = False) -> None:
    """Settle the format before anything is done: by `_format` (`stated`: as it was posted), else by `Accept`, JSON
    where both leave it open. Raises FhirError 406, for an unknown `_format` to strict callers alone: it is a parameter,
    and of people none is refused."""
    g.fhir_format = MEDIA_TYPE
    named = named_format() if stated is None else stated
    found = format_of(named) if named else None
    if found is None and not (strict and named):
        accept = request_ctx.request.headers.get("Accept", "")
        if accept in _USUAL:  # before the header is taken apart, which costs as much as all parameters
            found = _USUAL[accept]
        else:
            found = FORMATS.get(request.accept_mimetypes.best_match(_ACCEPTED) or "")
    if found is None:
        raise FhirError(406)
    g.fhir_format = found


def named_format() -> str:
    """The `_format` of the query string. Most have none, and that is told before all of it is taken apart."""
    asked = request_ctx.request
    query = asked.query_string
    return asked.args.get("_format", "") if b"format" in query or b"%" in query else ""


def resource_format() -> str | None:
    """The format in which a file is wanted as a resource: where `_format` or FHIR's own XML asks for it by name. What
    many clients accept by default, JSON, does not."""
    named = named_format()
    return format_of(named) if named else XML_TYPE if XML_TYPE in request.accept_mimetypes.values() else None


def _asked_format() -> str:
    if "fhir_format" not in g:
        try:
            negotiate()
        except FhirError:  # whoever asked for something else reads why in JSON
            g.fhir_format = MEDIA_TYPE
    return str(g.fhir_format)


def tagged(resource: Resource) -> Response:
    """A resource that has no versions, with a weak ETag of its bytes; 304 where the caller holds what is tagged so."""
    response = answer(resource)
    response.set_etag(hashlib.blake2b(response.get_data(), digest_size=16).hexdigest(), weak=True)
    response.make_conditional(request.environ)
    return response


def versioned(response: Response, version: str, at: int) -> Response:
    """The answer with its version: `ETag`, and as `Last-Modified` when that version was made (microseconds since 1970).
    The same wherever it is read, created or listed (FHIR R4, section 3.1.0.1.3)."""
    response.headers["ETag"] = etag(version)
    response.last_modified = datetime.fromtimestamp(at // 1_000_000, UTC)
    return response


def read(resource: Resource, at: int, alone: Callable[[], bool], *, lasting: bool) -> Response:
    """A resource as the version of it that was made `at`; 304 where the caller holds that version, unless what it holds
    may not last. Of the second that `If-Modified-Since` names the caller may hold another version, unless this one
    stands `alone` in it."""
    version, since = resource["meta"]["versionId"], request.if_modified_since
    held = request.if_none_match.contains_weak(version)
    if since is not None and "If-None-Match" not in request.headers:
        made = datetime.fromtimestamp(at // 1_000_000, UTC)
        held = since > made or (since == made and alone())
    return versioned(Response(status=304) if held and lasting else answer(resource), version, at)


def error_answer(status: int, text: str = "", *expressions: str) -> Response:
    """An OperationOutcome as the answer."""
    words = text or TEXTS.get(status) or (TEXTS[500] if status >= 500 else TEXTS[400])
    response = answer(outcome(CODES.get(status, "exception"), words, *expressions), status)
    if status == 429:
        response.headers["Retry-After"] = "60"
    if status == 401:
        response.headers["WWW-Authenticate"] = _challenge()
    return response


def _challenge() -> str:
    """RFC 6750, section 3.1: who shows no token is asked for one, and not told that it is invalid; RFC 9728 names where
    tokens come from."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    shown = scheme.lower() == "bearer" and token.strip()
    organization = _organization()
    path = f"/.well-known/oauth-protected-resource/{organization}/fhir/r4"
    known = (
        f', resource_metadata="{public_origin()}{request.script_root}{path}"' if UUID.fullmatch(organization) else ""
    )
    return 'Bearer realm="Befund FHIR"' + (', error="invalid_token"' if shown else "") + known


def _organization() -> str:
    """The organization that the path names, also where no view is reached."""
    return request.path.partition(BELOW)[0].strip("/")


def init_blueprint(blueprint: Blueprint) -> None:
    """Give the blueprint these errors and headers."""
    blueprint.register_error_handler(FhirError, _fhir_error)
    blueprint.register_error_handler(HTTPException, _http_error)
    blueprint.after_request(_finish)


def init_app(app: Flask, authorize: Callable[[str], object]) -> None:
    """Errors of paths that look like ours but reach no view are ours too; only a member of the organization learns that
    there is none."""

    def page(status: int) -> Response | None:
        if BELOW not in request.path:
            return None
        try:
            if status in (404, 405) and request.method != "OPTIONS":
                authorize(_organization())
        except FhirError as fault:
            return _finish(_fhir_error(fault))
        return _finish(error_answer(status))

    app.extensions["befund_api_page"] = page


def _fhir_error(error: FhirError) -> Response:
    return error_answer(error.status, error.text, *error.expressions)


def _http_error(error: HTTPException) -> Any:
    return error_answer(error.code) if error.code and error.code >= 400 else error.get_response()


def _finish(response: Response) -> Response:
    headers = response.headers
    headers.setdefault("Cache-Control", "private, no-cache" if "ETag" in headers else "no-store")
    if response.content_type in (MEDIA_TYPE, XML_TYPE) and not response.direct_passthrough:
        headers.add("Vary", "Accept, Accept-Encoding")
        if response.status_code == 200 and "gzip" in request.headers.get("Accept-Encoding", ""):
            _compress(response)
    return response


def _compress(response: Response) -> None:
    body = response.get_data()
    if len(body) >= WORTH_COMPRESSING:
        response.set_data(igzip.compress(body, 1, mtime=0))  # less than half the time of zlib, and smaller
        response.headers["Content-Encoding"] = "gzip"
