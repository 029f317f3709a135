"""Learning the weights of suggestions: what is given beforehand stays, what is learnt puts the right one first."""

import numpy as np
import pytest

from catalog_build.training.suggesting import OF_CODE, ComparedCodes, SuggestWeights, conditional_logit
from clinical.search import MATCH


def test_the_right_one_of_each_choice_gets_the_greatest_score() -> None:
    chance = np.random.default_rng(0)
    true = np.array([2.0, -1.0, 0.0])
    choices = []
    for _ in range(400):
        columns = chance.normal(size=(6, 3))
        best = np.argmax(columns @ true + chance.gumbel(size=6))
        choices.append(ComparedCodes(columns, np.arange(6) == best))
    assert conditional_logit(choices) == pytest.approx(true, abs=0.3)


def test_a_score_given_beforehand_is_not_learnt_again() -> None:
    chance = np.random.default_rng(1)
    choices = []
    for _ in range(400):
        columns = chance.normal(size=(6, 2))
        best = np.argmax(columns @ [1.0, 1.0] + chance.gumbel(size=6))
        choices.append(ComparedCodes(columns, np.arange(6) == best, columns[:, 0]))
    assert conditional_logit(choices) == pytest.approx([0.0, 1.0], abs=0.25)


def test_the_shipped_weights_name_every_column() -> None:
    weights = SuggestWeights.load()
    assert tuple(weights.code) == OF_CODE
    assert tuple(weights.match) == MATCH
