"""The OpenAPI document of the text API: `openapi.json` beside this file, completed by the schemas of the contract's
models, the examples, and what all operations with a key share.

Source: OpenAPI 3.1.1. The schema of a stream is that of each of its events, the JSON in `data` by `contentSchema`
(JSON Schema 2020-12). It has no word for the lines of NDJSON: `x-line` beside the text's own schema names theirs.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any, Final

from fastapi import APIRouter, Response
from pydantic.json_schema import models_json_schema

from bentos.api.bulk import NDJSON
from bentos.api.extraction import EXPLAINED
from clinical import __version__, contract

PATH: Final = "/openapi.json"
WRITTEN: Final = Path(__file__).with_name("openapi.json")
EXAMPLES: Final = Path(__file__).with_name("examples.json")
KEYED: Final = ("401", "408", "413", "422", "429", "500", "503")
"""Status codes of errors that every operation with a key may be answered with."""
SOMETIMES: Final[dict[str, frozenset[str]]] = {
    "PartialEvent": frozenset({"mentions", "beyond"}),
    "ExtractFileResponse": frozenset(EXPLAINED),
    "CatalogHealth": frozenset({"vocabularies"}),
}
"""Fields of answers that are left out unless asked for; all others are always there."""
_NAMED: Final = re.compile(r'"#/components/schemas/(\w+)"')

Schema = dict[str, Any]


@cache
def document() -> Schema:
    """The whole document. An installation that serves parts on several machines has one address for them all."""
    made: Schema = json.loads(WRITTEN.read_text("utf-8"))
    examples, components = json.loads(EXAMPLES.read_text("utf-8")), made["components"]
    made["info"]["version"] = __version__
    components["schemas"] = _schemas(made) | components["schemas"]
    problem = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    for response in components["responses"].values():
        response["content"] = problem
    for operation in operations(made):
        _complete(operation, examples[operation["operationId"]], list(components["headers"]))
    return made


def operations(made: Schema) -> list[Schema]:
    """The operations of a document."""
    return [operation for path in made["paths"].values() for operation in path.values()]


def named(part: Any) -> list[str]:
    """The names of the schemas that a part of a document refers to, in its order."""
    return list(dict.fromkeys(_NAMED.findall(json.dumps(part))))


def _schemas(made: Schema) -> dict[str, Schema]:
    """The schemas of all models, by name. What an answer always holds is required there."""
    written = made["components"]["schemas"]
    models = [getattr(contract, name) for name in sorted(set(named(made)) - set(written))]
    _, found = models_json_schema(
        [(model, "validation") for model in models], ref_template="#/components/schemas/{model}"
    )
    schemas: dict[str, Schema] = found["$defs"]
    asked = _reached(schemas, {name for one in operations(made) for name in named(one.get("requestBody"))})
    for name, schema in schemas.items():
        if name not in asked and "properties" in schema:
            schema["required"] = [key for key in schema["properties"] if key not in SOMETIMES.get(name, ())]
    return schemas


def _reached(schemas: dict[str, Schema], names: set[str]) -> set[str]:
    """The names of schemas, and of all that they refer to."""
    reached, left = set(), names
    while left:
        reached |= left
        left = {further for name in left for further in named(schemas[name])} - reached
    return reached


def _complete(operation: Schema, shown: Schema, headers: list[str]) -> None:
    """Add the examples, and where the operation wants a key, its errors, headers and `Prefer`."""
    keyed, responses = "security" not in operation, operation["responses"]
    answered = responses["200"]
    answered["description"] = "Done"
    answered["headers"] = {name: {"$ref": f"#/components/headers/{name}"} for name in headers} if keyed else {}
    for content in answered["content"].values():
        content["examples"] = shown["answers"]
    for status in KEYED if keyed else ("500",):
        responses[status] = {"$ref": f"#/components/responses/{status}"}
    if not keyed:
        return
    body = operation["requestBody"]
    body["required"] = True
    (sent_as, content), *_form = body["content"].items()
    content["examples"] = shown["bodies"]
    prefer = [] if sent_as == NDJSON else [{"$ref": "#/components/parameters/Prefer"}]
    operation["parameters"] = [*operation.get("parameters", ()), *prefer]


router = APIRouter()


@router.get(PATH)
async def openapi() -> Response:
    """The document for integrators and their generators; no key."""
    return Response(_written(), media_type="application/json")


@cache
def _written() -> bytes:
    return json.dumps(document(), ensure_ascii=False).encode()
