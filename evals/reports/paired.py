"""Two results on the same queries: differences, and whether they are more than chance.

Yes/no measures: McNemar's test, exact (McNemar 1947): of the queries that came out differently, how unlikely is so
uneven a split? Means: the paired bootstrap over queries. A query that failed in either result is left out of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import binomtest

from clinical.errors import SourceError
from evals.reports.intervals import Measure, mean, resamples

YES_NO = ("top_1", "top_10", "top_1_category")
MEANS = ("mrr", "recall_10", "f1", "distance")
LOWER_IS_BETTER = frozenset({"distance"})
ALPHA = 0.05

Record = dict[str, Any]
Pair = tuple[Record, Record]


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
        return -self.difference[0] if self.name in LOWER_IS_BETTER else self.difference[0]

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
