"""A query that is nothing but a code: looked up in the catalog, in all three layers, without a model.

Contract, section 4, "Code-only query".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from clinical.coding.instant import detailed
from clinical.coding.model_tiers import searching
from clinical.contract import TIER1_MAX_CODES, CodeEntry, Event, PartialEvent, ResearchRequest, ResultEvent

if TYPE_CHECKING:
    from clinical.catalog import Catalog, Code

EXACT_SCORE, NEIGHBOUR_SCORE = 100.0, 50.0
"""Scores of a code-only query with `rerank`: the code itself, and codes that are merely near it."""


def looked_up(code: str, request: ResearchRequest, catalog: Catalog) -> Iterator[Event]:
    """All three layers of a code-only query; deterministic, no model is called."""
    exact = catalog.get(code)
    if exact is not None:
        near = (*catalog.children(code), *catalog.neighbours(code, TIER1_MAX_CODES))[: TIER1_MAX_CODES - 1]
        why = f"Benachbarter Katalogeintrag zu {code}."
        summary = f"Direkte Suche nach {code}: benachbarte Kodes im Katalog {catalog.version}."
    else:
        parent = catalog.nearest_existing(code)
        near = (parent, *catalog.children(parent.code))[:TIER1_MAX_CODES] if parent else ()
        why = f"{code} gibt es im Katalog {catalog.version} nicht; nächstliegender vorhandener Kode."
        summary = f"{code} gibt es im Katalog {catalog.version} nicht."
    yield searching(1)
    yield PartialEvent(layer=1, codes=_layer_one(exact, near, request))
    low = tuple(_low(neighbour, why, request) for neighbour in near)
    yield searching(2)
    yield PartialEvent(layer=2, summary=summary, codes=low)
    yield searching(3)
    yield ResultEvent(summary=summary, codes=low)


def _layer_one(exact: Code | None, near: Sequence[Code], request: ResearchRequest) -> tuple[CodeEntry, ...]:
    def entry(code: Code) -> CodeEntry:
        score = EXACT_SCORE if code is exact else NEIGHBOUR_SCORE
        plain = CodeEntry(
            code=code.code,
            description=code.title,
            confidence="score" if request.rerank else "high" if code is exact else "medium",
            score=score if request.rerank else 0.0,
        )
        return detailed(plain, code) if request.details else plain

    return tuple(entry(code) for code in ((exact, *near) if exact else near))


def _low(code: Code, reasoning: str, request: ResearchRequest) -> CodeEntry:
    plain = CodeEntry(code=code.code, description=code.title, confidence="low", reasoning=reasoning)
    return detailed(plain, code) if request.details else plain
