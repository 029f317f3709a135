"""Measures over texts with known codes: the share of each text, and the rows over all of them and over subsets.

A table of queries has a row for each text (`evals.coding.outcomes.frame_of`). `VALUES` gives the contribution of each
query to a measure, for the rows here and for paired tests alike.

top_1, top_3, top_5, top_10: a right code first, or among so many. top_1_category, top_1_chapter: the first code lies in
the right category, the right chapter. mrr: mean of 1 / rank. recall_10: share of a text's codes among ten.
set_precision, set_recall, f1, f1_category: the codes shown against the right ones, mean over texts; micro_f1 over all
codes. distance: steps along the tree of the catalog from the first code to the nearest right one. Those that libraries
have (ir_measures, scikit-learn) are theirs to the last digit (`tests/evals/test_measures.py`); they are computed
here since a resample needs the share of each query.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinical.icd import category
from evals.measures import calibration
from evals.measures.intervals import Floats, Measure, bootstrap, clustered, mean, rounded, share
from evals.measures.results import ALL, Row, row


def _among(depth: int) -> Callable[[pd.DataFrame], Any]:
    return lambda asked: asked["rank"] <= depth


def _column(name: str) -> Callable[[pd.DataFrame], Any]:
    return lambda asked: asked[name]


SHARES: Final[dict[str, Callable[[pd.DataFrame], Any]]] = {
    **{f"top_{depth}": _among(depth) for depth in (1, 3, 5, 10)},
    "top_1_category": _column("category"),
    "top_1_chapter": _column("chapter"),
}
"""Measures that a query meets or not."""
MEANS: Final[dict[str, Callable[[pd.DataFrame], Any]]] = {
    "mrr": lambda asked: (1 / asked["rank"]).fillna(0),
    **{name: _column(name) for name in ("recall_10", "set_precision", "set_recall", "f1", "f1_category", "distance")},
}
VALUES: Final = SHARES | MEANS
LABELS: Final = ("high", "medium", "low")
EDGES: Final = (0.0, 0.2, 0.4, 0.6, 0.8, 1.01)
"""Of the best overlap of a query's words with a wording of a right code."""
WORDINGS: Final = (0, 1, 2, 4, 8, 16, 32)
"""Wordings of the best-known right code from which a band begins."""


def values(asked: pd.DataFrame, measure: str) -> NDArray[np.float64]:
    """The contribution of each query to a measure."""
    return np.asarray(VALUES[measure](asked), dtype=np.float64)


def rows_of(asked: pd.DataFrame) -> list[Row]:
    """Every measure over the queries that were answered, over the subsets of them, and the count of failed ones."""
    answered = asked[~asked["failed"]]
    found = row("failed", ALL, len(asked), float(asked["failed"].sum()))
    for name, own in _subsets(answered):
        found += _basic(name, own)
    for name, groups in (("chapters", _chapters(answered)), ("wordings", _bands(answered))):
        found += _averaged(f"mean over {name}", answered, groups)
    for name, own in _kinds(answered):
        for label in LABELS:
            found += label_rows(own, label, name)
    return found + _calibrated(answered)


