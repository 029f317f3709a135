"""What high, medium and low are worth.

confidence: over the queries whose first code is `high` (`medium`, `low`), how often it is right (precision) and for
how many of all queries that is (coverage); `all`: the same over every code of that confidence, not only the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clinical.catalog import Catalog
from evals.coding.outcomes import Outcome
from evals.coding.targets import Coded
from evals.reports.intervals import Measure, clustered, share

OF_SUBSETS = False
LABELS = ("high", "medium", "low")


def figures(outcomes: Sequence[Outcome], catalog: Catalog) -> dict[str, Any]:
    """See the module."""
    result: dict[str, Any] = {"confidence": {name: confidence(outcomes, name) for name in LABELS}}
    kinds = sorted({outcome.example.kind for outcome in outcomes if outcome.example.kind})
    if kinds:
        result["labels_by_kind"] = {
            kind: {name: confidence([one for one in outcomes if one.example.kind == kind], name) for name in LABELS}
            for kind in kinds
        }
    return result


def confidence(outcomes: Sequence[Outcome], name: str) -> dict[str, Any]:
    """Precision and coverage of one label, over first codes and over all codes."""
    first = [(each.first, each) for each in outcomes if each.first and each.first.confidence == name]
    every = [(hit, outcome) for outcome in outcomes for hit in outcome.found or () if hit.confidence == name]
    believed = [hit.probability for hit, _ in every if hit.probability is not None]
    return {
        "precision": _precision(first),
        "coverage": share(len(first), len(outcomes)),
        "all": _precision(every),
        "codes": len(every),
        "believed": round(sum(believed) / len(believed), 4) if believed else None,
    }


def _precision(hits: Sequence[tuple[Coded, Outcome]]) -> Measure | None:
    right = [hit.code in outcome.example.codes for hit, outcome in hits]
    return clustered(right, [hit.code[:3] for hit, _ in hits])
