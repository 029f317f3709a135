"""Measures with 95 % intervals: Wilson (1927) for shares, the bootstrap percentile (Efron 1979) for everything else.

What comes in clusters (codes of one category, statements of one text, texts of one author) is no independent
observation: whole clusters are drawn, and authors where there are SEVERAL of them, since an author's texts are alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student

Z = 1.959964
SEED, RESAMPLES = 2026, 1_000
SEVERAL = 5
"""Authors from which on they are drawn whole; of fewer nothing can be said about authors, and texts are drawn."""
CELLS = 5_000_000
"""Weights of resamples held at once: 20 MB; larger samples are drawn in pieces."""

Measure = tuple[float, float, float]
"""Value, lower and upper bound of the 95 % interval."""

Floats = NDArray[np.float32]


def share(hits: int, of: int) -> Measure | None:
    """A proportion; None of nothing."""
    if of == 0:
        return None
    return rounded(hits / of, *_wilson(hits / of, of))


def _wilson(value: float, of: float) -> tuple[float, float]:
    squared = Z * Z / of
    middle = (value + squared / 2) / (1 + squared)
    half = Z * np.sqrt(value * (1 - value) / of + squared / (4 * of)) / (1 + squared)
    return max(0.0, float(middle - half)), min(1.0, float(middle + half))


def ratio(parts: Sequence[float], wholes: Sequence[float], clusters: Sequence[str]) -> Measure | None:
    """The share that `parts` have of `wholes`, both one number a text; None of nothing.

    Wilson's interval on the effective number of observations: what is left of them when clusters vary more than chance
    allows (design effect: Kish 1965), with Student's t for so many clusters (Korn and Graubard 1998). Where no cluster
    differs from another, every text counts as one observation.
    """
    part, whole = np.asarray(parts, dtype=np.float64), np.asarray(wholes, dtype=np.float64)
    size, told = float(whole.sum()), whole > 0
    if size == 0:
        return None
    value = float(part.sum()) / size
    of = np.unique(np.asarray(clusters)[told], return_inverse=True)[1]
    groups = int(of.max()) + 1
    off = np.bincount(of, (part - value * whole)[told])
    variance = groups / max(1, groups - 1) * float(np.square(off).sum()) / size**2
    effective = min(size, value * (1 - value) / variance) if variance > 0 else min(size, float(told.sum()))
    if groups > 1:
        effective *= (Z / float(student.ppf(0.975, groups - 1))) ** 2
    return rounded(value, *_wilson(value, effective))


def clusters_of(texts: Sequence[str], authors: Sequence[str]) -> list[str]:
    """Names of what is drawn whole, one for each observation: its author where there are SEVERAL, else its text."""
    return list(authors if len(set(authors)) >= SEVERAL else texts)


def clustered(right: Sequence[bool], cluster: Sequence[str]) -> Measure | None:
    """A proportion whose mistakes come in clusters (the codes of one category): whole clusters are drawn with a fixed
    seed (cluster bootstrap: Field and Welsh 2007, doi 10.1111/j.1467-9868.2007.00593.x); None of nothing. Where all are
    right, or none, no draw differs, and each cluster counts as one observation (Wilson)."""
    if not len(right):
        return None
    of = np.unique(np.asarray(cluster), return_inverse=True)[1]
    sizes = np.bincount(of).astype(np.float32)
    if len(set(map(bool, right))) == 1:
        return rounded(float(right[0]), *_wilson(float(right[0]), len(sizes)))
    hits = np.bincount(of, weights=np.asarray(right, dtype=np.float64)).astype(np.float32)
    low, high = bootstrap(len(sizes), lambda weights: (weights @ hits) / (weights @ sizes))
    return rounded(float(np.mean(right)), low, high)


def mean(values: Sequence[float]) -> Measure | None:
    """A mean, bootstrapped with a fixed seed; None of nothing."""
    if not len(values):
        return None
    array = np.asarray(values, dtype=np.float32)
    low, high = bootstrap(len(array), lambda weights: weights @ array / len(array))
    return rounded(np.asarray(values, dtype=np.float64).mean(), low, high)


def bootstrap(size: int, statistic: Callable[[Floats], ArrayLike]) -> tuple[float, float]:
    """95 % percentile interval of a statistic of `size` examples, over RESAMPLES resamples with a fixed seed.

    `statistic` maps how often each example was drawn (resamples, size) to one value per resample, NaN where it is
    not defined.
    """
    found = np.concatenate([np.asarray(statistic(weights), dtype=np.float64) for weights in resamples(size)])
    found = found[~np.isnan(found)]
    if not len(found):
        return float("nan"), float("nan")
    low, high = np.percentile(found, [2.5, 97.5])
    return float(low), float(high)


def resamples(size: int) -> Iterator[Floats]:
    """Bootstrap weights: draws of each of `size` examples, in pieces of (resamples, size); fixed for a given size."""
    if RESAMPLES * size <= CELLS:
        yield _drawn_once(size)
        return
    chance, step = np.random.default_rng(SEED), max(1, CELLS // size)
    for start in range(0, RESAMPLES, step):
        yield _drawn(chance, min(step, RESAMPLES - start), size)


@lru_cache(maxsize=2)
def _drawn_once(size: int) -> Floats:
    return _drawn(np.random.default_rng(SEED), RESAMPLES, size)


def _drawn(chance: np.random.Generator, rows: int, size: int) -> Floats:
    places = chance.integers(size, size=(rows, size)) + np.arange(rows)[:, None] * size
    return np.bincount(places.ravel(), minlength=rows * size).reshape(rows, size).astype(np.float32)


def rounded(value: float, low: float, high: float) -> Measure:
    """Round to four digits, as fine as the samples here can resolve."""
    return round(float(value), 4), round(float(low), 4), round(float(high), 4)