def _subsets(asked: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    yield ALL, asked
    yield "not verbatim in the index", asked[~asked["verbatim"].astype(bool)]
    yield "nothing near in the index", asked[~asked["near"].astype(bool)]
    for low, high in pairwise(EDGES):
        yield f"overlap {low:.1f} to {min(high, 1.0):.1f}", asked[asked["overlap"].between(low, high, inclusive="left")]


def _basic(name: str, asked: pd.DataFrame) -> list[Row]:
    found: list[Row] = []
    for measure in SHARES:
        found += row(measure, name, len(asked), share(int(values(asked, measure).sum()), len(asked)))
    for measure in MEANS:
        found += row(measure, name, len(asked), mean(values(asked, measure).tolist()))
    return found + row("micro_f1", name, len(asked), _micro(asked))


def _micro(asked: pd.DataFrame) -> Measure | None:
    if asked.empty:
        return None
    counts = [
        (sum(code in codes for code, *_ in shown), len(shown), len(codes))
        for codes, shown in zip(asked["codes"], asked["shown"], strict=True)
    ]
    both, shown, right = np.asarray(counts, dtype=np.float32).T
    low, high = bootstrap(len(both), lambda weights: 2 * (weights @ both) / (weights @ (shown + right)))
    return rounded(2 * both.sum() / (shown + right).sum(), low, high)


# --- labels ---------------------------------------------------------------------------------------------------------


def _kinds(asked: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    yield ALL, asked
    yield from ((f"kind {kind}", own) for kind, own in asked.groupby("kind") if kind)


def label_rows(asked: pd.DataFrame, label: str, name: str = ALL) -> list[Row]:
    """Precision of first codes with a label and their share of the queries; precision over all shown codes with it and
    the mean of their probabilities. Precision draws whole categories: the mistakes of one come together."""
    first = asked[asked["confidence"] == label]
    right, cluster = first["rank"] == 1, [category(str(code)) for code in first["first"]]
    found = row(f"{label}_precision", name, len(first), clustered(right.tolist(), cluster))
    found += row(f"{label}_coverage", name, len(asked), share(len(first), len(asked)))
    every = [
        (code, probability, code in codes)
        for codes, shown in zip(asked["codes"], asked["shown"], strict=True)
        for code, level, probability in shown
        if level == label
    ]
    all_right = clustered([one for *_, one in every], [category(code) for code, *_ in every])
    believed = [probability for _, probability, _ in every if probability is not None]
    found += row(f"{label}_of_all_codes", name, len(every), all_right)
    return found + row(f"{label}_believed", name, len(believed), float(np.mean(believed)) if believed else None)


# --- averages over groups: is it good everywhere, or only where most queries lie? ------------------------------------


def _chapters(asked: pd.DataFrame) -> dict[str, NDArray[np.bool_]]:
    """Members of each chapter; a query counts in the chapter of each of its codes."""
    names = sorted({name for own in asked["chapters"] for name in own})
    return {name: np.array([name in own for own in asked["chapters"]]) for name in names}


def _bands(asked: pd.DataFrame) -> dict[str, NDArray[np.bool_]]:
    """Members of each band of wordings that the index has of the best-known right code."""
    count, found = asked["wordings"].to_numpy(), dict[str, NDArray[np.bool_]]()
    for low, high in pairwise((*WORDINGS, 1 << 30)):
        members = (count >= low) & (count < high)
        name = f"{low} and more" if high == 1 << 30 else str(low) if high - low == 1 else f"{low} to {high - 1}"
        found |= {f"wordings {name}": members} if members.any() else {}
    return found


def _averaged(name: str, asked: pd.DataFrame, groups: dict[str, NDArray[np.bool_]]) -> list[Row]:
    """Top-1 and top-10 of each group, and their mean over the groups, which counts each alike."""
    found: list[Row] = []
    if not groups:
        return found
    members = np.array(list(groups.values()), dtype=np.float32).T
    for measure in ("top_1", "top_10"):
        hit = values(asked, measure).astype(np.float32)
        for group, own in groups.items():
            found += row(measure, group, int(own.sum()), share(int(hit[own].sum()), int(own.sum())))
        found += row(measure, name, len(groups), _macro(hit, members))
    return found


def _macro(hit: Floats, members: Floats) -> Measure:
    """Mean of the groups' shares; a group that a resample does not hold is left out of it."""

    def averaged(weights: Floats) -> NDArray[np.float32]:
        size = weights @ members
        held = size > 0
        shares = (weights * hit) @ members / np.where(held, size, 1)
        return np.asarray(shares.sum(axis=1) / held.sum(axis=1))

    value = averaged(np.ones((1, len(hit)), dtype=np.float32))
    return rounded(float(value[0]), *bootstrap(len(hit), averaged))


# --- calibration ----------------------------------------------------------------------------------------------------


def first_codes(asked: pd.DataFrame) -> tuple[list[float], list[bool]]:
    """Probability of the first code and its rightness, of the queries that have one with a probability."""
    known = asked[asked["probability"].notna()]
    return known["probability"].tolist(), (known["rank"] == 1).tolist()


def _calibrated(asked: pd.DataFrame) -> list[Row]:
    """Calibration error, beside that of perfect probabilities on as many queries, Brier score and the area under the
    risk-coverage curve; nothing where the target says no probabilities."""
    probability, right = first_codes(asked)
    if not probability:
        return []
    n, by_chance = len(probability), calibration.calibration_error_by_chance(probability)
    found = row("calibration_error", ALL, n, calibration.expected_calibration_error(probability, right))
    found += row("calibration_error_by_chance", ALL, n, by_chance)
    found += row("brier", ALL, n, calibration.brier(probability, right))
    return found + row("area_under_risk_coverage", ALL, n, calibration.area_under_risk_coverage(probability, right))
