"""Texts with several codes: the codes that are shown (high and medium; in tiers 2 and 3 all) against the right ones.

set_precision, set_recall, f1: means over texts; a text that shows nothing has precision 0. f1_category: F1 of the
codes cut to three characters. micro_f1: F1 over all codes of all texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from clinical.catalog import Catalog
from evals.coding.outcomes import Outcome
from evals.reports.intervals import bootstrap, mean, rounded

OF_SUBSETS = True
CODE, CATEGORY = 6, 3
"""Characters compared."""


def figures(outcomes: Sequence[Outcome], catalog: Catalog) -> dict[str, Any]:
    """See the module."""
    counts, short = _counts(outcomes, CODE), _counts(outcomes, CATEGORY)
    return {
        "set_precision": mean([both / shown if shown else 0.0 for both, shown, _ in counts]),
        "set_recall": mean([both / right for both, _, right in counts]),
        "f1": mean([2 * both / (shown + right) for both, shown, right in counts]),
        "f1_category": mean([2 * both / (shown + right) for both, shown, right in short]),
        "micro_f1": _micro(counts),
    }


def f1_of(outcome: Outcome, length: int) -> float:
    """F1 of the codes one text shows, cut to `length` characters."""
    both, shown, right = _count(outcome, length)
    return 2 * both / (shown + right)


def _counts(outcomes: Sequence[Outcome], length: int) -> list[tuple[int, int, int]]:
    return [_count(outcome, length) for outcome in outcomes]


def _count(outcome: Outcome, length: int) -> tuple[int, int, int]:
    """(shown and right, shown, right)."""
    right = {code[:length] for code in outcome.example.codes}
    shown = {hit.code[:length] for hit in outcome.found or () if hit.shown}
    return len(right & shown), len(shown), len(right)


def _micro(counts: Sequence[tuple[int, int, int]]) -> tuple[float, float, float] | None:
    if not counts:
        return None
    both, shown, right = np.asarray(counts, dtype=np.float32).T
    low, high = bootstrap(len(both), lambda weights: 2 * (weights @ both) / (weights @ (shown + right)))
    return rounded(2 * both.sum() / (shown + right).sum(), low, high)
