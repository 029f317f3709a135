"""Parameters as they were sent, decoded once: query string, and of a posted search the form or Parameters resource.

Whoever decides over a request and whoever answers it go by this one value, so that neither reads what the other does
not. What cannot be told for sure (another media type, another encoding of characters) is refused, not guessed.
"""

from typing import Any
from urllib.parse import unquote_plus

import orjson
from flask import Request

from clinical.fhir import MEDIA_TYPE, XML_TYPE, NotXml, format_of, from_xml
from webapp.fhir.answers import FhirError

Pairs = tuple[tuple[str, str], ...]
"""Names and values in the order in which they were sent."""

FORM = "application/x-www-form-urlencoded"
BODY = "body"
"""The name under which the body of a GET counts as a parameter that nobody knows: some clients put theirs there."""
_CHARSETS = ("utf-8", "utf8", "us-ascii", "ascii")


def sent(request: Request) -> Pairs:
    """All parameters of a search or an operation. Raises FhirError 400 and 415."""
    pairs = _decoded(request.query_string)
    if request.method != "POST":
        return (*pairs, (BODY, "")) if request.content_length or "Transfer-Encoding" in request.headers else pairs
    body, kind, operation = request.get_data(), request.mimetype, "/$" in request.path
    readable = request.headers.get("Content-Encoding", "identity").lower() == "identity"
    if readable and request.mimetype_params.get("charset", "utf-8").lower() in _CHARSETS:
        if kind == FORM:
            return pairs + _decoded(body)
        if operation and format_of(kind):
            return pairs + _parameters(body, xml=format_of(kind) == XML_TYPE)
        if not kind and not body:
            return pairs
    parameters = f" oder eine Ressource Parameters als {MEDIA_TYPE} oder {XML_TYPE}" if operation else ""
    expected = f"{FORM} in UTF-8{parameters}"
    found = request.headers.get("Content-Type", "")[:50] or "kein Content-Type"
    raise FhirError(415, f"Gefunden: {found}. Erwartet wird {expected}, unkomprimiert.")


def _decoded(query: bytes) -> Pairs:
    """Like `urllib.parse.parse_qsl`, but nothing is refused: blank values are kept, bad bytes replaced."""
    parts = (part.partition("=") for part in query.decode("utf-8", "replace").split("&") if part)
    return tuple((unquote_plus(name), unquote_plus(value)) for name, _, value in parts)


def _parameters(body: bytes, *, xml: bool) -> Pairs:
    """Name and value of each parameter of a posted Parameters resource; an empty body has none."""
    if not body.strip():
        return ()
    try:
        given = from_xml(body) if xml else orjson.loads(body)
    except NotXml as error:
        raise FhirError(400, error.text, error.element) from None
    except orjson.JSONDecodeError:
        raise FhirError(400, "Der Inhalt ist kein JSON. Erwartet wird eine Ressource Parameters.") from None
    if not isinstance(given, dict) or given.get("resourceType") != "Parameters":
        raise FhirError(400, "Erwartet wird eine Ressource Parameters.", "Parameters")
    listed = given.get("parameter", [])
    if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
        raise FhirError(400, "Parameters.parameter ist keine Liste von Parametern.", "Parameters.parameter")
    return tuple((str(item.get("name", "")), value) for item in listed for value in _values(item))


def _values(parameter: dict[str, Any]) -> list[str]:
    """The `value[x]` of a parameter as text; one empty text, which nobody understands, where it is no text or number:
    a parameter that cannot be read was sent all the same."""
    values = [value for name, value in parameter.items() if name.startswith("value")]
    return [str(value) if isinstance(value, str | int) else "" for value in values] or [""]
