"""The rehearsal model: the project's own questions answered by plain rules, in process, without weights.

It is no language model. It lets someone without a GPU walk through everything, keeps tests fast, and is the baseline a
real model is compared with. It is used only where BEFUND_LLM=rehearsal says so, and says its name everywhere.

`RULES` maps the name of a form to the rule that fills it in from the question's JSON; a new kind of question adds its
rule there, from a file of its own.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bentos.embedded.budget import Budget
from bentos.embedded.coding import find, look_around, recommend, select
from bentos.embedded.extraction import extract_arztbrief, extract_zuweisung
from clinical.errors import ModelMalformed
from clinical.llm import Completion, JsonSchema, Limits, Message

NAME = "rehearsal-rules"
CHARACTERS_PER_TOKEN = 4
"""Tokens are estimated, so that `usage` is not zero: German text has some four characters a token."""

Rule = Callable[[Mapping[str, Any], Budget], dict[str, Any]]

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
    """A LanguageModel of rules. Deterministic; answers in milliseconds, in a thread; never busy."""

    name = NAME
    busy = False

    async def complete(self, messages: Sequence[Message], *, schema: JsonSchema | None, limits: Limits) -> Completion:
        """Fill in the form by its rule, or write the draft, off the event loop. ModelMalformed for a form it has no
        rule for, ModelTimeout past the time; cancelled, the work ends at its next step.
        """
        budget = Budget(limits.timeout_s)
        work = asyncio.create_task(asyncio.to_thread(_answer, messages, schema, budget))
        try:
            text = await asyncio.shield(work)
        except asyncio.CancelledError:
            budget.stop()
            work.add_done_callback(_ended)
            raise
        return Completion(text, sum(map(_tokens, (message.content for message in messages))), _tokens(text))

    async def health(self) -> bool:
        """Always there."""
        return True


def _answer(messages: Sequence[Message], schema: JsonSchema | None, budget: Budget) -> str:
    return draft(messages) if schema is None else filled_in(messages, schema, budget)


def _ended(work: asyncio.Task[str]) -> None:
    """Nobody waits for it: what it raised is not to be logged."""
    if not work.cancelled():
        work.exception()


def filled_in(messages: Sequence[Message], schema: JsonSchema, budget: Budget) -> str:
    """The form as JSON, from the first user message, which holds the question."""
    rule = RULES.get(schema.name)
    if rule is None:
        raise ModelMalformed(f"the rehearsal model has no rule for the form {schema.name}", ", ".join(RULES))
    question = next(message.content for message in messages if message.role == "user")
    return json.dumps(rule(json.loads(question), budget), ensure_ascii=False)


def draft(messages: Sequence[Message]) -> str:
    """A Markdown extract: the first sentences of the text. It says that no language model wrote it."""
    text = next((message.content for message in reversed(messages) if message.role == "user"), "")
    sentences = [sentence.strip() for sentence in _SENTENCE.split(text) if sentence.strip()]
    points = "\n".join(f"- {sentence}" for sentence in sentences[:5])
    return f"## Auszug (Probebetrieb ohne Sprachmodell)\n\n{points}\n"


def _tokens(text: str) -> int:
    return -(-len(text) // CHARACTERS_PER_TOKEN)
