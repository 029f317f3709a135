"""A real vLLM with random weights as a perfect liar: two hundred letters, and nothing invented comes out.

Its answers are noise in the form of the document. Lists and strings are kept short, so that an answer ends.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import pytest

from bentos.language_model import Endpoint, OpenAIModel
from clinical.contract import ExtractRequest, ExtractResponse, values_of
from clinical.errors import ModelTimeout
from clinical.letters import extract
from clinical.llm import Completion, JsonSchema, Limits, Message
from evals.letters.generator import letters
from tests.oracle import is_evidenced

pytestmark = pytest.mark.timeout(1_800)  # two hundred letters, and the model server to start before

LETTERS = 200
AT_ONCE = 16
SECONDS = 900
PATIENT_TRIES = 10


def bounded(node: Any) -> Any:
    """The schema with short strings and lists."""
    if isinstance(node, list):
        return [bounded(item) for item in node]
    if not isinstance(node, dict):
        return node
    node = {key: bounded(value) for key, value in node.items()}
    if node.get("type") == "string" and "enum" not in node:
        node["maxLength"] = 16
    if node.get("type") == "array":
        node |= {"minItems": 1, "maxItems": 2}
    return node


class ShortAnswers:
    """The real model, asked for less."""

    busy = False

    def __init__(self, base_url: str) -> None:
        self.model = OpenAIModel(Endpoint(base_url, concurrency=AT_ONCE))
        self.name = "random-llama"

    async def complete(self, messages: Sequence[Message], *, schema: JsonSchema | None, limits: Limits) -> Completion:
        assert schema is not None
        asked = JsonSchema(schema.name, bounded(schema.schema))
        for _ in range(PATIENT_TRIES):
            try:
                return await self.model.complete(messages, schema=asked, limits=limits)
            except ModelTimeout:  # a busy machine accepts a connection late, which is not what is tested here
                continue
        return await self.model.complete(messages, schema=asked, limits=limits)

    async def health(self) -> bool:
        return await self.model.health()


def test_nothing_invented_comes_out_of_two_hundred_letters(language_server):
    async def all_of_them() -> list[tuple[str, ExtractResponse]]:
        model, gate = ShortAnswers(language_server.base_url), asyncio.Semaphore(AT_ONCE)

        async def one(kind: str, text: str) -> tuple[str, ExtractResponse]:
            async with gate:
                request = ExtractRequest(document_type=kind, text=text, evidence=True)
                return text, await extract(request, model, Limits(max_tokens=1_500, timeout_s=SECONDS))

        return await asyncio.gather(*(one(letter.document_type, letter.text) for letter in letters(LETTERS, seed=77)))

    began = time.monotonic()
    answers = asyncio.run(all_of_them())
    said = sum(len(answer.removed_by_grounding) for _, answer in answers)
    kept = [(path, value, text) for text, answer in answers for path, value in values_of(answer.data.model_dump())]
    print(f"{len(answers)} letters, {said} lines of removed values, {len(kept)} kept, {time.monotonic() - began:.0f} s")
    assert said > LETTERS, "the liar did not lie"
    assert [(path, value) for path, value, text in kept if not is_evidenced(path, value, text)] == []
    named = ("patient.nachname", "patient.geburtsdatum", "patient.versichertennummer", "diagnosen[0]", "medikation[0]")
    assert [(path, value) for path, value, _ in kept if path in named and len(value) > 3] == []
