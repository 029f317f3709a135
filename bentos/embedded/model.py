"""The rehearsal model: the project's own questions answered by plain rules, in process, without weights.

It is no language model. It lets someone without a GPU walk through everything, keeps tests fast, and is the baseline a
real model is compared with. It is used only where BEFUND_LLM=rehearsal says so, and says its name everywhere.

`RULES` maps the name of a form to the rule that fills it in from the question's JSON; a new kind of question adds its
rule there, from a file of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bentos.embedded.coding import find, look_around, recommend, select
from bentos.embedded.extraction import extract_arztbrief, extract_zuweisung
from clinical.errors import ModelMalformed
from clinical.llm import Completion, JsonSchema, Limits, Message

NAME = "rehearsal-rules"
CHARACTERS_PER_TOKEN = 4
"""Tokens are estimated, so that `usage` is not zero: German text has some four characters a token."""

Rule = Callable[[Mapping[str, Any]], dict[str, Any]]

RULES: dict[str, Rule] = {
    "Findings": find,
    "Selection": select,
    "Step": look_around,
    "Recommendation": recommend,
    "Zuweisung": extract_zuweisung,
    "Arztbrief": extract_arztbrief,
}

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-ZÄÖÜ])|\n+")


class RehearsalModel:
    """A LanguageModel of rules. Deterministic; answers within a millisecond; never busy."""

    name = NAME
    busy = False

    async def complete(self, messages: Sequence[Message], *, schema: JsonSchema | None, limits: Limits) -> Completion:
        """Fill in the form by its rule, or write the draft. ModelMalformed for a form it has no rule for."""
        text = draft(messages) if schema is None else filled_in(messages, schema)
        return Completion(text, sum(map(_tokens, (message.content for message in messages))), _tokens(text))

    async def health(self) -> bool:
        """Always there."""
        return True


def filled_in(messages: Sequence[Message], schema: JsonSchema) -> str:
    """The form as JSON, from the first user message, which holds the question."""
    rule = RULES.get(schema.name)
    if rule is None:
        raise ModelMalformed(f"the rehearsal model has no rule for the form {schema.name}", ", ".join(RULES))
    question = next(message.content for message in messages if message.role == "user")
    return json.dumps(rule(json.loads(question)), ensure_ascii=False)


def draft(messages: Sequence[Message]) -> str:
    """A Markdown extract: the first sentences of the text. It says that no language model wrote it."""
    text = next((message.content for message in reversed(messages) if message.role == "user"), "")
    sentences = [sentence.strip() for sentence in _SENTENCE.split(text) if sentence.strip()]
    points = "\n".join(f"- {sentence}" for sentence in sentences[:5])
    return f"## Auszug (Probebetrieb ohne Sprachmodell)\n\n{points}\n"


def _tokens(text: str) -> int:
    return -(-len(text) // CHARACTERS_PER_TOKEN)
