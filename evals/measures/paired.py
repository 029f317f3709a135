"""Two results on the same queries: differences, and how likely they are by chance alone.

Yes/no measures: McNemar's test, exact (McNemar 1947): of the queries that came out differently, how unlikely is so
uneven a split? Means: the paired bootstrap over queries. Precision and coverage of labels and the calibration error,
over all and by kind of input, draw whole categories of right codes, since the mistakes of one come together. A query
that failed in either result is left out of both. Measures of texts that state several things draw whole texts, or their
authors where there are several.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import binomtest

from clinical.errors import SourceError
from clinical.icd import category
from evals.measures.calibration import binned_error
from evals.measures.intervals import Measure, mean, resamples, rounded
from evals.measures.queries import values
from evals.measures.results import MeasuredResult
from evals.measures.texts import OF_TEXTS, drawn

LABELS: Final = ("high", "medium")
FEWEST: Final = 20
"""Queries of a kind below which its labels are not compared."""
YES_NO: Final = ("top_1", "top_10", "top_1_category")
MEANS: Final = ("mrr", "recall_10", "f1", "distance")
LOWER_IS_BETTER: Final = frozenset({"distance", "calibration_error", "silent", "absent_shown"})
ALPHA: Final = 0.05


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


class Pairs(NamedTuple):
    """The same queries in two results, row by row."""

    before: pd.DataFrame
    after: pd.DataFrame

    @property
    def answered(self) -> Pairs:
        """The queries that failed in neither."""
        both = ~(self.before["failed"] | self.after["failed"])
        return Pairs(self.before[both], self.after[both])

    @property
    def of_texts(self) -> bool:
        """True of texts that state several things, not of queries."""
        return "asked" in self.before


def pairs_of(first: MeasuredResult, second: MeasuredResult, names: Sequence[str] = ("A", "B")) -> Pairs:
    """The queries of both results side by side. Raises SourceError where they are not the same."""
    tables = []
    for result, name in zip((first, second), names, strict=True):
        if result.queries is None:
            found, remedy = "has no outcomes of single queries", "measure again with --out FILE"
            raise SourceError(name, None, found, "a result of evals coding", remedy)
        tables.append(result.queries.set_index("id", drop=False))
    one, other = tables
    if set(one.index) != set(other.index):
        only, theirs = len(one.index.difference(other.index)), len(other.index.difference(one.index))
        found = f"{only} queries only here, {theirs} only in {names[1]}"
        raise SourceError(names[0], None, found, "the same queries in both", "measure both on one data set")
    return Pairs(one, other.loc[one.index])


def changes(pairs: Pairs) -> list[PairedDifference]:
    """Every measure over the queries that failed in neither result."""
    both = pairs.answered
    if both.before.empty:
        return []
    if pairs.of_texts:
        return list(_text_changes(both))
    return [_yes_no(name, both) for name in YES_NO] + [_mean(name, both) for name in MEANS]


def flips(pairs: Pairs, name: str = "top_1") -> tuple[Pairs, Pairs]:
    """(won, lost): queries that a yes/no measure counts in only one of the results; failed ones count as wrong."""
    before, after = (values(side, name).astype(bool) & ~side["failed"].to_numpy(bool) for side in pairs)
    return (
        Pairs(pairs.before[after & ~before], pairs.after[after & ~before]),
        Pairs(pairs.before[before & ~after], pairs.after[before & ~after]),
    )


def _yes_no(name: str, pairs: Pairs) -> PairedDifference:
    won, lost = (len(each.before) for each in flips(pairs, name))
    p = float(binomtest(min(won, lost), won + lost, 0.5).pvalue) if won + lost else 1.0
    return PairedDifference(*_difference(name, pairs), p, won, lost)


def _mean(name: str, pairs: Pairs) -> PairedDifference:
    """p: twice the smaller share of resamples on one side of no difference."""
    steps = (values(pairs.after, name) - values(pairs.before, name)).astype(np.float32)
    sums = np.concatenate([weights @ steps for weights in resamples(len(steps))])
    return PairedDifference(*_difference(name, pairs), _two_sided(sums))


def _two_sided(steps: NDArray[np.floating]) -> float:
    return min(1.0, 2 * float(min((steps <= 0).mean(), (steps >= 0).mean())))


def _difference(name: str, pairs: Pairs) -> tuple[str, float, float, Measure]:
    before, after = values(pairs.before, name), values(pairs.after, name)
    difference = mean((after - before).tolist()) or (0.0, 0.0, 0.0)
    return name, round(float(before.mean()), 4), round(float(after.mean()), 4), difference


# --- texts that state several things ----------------------------------------------------------------------------------


def _text_changes(pairs: Pairs) -> Iterator[PairedDifference]:
    weights = _clustered(drawn(pairs.before))
    for name, (part, whole) in OF_TEXTS.items():
        shares = [
            _divided(weights @ side[part].to_numpy(float), weights @ side[whole].to_numpy(float)) for side in pairs
        ]
        for change in _change(name, shares):
            counted = [sum(one.kind == kind for one in text_flips(pairs, name)) for kind in ("won", "lost")]
            yield replace(change, won=counted[0], lost=counted[1]) if name in FLIPPING else change


class TextFlip(NamedTuple):
    """A statement that came to be shown (`won`) or missed (`lost`), or a wrong code that went or came: id of the text,
    and the codes that the statement accepts, or the wrong code."""

    kind: str
    id: str
    codes: tuple[str, ...]


FLIPPING: Final = ("stated_shown", "shown_right")
"""Measures of texts whose flips are listed: of statements, of wrong codes."""


def text_flips(pairs: Pairs, name: str = "stated_shown") -> list[TextFlip]:
    """The statements, or for `shown_right` the wrong codes, that differ between two results, text by text."""
    found = []
    for (_, one), (_, other) in zip(pairs.before.iterrows(), pairs.after.iterrows(), strict=True):
        if name == "stated_shown":
            hits = zip(one["asked"], one["hit"], other["hit"], strict=True)
            differ = [("won" if after else "lost", tuple(codes)) for codes, before, after in hits if before != after]
        else:
            gone, come = (sorted(set(a["wrong"]) - set(b["wrong"])) for a, b in ((one, other), (other, one)))
            differ = [("won", (code,)) for code in gone] + [("lost", (code,)) for code in come]
        found += [TextFlip(kind, str(one["id"]), codes) for kind, codes in differ]
    return found


# --- labels ---------------------------------------------------------------------------------------------------------


def label_changes(pairs: Pairs) -> list[PairedDifference]:
    """Precision and coverage of high and medium and the calibration error: over all, and over each kind of input with
    FEWEST queries. A precision of which one side has none is left out; so is all of a target without probabilities."""
    both = pairs.answered
    if pairs.of_texts:
        return []
    found = list(_labels("", both))
    for kind in sorted(set(both.before["kind"]) - {""}):
        own = (both.before["kind"] == kind).to_numpy()
        if own.sum() >= FEWEST:
            found += _labels(f" {kind}", Pairs(both.before[own], both.after[own]))
    return found


def _labels(of: str, pairs: Pairs) -> Iterator[PairedDifference]:
    if pairs.before.empty:
        return
    weights = _clustered([category(min(codes)) for codes in pairs.before["codes"]])
    right = [(side["rank"] == 1).to_numpy(float) for side in pairs]
    for level in LABELS:
        marked = [(side["confidence"] == level).to_numpy(float) for side in pairs]
        coverage = [weights @ own / weights.sum(axis=1) for own in marked]
        precision = [_divided(weights @ (hit * own), weights @ own) for hit, own in zip(right, marked, strict=True)]
        yield from _change(f"{level}_coverage{of}", coverage)
        yield from _change(f"{level}_precision{of}", precision)
    probability = [side["probability"].to_numpy(float) for side in pairs]
    if all((~np.isnan(own)).any() for own in probability):
        errors = [binned_error(weights, own, hit) for own, hit in zip(probability, right, strict=True)]
        yield from _change(f"calibration_error{of}", errors)


def _divided(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """NaN of nothing."""
    found: NDArray[np.float64] = np.divide(part, whole, np.full(len(whole), np.nan), where=whole > 0)
    return found


def _clustered(clusters: Sequence[str]) -> NDArray[np.float64]:
    """Weights (1 + resamples, queries): a row of ones, then the draws of each query's cluster in each resample."""
    of = np.unique(np.asarray(clusters), return_inverse=True)[1]
    drawn = np.concatenate(list(resamples(int(of.max()) + 1)))[:, of]
    return np.concatenate([np.ones((1, len(of))), drawn]).astype(np.float64)


def _change(name: str, sides: Sequence[NDArray[np.float64]]) -> Iterator[PairedDifference]:
    before, after = (float(side[0]) for side in sides)
    steps = (sides[1] - sides[0])[1:]
    steps = steps[~np.isnan(steps)]
    if not (np.isnan(before) or np.isnan(after)) and len(steps):
        low, high = np.percentile(steps, [2.5, 97.5])
        interval = rounded(after - before, low, high)
        yield PairedDifference(name, round(before, 4), round(after, 4), interval, _two_sided(steps))
