"""`python -m bentos check-model` against model servers that are right, and wrong in one way each."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys

import pytest
from starlette.responses import JSONResponse

from bentos.__main__ import main
from bentos.check_model import WORD, check
from bentos.language_model import Endpoint
from tests.bentos.conftest import ROOT
from tests.openai_server import completion, model_server
from tests.serving import free_port

KEY = "schluessel-fuer-den-test"
GERMAN = "Eine Lungenentzündung ist eine Entzündung der Lunge, die durch Bakterien oder Viren verursacht wird."
SAID = {
    "Farbe": json.dumps({"farbe": WORD}),
    "Hauptstadt": "München",
    "Kennwort": WORD,
    "Lungenentzündung": GERMAN,
}


def well(body, number):
    """A model that does all that is asked."""
    question = body["messages"][-1]["content"]
    if body["max_tokens"] == 8:
        return completion("Das Blut fließt", "length")
    return completion(next((said for word, said in SAID.items() if word in question), "ok"))


def but(word, says, reason="stop", **message):
    """The same, but for one question."""
    return lambda body, number: (
        completion(says, reason, **message) if word in body["messages"][-1]["content"] else well(body, number)
    )


def _models():
    return JSONResponse({"data": [{"id": "test/model-1b", "max_model_len": 16_384}]})


def _rows(quirk, key=KEY, **more):
    async def rows(url):
        return {row.check: row async for row in check(Endpoint(url, key, **more))}

    with model_server(quirk=quirk, key=KEY, models=_models) as server:
        return asyncio.run(rows(server.base_url))


def test_a_model_that_does_all_that_is_needed_has_no_row_that_is_not_ok():
    rows = _rows(well)
    assert {name: row.verdict for name, row in rows.items()} == dict.fromkeys(
        ("key", "name", "schema", "thinking", "truncation", "context", "German", "latency", "without key"), "ok"
    )
    assert "16384 tokens" in rows["context"].found


def _words_only(body, number):
    if "response_format" in body:
        return JSONResponse({"error": {"message": "response_format is not supported"}}, status_code=400)
    return well(body, number)


def _cut_without_a_word(body, number):
    return completion("Das Blut fließt durch") if body["max_tokens"] == 8 else well(body, number)


@pytest.mark.parametrize(
    ("quirk", "name", "verdict", "found"),
    [
        (but("Farbe", '{"farbe": "blau"}'), "schema", "fail", "ignored without a word"),
        (but("Farbe", "Blau."), "schema", "fail", "no answer in the form"),
        (_words_only, "schema", "warn", "stands in the prompt"),
        (but("Hauptstadt", "<|channel|>final"), "thinking", "ok", "tokens"),
        (but("Hauptstadt", "<Reasoning_1>Bayern, also</Reasoning_1> München"), "thinking", "fail", "come through"),
        (_cut_without_a_word, "truncation", "fail", "no word of the cut"),
        (but("Kennwort", "Welches Kennwort?"), "context", "fail", "the beginning of a long text was lost"),
        (but("Lungenentz", "Pneumonia is an infection of one or both of the lungs."), "German", "fail", "0%"),
        (but("Lungenentz", ""), "German", "fail", "0 words"),
    ],
)
def test_what_is_wrong_has_its_row_and_the_others_stay_ok(quirk, name, verdict, found):
    rows = _rows(quirk)
    assert (rows[name].verdict, found in rows[name].found) == (verdict, True), rows[name]
    assert rows[name].remedy or verdict == "ok"
    assert [row for row in rows.values() if row.check != name and row.verdict != "ok"] == []


def test_a_model_that_thinks_is_warned_of():
    def thinks(body, number):
        answer = well(body, number)
        if "Hauptstadt" not in body["messages"][-1]["content"]:
            return answer
        said = json.loads(answer.body)
        said["usage"]["completion_tokens"] = 180
        return JSONResponse(said)

    row = _rows(thinks)["thinking"]
    assert (row.verdict, row.found) == ("warn", "180 tokens for 7 characters: it thinks")


def test_a_wrong_key_or_name_is_the_only_row():
    (row,) = _rows(well, key="falscher-schluessel").values()
    assert (row.check, row.verdict) == ("key", "fail")
    assert "401" in row.found
    assert "BEFUND_LLM_API_KEY" in row.remedy
    assert _rows(well, model="gibt/es-nicht")["name"].verdict == "warn"


def test_a_server_without_a_key_and_a_small_or_unknown_context_are_warned_of():
    async def rows(url, **more):
        return {row.check: row async for row in check(Endpoint(url, **more))}

    with model_server(quirk=well) as server:
        unknown = asyncio.run(rows(server.base_url))
        small = asyncio.run(rows(server.base_url, context=5_500))
    assert unknown["without key"].verdict == "warn"
    assert unknown["context"].remedy == "set BEFUND_LLM_CONTEXT"
    assert small["context"].verdict == "warn"


def _command(**settings):
    environment = {**os.environ, "BEFUND_ENV": "production", **settings}
    words = [sys.executable, "-m", "bentos", "check-model"]
    return subprocess.run(
        words, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False
    )  # fmt: skip


def test_the_command_prints_a_table_for_each_server_and_its_status_says_whether_something_failed(tmp_path, capsys):
    gone = f"http://127.0.0.1:{free_port()}/v1"
    with model_server(quirk=well, key=KEY) as server:
        settings = {"BEFUND_LLM_API_KEY": KEY, "BEFUND_VAR": str(tmp_path)}
        good = _command(BEFUND_LLM_BASE_URL=server.base_url, **settings)
        bad = _command(BEFUND_LLM_BASE_URL=f"{gone},{server.base_url}", **settings)
    assert good.returncode == 0, good.stdout + good.stderr
    table = [line.split() for line in good.stdout.splitlines() if line and not line.startswith("http")]
    assert [words[:2] for words in table][:3] == [["key", "ok"], ["name", "ok"], ["schema", "ok"]]
    assert bad.returncode == 1
    assert bad.stdout.startswith(
        f"{gone}\n\nkey          fail  the connection to the language model broke or was refused"
    )
    assert good.stdout.splitlines()[2] in bad.stdout
    assert KEY not in good.stdout + good.stderr + bad.stdout + bad.stderr
    assert main(["check-model"]) == 1
    assert capsys.readouterr().err == "befund: no language model is set up; set BEFUND_LLM_BASE_URL\n"
