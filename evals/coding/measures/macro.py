"""Is it good everywhere, or only where most queries lie?

macro_chapter: top-1 and top-10 of each chapter, averaged over chapters; a query counts in the chapter of each of its
codes. by_synonyms: top-1 and top-10 by how many wordings the best-known right code has in the index, and their mean
over these bands.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clinical.catalog import Catalog
from evals.coding.measures.hierarchy import path_of
from evals.coding.outcomes import Outcome
from evals.reports.intervals import Floats, bootstrap, rounded, share

OF_SUBSETS = False
BANDS = (0, 1, 2, 4, 8, 16, 32)
"""Wordings from which a band begins."""


def figures(outcomes: Sequence[Outcome], catalog: Catalog) -> dict[str, Any]:
    """See the module."""
    return {"macro_chapter": _by_chapter(outcomes, catalog), "by_synonyms": _by_synonyms(outcomes)}


def _by_chapter(outcomes: Sequence[Outcome], catalog: Catalog) -> dict[str, Any]:
    chapters = [{path_of(code, catalog)[0] for code in outcome.example.codes} for outcome in outcomes]
    names = sorted(set().union(*chapters))
    members = np.array([[name in own for name in names] for own in chapters], dtype=np.float32)
    return _averaged(outcomes, members.reshape(len(outcomes), len(names)), names)


def _by_synonyms(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    band = [max(at for at, start in enumerate(BANDS) if outcome.wordings >= start) for outcome in outcomes]
    ends = [str(low) if high - low == 1 else f"{low}-{high - 1}" for low, high in pairwise(BANDS)]
    names = [*ends, f"{BANDS[-1]} and more"]
    there = sorted(set(band))
    members = np.array([[each == at for at in there] for each in band], dtype=np.float32)
    return _averaged(outcomes, members.reshape(len(outcomes), len(there)), [names[at] for at in there])


def _averaged(outcomes: Sequence[Outcome], members: Floats, names: Sequence[str]) -> dict[str, Any]:
    """Mean over the groups, and each group: `members` is (queries, groups)."""
    hits = {"top_1": _hits(outcomes, 1), "top_10": _hits(outcomes, 10)}
    groups = {
        name: {"n": int(column.sum())} | {key: share(int(hit @ column), int(column.sum())) for key, hit in hits.items()}
        for name, column in zip(names, members.T, strict=True)
    }
    return {key: _macro(hit, members) for key, hit in hits.items()} | {"groups": groups}


def _hits(outcomes: Sequence[Outcome], depth: int) -> Floats:
    return np.array([o.rank is not None and o.rank <= depth for o in outcomes], dtype=np.float32)


def _macro(hit: Floats, members: Floats) -> tuple[float, float, float] | None:
    """Mean of the groups' shares; a group that a resample does not hold is left out of it."""
    if not len(hit):
        return None

    def averaged(weights: Floats) -> NDArray[np.float32]:
        size = weights @ members
        held = size > 0
        shares = (weights * hit) @ members / np.where(held, size, 1)
        return np.asarray(shares.sum(axis=1) / held.sum(axis=1))

    value = averaged(np.ones((1, len(hit)), dtype=np.float32))
    return rounded(float(value[0]), *bootstrap(len(hit), averaged))
