"""Metrics of coding: one module each, `figures(outcomes, catalog)` -> {name: [value, low, high] or a tree of such}.

A new metric is a new module here; it is found by being here. `OF_SUBSETS = True` in it: it is also measured over the
subsets of a report (not verbatim in the index, each bucket of overlap). A measure of nothing is None.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from functools import cache
from types import ModuleType
from typing import Any

from clinical.catalog import Catalog
from evals.coding.outcomes import Outcome


@cache
def metrics() -> tuple[ModuleType, ...]:
    """Every metric, by name of its module."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return tuple(importlib.import_module(f"{__name__}.{name}") for name in names)


def measures(outcomes: Sequence[Outcome], catalog: Catalog, whole: bool = False) -> dict[str, Any]:
    """n, answered, failed, and the figures of every metric over the answered; `whole`: also those of no subset."""
    answered = [outcome for outcome in outcomes if outcome.found is not None]
    result: dict[str, Any] = {
        "n": len(outcomes),
        "answered": len(answered),
        "failed": len(outcomes) - len(answered),
    }
    for metric in metrics():
        if whole or metric.OF_SUBSETS:
            result |= metric.figures(answered, catalog)
    return result
