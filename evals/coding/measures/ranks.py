"""Is the right code there, and how far up?

top_1, top_3, top_5, top_10: the first code, or one of the first k, is right. top_1_category, top_1_chapter: the first
code is in the right three-character category, the right chapter. mrr: mean of 1 / rank among ten. recall_10: share of
a text's codes among the first ten.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clinical.catalog import Catalog
from evals.coding.measures.hierarchy import path_of
from evals.coding.outcomes import Outcome
from evals.reports.intervals import mean, share

OF_SUBSETS = True
DEPTHS = (1, 3, 5, 10)


def figures(outcomes: Sequence[Outcome], catalog: Catalog) -> dict[str, Any]:
    """See the module."""
    ranks, size = [outcome.rank for outcome in outcomes], len(outcomes)
    found: dict[str, Any] = {
        f"top_{depth}": share(sum(rank is not None and rank <= depth for rank in ranks), size) for depth in DEPTHS
    }
    return found | {
        "top_1_category": share(sum(_same(outcome, lambda code: code[:3]) for outcome in outcomes), size),
        "top_1_chapter": share(
            sum(_same(outcome, lambda code: path_of(code, catalog)[0]) for outcome in outcomes), size
        ),
        "mrr": mean([1 / rank if rank else 0.0 for rank in ranks]),
        "recall_10": mean([_recall(outcome) for outcome in outcomes]),
    }


def _same(outcome: Outcome, part: Any) -> bool:
    return outcome.first is not None and part(outcome.first.code) in {part(code) for code in outcome.example.codes}


def _recall(outcome: Outcome) -> float:
    return len(outcome.example.codes & {hit.code for hit in outcome.found or ()}) / len(outcome.example.codes)
