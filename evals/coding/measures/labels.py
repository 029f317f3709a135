"""What high, medium and low are worth.

confidence: over the queries whose first code is `high` (`medium`, `low`), how often it is right (precision) and for
how many of all queries that is (coverage); `all`: the same over every code of that confidence, not only the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clinical.catalog import Catalog
from evals.coding.outcomes import Outcome
from evals.reports.intervals import share

OF_SUBSETS = False
LABELS = ("high", "medium", "low")


def figures(outcomes: Sequence[Outcome], catalog: Catalog) -> dict[str, Any]:
    """See the module."""
    return {"confidence": {name: confidence(outcomes, name) for name in LABELS}}


def confidence(outcomes: Sequence[Outcome], name: str) -> dict[str, Any]:
    """Precision and coverage of one label, over first codes and over all codes."""
    first = [outcome for outcome in outcomes if outcome.first and outcome.first.confidence == name]
    every = [(hit, outcome) for outcome in outcomes for hit in outcome.found or () if hit.confidence == name]
    return {
        "precision": share(sum(outcome.rank == 1 for outcome in first), len(first)),
        "coverage": share(len(first), len(outcomes)),
        "all": share(sum(hit.code in outcome.example.codes for hit, outcome in every), len(every)),
    }
