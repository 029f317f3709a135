"""How far off is a wrong first code? Steps along the tree of the catalog.

distance: mean number of steps from the first code to the nearest right one, along chapter, block, category and
subcategories; 0 is right, 2 a sibling. distance_of_misses: the same over the wrong ones. A query without any code is
as far off as its right code is from the root: nothing was said.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clinical.catalog import Catalog, parent_of
from evals.coding.outcomes import Outcome
from evals.reports.intervals import mean

OF_SUBSETS = True


def figures(outcomes: Sequence[Outcome], catalog: Catalog) -> dict[str, Any]:
    """See the module."""
    steps = [distance_of(outcome, catalog) for outcome in outcomes]
    return {"distance": mean(steps), "distance_of_misses": mean([each for each in steps if each])}


def distance_of(outcome: Outcome, catalog: Catalog) -> int:
    """Steps from the first code to the nearest right one."""
    said = path_of(outcome.first.code, catalog) if outcome.first else ()
    return min(_steps(said, path_of(code, catalog)) for code in outcome.example.codes)


def path_of(code: str, catalog: Catalog) -> tuple[str, ...]:
    """From the root: chapter, block, category, ..., the code. One the catalog does not have hangs where it would be."""
    near = catalog.nearest_existing(code)
    above = (f"chapter {near.chapter}", f"block {near.block}") if near else ("chapter ?", f"block of {code[:3]}")
    spelled: list[str] = []
    each: str | None = code
    while each is not None:
        spelled.insert(0, each)
        each = parent_of(each)
    return (*above, *spelled)


def _steps(one: Sequence[str], other: Sequence[str]) -> int:
    common = 0
    while common < min(len(one), len(other)) and one[common] == other[common]:
        common += 1
    return len(one) + len(other) - 2 * common
