"""Two results on the same queries: differences, and whether they are more than chance.

Labels: precision and coverage of high and medium, and how far probabilities are off, over all and by kind of input;
whole clusters (the category of the right code) are drawn, since the mistakes of one category come together.

Yes/no measures: McNemar's test, exact (McNemar 1947): of the queries that came out differently, how unlikely is so
uneven a split? Means: the paired bootstrap over queries. A query that failed in either result is left out of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

from clinical.errors import SourceError
from evals.reports.intervals import Measure, mean, resamples, rounded

LABELS: Final = ("high", "medium")
BINS: Final = 10
"""Equally wide, as in `evals.coding.calibration`."""
FEWEST: Final = 20
"""Queries of a kind below which its labels are not compared."""
YES_NO = ("top_1", "top_10", "top_1_category")
MEANS = ("mrr", "recall_10", "f1", "distance")
LOWER_IS_BETTER = frozenset({"distance", "calibration_error"})
ALPHA = 0.05

Record = dict[str, Any]
Pair = tuple[Record, Record]
Weights: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """One measure in two results. `difference`: second less first, with its 95 % interval; `p`: of no difference;
    `won`, `lost`: queries that came to be right, to be wrong (yes/no measures)."""

    name: str
    before: float
    after: float
    difference: Measure
    p: float
    won: int | None = None
    lost: int | None = None

    @property
    def better(self) -> float:
        """The difference, positive where the second result is better."""
        return -self.difference[0] if self.name.partition(" ")[0] in LOWER_IS_BETTER else self.difference[0]

    @property
    def real(self) -> bool:
        """More than chance: p under ALPHA."""
        return self.p < ALPHA


def pairs_of(first: dict[str, Any], second: dict[str, Any], names: Sequence[str] = ("A", "B")) -> list[Pair]:
    """The queries of both results side by side. Raises SourceError where they are not the same."""
    for result, name in zip((first, second), names, strict=True):
        if "queries" not in result:
            found, remedy = "has no outcomes of single queries", "measure again with --out FILE"
            raise SourceError(name, None, found, "a result of evals coding", remedy)
    one, other = ({row["id"]: row for row in result["queries"]} for result in (first, second))
    if one.keys() != other.keys():
        found = (
            f"{len(one.keys() - other.keys())} queries only here, {len(other.keys() - one.keys())} only in {names[1]}"
        )
        raise SourceError(names[0], None, found, "the same queries in both", "measure both on one data set")
    return [(row, other[name]) for name, row in one.items()]


def changes(pairs: Sequence[Pair]) -> list[PairedDifference]:
    """Every measure over the queries that failed in neither result."""
    both = [pair for pair in pairs if not any(row.get("failed") for row in pair)]
    return [_yes_no(name, both) for name in YES_NO if both] + [_mean(name, both) for name in MEANS if both]


def value(row: Record, name: str) -> float:
    """What one query contributes to a measure."""
    rank = row["rank"]
    if name == "top_1":
        return float(rank == 1)
    if name == "top_10":
        return float(rank is not None)
    if name == "top_1_category":
        return float(row["category"])
    return (1 / rank if rank else 0.0) if name == "mrr" else float(row[name])


def flips(pairs: Sequence[Pair], name: str = "top_1") -> tuple[list[Pair], list[Pair]]:
    """(won, lost): queries that a yes/no measure counts in only one of the results; failed ones count as wrong."""

    def right(row: Record) -> bool:
        return not row.get("failed") and bool(value(row, name))

    won = [pair for pair in pairs if right(pair[1]) and not right(pair[0])]
    return won, [pair for pair in pairs if right(pair[0]) and not right(pair[1])]


def _yes_no(name: str, pairs: Sequence[Pair]) -> PairedDifference:
    change = _difference(name, pairs)
    won, lost = (len(each) for each in flips(pairs, name))
    p = float(binomtest(min(won, lost), won + lost, 0.5).pvalue) if won + lost else 1.0
    return PairedDifference(*change, p, won, lost)


def _mean(name: str, pairs: Sequence[Pair]) -> PairedDifference:
    """p: twice the smaller share of resamples on one side of no difference."""
    steps = np.array([value(after, name) - value(before, name) for before, after in pairs], dtype=np.float32)
    sums = np.concatenate([weights @ steps for weights in resamples(len(steps))])
    return PairedDifference(*_difference(name, pairs), min(1.0, 2 * float(min((sums <= 0).mean(), (sums >= 0).mean()))))


def _difference(name: str, pairs: Sequence[Pair]) -> tuple[str, float, float, Measure]:
    before, after = (np.array([value(row, name) for row in rows]) for rows in zip(*pairs, strict=True))
    difference = mean((after - before).tolist()) or (0.0, 0.0, 0.0)
    return name, round(float(before.mean()), 4), round(float(after.mean()), 4), difference


def label_changes(pairs: Sequence[Pair]) -> list[PairedDifference]:
    """Precision and coverage of high and medium and the calibration error: over all, and over each kind of input with
    FEWEST queries. A precision of which one side has none is left out; so is all of a target without probabilities."""
    both = [pair for pair in pairs if not any(row.get("failed") for row in pair)]
    found = _labels("", both)
    for kind in sorted({str(before.get("kind", "")) for before, _ in both} - {""}):
        own = [pair for pair in both if pair[0].get("kind") == kind]
        found += _labels(f" {kind}", own) if len(own) >= FEWEST else []
    return found


def _labels(of: str, pairs: Sequence[Pair]) -> list[PairedDifference]:
    if not pairs:
        return []
    weights = _clustered([min(before["codes"])[:3] for before, _ in pairs])
    sides = [_Side.of(rows) for rows in zip(*pairs, strict=True)]
    found = []
    for level in LABELS:
        found.append(_change(f"{level}_coverage{of}", [one.coverage(level, weights) for one in sides]))
        found.append(_change(f"{level}_precision{of}", [one.precision(level, weights) for one in sides]))
    if all(one.known for one in sides):
        found.append(_change(f"calibration_error{of}", [one.error(weights) for one in sides]))
    return [change for change in found if change is not None]


@dataclass(frozen=True)
class _Side:
    """One result: of each query whether its first code is right, how it is marked, and its probability."""

    right: NDArray[np.float64]
    marked: NDArray[np.str_]
    probability: NDArray[np.float64]

    @classmethod
    def of(cls, rows: Sequence[Record]) -> _Side:
        probability = [np.nan if row.get("probability") is None else row["probability"] for row in rows]
        marked = [row.get("confidence") or "" for row in rows]
        return cls(np.array([row["rank"] == 1 for row in rows], dtype=float), np.array(marked), np.array(probability))

    @property
    def known(self) -> bool:
        """Whether the target says probabilities at all."""
        return bool((~np.isnan(self.probability)).any())

    def coverage(self, level: str, weights: Weights) -> NDArray[np.float64]:
        """Share of queries so marked, for all as they are (first) and for each resample."""
        return np.asarray(weights @ (self.marked == level) / weights.sum(axis=1), dtype=np.float64)

    def precision(self, level: str, weights: Weights) -> NDArray[np.float64]:
        """Share of those so marked that are right; NaN where there are none."""
        of = weights @ (self.marked == level)
        found: NDArray[np.float64] = np.divide(
            weights @ (self.right * (self.marked == level)), of, np.full(len(of), np.nan), where=of > 0
        )
        return found

    def error(self, weights: Weights) -> NDArray[np.float64]:
        """Expected calibration error: mean distance of probability and share right, bin by bin."""
        known = ~np.isnan(self.probability)
        place = np.minimum((np.nan_to_num(self.probability) * BINS).astype(int), BINS - 1)
        gaps = [
            weights @ ((self.right - np.nan_to_num(self.probability)) * (known & (place == n))) for n in range(BINS)
        ]
        total = np.maximum(weights @ known.astype(float), 1)
        return np.asarray(np.abs(gaps).sum(axis=0) / total, dtype=np.float64)


def _clustered(clusters: Sequence[str]) -> Weights:
    """How often each query counts: once, then as often as its cluster is drawn, for each resample."""
    of = np.unique(np.asarray(clusters), return_inverse=True)[1]
    drawn = np.concatenate(list(resamples(int(of.max()) + 1)))[:, of]
    return np.concatenate([np.ones((1, len(of))), drawn]).astype(np.float64)


def _change(name: str, sides: Sequence[NDArray[np.float64]]) -> PairedDifference | None:
    before, after = (float(side[0]) for side in sides)
    steps = (sides[1] - sides[0])[1:]
    steps = steps[~np.isnan(steps)]
    if np.isnan(before) or np.isnan(after) or not len(steps):
        return None
    low, high = np.percentile(steps, [2.5, 97.5])
    p = min(1.0, 2 * float(min((steps <= 0).mean(), (steps >= 0).mean())))
    return PairedDifference(name, round(before, 4), round(after, 4), rounded(after - before, low, high), p)
