"""A filled-in form is had from a model's text, or refused; no error repeats what the model said."""

import asyncio
from collections.abc import Sequence
from typing import Literal

import pytest

from clinical.coding.prompts import Findings, Recommendation, Selection, Step, bound_to
from clinical.errors import ModelMalformed, ModelTimeout
from clinical.llm import Completion, Form, JsonSchema, Limits, Message, ask, read

LIMITS = Limits(max_tokens=64, timeout_s=5)


class Finding(Form):
    phrase: str
    kind: Literal["present", "excluded"]


class Scripted:
    """Answers its lines in turn and keeps what it was asked."""

    name = "scripted"
    busy = False

    def __init__(self, *lines: str, delay: float = 0) -> None:
        self.lines, self.delay = list(lines), delay
        self.asked: list[Sequence[Message]] = []

    async def complete(self, messages: Sequence[Message], *, schema: JsonSchema | None, limits: Limits) -> Completion:
        self.asked.append(messages)
        await asyncio.sleep(self.delay)
        return Completion(self.lines.pop(0), tokens_in=10, tokens_out=5)

    async def health(self) -> bool:
        return True


GOOD = '{"phrase": "Husten", "kind": "present"}'


def run(model: Scripted, limits: Limits = LIMITS):
    return asyncio.run(ask(model, [Message("user", "Husten")], Finding, limits))


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"<think>Erst {{denken}}.</think>{GOOD}",
        '{"phrase": "Hus\tten\x01", "kind": "present"}',
    ],
)
def test_json_is_read_with_what_servers_put_around_it(text):
    value, complaint = read(text, Finding)
    assert value is not None
    assert (value.kind, complaint) == ("present", "")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "kein JSON",
        GOOD[:20],
        '{"phrase": "Husten", "kind": "erfunden"}',
        '{"phrase": "Husten"}',
        '{"phrase": "Husten", "kind": "present", "code": "X"}',
        '{"phrase": "\\ud800", "kind": "present"}',
        '{"a":' * 100_000 + "}" * 100_000,
    ],
)
def test_what_does_not_fit_the_form_is_refused_without_repeating_it(text):
    value, complaint = read(text, Finding)
    assert value is None
    assert complaint
    assert "Husten" not in complaint
    assert "erfunden" not in complaint


def test_a_malformed_answer_is_mended_once_and_all_tokens_are_counted():
    model = Scripted("Gern! Hier:", GOOD)
    answer = run(model)
    assert answer.value == Finding(phrase="Husten", kind="present")
    assert (answer.usage.tokens_in, answer.usage.tokens_out) == (20, 10)
    assert [message.role for message in model.asked[1]] == ["user", "assistant", "user"]


def test_malformed_twice_is_an_error_that_does_not_hold_the_answer():
    with pytest.raises(ModelMalformed) as caught:
        run(Scripted("Geheimer Befund Mustermann", "noch einmal Mustermann"))
    assert "Mustermann" not in str(caught.value)


def test_the_repair_gets_only_the_time_that_is_left():
    with pytest.raises(ModelTimeout):
        run(Scripted("kein JSON", GOOD, delay=0.05), Limits(max_tokens=64, timeout_s=0.04))


@pytest.mark.parametrize("form", [Findings, Selection, Step, Recommendation])
def test_every_string_and_list_a_model_may_write_has_its_length(form):
    def unbounded(part: object, place: str) -> list[str]:
        if isinstance(part, list):
            return [found for item in part for found in unbounded(item, place)]
        if not isinstance(part, dict):
            return []
        needed = {"string": "maxLength", "array": "maxItems"}.get(part.get("type"), "")
        own = [place] if needed and needed not in part and "enum" not in part else []
        return own + [found for name, value in part.items() for found in unbounded(value, f"{place}.{name}")]

    schema = bound_to(form, ["R05"], 1).schema if issubclass(form, Selection) else form.model_json_schema()
    assert unbounded(schema, "") == []
