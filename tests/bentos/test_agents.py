"""The tools for agents, asked by the official client in both eras of the protocol."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from bentos.api import tools
from bentos.keys.keys import KeyLimits, Keys
from clinical.contract import SuggestResponse
from clinical.reading.index import SearchIndex
from clinical.settings import Settings
from tests.bentos.conftest import ROOT, running

LETTER = "Patient: Max Muster, geb. 01.02.1960\nDiagnosen: Arterielle Hypertonie\nMedikation: Ramipril 5 mg"
TOOLS = {"code_text", "suggest_codes", "look_up_code", "validate_codes", "extract_letter"}


async def said(transport: Any, mode: str, calls: Callable[[Client], Any]) -> Any:
    async with Client(transport, mode=mode) as client:
        return await calls(client)


@pytest.fixture(params=["legacy", "2026-07-28"])
def ask(request: pytest.FixtureRequest, api: httpx2.Client, key: str) -> Callable[..., Any]:
    """Calls of the official client, in the era of the handshake and in the stateless one."""

    def asked(calls: Callable[[Client], Any]) -> Any:
        async def run() -> Any:
            async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, trust_env=False) as http:
                transport = streamable_http_client(f"{api.base_url}/mcp".replace("//mcp", "/mcp"), http_client=http)
                return await said(transport, request.param, calls)

        return asyncio.run(run())

    return asked


def test_the_tools_and_the_guide_are_there(ask: Callable[..., Any]) -> None:
    tools = ask(lambda client: client.list_tools()).tools
    assert {tool.name for tool in tools} == TOOLS
    assert all(tool.output_schema for tool in tools)
    guide = ask(lambda client: client.read_resource("befund://guide")).contents[0].text
    assert all(tool in guide for tool in TOOLS)


def called(ask: Callable[..., Any], name: str, **arguments: Any) -> Any:
    """The structured result of a tool."""
    result = ask(lambda client: client.call_tool(name, arguments))
    assert not result.is_error, result.content
    return result.structured_content


def test_every_tool_answers(ask: Callable[..., Any]) -> None:
    text = "Arterielle Hypertonie, kein Diabetes."
    coded = called(ask, "code_text", text=text)
    assert coded["codes"][0]["code"] == "I10.90"
    place = coded["codes"][0]["evidence"]
    assert text[place["start"] : place["end"]] == "Arterielle Hypertonie"
    assert {each["claim"] for each in coded["mentions"]} == {"present", "excluded"}
    assert called(ask, "suggest_codes", text="diab", limit=1)["codes"][0]["code"] == "E11.90"
    known = called(ask, "look_up_code", code="I10.90")
    assert ("terminal", True) in {(each["name"], each["value"]) for each in known["properties"]}
    judged = called(ask, "validate_codes", codes=["I10.90", "I10", "X99.99", "e11.90"])["codes"]
    assert [(each["valid"], each["code"]) for each in judged] == [
        (True, "I10.90"),
        (True, "I10"),
        (False, None),
        (True, "E11.90"),
    ]
    assert "nicht endständig" in judged[1]["remarks"][0]
    letter = called(ask, "extract_letter", text=LETTER)
    assert letter["data"]["medikation"] == ["Ramipril 5 mg"]
    assert letter["evidence"]


def test_a_tool_that_fails_repeats_nothing(ask: Callable[..., Any], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    for name, arguments in (("look_up_code", {"code": "Geheimnis"}), ("code_text", {"text": " " * 5})):
        assert ask(lambda client, name=name, arguments=arguments: client.call_tool(name, arguments)).is_error
    ours = [record.getMessage() for record in caplog.records if record.name.startswith(("befund", "mcp.server"))]
    assert not any("Geheimnis" in line for line in ours)


def test_the_key_and_its_limits_hold(settings: Settings, index: SearchIndex, keys: Keys) -> None:
    key = keys.create("one", KeyLimits(per_minute=1, per_day=0))
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    headers = {"Authorization": f"Bearer {key}", "Accept": "application/json, text/event-stream"}
    with running(settings, index) as client:
        bare = client.post("/mcp", json=body)
        assert (bare.status_code, bare.headers["www-authenticate"][:6]) == (401, "Bearer")
        assert client.post("/mcp", json=body, headers=headers).status_code == 200
        assert client.post("/mcp", json=body, headers=headers).status_code == 429


def test_no_string_of_a_call_is_kept(ask: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[str] = []

    def suggestions(_: object, body: Any) -> SuggestResponse:
        heard.append(body.text)
        return SuggestResponse(version="2026", codes=())

    monkeypatch.setattr(tools, "suggestions", suggestions)
    for _ in range(2):
        called(ask, "suggest_codes", text="Zwirnwald")
    assert heard[0] == heard[1] == "Zwirnwald"
    assert heard[0] is not heard[1]


def test_pages_of_other_hosts_are_turned_away(api: httpx2.Client) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    own = str(api.base_url).rstrip("/")
    statuses = {
        origin: api.post("/mcp", json=body, headers={"Origin": origin, "Accept": "application/json, text/event-stream"})
        for origin in (own, "http://evil.example", "null")
    }
    assert [answer.status_code for answer in statuses.values()] == [200, 403, 403]


def test_a_desk_is_served_on_standard_input(starter_artifact: Path) -> None:
    environment = {**os.environ, "BEFUND_CATALOG": str(starter_artifact), "PYTHONPATH": str(ROOT)}
    desk = StdioServerParameters(command=sys.executable, args=["-m", "bentos", "mcp"], env=environment, cwd=ROOT)
    with open(os.devnull, "w") as nowhere:
        found = asyncio.run(
            said(
                stdio_client(desk, errlog=nowhere),
                "auto",
                lambda client: client.call_tool("suggest_codes", {"text": "diab"}),
            )
        )
    assert found.structured_content["codes"][0]["code"] == "E11.90"


def test_nothing_but_the_protocol_is_written_where_the_desk_reads(starter_artifact: Path) -> None:
    environment = {**os.environ, "BEFUND_CATALOG": str(starter_artifact), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "bentos", "mcp"]
    done = subprocess.run(command, input="", env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "")
