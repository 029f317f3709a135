"""/api/fhir/r4: ICD-10-GM by the operations of FHIR R4 terminology, in JSON and XML; /api/codes/suggest: type-ahead."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import parse_qsl

import orjson
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bentos.api.admission import admitted, read_body, understood
from bentos.api.agents import suggestions
from bentos.terminology import (
    Inputs,
    Issue,
    OperationRefused,
    Systems,
    capabilities,
    code_systems,
    concept_maps,
    expand,
    invalid,
    lookup,
    lookup_json,
    outcome,
    read,
    searched,
    statement,
    subsumes,
    translate,
    validate_code,
    value_sets,
)
from clinical.contract import SuggestRequest
from clinical.errors import NotReady
from clinical.fhir import MEDIA_TYPE, XML_TYPE, NotXml, from_xml, to_xml

BASE: Final = "/api/fhir/r4"
SUGGEST: Final = "/api/codes/suggest"
NO_STORE: Final = {"Cache-Control": "no-store"}

Operation = Callable[[Systems, Inputs], dict[str, Any]]


OPERATIONS: Final[dict[str, tuple[Operation, bool]]] = {
    "CodeSystem/$lookup": (lookup, False),
    "CodeSystem/$validate-code": (validate_code, False),
    "CodeSystem/$subsumes": (subsumes, False),
    "ValueSet/$expand": (expand, True),
    "ValueSet/$validate-code": (partial(validate_code, value_set=True), True),
    "ConceptMap/$translate": (translate, False),
}
"""Operations by path, and whether they take long enough to leave the event loop: those that go over all codes."""
RESOURCES: Final = {"CodeSystem": code_systems, "ValueSet": value_sets, "ConceptMap": concept_maps}


async def suggest(request: Request) -> Response:
    """Codes for the first characters of words, the likeliest first."""
    await admitted(request)
    answer = suggestions(request.app.state.index, understood(request, SuggestRequest, await read_body(request)))
    return Response(answer.model_dump_json(), media_type="application/json", headers=NO_STORE)


async def metadata(request: Request) -> Response:
    """The CapabilityStatement, or with `mode=terminology` the TerminologyCapabilities."""
    await admitted(request)
    made = capabilities if request.query_params.get("mode") == "terminology" else statement
    return _answered(request, made(_systems(request)))


async def search(request: Request) -> Response:
    """The resources of a kind, by `url`, `version`, `_id`."""
    await admitted(request)
    kind = request.path_params["kind"]
    if kind not in RESOURCES:
        raise HTTPException(404)
    found = RESOURCES[kind](_systems(request))
    base = str(request.base_url).rstrip("/") + BASE
    return _answered(request, searched(found, _of_address(request), base))


async def read_or_ask(request: Request) -> Response:
    """A resource by its id, or an operation with its parameters in the address or in a body."""
    await admitted(request)
    kind, name = request.path_params["kind"], request.path_params["name"]
    path = f"{kind}/{name}"
    if path not in OPERATIONS:
        if kind not in RESOURCES or request.method == "POST":
            raise HTTPException(404)
        return _answered(request, read(RESOURCES[kind](_systems(request)), name))
    given = _of_address(request)
    if request.method == "POST":
        body = Inputs.of_resource(await asyncio.to_thread(_resource, request, await read_body(request)))
        given = body.also(given.items())
    operation, takes_long = OPERATIONS[path]
    systems = _systems(request)
    if operation is lookup and not _wants_xml(request):
        return _Json(lookup_json(systems, given))
    if takes_long:
        return await asyncio.to_thread(lambda: _answered(request, operation(systems, given)))
    return _answered(request, operation(systems, given))


ROUTES: Final = (
    Route(f"{BASE}/metadata", metadata),
    Route(f"{BASE}/{{kind}}/{{name}}", read_or_ask, methods=["GET", "POST"]),
    Route(f"{BASE}/{{kind}}", search),
    Route(SUGGEST, suggest, methods=["POST"]),
)


def _systems(request: Request) -> Systems:
    systems: Systems | None = request.app.state.systems
    if systems is None:
        raise NotReady("the catalog is not loaded")
    return systems


def _of_address(request: Request) -> Inputs:
    return Inputs(parse_qsl(request.scope["query_string"].decode("latin-1"), keep_blank_values=True))


def _resource(request: Request, body: bytes) -> Any:
    """The resource of a body in JSON or XML. Raises OperationRefused for anything else."""
    if "xml" not in request.headers.get("content-type", ""):
        try:
            return orjson.loads(body)
        except orjson.JSONDecodeError:
            raise invalid("the body is no JSON", kind="structure") from None
    try:
        return from_xml(body)
    except NotXml:
        raise invalid("the body is no resource in XML", kind="structure") from None


def _answered(request: Request, resource: dict[str, Any], status: int = HTTPStatus.OK) -> Response:
    """The resource as JSON, or as XML where that is asked for (`_format`, Accept)."""
    if _wants_xml(request):
        return Response(to_xml(resource), status, NO_STORE, f"{XML_TYPE}; charset=utf-8")
    return _Json(orjson.dumps(resource), status)


class _Json(Response):
    """A resource as JSON. Its headers are always the same: they are not looked for and put together each time."""

    _HEADERS = ((b"content-type", f"{MEDIA_TYPE}; charset=utf-8".encode()), (b"cache-control", b"no-store"))

    def __init__(self, resource: bytes, status: int = HTTPStatus.OK) -> None:
        self.status_code, self.body, self.background = status, resource, None
        self.raw_headers = [(b"content-length", str(len(resource)).encode()), *self._HEADERS]


def _wants_xml(request: Request) -> bool:
    asked = request.query_params.get("_format") if b"format" in request.scope["query_string"] else None
    wanted = asked or request.headers.get("accept", "")
    return "xml" in wanted and "json" not in wanted


def refusal(request: Request, error: OperationRefused) -> Response:
    """The OperationOutcome of an operation that cannot be done."""
    return _answered(request, outcome(error.issues), error.status)


def outcome_of(request: Request, status: int, text: str, headers: dict[str, str]) -> Response:
    """The OperationOutcome of an error that any route may have."""
    kind = _KINDS.get(status, "exception")
    answer = _answered(request, outcome([Issue("error", kind, "", text)]), status)
    answer.headers.update(headers)
    return answer


_KINDS: Final = {
    401: "login",
    404: "not-found",
    405: "not-supported",
    413: "too-long",
    429: "throttled",
    503: "transient",
}
