"""Are the probabilities true? Over first codes with a probability; absent where the target gives none.

calibration: `ece` (expected calibration error), `ece_by_chance` (what perfect probabilities would show on as many
queries), `brier`, `reliability` (bins), `aurc` (area under the risk-coverage curve), `risk_coverage` (its points).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clinical.catalog import Catalog
from evals.coding import calibration
from evals.coding.outcomes import Outcome

OF_SUBSETS = False


def figures(outcomes: Sequence[Outcome], catalog: Catalog) -> dict[str, Any]:
    """See the module."""
    probability, right = columns(outcomes)
    if not probability:
        return {}
    return {
        "calibration": {
            "n": len(probability),
            "ece": calibration.expected_calibration_error(probability, right),
            "ece_by_chance": calibration.calibration_error_by_chance(probability),
            "brier": calibration.brier(probability, right),
            "aurc": calibration.area_under_risk_coverage(probability, right),
            "reliability": calibration.reliability(probability, right),
            "risk_coverage": calibration.curve(probability, right),
        }
    }


def columns(outcomes: Sequence[Outcome]) -> tuple[list[float], list[bool]]:
    """Probability of the first code and whether it is right, of the queries that have one."""
    rows = [
        (outcome.first.probability, outcome.rank == 1)
        for outcome in outcomes
        if outcome.first is not None and outcome.first.probability is not None
    ]
    return [probability for probability, _ in rows], [right for _, right in rows]
