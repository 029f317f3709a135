"""Results and costs of the tiers for one text: codes, seconds, and tokens by the question that was asked."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final, NamedTuple

from clinical.coding import research
from clinical.contract import PartialEvent, ResearchRequest, ResultEvent
from clinical.llm import Completion, JsonSchema, LanguageModel, Limits, Message, tell_unusable
from clinical.reading import SearchIndex
from evals.exchange import ModelInFront, TimedCompletion

QUESTIONS: Final[dict[str, tuple[int, ...]]] = {
    "Findings": (2, 3), "Selection": (2,), "Step": (3,), "Recommendation": (3,),
}  # fmt: skip
"""The questions of the tiers by the name of their form, and for which tiers each is needed."""


CHOOSING: Final = {2: "Selection", 3: "Recommendation"}
"""The question by which a tier's model chooses codes; its form lists the codes on offer."""


class Call(NamedTuple):
    """One question to the model."""

    question: str
    tokens_in: int
    tokens_out: int
    seconds: float


class Metered(ModelInFront):
    """A LanguageModel that keeps what every call of the one behind it took, and the codes that it could choose from,
    by question, answered or not; `malformed` counts answers that were not in the form, cut or empty."""

    def __init__(self, model: LanguageModel) -> None:
        super().__init__(model)
        self.calls, self.offered = list[Call](), dict[str, frozenset[str]]()
        self.malformed = 0

    async def complete(self, messages: Sequence[Message], *, schema: JsonSchema | None, limits: Limits) -> Completion:
        """As the model behind; a call that fails is not counted."""
        began = time.perf_counter()
        question = schema.name if schema else ""
        if schema is not None and question in CHOOSING.values():
            self.offered[question] = frozenset(schema.schema["$defs"]["Choice"]["properties"]["code"]["enum"])
        answer = await self._model.complete(messages, schema=schema, limits=limits)
        took = answer.seconds if isinstance(answer, TimedCompletion) else time.perf_counter() - began
        self.calls.append(Call(question, answer.tokens_in, answer.tokens_out, took))
        return answer

    def unusable(self, given_up: bool) -> None:
        """Count an answer that could not be used, here and behind."""
        self.malformed += 1
        tell_unusable(self._model, given_up)


class TierResult(NamedTuple):
    """Result and cost of one tier for a text: `codes` is None if the stream ended first. Seconds since the text
    was sent; calls and tokens that this tier needed, the finding of terms included in both 2 and 3, which share it."""

    tier: int
    codes: frozenset[str] | None
    seconds: float
    calls: int
    tokens_in: int
    tokens_out: int


async def answers(text: str, index: SearchIndex, model: LanguageModel) -> list[TierResult]:
    """The three tiers of one text, in this process."""
    metered, came = Metered(model), dict[int, tuple[frozenset[str], float]]()
    began = time.perf_counter()
    async for event in research(ResearchRequest(query=text), index, metered):
        if isinstance(event, PartialEvent | ResultEvent):
            came[event.layer] = frozenset(entry.code for entry in event.codes), time.perf_counter() - began
    result = []
    for tier in (1, 2, 3):
        calls = [call for call in metered.calls if tier in QUESTIONS[call.question]]
        codes, seconds = came.get(tier, (None, time.perf_counter() - began))
        tokens = sum(call.tokens_in for call in calls), sum(call.tokens_out for call in calls)
        result.append(TierResult(tier, codes, seconds, len(calls), *tokens))
    return result
