"""The tiers of one text: codes, seconds, and tokens by the question that was asked."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from clinical.coding import SearchQueue, research
from clinical.contract import QUERY_MAX, Event, PartialEvent, ResearchRequest, ResultEvent
from clinical.llm import Completion, JsonSchema, LanguageModel, Limits, Message, tell_unusable
from clinical.reading import SearchIndex
from evals.exchange import ModelInFront, TimedCompletion

QUESTIONS: Final[dict[str, tuple[int, ...]]] = {
    "Findings": (2, 3), "Selection": (2,), "Step": (3,), "Recommendation": (3,),
}  # fmt: skip
"""The questions of the tiers by the name of their form, and for which tiers each is needed."""
TIERS: Final = (1, 2, 3)
CHOOSING: Final = {2: "Selection", 3: "Recommendation"}
"""The question by which a tier's model chooses codes; its form lists the codes on offer."""


class Coded(NamedTuple):
    """A code and its confidence; `shown`: a client of the contract sees it. `probability`: that it is right, 0..1,
    None where the target does not say (only the search in process does)."""

    code: str
    confidence: str
    shown: bool = True
    probability: float | None = None


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


@dataclass(frozen=True, slots=True)
class CodedText:
    """One text after all tiers: the codes of each (None: it failed) and the seconds until they came, the calls of the
    model, the codes on offer to the tiers that choose, and answers that were not in the form."""

    found: Mapping[int, tuple[Coded, ...] | None]
    seconds: Mapping[int, float]
    calls: Sequence[Call]
    offered: Mapping[int, frozenset[str]]
    malformed: int

    def calls_of(self, tier: int) -> list[Call]:
        """The calls that a tier needed: the finding of terms counts for 2 and 3, which share it."""
        return [call for call in self.calls if tier in QUESTIONS[call.question]]


async def coded(text: str, index: SearchIndex, model: LanguageModel, queue: SearchQueue | None = None) -> CodedText:
    """A text through the stream as it is served; every tier of one beyond the contract's length fails."""
    metered, began = Metered(model), time.perf_counter()
    found: dict[int, tuple[Coded, ...] | None] = dict.fromkeys(TIERS)
    seconds = dict[int, float]()
    if len(text) <= QUERY_MAX:
        async for event in research(ResearchRequest(query=text), index, metered, queue):
            for tier in TIERS:
                if tier not in seconds and (codes := codes_of([event], tier)) is not None:
                    found[tier], seconds[tier] = codes, time.perf_counter() - began
    offered = {tier: metered.offered.get(question, frozenset()) for tier, question in CHOOSING.items()}
    return CodedText(found, seconds, metered.calls, offered, metered.malformed)


def codes_of(events: Iterable[Event], tier: int) -> tuple[Coded, ...] | None:
    """The codes of one layer of a stream; None when the stream ended before it."""
    for event in events:
        if isinstance(event, PartialEvent | ResultEvent) and event.layer == tier:
            return tuple(Coded(entry.code, entry.confidence) for entry in event.codes)
    return None
