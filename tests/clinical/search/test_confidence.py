"""The second stage of calibration: it changes how sure, never the order of a mention's codes."""

import numpy as np
import orjson
import pytest

from catalog_build.build import CONFIDENCE, WEIGHTS
from catalog_build.training.confidence import WINDOW, FoundMentions, bounds_of, fit_confidence
from clinical.errors import ArtifactMismatch
from clinical.search.reading.confidence import COLUMNS, Confidence
from clinical.search.reading.hits import Hits
from clinical.thresholds import ConfidenceThresholds

BOUNDS = ConfidenceThresholds(high=0.9, medium=0.5)


def hits() -> Hits:
    part, code = np.array([0, 0, 1]), np.array([4, 7, 9])
    chances = np.array([0.8, 0.2, 0.6], dtype=np.float32)
    return Hits(part, code, chances, chances, np.array([1, 2, 3]))


def rows(chance: float = 0.9) -> np.ndarray:
    found = np.zeros((2, len(COLUMNS)), dtype=np.float32)
    found[:, COLUMNS.index("chance")] = chance
    return found


def test_the_first_code_gets_the_new_probability_and_the_others_stay_in_proportion():
    sure = Confidence(np.zeros(len(COLUMNS)), 0.0, BOUNDS)
    served = sure.served(hits(), np.array([0, 2]), rows())
    np.testing.assert_allclose(served.probability, [0.5, 0.125, 0.5])


def test_what_a_short_text_finds_as_a_whole_is_not_made_surer():
    sure = Confidence(np.zeros(len(COLUMNS)), 9.0, BOUNDS)
    served = sure.served(hits(), np.array([0, 2]), rows(chance=0))
    np.testing.assert_allclose(served.probability, hits().probability)


def test_fitting_finds_what_matters():
    chance = np.random.default_rng(0)
    some = chance.normal(size=(2_000, len(COLUMNS))).astype(np.float32)
    right = some[:, 0] + chance.normal(size=2_000) > 0
    sure = fit_confidence(FoundMentions(some, right, np.arange(2_000) % 50))
    assert np.argmax(np.abs(sure.weights)) == 0
    assert abs(sure.probabilities(some).mean() - right.mean()) < 0.02


def test_what_was_fitted_on_other_columns_is_refused(tmp_path):
    shipped = Confidence.load(WEIGHTS / CONFIDENCE)
    shipped.save(tmp_path / CONFIDENCE)
    np.testing.assert_array_equal(Confidence.load(tmp_path / CONFIDENCE).weights, shipped.weights)
    damaged = (tmp_path / CONFIDENCE).read_text().replace("margin", "distance")
    (tmp_path / CONFIDENCE).write_text(damaged)
    with pytest.raises(ArtifactMismatch, match="other columns"):
        Confidence.load(tmp_path / CONFIDENCE)


def test_a_column_that_it_was_fitted_without_has_no_weight(tmp_path):
    shipped = orjson.loads((WEIGHTS / CONFIDENCE).read_bytes())
    earlier = {**shipped, "columns": shipped["columns"][1:], "weights": shipped["weights"][1:]}
    (tmp_path / CONFIDENCE).write_bytes(orjson.dumps(earlier))
    weights = Confidence.load(tmp_path / CONFIDENCE).weights
    assert weights.tolist() == [0.0, *shipped["weights"][1:]]


def test_a_band_ends_where_its_last_codes_are_wrong_too_often():
    """Of 0.95 nearly all are right, of 0.7 six in ten, of 0.3 none: high ends above 0.7, medium above 0.3."""
    probability = np.repeat(np.float32([0.95, 0.7, 0.3]), 3 * WINDOW)
    right = np.arange(9 * WINDOW) % 20 < np.repeat([20, 12, 0], 3 * WINDOW)
    bounds = bounds_of(probability, right, np.arange(9 * WINDOW) % 97)
    assert (bounds.high, bounds.medium) == (pytest.approx(0.95), pytest.approx(0.7))


def test_mistakes_of_one_category_are_one_observation():
    """The same share of right codes is worth less where the wrong ones are all of a few categories."""
    probability = np.full(4 * WINDOW, 0.9, dtype=np.float32)
    wrong = np.arange(4 * WINDOW) % 12 == 0
    spread = bounds_of(probability, ~wrong, np.arange(4 * WINDOW))
    together = bounds_of(probability, ~wrong, np.where(wrong, 1, np.arange(4 * WINDOW) + 2))
    assert spread.high == pytest.approx(0.9)
    assert together.high > 1
