"""The probabilities at which `high` and `medium` begin: cut on queries that nothing was trained on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clinical.search import Vectors
from clinical.thresholds import NEVER, ConfidenceThresholds, TextThresholds

HIGH_PRECISION: Final = 0.975
"""`high` may be taken over after a glance. Half a point over the aim of 0.97, for what is new at another place."""
MEDIUM_PRECISION: Final = 0.80
"""`medium` is a proposal to read: four in five best codes so marked are right."""
FEWEST: Final = 50
"""Queries behind a threshold; with fewer its precision is chance."""
CALIBRATION: Final = "calibration.tsv"
"""Its file beside the weights."""


@dataclass(frozen=True)
class Calibration:
    """Of each query (q,) that neither encoder nor ranking model has seen: its best code's probability (float32), and
    whether that code is right. No texts, so that it can be stored and shown."""

    probability: Vectors
    right: NDArray[np.bool_]

    def save(self, path: Path) -> None:
        """TSV, one line a probability: how many queries have it and how many of these are right. Nothing is rounded:
        a threshold lies on a probability."""
        values, inverse = np.unique(self.probability.astype(np.float32), return_inverse=True)
        queries, right = np.bincount(inverse), np.bincount(inverse, weights=self.right).astype(int)
        rows = zip(values, queries, right, strict=True)
        path.write_text("probability\tqueries\tright\n" + "".join(f"{p!s}\t{n}\t{k}\n" for p, n, k in rows))

    @classmethod
    def load(cls, path: Path) -> Calibration:
        """Read what `save` wrote, in the order of the probabilities."""
        values, queries, right = np.loadtxt(path, delimiter="\t", skiprows=1, unpack=True, ndmin=2)
        hits = [count for n, k in zip(queries, right, strict=True) for count in (n - k, k)]
        pattern = np.tile([False, True], len(values))
        return cls(np.repeat(values.astype(np.float32), queries.astype(int)), np.repeat(pattern, np.array(hits, int)))


def choose(
    probability: Vectors,
    right: NDArray[np.bool_],
    high_precision: float = HIGH_PRECISION,
    medium_precision: float = MEDIUM_PRECISION,
) -> tuple[ConfidenceThresholds, dict[str, Any]]:
    """The lowest thresholds whose bands keep their precision, from each query's best code (q,), and how they did."""
    order = np.argsort(-probability, kind="stable")
    probability, right = probability[order], right[order]
    ends = np.append(probability[1:] < probability[:-1], True)  # calibration has plateaus: all of one, or none
    high = _longest(right, ends, high_precision)
    medium = high + _longest(right[high:], ends[high:], medium_precision)
    bounds = [float(probability[size - 1]) if size else NEVER for size in (high, medium)]
    thresholds = ConfidenceThresholds(high=bounds[0], medium=bounds[1])
    bands = {"high": right[:high], "medium": right[high:medium], "low": right[medium:]}
    outcome = {
        name: {"queries": len(band), "precision": round(float(band.mean()), 4) if len(band) else None}
        for name, band in bands.items()
    }
    return thresholds, outcome


def silent_bands(bounds: ConfidenceThresholds | TextThresholds, where: str = "of wordings by themselves") -> str:
    """A warning that no code will ever be high, or medium, with these thresholds; empty where some will."""
    silent = [name for name in ("high", "medium") if getattr(bounds, name) >= NEVER]
    if not silent:
        return ""
    shows = "tier 1 will show nothing" if "medium" in silent else "nothing can be taken over after a glance"
    return (
        f"WARNING: no code {where} will ever be {' or '.join(silent)}: {shows}. What is new to encoder and ranking "
        f"model is not right often enough at any probability (high asks for {HIGH_PRECISION} of wordings, medium for "
        f"{MEDIUM_PRECISION}). Train longer (--rounds), take a model that knows German medicine, or serve the shipped "
        "encoder (build without --encoder)."
    )


def _longest(right: NDArray[np.bool_], ends: NDArray[np.bool_], precision: float) -> int:
    """Length of the longest beginning, up to one of the `ends`, that is right at least so often; 0: there is none."""
    share = np.cumsum(right) / np.arange(1, len(right) + 1)
    enough = np.flatnonzero((share >= precision) & ends & (np.arange(1, len(right) + 1) >= FEWEST))
    return int(enough[-1]) + 1 if len(enough) else 0
