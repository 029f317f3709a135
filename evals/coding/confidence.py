"""Calibration of the shipped weights on their calibration queries, and the thresholds chosen there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from catalog_build.build import WEIGHTS, weights_digest
from catalog_build.training.calibration import (
    CALIBRATION,
    FEWEST,
    HIGH_PRECISION,
    MEDIUM_PRECISION,
    Calibration,
    choose,
)
from clinical.search import checksum
from clinical.thresholds import NOTEBOOKS, ThresholdSection
from evals.measures.calibration import area_under_risk_coverage, brier, expected_calibration_error

WHAT = "synonyms of the Alpha-ID in two folds that neither encoder, index nor ranking model had seen"


def metrics(calibration: Calibration, bands: dict[str, Any]) -> dict[str, Any]:
    """Calibration measures with 95 % intervals; `bands` is taken over as `choose` returns it."""
    probability, right = calibration.probability.tolist(), calibration.right.tolist()
    return {
        "queries": len(right),
        "top_1": round(sum(right) / len(right), 4),
        "bands": bands,
        "expected_calibration_error": expected_calibration_error(probability, right),
        "brier": brier(probability, right),
        "area_under_risk_coverage": area_under_risk_coverage(probability, right),
    }


def section(folder: Path = WEIGHTS) -> ThresholdSection:
    """The section `confidence` of `clinical/thresholds.json`, from the weights of a folder and their calibration."""
    calibration = Calibration.load(folder / CALIBRATION)
    thresholds, bands = choose(calibration.probability, calibration.right)
    rule = {"high_precision": HIGH_PRECISION, "medium_precision": MEDIUM_PRECISION, "fewest": FEWEST}
    data = {"what": WHAT, **weights_digest(folder), "calibration": checksum(folder / CALIBRATION), "rule": rule}
    return ThresholdSection(thresholds, data, metrics(calibration, bands), NOTEBOOKS["confidence"])
