"""A batch Bundle: each entry is a call of its own, by the same routes, rights and rules as if it came alone (FHIR R4,
http, section 3.1.0.11)."""

import io
from typing import Any
from urllib.parse import unquote

import orjson
from flask import Flask, Response, current_app, request

from clinical.fhir import MEDIA_TYPE
from webapp.fhir.answers import FhirError, error_answer
from webapp.fhir.details import Resource
from webapp.urls import split_request_url

MOST_CALLS = 50
LARGEST_ANSWER = 32 * 1024 * 1024  # bytes of all answers together; what comes behind is told to ask for itself
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
_CONDITIONS = {"ifNoneExist": "HTTP_IF_NONE_EXIST", "ifMatch": "HTTP_IF_MATCH", "ifNoneMatch": "HTTP_IF_NONE_MATCH"}
_KEPT = ("REMOTE_ADDR", "SERVER_NAME", "SERVER_PORT", "SERVER_PROTOCOL", "SCRIPT_NAME", "HTTP_HOST", "HTTP_PREFER",
         "HTTP_AUTHORIZATION", "HTTP_USER_AGENT")  # fmt: skip


def answered(bundle: Resource, base: str) -> Resource:
    """The batch-response. `base` is the path of the FHIR base. Raises FhirError 400 for what is no batch."""
    listed = bundle.get("entry", [])
    if not isinstance(listed, list) or not 0 < len(listed) <= MOST_CALLS:
        raise FhirError(400, f"Erwartet werden 1 bis {MOST_CALLS} Einträge.", "Bundle.entry")
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]
    calls = [_environ(item, number, base) for number, item in enumerate(listed)]
    entries, size = [], 0
    for call in calls:
        with app.app_context(), app.request_context(call):
            response = app.full_dispatch_request() if size < LARGEST_ANSWER else error_answer(413)
            entry = _entry(response)
        size += response.content_length or 0
        entries.append(entry)
    return {"resourceType": "Bundle", "type": "batch-response", "entry": entries}


def _environ(item: Any, number: int, base: str) -> dict[str, Any]:
    """The call of an entry. Raises FhirError 400; a file is fetched by itself, since it may be of any size."""
    at = f"Bundle.entry[{number}].request"
    asked = item.get("request") if isinstance(item, dict) else None
    asked = asked if isinstance(asked, dict) else {}
    method, url = asked.get("method"), asked.get("url")
    if method not in _METHODS or not isinstance(url, str) or not all(
        isinstance(asked.get(name, ""), str) for name in _CONDITIONS
    ):  # fmt: skip
        raise FhirError(400, f"Erwartet wird method ({', '.join(_METHODS)}) und url.", at)
    parts = split_request_url(url)
    if parts.scheme or parts.netloc or parts.path.startswith("/") or not parts.path.strip("/"):
        raise FhirError(400, "Erwartet wird eine url unter der Basis, wie Patient/<id>.", f"{at}.url")
    if parts.path.startswith("Binary") and method in ("GET", "HEAD"):
        raise FhirError(400, "Dateien werden einzeln geholt.", f"{at}.url")
    if parts.path.endswith("/$extract"):
        raise FhirError(400, "Dokumente werden einzeln gelesen.", f"{at}.url")
    resource = item.get("resource")
    body = b"" if resource is None else orjson.dumps(resource)
    conditions = {header: asked[name] for name, header in _CONDITIONS.items() if asked.get(name)}
    own = {name: value for name, value in request.environ.items() if name in _KEPT or name.startswith("wsgi.")}
    return own | conditions | {
        "REQUEST_METHOD": method, "PATH_INFO": f"{base}/{unquote(parts.path, 'latin-1')}", "QUERY_STRING": parts.query,
        "CONTENT_TYPE": MEDIA_TYPE if body else "", "CONTENT_LENGTH": str(len(body)), "wsgi.input": io.BytesIO(body),
        "HTTP_ACCEPT": MEDIA_TYPE,
    }  # fmt: skip


def _entry(response: Response) -> Resource:
    headers, body = response.headers, response.get_data()
    told: Resource = {"status": response.status}
    told |= {name.lower(): headers[name] for name in ("Location", "ETag") if name in headers}
    if response.last_modified:
        told["lastModified"] = response.last_modified.isoformat()
    resource = orjson.loads(body) if body and response.content_type == MEDIA_TYPE else None
    if resource is not None and resource["resourceType"] == "OperationOutcome":
        return {"response": told | {"outcome": resource}}
    return ({} if resource is None else {"resource": resource}) | {"response": told}
