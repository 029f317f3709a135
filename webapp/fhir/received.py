"""Requests are read: parameters as they were sent, decoded once, and resources in JSON or XML.

Whoever decides over a request and whoever answers it go by this one value, so that neither reads what the other does
not. What cannot be told for sure (another media type, another encoding of characters) is refused, not guessed.
"""

from typing import Any
from urllib.parse import parse_qsl

import orjson
from flask import Request

from clinical.fhir import MEDIA_TYPE, XML_TYPE, NotXml, format_of, from_xml
from webapp.fhir.answers import FhirError
from webapp.fhir.details import Resource

Pairs = tuple[tuple[str, str], ...]
"""Names and values in the order in which they were sent."""
FORM = "application/x-www-form-urlencoded"
BODY = "body"
"""The name under which the body of a GET counts as a parameter that nobody knows: some clients put theirs there."""
RESOURCE_TYPES = (MEDIA_TYPE, "application/json", XML_TYPE)
LARGEST_JSON = 64 * 1024 * 1024  # a file inline is in memory three times, as text, in JSON and as bytes
MOST_SEPARATORS = 300_000  # of a whole body: commas and opening brackets, as many as it has values at most; tags of XML
_CHARSETS = ("utf-8", "utf8", "us-ascii", "ascii")


def sent(request: Request) -> Pairs:
    """All parameters of a search or an operation: query string, and of a posted one the form or Parameters resource.
    Raises FhirError 400 and 415."""
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
    found = request.headers.get("Content-Type", "")[:50] or "kein Content-Type"
    raise FhirError(415, f"Gefunden: {found}. Erwartet wird {FORM} in UTF-8{parameters}, unkomprimiert.")


def _decoded(query: bytes) -> Pairs:
    """Nothing is refused: blank values are kept, bad bytes replaced."""
    return tuple(parse_qsl(query.decode("utf-8", "replace"), keep_blank_values=True))


def _parameters(body: bytes, *, xml: bool) -> Pairs:
    """Name and value of each parameter of a posted Parameters resource; an empty body has none."""
    listed = resource_of(body, "Parameters", xml=xml).get("parameter", []) if body.strip() else []
    if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
        raise FhirError(400, "Parameters.parameter ist keine Liste von Parametern.", "Parameters.parameter")
    return tuple((str(item.get("name", "")), value) for item in listed for value in _values(item))


def _values(parameter: dict[str, Any]) -> list[str]:
    """The `value[x]` of a parameter as text; one empty text, which nobody understands, where it is no text or number:
    a parameter that cannot be read was sent all the same."""
    values = [value for name, value in parameter.items() if name.startswith("value")]
    return [str(value) if isinstance(value, str | int) else "" for value in values] or [""]


def sent_resource(request: Request, kind: str) -> Resource:
    """The resource that was posted, as JSON has it. Raises FhirError 400, 413 and 415."""
    found = format_of(request.mimetype)
    if found is None:
        raise FhirError(415, f"Erwartet wird {MEDIA_TYPE} oder {XML_TYPE}.")
    request.max_content_length = LARGEST_JSON
    return resource_of(request.get_data(cache=False), kind, xml=found == XML_TYPE)


def resource_of(body: bytes, kind: str, *, xml: bool = False) -> Resource:
    """The resource in a body of JSON or XML. Raises FhirError 400, and 413 for one of more elements than are read."""
    check_size(body, xml=xml)
    try:
        resource = from_xml(body) if xml else orjson.loads(body)
    except NotXml as error:
        raise FhirError(400, error.text, error.element) from None
    except orjson.JSONDecodeError:
        raise FhirError(400, f"Der Inhalt ist kein JSON. Erwartet wird eine Ressource {kind}.") from None
    if not isinstance(resource, dict) or resource.get("resourceType") != kind:
        raise FhirError(400, f"Erwartet wird eine Ressource {kind}.", f"{kind}.resourceType")
    return resource


def check_size(body: bytes, *, xml: bool = False) -> None:
    """Before it is parsed: a body of brackets takes fifty times its length in memory. Raises FhirError 413."""
    if sum(map(body.count, (b"<", b"=") if xml else (b",", b"[", b"{"))) > MOST_SEPARATORS:
        raise FhirError(
            413, f"Der Inhalt hat mehr als {MOST_SEPARATORS} Elemente. Bitte auf mehrere Aufrufe verteilen."
        )
