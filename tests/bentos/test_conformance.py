"""Model servers of many makes: each quirk comes out as the answer it holds, or as an error of its kind."""

from __future__ import annotations

import asyncio
import logging
from typing import Literal

import pytest

from bentos.language_model import Endpoint, OpenAIModel
from bentos.model_server import base_url_of
from clinical.contract import ExtractRequest, GenerateRequest
from clinical.errors import ModelContextTooSmall, ModelUnavailable
from clinical.generation import generate
from clinical.letters import extract
from clinical.llm import Form, Limits, Message, ask
from tests.model_quirks import CASES, DRAFT, THOUGHT, Case, always, refused
from tests.openai_server import ModelServer, completion, model_server
from tests.serving import free_port

LIMITS = Limits(max_tokens=200, timeout_s=10)
REQUEST = GenerateRequest(prompt="Fasse zusammen.", text="Husten.")


class Finding(Form):
    phrase: str
    kind: Literal["present", "excluded"]


async def _asked(base_url: str, case: Case) -> str:
    model = OpenAIModel(Endpoint(base_url, **case.endpoint))
    try:
        if not case.form:
            return (await generate(REQUEST, model)).output
        question = [Message("system", "Fülle aus."), Message("user", "Husten")]
        return (await ask(model, question, Finding, LIMITS)).value.model_dump_json()
    finally:
        await model.close()


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_quirk_is_answered_rightly(name, caplog):
    case = CASES[name]
    caplog.set_level(logging.DEBUG)
    with model_server(quirk=case.quirk, **case.server) as server:
        if case.error:
            with pytest.raises(case.error) as caught:
                asyncio.run(_asked(server.base_url, case))
            assert THOUGHT not in str(caught.value)
        else:
            said = asyncio.run(_asked(server.base_url, case))
            assert said == ('{"phrase":"Husten","kind":"present"}' if case.form else DRAFT)
        assert len(server.calls) <= case.calls_max
    assert THOUGHT not in caplog.text


def _twice(server: ModelServer, **endpoint) -> list[str]:
    async def both() -> list[str]:
        model = OpenAIModel(Endpoint(server.base_url, **endpoint))
        return [(await generate(REQUEST, model)).output for _ in range(2)]

    return asyncio.run(both())


@pytest.mark.parametrize("name", ["openai both", "no system role"])
def test_a_missing_capability_is_found_once(name):
    with model_server(quirk=CASES[name].quirk) as server:
        assert _twice(server) == [DRAFT, DRAFT]
        assert len(server.calls) == CASES[name].calls_max + 1


def test_words_of_a_request_that_a_refusal_echoes_teach_nothing():
    def echoing(body, number):
        return refused(f"bad request: {'x' * 400} temperature is not supported") if number < 1 else completion(DRAFT)

    with model_server(quirk=echoing) as server:
        with pytest.raises(ModelUnavailable):
            _twice(server)
        assert _twice(server) == [DRAFT, DRAFT]
        assert all("temperature" in body for body in server.calls)


def test_thinking_has_tokens_of_its_own_and_settings_travel():
    more = {"chat_template_kwargs": {"enable_thinking": False}, "reasoning_effort": "low", "seed": 7, "top_p": 0.9}
    with model_server(quirk=always(DRAFT)) as server:
        _twice(server, thinking_tokens=1_000, extra_body=more)
        body = server.calls[0]
    assert {name: body[name] for name in more} == more
    assert body["max_tokens"] == 4_096 + 1_000


def test_a_base_url_may_lack_its_version_and_may_hold_the_path_of_the_call():
    with model_server(quirk=always(DRAFT)) as server:
        for url in (server.base_url.removesuffix("/v1"), f"{server.base_url}/", f"{server.base_url}/chat/completions"):
            server_there = ModelServer(base_url=url)
            assert _twice(server_there) == [DRAFT, DRAFT]
    assert base_url_of("https://host/openai/v1") == "https://host/openai/v1"


def test_the_next_server_answers_when_one_is_gone_busy_or_broken():
    with model_server(quirk=always(DRAFT)) as good:
        gone = f"http://127.0.0.1:{free_port()}/v1"
        assert _twice(ModelServer(base_url=f"{gone}, {good.base_url}")) == [DRAFT, DRAFT]
        for status in (429, 500, 503):
            with model_server(quirk=lambda body, number, status=status: refused("no", status)) as bad:
                assert _twice(ModelServer(base_url=f"{bad.base_url},{good.base_url}")) == [DRAFT, DRAFT]
                assert len(bad.calls) == 1, "it rests after its failure"


def test_when_all_servers_are_gone_that_is_said():
    gone = ",".join(f"http://127.0.0.1:{free_port()}/v1" for _ in range(2))
    with pytest.raises(ModelUnavailable):
        _twice(ModelServer(base_url=gone))


@pytest.mark.parametrize("way", ["setting", "list"])
def test_a_letter_is_read_in_parts_that_fit_a_small_context(way):
    text = "\n".join(f"Zeile {number}: Husten und Fieber seit gestern." for number in range(450))
    request = ExtractRequest(document_type="arztbrief", text=text)
    listed = (lambda: completion("")) if way == "setting" else CASES["context from the list of models"].server["models"]

    async def read(base_url: str) -> None:
        await extract(request, OpenAIModel(Endpoint(base_url, model="test/model-1b", context=8_192)))

    with model_server(models=listed) as server:
        asyncio.run(read(server.base_url))
    assert len(server.calls) > 1
    for body in server.calls:
        characters = sum(len(turn["content"]) for turn in body["messages"])
        assert characters / 3 + body["max_tokens"] <= 8_192


def test_a_draft_of_a_text_that_cannot_fit_is_refused_before_it_is_sent():
    request = GenerateRequest(prompt="Fasse zusammen.", text="Husten. " * 2_400)

    async def draft(base_url: str) -> None:
        await generate(request, OpenAIModel(Endpoint(base_url, context=8_192)))

    with model_server() as server, pytest.raises(ModelContextTooSmall):
        asyncio.run(draft(server.base_url))
    assert server.calls == []


@pytest.mark.parametrize(
    ("wishes", "endpoint", "well"),
    [
        ({}, {}, True),
        ({"health_path": False}, {}, True),
        ({"key": "right"}, {"model": "m", "api_key": "right"}, True),
        ({"key": "right"}, {"model": "m", "api_key": "wrong"}, False),
        ({"quirk": lambda body, number: refused("no such model", 404)}, {"model": "wrong"}, False),
        ({"quirk": always("o", "length")}, {}, True),
    ],
)
def test_health_asks_for_a_word_and_only_once_a_minute(wishes, endpoint, well):
    async def probes(base_url: str) -> list[bool]:
        model = OpenAIModel(Endpoint(base_url, **endpoint))
        return [await model.health() for _ in range(3)]

    with model_server(**wishes) as server:
        assert asyncio.run(probes(server.base_url)) == [well] * 3
        assert len(server.calls) == (1 if well else 3)
