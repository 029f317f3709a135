"""The OpenAPI document: complete, true by generated calls, and good enough to generate clients from."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
import time

import jsonschema
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from bentos.api import description
from bentos.api.admission import IGNORED
from bentos.api.app import contract_paths
from bentos.api.problems import ANSWERS
from clinical.contract import BULK_CODES_MAX, BULK_LINES_MAX
from tests import described, fields
from tests.bentos.conftest import running
from tests.conftest import ROOT, stay_out
from tests.described import CHECKS
from tests.webapp.sso.live import node_missing

NODE = ROOT / "tests" / "node"
DOCUMENT = description.document()
PATHS = pytest.mark.parametrize("path", DOCUMENT["paths"])


@pytest.fixture
def by_rules(make_settings, index, key):
    with running(make_settings(llm="rules"), index, key) as client:
        yield client


def _schema(name: str) -> dict:
    return {"$ref": f"#/components/schemas/{name}", "components": DOCUMENT["components"]}


def _required(schema: dict) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator({**schema, "components": DOCUMENT["components"]})


# --- the document ----------------------------------------------------------------------------------------------------


def test_it_is_served_to_everybody_as_a_valid_document(by_rules):
    answer = by_rules.get(description.PATH, headers={"Authorization": ""})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    OpenAPIV31SpecValidator(answer.json()).validate()


def test_every_path_of_the_contract_is_described():
    others = ("/api/fhir/r4/", "/mcp", description.PATH)
    assert set(DOCUMENT["paths"]) == set(contract_paths()) - set(others)


def test_every_status_that_an_error_is_answered_with_is_described():
    ours = {int(status) for status in DOCUMENT["components"]["responses"]}
    assert {kind.status for kind in ANSWERS.values()} <= ours


def test_bounds_in_the_document_are_those_of_the_contract():
    bulk = DOCUMENT["paths"]["/api/codes/bulk"]["post"]
    assert f" {BULK_LINES_MAX} texts" in bulk["summary"]
    assert bulk["parameters"][0]["schema"]["maximum"] == BULK_CODES_MAX
    assert IGNORED in DOCUMENT["components"]["headers"]


@PATHS
def test_examples_are_answered_as_the_document_says(path, by_rules):
    ((method, operation),) = DOCUMENT["paths"][path].items()
    shown = json.loads(description.EXAMPLES.read_text("utf-8"))[operation["operationId"]]
    ((kind, content),) = operation["responses"]["200"]["content"].items()
    real = [by_rules.get(path)] if method == "get" else []
    for body in shown["bodies"].values():
        sent = body["value"] if isinstance(body["value"], str) else json.dumps(body["value"])
        real.append(by_rules.post(path, content=sent))
    assert [answer.status_code for answer in real] == [200] * len(real)
    for text in [*(answer.text for answer in real), *(_text(answer["value"]) for answer in shown["answers"].values())]:
        _check(kind, content, text)


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _check(kind: str, content: dict, text: str) -> None:
    if kind == "text/event-stream":
        events = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
        schema = content["schema"]["properties"]["data"]["contentSchema"]
        assert json.loads(events[-1])["type"] == "result"
        lines = events
    elif kind == description.NDJSON:
        schema, lines = content["x-line"], text.splitlines()
    else:
        schema, lines = content["schema"], [text]
    assert lines
    for line in lines:
        _required(schema).validate(json.loads(line))


def test_an_answer_without_one_of_its_fields_would_be_noticed():
    schema = _required({"$ref": "#/components/schemas/CodeEntry"})
    whole = {"code": "E11.90", "description": "x", "confidence": "high", "reasoning": "", "score": None}
    schema.validate(whole)
    for name in whole:
        assert not schema.is_valid({key: value for key, value in whole.items() if key != name}), name


def test_generated_calls_find_no_error_and_no_answer_that_is_not_described(index, tmp_path):
    """5,000 calls: python -m tests.described --catalog CATALOG."""
    found = described.described(index, tmp_path, calls=150)
    assert found.fine, found.said
    assert found.calls >= 150
    assert found.server_errors == 0
    assert len(CHECKS) == 9


# --- clients ---------------------------------------------------------------------------------------------------------


def test_a_generated_client_for_python_codes_a_text(by_rules, key, tmp_path, monkeypatch):
    (tmp_path / "api.json").write_text(json.dumps(DOCUMENT))
    (tmp_path / "options.json").write_text(
        json.dumps(
            {
                "package_name_override": "befund_client",
                "content_type_overrides": {
                    "text/event-stream": "application/octet-stream",
                    "application/x-ndjson": "application/octet-stream",
                },
                "post_hooks": [],
            }
        )
    )
    program = [sys.executable, "-m", "openapi_python_client", "generate", "--path", "api.json"]
    program += ["--config", "options.json", "--output-path", "client"]
    done = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stdout + done.stderr, "something was left out"
    monkeypatch.syspath_prepend(str(tmp_path / "client"))
    client = importlib.import_module("befund_client").AuthenticatedClient(str(by_rules.base_url), token=key)
    models = importlib.import_module("befund_client.models")
    suggest = importlib.import_module("befund_client.api.default.codes_suggest")
    found = suggest.sync(client=client, body=models.SuggestRequest(text="hyperton", limit=2))
    assert isinstance(found, models.SuggestResponse)
    assert [one.code[:1] for one in found.codes] == ["I", "I"]
    extract = importlib.import_module("befund_client.api.default.documents_extract")
    letter = models.ExtractRequest(models.ExtractRequestDocumentType.ARZTBRIEF, "Diagnosen:\n- Asthma bronchiale")
    assert list(extract.sync(client=client, body=letter).data.diagnosen) == ["Asthma bronchiale"]
    refused = suggest.sync_detailed(client=client, body=models.SuggestRequest(text=" "))
    assert refused.status_code == 422
    assert refused.parsed.status == 422
    assert refused.parsed.errors[0].loc == ["body", "text"]


PROGRAM = """
import createClient from "openapi-fetch";
import type { paths, components } from "./api.js";

