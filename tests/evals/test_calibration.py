"""Calibration and risk-coverage against figures done by hand, scikit-learn, and samples whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.measures import calibration as cal

COLUMNS = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60)


def sample(size: int, truth=lambda p: p) -> tuple[list[float], list[bool]]:
    chance = np.random.default_rng(7)
    probability = chance.random(size)
    return probability.tolist(), (chance.random(size) < truth(probability)).tolist()


def test_by_hand():
    probability, right = [0.95, 0.95, 0.85, 0.15], [True, False, True, False]
    # bins 0.9-1.0: |0.95 - 0.5| of 2; 0.8-0.9: |0.85 - 1| of 1; 0.1-0.2: |0.15 - 0| of 1
    assert cal.expected_calibration_error(probability, right)[0] == pytest.approx((0.9 + 0.15 + 0.15) / 4)
    coverage, risk = cal.risk_coverage(probability, right)
    assert coverage.tolist() == [0.5, 0.75, 1.0]
    assert risk.tolist() == pytest.approx([0.5, 1 / 3, 0.5])
    assert cal.area_under_risk_coverage(probability, right)[0] == pytest.approx((2 * 0.5 + 1 / 3 + 0.5) / 4, abs=1e-4)
    assert [(bin["low"], bin["n"]) for bin in cal.reliability(probability, right)] == [(0.1, 1), (0.8, 1), (0.9, 2)]


def test_true_probabilities_have_the_error_of_chance_and_bent_ones_more():
    probability, right = sample(3_000)
    error, low, high = cal.expected_calibration_error(probability, right)
    assert low <= error <= high
    assert error < 2 * cal.calibration_error_by_chance(probability)
    bent = cal.expected_calibration_error(*sample(3_000, lambda p: p**2))
    assert bent[1] > 0.1 < bent[0]
    assert bent[0] == pytest.approx(1 / 2 - 1 / 3, abs=0.03)  # the mean of p - p**2


def test_the_interval_of_the_area_holds_the_areas_of_other_samples():
    probability, right = sample(400)
    area, low, high = cal.area_under_risk_coverage(probability, right)
    whole = cal.area_under_risk_coverage(*sample(20_000))[0]
    assert low < whole < high
    assert low < area < high


def test_the_best_order_has_the_smallest_area():
    right = [True] * 60 + [False] * 40
    best = cal.area_under_risk_coverage(np.linspace(1, 0, 100).tolist(), right)[0]
    worst = cal.area_under_risk_coverage(np.linspace(0, 1, 100).tolist(), right)[0]
    flat = cal.area_under_risk_coverage([0.6] * 100, right)[0]
    assert best < flat == 0.4 < worst


def test_nothing_is_no_measure():
    for measure in (cal.expected_calibration_error, cal.area_under_risk_coverage, cal.brier):
        assert measure([], []) is None
    assert cal.calibration_error_by_chance([]) is None
    assert cal.reliability([], []) == []


@settings(max_examples=30, deadline=None)
@given(COLUMNS)
def test_bounds_hold_for_anything(rows):
    probability, right = [p for p, _ in rows], [r for _, r in rows]
    error, low, high = cal.expected_calibration_error(probability, right)
    assert 0 <= low <= error <= high <= 1.0001
    assert sum(bin["n"] for bin in cal.reliability(probability, right)) == len(rows)
    coverage, risk = cal.risk_coverage(probability, right)
    assert coverage[-1] == 1.0
    assert risk[-1] == pytest.approx(1 - np.mean(right), abs=1e-4)
    assert (risk >= 0).all()
    assert (risk <= 1).all()
