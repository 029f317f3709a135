"""The tiers of a text: what each answers, and what is counted at the model, question by question."""

import asyncio

from clinical.errors import ModelUnavailable
from clinical.llm import Completion
from clinical.reading.index import SearchIndex
from evals.coding.costs import TIERS, coded
from evals.rules_model import RulesModel

TEXT = "Diabetes mellitus Typ 2, arterielle Hypertonie. Kein Fieber."


class Recording(RulesModel):
    """Keeps its own answers, apart from what is counted."""

    def __init__(self) -> None:
        self.given: list[tuple[str, Completion]] = []

    async def complete(self, messages, *, schema, limits):
        answer = await super().complete(messages, schema=schema, limits=limits)
        self.given.append((schema.name, answer))
        return answer


def test_every_tier_answers_and_its_calls_are_those_that_the_model_was_asked(index: SearchIndex) -> None:
    model = Recording()
    text = asyncio.run(coded(TEXT, index, model))
    assert [bool(text.found[tier]) for tier in TIERS] == [True, True, True]
    assert text.seconds[1] <= text.seconds[2] <= text.seconds[3]
    calls = {tier: text.calls_of(tier) for tier in TIERS}
    assert (len(calls[1]), len(calls[2])) == (0, 2)
    assert {call.question for call in calls[3]} == {"Findings", "Step", "Recommendation"}
    for tier in (2, 3):
        names = {call.question for call in calls[tier]}
        given = [answer for name, answer in model.given if name in names]
        assert sum(call.tokens_in for call in calls[tier]) == sum(answer.tokens_in for answer in given) > 0
        assert sum(call.tokens_out for call in calls[tier]) == sum(answer.tokens_out for answer in given) > 0
        assert {found.code for found in text.found[tier]} <= text.offered[tier]


class Broken(RulesModel):
    async def complete(self, messages, *, schema, limits):
        raise ModelUnavailable("refused")


def test_a_model_that_fails_leaves_tier_one_and_a_text_beyond_the_contract_nothing(index: SearchIndex) -> None:
    text = asyncio.run(coded(TEXT, index, Broken()))
    assert text.found[1]
    assert (text.found[2], text.found[3], text.calls) == (None, None, [])
    assert asyncio.run(coded("x" * 2_001, index, Broken())).found == dict.fromkeys(TIERS)
