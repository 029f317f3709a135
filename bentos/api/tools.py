"""The tools for agents, and the guide to them, by the official package, whose import takes as long as that of half of
the server: hence a file of its own, which is read when the first agent calls.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from functools import partial, wraps
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, Final, Literal, ParamSpec, TypeVar

from mcp.server import streamable_http
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import BaseModel, Field, ValidationError
from pydantic_core import from_json
from starlette.datastructures import State
from starlette.types import ASGIApp

from bentos.api.admission import BODY_MAX
from bentos.api.agents import PATH, suggestions
from bentos.api.problems import of_error
from bentos.terminology import SYSTEM, Inputs, OperationRefused, lookup, validate_code
from clinical import __version__
from clinical.coding import research
from clinical.contract import (
    ExtractRequest,
    ExtractResponse,
    PartialEvent,
    ResearchRequest,
    SuggestRequest,
    SuggestResponse,
)
from clinical.errors import BefundError, NotReady
from clinical.letters import extract, extract_by_rules

GUIDE: Final = Path(__file__).with_name("agents.md")
MOST_CODES: Final = 50

Parts = tuple[str, ...]
Result = TypeVar("Result")
P = ParamSpec("P")


class PropertyValue(BaseModel):
    """A property of a code."""

    name: str
    value: str | bool


class KnownCode(BaseModel):
    """A code of the classification with what is known of it."""

    code: str
    title: str
    version: str
    synonyms: list[str]
    properties: list[PropertyValue]


class ValidatedCode(BaseModel):
    """A code as it was given, whether it is one, the code that is meant, its title, and what there is to say to it."""

    given: str
    valid: bool
    code: str | None = None
    title: str | None = None
    remarks: list[str] = []


class ValidatedCodes(BaseModel):
    """Every code that was given, in its order."""

    codes: list[ValidatedCode]


def server_of(state: State, parts: Parts) -> MCPServer:
    """The tools of these parts over the state of the application, and the guide."""
    quiet = logging.NullHandler()  # the package sets up the root logger where it finds it without a handler
    logging.getLogger().addHandler(quiet)
    try:
        made = MCPServer("befund", title="Befund", version=__version__, instructions=GUIDE.read_text("utf-8"))
    finally:
        logging.getLogger().removeHandler(quiet)
    logging.getLogger("mcp").disabled = True
    for name in [name for name in logging.root.manager.loggerDict if name.startswith("mcp.")]:
        logging.getLogger(name).disabled = True
    if "coding" in parts:
        _add_codes(made, state)
    if "extraction" in parts:
        _add_letters(made, state)

    @made.resource("befund://guide", title="Anleitung", mime_type="text/markdown")
    def guide() -> str:
        """Guide to the tools and to the worth of their results."""
        return GUIDE.read_text("utf-8")

    return made


def _add_codes(made: MCPServer, state: State) -> None:
    @made.tool(title="Text kodieren")
    @_in_words
    async def code_text(text: Annotated[str, Field(max_length=2_000)]) -> PartialEvent:
        """ICD-10-GM codes for a German clinical text, with the place each rests on, confidence, and every mention."""
        if state.index is None:
            raise NotReady("the catalog is not loaded")
        async with aclosing(research(ResearchRequest(query=text, details=True), state.index, None)) as events:
            return await anext(event async for event in events if isinstance(event, PartialEvent))

    @made.tool(title="Kodes vorschlagen")
    @_in_words
    async def suggest_codes(
        text: Annotated[str, Field(max_length=200)],
        limit: Annotated[int, Field(ge=1, le=50)] = 8,
        sex: Literal["M", "W"] | None = None,
        age: float | None = None,
    ) -> SuggestResponse:
        """Codes for the first characters of words or of a code, the commonest first."""
        return suggestions(state.index, SuggestRequest(text=text, limit=limit, sex=sex, age=age))

    @made.tool(title="Kode nachschlagen")
    @_in_words
    async def look_up_code(code: Annotated[str, Field(max_length=24)], year: int | None = None) -> KnownCode:
        """Title, synonyms, notes and limits of a code; of the newest catalog, or of a year."""
        return _known(lookup(_systems(state), Inputs(_named(code, year))))

    @made.tool(title="Kodes prüfen")
    @_in_words
    async def validate_codes(
        codes: Annotated[list[Annotated[str, Field(max_length=24)]], Field(max_length=MOST_CODES)],
        year: int | None = None,
    ) -> ValidatedCodes:
        """Check that each is a code of the year, terminal, and allowed to stand alone."""
        systems = _systems(state)
        found = [validate_code(systems, Inputs(_named(code, year))) for code in codes]
        return ValidatedCodes(codes=[_validated(given, one) for given, one in zip(codes, found, strict=True)])


def _add_letters(made: MCPServer, state: State) -> None:
    @made.tool(title="Arztbrief auslesen")
    @_in_words
    async def extract_letter(
        text: Annotated[str, Field(max_length=20_000)],
        document_type: Literal["arztbrief", "zuweisung"] = "arztbrief",
    ) -> ExtractResponse:
        """Fields of a German letter or referral; every value is evidenced in the text, with its place."""
        body = ExtractRequest(document_type=document_type, text=text, evidence=True)
        if state.by_rules or state.model is None:
            return await extract_by_rules(body)
        return await extract(body, state.model)


def _in_words(tool: Callable[P, Awaitable[Result]]) -> Callable[P, Awaitable[Result]]:
    """The tool, whose errors are sentences that repeat nothing of the call."""

    @wraps(tool)
    async def answered(*args: P.args, **kwargs: P.kwargs) -> Result:
        try:
            return await tool(*args, **kwargs)
        except OperationRefused as error:
            raise ToolError("; ".join(issue.text for issue in error.issues)) from None
        except ValidationError:
            raise ToolError("Die Eingabe ist leer oder zu lang.") from None
        except BefundError as error:
            raise ToolError(of_error(error).detail) from None
        except Exception:  # noqa: BLE001 - the edge of the server: the text of an exception may quote its input
            raise ToolError("Interner Fehler.") from None

    return answered


def _systems(state: State) -> Any:
    if state.systems is None:
        raise NotReady("the catalog is not loaded")
    return state.systems


def _named(code: str, year: int | None) -> list[tuple[str, Any]]:
    version = [] if year is None else [("version", str(year))]
    return [("system", SYSTEM), ("url", SYSTEM), ("code", code), *version]


def _known(answer: dict[str, Any]) -> KnownCode:
    rows = answer["parameter"]
    plain = {row["name"]: next(row[key] for key in row if key != "name") for row in rows if "part" not in row}
    parts: dict[str, list[list[Any]]] = {"designation": [], "property": []}
    for row in rows:
        if "part" in row:
            parts[row["name"]].append([next(part[key] for key in part if key != "name") for part in row["part"]])
    return KnownCode(
        code=plain["code"],
        title=plain["display"],
        version=plain["version"],
        synonyms=[value for *_, value in parts["designation"][1:]],
        properties=[PropertyValue(name=name, value=value) for name, value in parts["property"]],
    )


def _validated(given: str, answer: dict[str, Any]) -> ValidatedCode:
    rows = {row["name"]: next(row[key] for key in row if key != "name") for row in answer["parameter"]}
    issues = rows.get("issues", {"issue": []})["issue"]
    title = rows.get("display")
    return ValidatedCode(
        given=given,
        valid=rows["result"],
        code=(rows.get("normalized-code") or rows["code"]) if title else None,
        title=title,
        remarks=[issue["details"]["text"] for issue in issues],
    )


def application_of(server: MCPServer) -> ASGIApp:
    """The ASGI application of the tools; it serves while the server's session manager runs.

    The package reads bodies by a function that keeps their short strings for as long as the process lives, and has no
    setting for it: it is handed the same function without that.
    """
    streamable_http.pydantic_core = SimpleNamespace(from_json=partial(from_json, cache_strings="keys"))  # type: ignore[attr-defined, assignment]
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # Agents, TrustedHost
    return server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=BODY_MAX,
        transport_security=security,
    )
