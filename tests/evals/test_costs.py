"""The costs of the tiers are counted at the model, question by question."""

import asyncio

from clinical.errors import ModelUnavailable
from clinical.llm import Completion
from clinical.reading.index import SearchIndex
from evals.coding.costs import QUESTIONS, answers
from evals.rules_model import RulesModel

TEXT = "Diabetes mellitus Typ 2, arterielle Hypertonie. Kein Fieber."


def test_every_tier_answers_and_its_calls_are_counted(index: SearchIndex) -> None:
    one, two, three = asyncio.run(answers(TEXT, index, RulesModel()))
    assert [answer.tier for answer in (one, two, three)] == [1, 2, 3]
    assert (one.calls, one.tokens_in, one.tokens_out) == (0, 0, 0)
    assert two.calls == 2
    assert three.calls >= 2
    assert all(answer.tokens_in > answer.tokens_out > 0 for answer in (two, three))
    assert one.seconds <= two.seconds <= three.seconds
    assert one.codes
    assert all(index.catalog.get(code) for answer in (one, two, three) for code in answer.codes or ())


class Recording(RulesModel):
    """Keeps its own answers, apart from what is counted."""

    def __init__(self) -> None:
        self.given: list[tuple[str, Completion]] = []

    async def complete(self, messages, *, schema, limits):
        answer = await super().complete(messages, schema=schema, limits=limits)
        self.given.append((schema.name, answer))
        return answer


def test_the_tokens_are_those_that_the_model_said(index: SearchIndex) -> None:
    model = Recording()
    _, two, three = asyncio.run(answers(TEXT, index, model))
    for answer in (two, three):
        given = [completion for name, completion in model.given if answer.tier in QUESTIONS[name]]
        assert answer.tokens_in == sum(completion.tokens_in for completion in given)
        assert answer.tokens_out == sum(completion.tokens_out for completion in given)


class Broken(RulesModel):
    async def complete(self, messages, *, schema, limits):
        raise ModelUnavailable("refused")


def test_a_model_that_fails_leaves_tier_one(index: SearchIndex) -> None:
    one, two, three = asyncio.run(answers(TEXT, index, Broken()))
    assert one.codes
    assert (two.codes, three.codes, two.calls) == (None, None, 0)
