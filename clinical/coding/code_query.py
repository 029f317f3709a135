"""A query that is nothing but a code: looked up in the catalog, in all three layers, without a model.

Contract, section 4, "Code-only query". Tiers 2 and 3 hold neighbours of the code, not the code itself, so their summary
begins with what is asked: whether there is such a code, whether it may be used as it stands, and its title.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from clinical.coding.instant import detailed
from clinical.coding.model_tiers import searching
from clinical.contract import TIER1_MAX_CODES, CodeEntry, Event, PartialEvent, ResearchRequest, ResultEvent
from clinical.icd import NOT_USED

if TYPE_CHECKING:
    from clinical.icd import Catalog, Code

EXACT_SCORE, NEIGHBOUR_SCORE = 100.0, 50.0
"""Scores of a code-only query with `rerank`: the code itself, and codes that are merely near it."""


_BESIDE: Final[Mapping[str, str]] = {
    "asterisk": ", als Stern-Kode nur zusammen mit einem Kreuz-Kode",
    "exclamation": ", als Ausrufezeichen-Kode nur zusätzlich zu einem anderen",
}


def looked_up(code: str, request: ResearchRequest, catalog: Catalog) -> Iterator[Event]:
    """All three layers of a code-only query; deterministic, no model is called."""
    exact = catalog.get(code)
    if exact is not None:
        near = (*catalog.children(code), *catalog.neighbours(code, TIER1_MAX_CODES))[: TIER1_MAX_CODES - 1]
        why = f"Benachbarter Katalogeintrag zu {code}."
    else:
        parent = catalog.nearest_existing(code)
        near = (parent, *catalog.children(parent.code))[:TIER1_MAX_CODES] if parent else ()
        why = f"{code} gibt es im Katalog {catalog.version} nicht; nächstliegender vorhandener Kode."
    summary = f"{_asked(code, exact, catalog)} {_listed(exact, near)}".strip()
    yield searching(1)
    yield PartialEvent(layer=1, codes=_layer_one(exact, near, request))
    low = tuple(_low(neighbour, why, request) for neighbour in near)
    yield searching(2)
    yield PartialEvent(layer=2, summary=summary, codes=low)
    yield searching(3)
    yield ResultEvent(summary=summary, codes=low)


def _asked(name: str, code: Code | None, catalog: Catalog) -> str:
    """State in German if the asked code is in the catalog, its permitted use, and its title."""
    year = f"im Katalog {catalog.system} {catalog.version}"
    if code is None:
        return f"{name} gibt es {year} nicht."
    return f"{name} gibt es {year}: {_use(code)}. Titel: „{code.title}“."


def _use(code: Code) -> str:
    """Terminal and valid, by BfArM's letters for outpatient (§ 295 SGB V) and hospital cases (§ 301)."""
    if not code.terminal:
        return "nicht endständig und so nicht gültig; zu wählen ist ein Unterkode"
    uses = (code.use_295, code.use_301)
    if code.is_unassigned:
        return "endständig, aber nicht gültig; die Schlüsselnummer ist nicht zur Verschlüsselung freigegeben"
    used = "endständig und gültig"
    if NOT_USED in uses:
        used += " nur im Krankenhaus (§ 301 SGB V)" if uses[0] == NOT_USED else " nur ambulant (§ 295 SGB V)"
    return used + _BESIDE.get(code.kind, "")


def _listed(exact: Code | None, near: Sequence[Code]) -> str:
    """State in German how the listed codes relate to the asked one."""
    if not near:
        return "" if exact else "Auch seine Kategorie fehlt."
    if exact is None:
        return "Aufgeführt sind die nächstliegenden vorhandenen Kodes."
    kin = "Nachbarn" if exact.terminal else "Unterkodes und Nachbarn"
    return f"Aufgeführt sind seine {kin}, nicht der Kode selbst."


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
