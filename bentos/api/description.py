"""The OpenAPI document of the text API: one row per operation; its schemas are those of the contract's models.

Source: OpenAPI 3.1.1. The schema of a stream is that of each of its events, the JSON in `data` by `contentSchema`
(JSON Schema 2020-12). It has no word for the lines of NDJSON: `x-line` beside the text's own schema names theirs.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from fastapi import APIRouter, Response
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from bentos.api.admission import IGNORED
from bentos.api.bulk import NDJSON
from bentos.api.bulk import PATH as BULK
from bentos.api.extraction import EXPLAINED
from clinical import __version__
from clinical.contract import (
    BULK_CODES_MAX,
    BULK_LINES_MAX,
    BulkResult,
    BulkText,
    ExtractFileRequest,
    ExtractFileResponse,
    ExtractRequest,
    GenerateRequest,
    GenerateResponse,
    Health,
    ModelHealth,
    PartialEvent,
    ResearchRequest,
    ResultEvent,
    StatusEvent,
    SuggestRequest,
    SuggestResponse,
    TextRequest,
    TextResponse,
)

PATH: Final = "/openapi.json"
EXAMPLES: Final = Path(__file__).with_name("examples.json")
JSON, FORM, EVENTS = "application/json", "multipart/form-data", "text/event-stream"

Schema = dict[str, Any]


class Operation(NamedTuple):
    """An operation: the models of its body and of its answer; `kind`: the media type of both bodies' lines or events,
    where they are no JSON document; `form`: the parts of the form that is taken as well."""

    path: str
    name: str
    summary: str
    body: tuple[type[BaseModel], ...]
    answer: tuple[type[BaseModel], ...]
    errors: tuple[int, ...]
    answered_as: str = JSON
    sent_as: str = JSON
    form: Schema | None = None
    parameters: tuple[Schema, ...] = ()


_FILE: Final[Schema] = {"type": "string", "format": "binary", "contentMediaType": "application/octet-stream"}
_KIND: Final[Schema] = {"type": "string", "enum": ["zuweisung", "arztbrief"]}
_KEYED: Final = (401, 408, 413, 422, 429, 500, 503)
_LETTER_FORM: Final[Schema] = {
    "type": "object",
    "required": ["document_type", "file"],
    "properties": {"document_type": _KIND, "file": _FILE, "evidence": {"type": "boolean", "default": False}},
}
_FILE_FORM: Final[Schema] = {
    "type": "object",
    "required": ["file"],
    "properties": {"file": _FILE},
}


def _query(name: str, schema: Schema, said: str) -> Schema:
    return {"name": name, "in": "query", "required": False, "description": said, "schema": schema}


OPERATIONS: Final = (
    Operation(
        "/api/deep-research",
        "deep_research",
        "ICD-10-GM codes of a text, as a stream of server-sent events in three tiers",
        (ResearchRequest,),
        (StatusEvent, PartialEvent, ResultEvent),
        _KEYED,
        answered_as=EVENTS,
    ),
    Operation(
        BULK,
        "codes_bulk",
        f"Codes of up to {BULK_LINES_MAX} texts by the search alone: a line of JSON for each, in and out, in their "
        "order. One request of the rate, one of the daily quota for each text",
        (BulkText,),
        (BulkResult,),
        _KEYED,
        answered_as=NDJSON,
        sent_as=NDJSON,
        parameters=(
            _query(
                "limit", {"type": "integer", "minimum": 1, "maximum": BULK_CODES_MAX, "default": 10}, "Codes of a text"
            ),
            _query("year", {"type": "integer"}, "Year of the catalog; the newest without it"),
        ),
    ),
    Operation(
        "/api/codes/suggest",
        "codes_suggest",
        "Codes for the first characters of words or of a code",
        (SuggestRequest,),
        (SuggestResponse,),
        _KEYED,
    ),
    Operation(
        "/api/documents/extract",
        "documents_extract",
        "The fields of a letter or referral, each evidenced by its text; takes a text or a file",
        (ExtractRequest, ExtractFileRequest),
        (ExtractFileResponse,),
        (*_KEYED, 502),
        form=_LETTER_FORM,
    ),
    Operation(
        "/api/documents/text",
        "documents_text",
        "The text of a file, and where its words stand",
        (TextRequest,),
        (TextResponse,),
        _KEYED,
        form=_FILE_FORM,
    ),
    Operation(
        "/api/llm/generate",
        "llm_generate",
        "An instruction applied to a text: free text, not checked, a draft for a human",
        (GenerateRequest,),
        (GenerateResponse,),
        (*_KEYED, 502),
    ),
    Operation("/api/health", "health", "Whether the catalog is there; no key", (), (Health,), (500,)),
    Operation(
        "/api/llm/health", "llm_health", "Whether the language model is there; no key", (), (ModelHealth,), (500,)
    ),
)

SOMETIMES: Final[dict[str, frozenset[str]]] = {
    "PartialEvent": frozenset({"mentions", "beyond"}),
    "ExtractFileResponse": frozenset(EXPLAINED),
    "CatalogHealth": frozenset({"vocabularies"}),
}
"""Fields of answers that are left out unless asked for; all others are always there."""

_MEANT: Final = {
    401: "The key is missing or invalid",
    408: "The body did not arrive in time",
    413: "The body is too large",
    422: "The body does not fit; `errors` names where, never what was sent",
    429: "The rate or the daily quota of the key is used up; see Retry-After",
    500: "An error of the service",
    502: "The language model failed or gave no usable answer",
    503: "Not ready: the catalog, the key store or the language model; see Retry-After",
}

_PROBLEM: Final[Schema] = {
    "type": "object",
    "description": "RFC 9457. Fixed German sentences; nothing of the request is repeated.",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string", "const": "about:blank"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "errors": {
            "type": "array",
            "description": "With 422: places and kinds of what does not fit.",
            "items": {
                "type": "object",
                "required": ["loc", "msg", "type"],
                "properties": {
                    "loc": {"type": "array", "items": {"type": ["string", "integer"]}},
                    "msg": {"type": "string"},
                    "type": {"type": "string"},
                },
            },
        },
    },
}


def _header(said: str, example: str) -> Schema:
    return {"description": said, "schema": {"type": "string"}, "example": example}


_HEADERS: Final[dict[str, Schema]] = {
    "RateLimit-Policy": _header("Limits of the key (draft-ietf-httpapi-ratelimit-headers)", '"minute";q=60;w=60'),
    "RateLimit": _header("What is left of them, and the seconds until they are full again", '"minute";r=59;t=60'),
    IGNORED: _header("Fields of the body that are not known and were ignored", "rerankk"),
}
_RETRY: Final = {"Retry-After": {"description": "Seconds to wait", "schema": {"type": "integer", "minimum": 1}}}
_PREFER: Final[Schema] = {
    "name": "Prefer",
    "in": "header",
    "required": False,
    "description": "`handling=strict`: unknown fields are refused with 422 instead of ignored (RFC 7240)",
    "schema": {"type": "string"},
    "example": "handling=lenient",
}


def _answers() -> set[type[BaseModel]]:
    return {model for operation in OPERATIONS for model in operation.answer}


def _schemas() -> dict[str, Schema]:
    """The schemas of all models, by name. What an answer always holds is required there."""
    models = _answers() | {model for operation in OPERATIONS for model in operation.body}
    ordered = sorted(models, key=lambda model: model.__name__)
    _, found = models_json_schema(
        [(model, "validation") for model in ordered], ref_template="#/components/schemas/{model}"
    )
    schemas: dict[str, Schema] = found["$defs"]
    asked = _reached(schemas, {model.__name__ for operation in OPERATIONS for model in operation.body})
    for name, schema in schemas.items():
        if name not in asked and "properties" in schema:
            schema["required"] = [key for key in schema["properties"] if key not in SOMETIMES.get(name, ())]
    schemas["Problem"] = _PROBLEM
    schemas["ResearchEvent"] = {
        "oneOf": [_ref(model.__name__) for model in OPERATIONS[0].answer],
        "description": "The data of one event of the stream. It ends after `result`, or `status` with `error`.",
    }
    return schemas


def _reached(schemas: dict[str, Schema], names: set[str]) -> set[str]:
    """The names of schemas, and of all that they refer to."""
    reached, left = set(), set(names)
    while left:
        reached |= left
        text = json.dumps([schemas[name] for name in left])
        left = {name for name in schemas if f'/{name}"' in text} - reached
    return reached


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


_EVENT: Final[Schema] = {
    "type": "object",
    "required": ["data"],
    "properties": {
        "data": {"type": "string", "contentMediaType": JSON, "contentSchema": _ref("ResearchEvent")},
        "event": {"type": "string", "const": "message"},
    },
}


def _any(models: tuple[type[BaseModel], ...]) -> Schema:
    refs = [_ref(model.__name__) for model in models]
    return refs[0] if len(refs) == 1 else {"anyOf": refs}


def _content(kind: str, models: tuple[type[BaseModel], ...], examples: dict[str, Any]) -> Schema:
    if kind == JSON:
        return {JSON: {"schema": _any(models), "examples": examples}}
    if kind == EVENTS:
        return {EVENTS: {"schema": _EVENT, "examples": examples}}
    return {kind: {"schema": {"type": "string"}, "x-line": _any(models), "examples": examples}}


def _operation(operation: Operation, examples: dict[str, Any]) -> Schema:
    keyed = 401 in operation.errors
    shown = examples[operation.name]
    headers = {name: {"$ref": f"#/components/headers/{name}"} for name in _HEADERS} if keyed else {}
    answered = _content(operation.answered_as, operation.answer, shown["answers"])
    responses: Schema = {"200": {"description": "Done", "headers": headers, "content": answered}}
    responses |= {str(status): {"$ref": f"#/components/responses/{status}"} for status in operation.errors}
    made: Schema = {"operationId": operation.name, "summary": operation.summary, "responses": responses}
    if not operation.body:
        return {"get": made | {"security": []}}
    content = _content(operation.sent_as, operation.body, shown["bodies"])
    if operation.form:
        content[FORM] = {"schema": operation.form}
    prefer = () if operation.sent_as == NDJSON else (_PREFER,)
    made |= {"requestBody": {"required": True, "content": content}, "parameters": [*operation.parameters, *prefer]}
    return {"post": made}


@cache
def document() -> Schema:
    """The whole document. An installation that serves parts on several machines has one address for them all."""
    examples = json.loads(EXAMPLES.read_text("utf-8"))
    problem = {"application/problem+json": {"schema": _ref("Problem")}}
    return {
        "openapi": "3.1.1",
        "info": {
            "title": "Befund: text API",
            "version": __version__,
            "description": "German clinical text to ICD-10-GM codes, evidenced fields of letters, and drafts. Contents "
            "of requests are neither cached nor logged. The terminology operations under `/api/fhir/r4` describe "
            "themselves: `/api/fhir/r4/metadata`.",
        },
        "servers": [{"url": "/"}],
        "security": [{"key": []}],
        "paths": {operation.path: _operation(operation, examples) for operation in OPERATIONS},
        "components": {
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer", "bearerFormat": "bfd_..."}},
            "headers": _HEADERS,
            "responses": {
                str(status): {
                    "description": said,
                    "content": problem,
                    **({"headers": _RETRY} if status in (429,) else {}),
                }
                for status, said in _MEANT.items()
            },
            "schemas": _schemas(),
        },
    }


router = APIRouter()


@router.get(PATH)
async def openapi() -> Response:
    """The document for integrators and their generators; no key."""
    return Response(_written(), media_type=JSON)


@cache
def _written() -> bytes:
    return json.dumps(document(), ensure_ascii=False).encode()
