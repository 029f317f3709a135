"""Measures with 95 % intervals: Wilson (1927) for shares, the bootstrap percentile (Efron 1979) for means."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Z = 1.959964
SEED, RESAMPLES = 2026, 1_000

Measure = tuple[float, float, float]
"""Value, lower and upper bound of the 95 % interval."""


def share(hits: int, of: int) -> Measure | None:
    """A proportion; None of nothing."""
    if of == 0:
        return None
    value, squared = hits / of, Z * Z / of
    middle = (value + squared / 2) / (1 + squared)
    half = Z * np.sqrt(value * (1 - value) / of + squared / (4 * of)) / (1 + squared)
    return _rounded(value, middle - half, middle + half)


def mean(values: Sequence[float]) -> Measure | None:
    """A mean, bootstrapped with a fixed seed; None of nothing."""
    if not values:
        return None
    array = np.asarray(values, dtype=np.float64)
    chance = np.random.default_rng(SEED)
    means = [array[chance.integers(len(array), size=len(array))].mean() for _ in range(RESAMPLES)]
    low, high = np.percentile(means, [2.5, 97.5])
    return _rounded(array.mean(), low, high)


def _rounded(value: float, low: float, high: float) -> Measure:
    return round(float(value), 4), round(max(0.0, float(low)), 4), round(min(1.0, float(high)), 4)
