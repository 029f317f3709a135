"""Thresholds keep what they promise on the queries they were cut on."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog_build.training.calibration import (
    FEWEST,
    HIGH_PRECISION,
    MEDIUM_PRECISION,
    Calibration,
    choose,
    silent_bands,
)
from clinical.thresholds import ConfidenceThresholds


def queries(seed: int, size: int, plateaus: int, skill: float) -> tuple[np.ndarray, np.ndarray]:
    """Best codes' probabilities on a few plateaus, as calibration gives them, and whether the code was right."""
    chance = np.random.default_rng(seed)
    probability = (np.ceil(chance.uniform(0, 1, size) * plateaus) / plateaus).astype(np.float32)
    return probability, chance.uniform(0, 1, size) < probability * skill


@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 3_000), st.integers(1, 400), st.sampled_from([0.0, 0.5, 0.9, 1.0]))
def test_the_bands_are_as_precise_as_promised(seed: int, size: int, plateaus: int, skill: float) -> None:
    probability, right = queries(seed, size, plateaus, skill)
    thresholds, outcome = choose(probability, right)
    assert thresholds.medium <= thresholds.high
    high = probability >= thresholds.high
    medium = (probability >= thresholds.medium) & ~high
    for name, band, precision in (("high", high, HIGH_PRECISION), ("medium", medium, MEDIUM_PRECISION)):
        assert outcome[name]["queries"] == band.sum()
        if band.any():
            assert band.sum() >= FEWEST
            assert right[band].mean() >= precision
            assert outcome[name]["precision"] == pytest.approx(right[band].mean(), abs=1e-4)


def test_a_perfect_search_is_always_high_and_a_bad_one_never() -> None:
    probability = np.linspace(0, 1, 500, dtype=np.float32)
    thresholds, outcome = choose(probability, np.ones(500, dtype=bool))
    assert thresholds.high == probability.min()
    assert outcome["high"] == {"queries": 500, "precision": 1.0}
    thresholds, outcome = choose(probability, np.zeros(500, dtype=bool))
    assert thresholds.medium > 1
    assert outcome["low"]["queries"] == 500


def test_more_queries_are_marked_when_the_search_is_better() -> None:
    worse, better = (choose(*queries(1, 3_000, 200, skill))[1] for skill in (0.97, 1.0))
    assert better["high"]["queries"] >= worse["high"]["queries"]


@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 2_000), st.integers(1, 400))
def test_a_stored_calibration_gives_the_very_same_thresholds(seed: int, size: int, plateaus: int) -> None:
    probability, right = queries(seed, size, plateaus, 0.97)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "calibration.tsv"
        Calibration(probability, right).save(path)
        read = Calibration.load(path)
    assert sorted(zip(read.probability, read.right, strict=True)) == sorted(zip(probability, right, strict=True))
    assert choose(read.probability, read.right) == choose(probability, right)


def test_it_is_said_loudly_where_nothing_will_be_high_or_medium():
    probability = np.linspace(0, 1, 500, dtype=np.float32)
    nothing, _ = choose(probability, np.zeros(500, dtype=bool))
    assert "will ever be high or medium: tier 1 will show nothing" in silent_bands(nothing)
    half, _ = choose(probability, np.arange(500) % 8 > 0)
    assert "will ever be high: nothing can be taken over" in silent_bands(half)
    every, _ = choose(probability, np.ones(500, dtype=bool))
    assert silent_bands(ConfidenceThresholds(high=every.high, medium=0.5)) == ""
