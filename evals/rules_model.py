"""The fixed rules behind the port of a language model: a baseline that is asked as a model is, and a fake for tests."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from clinical.budget import Budget, in_thread
from clinical.coding import CERTAIN, NEVER, Case, Located, Offer, choose, find
from clinical.errors import ModelMalformed
from clinical.icd import Code
from clinical.letters import read_letter
from clinical.llm import BY_RULES, Completion, JsonSchema, Limits, Message
from evals.exchange import estimated_tokens

OPENED = 4

Question = Mapping[str, Any]


def _found(question: Question, budget: Budget) -> dict[str, Any]:
    return {"findings": [one.model_dump() for one in find(question["text"], budget)]}


def _chosen(question: Question, budget: Budget, bar: float) -> dict[str, Any]:
    findings = tuple(
        Located(one["number"], one["phrase"], one["assertion"], None, one["quote"]) for one in question["findings"]
    )
    offers = {
        one["code"]: Offer(_code(one), one.get("match"), "", tuple(one["findings"]), one.get("instant"))
        for one in question["candidates"]
    }
    return choose(Case(question["text"], findings, offers), bar, budget).model_dump()


def _code(shown: Question) -> Code:
    """As much of a code as a model is shown."""
    return Code(shown["code"], shown["title"], 5, True, None, "", "", "plain", "", "")


def _looked_around(question: Question, budget: Budget) -> dict[str, Any]:
    """One round: open the best candidates, to see their notes."""
    opened = [choice["code"] for choice in _chosen(question, budget, CERTAIN)["codes"]][:OPENED]
    return {"thought": "", "searches": [], "open": opened, "done": True}


RULES: Mapping[str, Callable[[Question, Budget], dict[str, Any]]] = {
    "Findings": _found,
    "Selection": partial(_chosen, bar=CERTAIN),
    "Step": _looked_around,
    "Recommendation": partial(_chosen, bar=NEVER),
    "Zuweisung": lambda question, budget: read_letter(question["text"], "zuweisung", budget),
    "Arztbrief": lambda question, budget: read_letter(question["text"], "arztbrief", budget),
}
"""By the name of a form, the rule that fills it in from the question's JSON."""


class RulesModel:
    """A LanguageModel of rules: answers in a thread, in milliseconds; never busy."""

    name = BY_RULES
    busy = False

    async def complete(self, messages: Sequence[Message], *, schema: JsonSchema | None, limits: Limits) -> Completion:
        """The form filled in. ModelMalformed for one it has no rule for, ModelTimeout past the time."""
        text = await in_thread(limits.timeout_s, partial(_answer, messages, schema))
        return Completion(text, sum(estimated_tokens(message.content) for message in messages), estimated_tokens(text))

    async def health(self) -> bool:
        """Always there."""
        return True


def _answer(messages: Sequence[Message], schema: JsonSchema | None, budget: Budget) -> str:
    question = next(message.content for message in messages if message.role == "user")
    if schema is None:
        return question
    rule = RULES.get(schema.name)
    if rule is None:
        raise ModelMalformed(f"no rule fills in the form {schema.name}", ", ".join(RULES))
    return json.dumps(rule(json.loads(question), budget), ensure_ascii=False)
