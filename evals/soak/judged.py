"""Whether an answer is one of the contract's: status, media type and shape, for each kind of request.

Sources: the contract's sections on errors of the text API (7), on FHIR (4 and 7) and on sign-in (7), and the decisions
("Errors", "Stream headers"). Each function gives "" or why the answer is none, without a word of what it holds.
"""

from __future__ import annotations

import json
import re

import httpx
from pydantic import BaseModel, ValidationError

from clinical.contract import ExtractResponse, GenerateResponse, Health, ModelHealth, PartialEvent, ResultEvent
from clinical.sse import Decoder
from evals.soak.model import INVENTED, NOT_SHOWN

PROBLEM, STREAM, FHIR = "application/problem+json", "text/event-stream", "application/fhir+json"
CODE = re.compile(r"[A-Z][0-9]{2}(\.[0-9]{1,2})?[!*+]?")


def _media(response: httpx.Response) -> str:
    return str(response.headers.get("content-type", "")).partition(";")[0].strip()


def problem(response: httpx.Response, *statuses: int) -> str:
    """An error of the text API: one of these statuses, as RFC 9457 says, with Retry-After where one must wait."""
    if response.status_code not in statuses:
        return f"status {response.status_code}"
    if _media(response) != PROBLEM:
        return f"an error of media type {_media(response)}"
    said = response.json()
    if said.get("status") != response.status_code or not all(said.get(name) for name in ("type", "title", "detail")):
        return "an error without type, title, status or detail"
    if response.status_code in (429, 503) and not response.headers.get("retry-after", "").isdigit():
        return f"{response.status_code} without Retry-After"
    return ""


def stream(response: httpx.Response) -> str:
    """A whole stream of deep research: tiers in their order, and an end in words; or 503."""
    if response.status_code != 200:
        return problem(response, 503)
    if _media(response) != STREAM:
        return f"a stream of media type {_media(response)}"
    try:
        events = list(Decoder().feed(response.content))
    except (ValidationError, UnicodeDecodeError) as error:
        return f"an event that is none: {type(error).__name__}"
    layers = [event.layer for event in events if isinstance(event, PartialEvent | ResultEvent)]
    last = events[-1] if events else None
    ended = isinstance(last, ResultEvent) or (last is not None and getattr(last, "status", "") == "error")
    if not ended:
        return "a stream without an end in words"
    if layers != [1, 2, 3][: len(layers)]:
        return f"tiers in the order {layers}"
    codes = [entry.code for event in events if isinstance(event, PartialEvent | ResultEvent) for entry in event.codes]
    if wrong := [code for code in codes if not CODE.fullmatch(code) or code in NOT_SHOWN]:
        return f"{len(wrong)} codes that nobody was shown"
    return ""


def ended_with_result(response: httpx.Response) -> bool:
    """Whether a stream that is the contract's ended with a result."""
    return response.status_code == 200 and b'"type":"result"' in response.content


def _of_form(response: httpx.Response, form: type[BaseModel], *errors: int) -> str:
    if response.status_code != 200:
        return problem(response, *errors)
    if _media(response) != "application/json":
        return f"an answer of media type {_media(response)}"
    try:
        form.model_validate_json(response.content)
    except ValidationError as error:
        return f"{error.error_count()} fields that are not the contract's"
    return ""


def extraction(response: httpx.Response) -> str:
    """Fields of a letter, none of which a model invented (what was removed is named as such); or 502, 503."""
    if why := _of_form(response, ExtractResponse, 502, 503):
        return why
    lied = response.status_code == 200 and INVENTED in json.dumps(response.json()["data"])
    return "an invented value" if lied else ""


def draft(response: httpx.Response) -> str:
    """Free text; or 502, 503."""
    return _of_form(response, GenerateResponse, 502, 503)


def health(response: httpx.Response) -> str:
    """Always 200."""
    return _of_form(response, Health)


def model_health(response: httpx.Response) -> str:
    """Always 200, also when the model is down."""
    return _of_form(response, ModelHealth)


def unauthorized(response: httpx.Response) -> str:
    """401; or 503 while keys cannot be looked up."""
    return problem(response, 401, 503)


def unreadable(response: httpx.Response) -> str:
    """422; or 503 while keys cannot be looked up."""
    return problem(response, 422, 503)


# --- the webapp -----------------------------------------------------------------------------------------------------


def outcome(response: httpx.Response, *statuses: int) -> str:
    """An error over FHIR: one of these statuses, as an OperationOutcome."""
    if response.status_code not in statuses:
        return f"status {response.status_code}"
    if _media(response) != FHIR:
        return f"an error of media type {_media(response)}"
    said = response.json()
    if said.get("resourceType") != "OperationOutcome" or not said.get("issue"):
        return "an error that is no OperationOutcome"
    if response.status_code == 503 and not response.headers.get("retry-after", "").isdigit():
        return "503 without Retry-After"
    return ""


def bundle(response: httpx.Response) -> str:
    """A page of documents; or 503."""
    if response.status_code != 200:
        return outcome(response, 503)
    if _media(response) != FHIR:
        return f"a page of media type {_media(response)}"
    said = response.json()
    kind = said.get("resourceType"), said.get("type")
    if kind != ("Bundle", "searchset") or not isinstance(said.get("total"), int):
        return "a page that is no searchset Bundle with a total"
    for entry in said.get("entry", ()):
        resource = entry["resource"]
        if resource["resourceType"] != "DocumentReference" or not resource["meta"]["lastUpdated"]:
            return "an entry that is no DocumentReference"
        if not resource["content"][0]["attachment"]["url"]:
            return "a document without its link"
    return ""


def stored(response: httpx.Response) -> str:
    """201 or, for what is there already, 200, with its Location; or 503."""
    if response.status_code not in (200, 201):
        return outcome(response, 503)
    return "" if "/DocumentReference/" in response.headers.get("location", "") else "stored without a Location"


def file(response: httpx.Response) -> str:
    """The file of a document, as it was typed, and inert; or 503."""
    if response.status_code != 200:
        return outcome(response, 503) if _media(response) == FHIR else page(response, 503)
    if _media(response) != "text/plain" or "sandbox" not in response.headers.get("content-security-policy", ""):
        return f"a file of media type {_media(response)}, or one that a browser would run"
    return ""


def no_token(response: httpx.Response) -> str:
    """401 as an OperationOutcome; or 503."""
    return outcome(response, 401, 503)


def page(response: httpx.Response, *statuses: int) -> str:
    """A page in words, of one of these statuses, that no cache keeps."""
    if response.status_code not in statuses:
        return f"status {response.status_code}"
    if response.status_code in (301, 302, 303):
        return "" if response.headers.get("location") else "a redirect to nowhere"
    if _media(response) != "text/html" or b"<h1" not in response.content:
        return f"a page of media type {_media(response)}, or one without words"
    if response.status_code == 503 and not response.headers.get("retry-after", "").isdigit():
        return "503 without Retry-After"
    return "" if response.headers.get("cache-control") == "no-store" else "a page that a cache may keep"