const [base, key] = process.argv.slice(2) as [string, string];
const client = createClient<paths>({ baseUrl: base, headers: { Authorization: `Bearer ${key}` } });
const { data, error } = await client.POST("/api/codes/suggest", { body: { text: "hyperton", limit: 2 } });
if (!data) throw new Error(error.detail);
const codes: string[] = data.codes.map((one) => one.code);
const letter = await client.POST("/api/documents/extract", {
  body: { document_type: "arztbrief", text: "Diagnosen:\\n- Asthma bronchiale" },
});
const event: components["schemas"]["ResearchEvent"] = { type: "status", status: "searching", message: "" };
const bad = await client.POST("/api/codes/suggest", { body: { text: " " } });
console.log(JSON.stringify([codes.length, letter.data?.data.diagnosen, event.type, bad.error?.status]));
"""


def test_a_generated_client_for_typescript_compiles_and_codes_a_text(by_rules, key, tmp_path):
    if missing := node_missing("openapi-typescript"):
        stay_out(missing)
    (tmp_path / "node_modules").symlink_to(NODE / "node_modules")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "api.json").write_text(json.dumps(DOCUMENT))
    (tmp_path / "program.ts").write_text(PROGRAM)
    _node(tmp_path, "openapi-typescript/bin/cli.js", "api.json", "--default-non-nullable", "false", "-o", "api.ts")
    options = ("--strict", "--module", "nodenext", "--target", "es2022", "--lib", "es2022,dom", "--skipLibCheck")
    (tmp_path / "globals.d.ts").write_text("declare const process: { argv: string[] };")
    _node(tmp_path, "typescript/bin/tsc", *options, "globals.d.ts", "program.ts")
    said = _node(tmp_path, None, "program.js", str(by_rules.base_url), key)
    assert json.loads(said) == [2, ["Asthma bronchiale"], "status", 422]


def _node(folder, script: str | None, *words: str) -> str:
    command = ["node", *([str(NODE / "node_modules" / script)] if script else []), *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# --- what is not understood, and what is left -------------------------------------------------------------------------


def test_unknown_fields_are_named_and_refused_where_the_caller_is_strict(by_rules):
    body = {"text": "hyperton", "limti": 3, "é\r\nX: y": 1}
    answer = by_rules.post("/api/codes/suggest", json=body)
    assert answer.status_code == 200
    assert answer.headers["befund-ignored"] == "limti, %C3%A9%0D%0AX%3A%20y"
    assert "befund-ignored" not in by_rules.post("/api/codes/suggest", json={"text": "hyperton"}).headers
    refused = by_rules.post("/api/codes/suggest", json=body, headers={"Prefer": "respond-async, handling=Strict"})
    assert refused.status_code == 422
    assert refused.json()["errors"][0] == {
        "loc": ["body", "limti"],
        "msg": "Das Feld ist nicht bekannt.",
        "type": "extra_forbidden",
    }


@pytest.mark.parametrize("form", [False, True])
def test_unknown_fields_beside_a_file_are_named_too(form, by_rules):
    if form:
        answer = by_rules.post("/api/documents/text", files={"file": b"Husten"}, data={"width2": "5"})
        assert answer.headers["befund-ignored"] == "width2"
    else:
        content = {"data": "SHVzdGVu", "contenttype": "text/plain"}
        answer = by_rules.post("/api/documents/text", json={"content": content, "x": {"y": 1}})
        assert answer.headers["befund-ignored"] == "x, content.contenttype"
    assert answer.json()["text"] == "Husten"


def test_a_body_of_nothing_but_unknown_fields_costs_its_length_and_names_a_few(by_rules):
    body = {f"f{number}": 0 for number in range(60_000)}
    answer = by_rules.post("/api/codes/suggest", json={"text": "hyperton", **body})
    assert len(answer.headers["befund-ignored"].split(", ")) == 20
    refused = by_rules.post("/api/codes/suggest", json={"text": "h", **body}, headers={"Prefer": "handling=strict"})
    assert len(refused.json()["errors"]) == 20


def test_every_answer_says_what_is_left_of_the_limits(by_rules, keys):
    from bentos.keys import KeyLimits

    own = {"Authorization": f"Bearer {keys.create('x', KeyLimits(3, 5))}"}

    def asked(text: str):
        answer = by_rules.post("/api/codes/suggest", json={"text": text}, headers=own)
        assert answer.headers["ratelimit-policy"] == '"minute";q=3;w=60, "day";q=5;w=86400'
        left = re.fullmatch(r'"minute";r=(\d+);t=(\d+), "day";r=(\d+);t=(\d+)', answer.headers["ratelimit"])
        minute, _, day, until = (int(number) for number in left.groups())
        assert abs(until - (86_400 - time.time() % 86_400)) < 30 or until > 86_000
        return answer.status_code, minute, day

    assert asked("hyperton") == (200, 2, 4)
    assert asked(" ") == (422, 1, 3)
    assert asked("hyperton") == (200, 0, 2)
    refused = by_rules.post("/api/codes/suggest", json={"text": "x"}, headers=own)
    assert refused.status_code == 429
    assert re.fullmatch(r'"minute";r=0;t=\d+', refused.headers["ratelimit"])
    free = by_rules.post("/api/codes/suggest", json={"text": "x"})
    assert "ratelimit" not in free.headers, "a key without limits"


def test_the_table_of_fields_in_the_documentation_is_that_of_the_models():
    assert fields.page() == fields.PAGE.read_text("utf-8"), "python -m tests.fields"
