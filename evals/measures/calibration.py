"""Calibration: the error of probabilities, reliability bins, and the risk that is left at each coverage.

Everything takes two columns of equal length: the probability of each first code, and whether that code is right.
Bins are equally wide: probabilities calibrated by isotonic regression lie on plateaus, which bins of equal size tear.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evals.measures.intervals import RESAMPLES, SEED, Floats, Measure, bootstrap, mean, rounded, share

BINS = 10


def expected_calibration_error(probability: Sequence[float], right: Sequence[bool], bins: int = BINS) -> Measure | None:
    """Mean distance of probability and share right over the bins, weighed by their size (Naeini 2015, Guo 2017).

    The bootstrap percentile interval is widened to hold the value: chance in small bins only ever adds error, so
    that resamples lie above it (see `calibration_error_by_chance`). None of nothing.
    """
    if not len(probability):
        return None
    columns = np.asarray(probability, dtype=np.float64), np.asarray(right, dtype=np.float64)
    value = float(binned_error(np.ones((1, len(probability))), *columns, bins)[0])
    low, high = bootstrap(len(probability), lambda weights: binned_error(weights, *columns, bins))
    return rounded(value, min(low, value), max(high, value))


def binned_error(
    weights: NDArray[Any], probability: NDArray[np.float64], right: NDArray[np.float64], bins: int = BINS
) -> NDArray[np.float64]:
    """The calibration error under each row of weights (resamples, queries); queries without a probability (NaN) are
    left out."""
    known = ~np.isnan(probability)
    held = np.nan_to_num(probability)
    gap = np.where(known, right - held, 0.0)
    sums = (weights * gap) @ _members(held.tolist(), bins)
    return np.asarray(np.abs(sums).sum(axis=1) / np.maximum(weights @ known, 1), dtype=np.float64)


def calibration_error_by_chance(probability: Sequence[float]) -> float | None:
    """The mean error that perfectly calibrated probabilities would show on a sample of this size and shape."""
    if not len(probability):
        return None
    chance, array = np.random.default_rng(SEED), np.asarray(probability, dtype=np.float64)
    members, total = _members(probability, BINS), 0.0
    for _ in range(RESAMPLES // 5):
        total += np.abs((array - (chance.random(len(array)) < array)) @ members).sum() / len(array)
    return round(total / (RESAMPLES // 5), 4)


def brier(probability: Sequence[float], right: Sequence[bool]) -> Measure | None:
    """Mean squared distance of probability and outcome (Brier 1950); a proper score: no bins, lower is better."""
    gaps = np.asarray(probability, dtype=np.float32) - np.asarray(right, dtype=np.float32)
    return mean((gaps**2).tolist())


def reliability(probability: Sequence[float], right: Sequence[bool]) -> list[dict[str, Any]]:
    """The bins that hold anything: `low`, `high`, `n`, mean `probability`, and the share `right` with its interval."""
    array, outcome, number = np.asarray(probability), np.asarray(right, dtype=bool), _bin_of(probability, BINS)
    return [
        {
            "low": round(each / BINS, 4),
            "high": round((each + 1) / BINS, 4),
            "n": int((number == each).sum()),
            "probability": round(float(array[number == each].mean()), 4),
            "right": share(int(outcome[number == each].sum()), int((number == each).sum())),
        }
        for each in np.unique(number)
    ]


def risk_coverage(
    probability: Sequence[float], right: Sequence[bool]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(coverage, risk): answering only from a probability on, for what share of queries, and how often wrong.

    One point for each probability that occurs, highest first: queries of equal probability cannot be told apart
    (El-Yaniv and Wiener 2010).
    """
    answered, risk, _ = _curves(np.ones((1, len(probability)), dtype=np.float32), probability, right)
    return answered[0] / max(1, len(probability)), risk[0]


def area_under_risk_coverage(probability: Sequence[float], right: Sequence[bool]) -> Measure | None:
    """Mean risk over all coverages, 0 is best (AURC, Geifman et al. 2019); None of nothing."""
    if not len(probability):
        return None

    def area(weights: Floats) -> NDArray[np.float64]:
        answered, risk, size = _curves(weights, probability, right)
        return np.asarray((risk * size).sum(axis=1) / answered[:, -1])

    value = area(np.ones((1, len(probability)), dtype=np.float32))
    return rounded(float(value[0]), *bootstrap(len(probability), area))


def _curves(weights: Floats, probability: Sequence[float], right: Sequence[bool]) -> tuple[NDArray[np.float64], ...]:
    """Under each row of weights (resamples, queries), for each probability that occurs, highest first: the queries
    answered from it on, the share of these that is wrong, and the queries that have it."""
    array, wrong = np.asarray(probability, dtype=np.float64), ~np.asarray(right, dtype=bool)
    order = np.argsort(-array, kind="stable")
    starts = np.flatnonzero(np.diff(array[order], prepend=np.inf))
    drawn = weights, weights * wrong
    size, errors = (np.add.reduceat(own[:, order], starts, axis=1, dtype=np.float64) for own in drawn)
    answered = np.cumsum(size, axis=1)
    return answered, np.cumsum(errors, axis=1) / np.maximum(answered, 1.0), size


def _bin_of(probability: Sequence[float], bins: int) -> NDArray[np.int64]:
    return np.minimum((np.asarray(probability, dtype=np.float64) * bins).astype(np.int64), bins - 1)


def _members(probability: Sequence[float], bins: int) -> Floats:
    """(queries, bins): 1 where the query lies in the bin."""
    return np.eye(bins, dtype=np.float32)[_bin_of(probability, bins)]
