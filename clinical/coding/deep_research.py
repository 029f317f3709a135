"""Tier 3: the model researches the catalog with two tools in a bounded loop, then recommends.

The loop ends when the model says so, when a round asks for nothing new, or at its Bounds; the recommendation is asked
for in any case, with what has been found by then.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from clinical.coding import rules as coding_rules
from clinical.coding.answers import NOTHING_FOUND, entries, proposals, summary
from clinical.coding.case import PER_FINDING, Case, Offer
from clinical.coding.prompts import (
    OPENS_MAX,
    SEARCHES_MAX,
    Recommendation,
    Step,
    bound_to,
    recommendation_question,
    step_answered,
    step_question,
)
from clinical.coding.search_queue import SearchQueue
from clinical.contract import ResultEvent
from clinical.errors import ModelContextTooSmall, ModelMalformed, ModelTimeout
from clinical.icd import Code
from clinical.llm import FilledForm, LanguageModel, Limits, Message, ask

if TYPE_CHECKING:
    from clinical.reading import SearchIndex


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of research, in rounds and seconds, after which the recommendation is asked for."""

    rounds: int = 6
    seconds: float = 60.0


BOUNDS = Bounds()
STEP_LIMITS = Limits(max_tokens=700, timeout_s=25)
RECOMMENDATION_LIMITS = Limits(max_tokens=2_500, timeout_s=25)

NOTES_SHOWN = 10
CHILDREN_SHOWN = 16
NEIGHBOURS_SHOWN = 6
NOTE_CHARS = 160
QUERY_CHARS = 200


@dataclass(frozen=True, slots=True)
class Desk:
    """State of one research: the case with all codes shown so far, the queries asked, the entries opened."""

    case: Case
    asked: frozenset[str] = frozenset()
    opened: tuple[dict[str, Any], ...] = field(default=())


async def research_deeply(
    model: LanguageModel,
    index: SearchIndex,
    case: Case,
    details: bool,
    bounds: Bounds = BOUNDS,
    search_queue: SearchQueue | None = None,
) -> ResultEvent:
    """Tier 3's answer. Raises a LanguageModelError when the recommendation itself cannot be had."""
    if not case.findings:
        return ResultEvent(summary=NOTHING_FOUND, codes=())
    desk = await _look_around(model, index, case, bounds, search_queue or SearchQueue())
    case = desk.case
    if not case.offers:
        return ResultEvent(summary=NOTHING_FOUND, codes=())
    findings = [finding.payload() for finding in case.findings]
    offers = [offer.payload() for offer in case.offers.values()]
    schema = bound_to(Recommendation, case.offers, len(case.findings))

    async def recommended(opened: Sequence[dict[str, Any]]) -> FilledForm[Recommendation]:
        question = recommendation_question(case.text, findings, offers, opened)
        return await ask(model, question, Recommendation, RECOMMENDATION_LIMITS, schema)

    try:
        answer = await recommended(desk.opened)
    except ModelContextTooSmall:  # what was opened informs the choice; the offers alone allow it
        answer = await recommended(())
    outcome = coding_rules.apply(index.catalog, case, proposals(case, answer.value))
    return ResultEvent(summary=summary(answer.value, outcome), codes=entries(outcome, details))


async def _look_around(
    model: LanguageModel, index: SearchIndex, case: Case, bounds: Bounds, search_queue: SearchQueue
) -> Desk:
    """The bounded loop. A round that fails or takes too long ends it: what has been found still counts."""
    desk, deadline = Desk(case), time.monotonic() + bounds.seconds
    findings = [finding.payload() for finding in case.findings]
    talk: list[Message] = list(step_question(case.text, findings, [offer.payload() for offer in case.offers.values()]))
    for rounds_left in range(bounds.rounds - 1, -1, -1):
        left = deadline - time.monotonic()
        if left <= 0:
            break
        try:
            limits = replace(STEP_LIMITS, timeout_s=min(STEP_LIMITS.timeout_s, left))
            step = (await ask(model, talk, Step, limits)).value
        except (ModelTimeout, ModelMalformed, ModelContextTooSmall):
            break
        before = desk.asked
        desk, results = await search_queue.later(_round, index, desk, step)
        if step.done or desk.asked == before:
            break
        talk += step_answered(step, results, rounds_left)
    return desk


def _round(index: SearchIndex, desk: Desk, step: Step) -> tuple[Desk, list[dict[str, Any]]]:
    """Do what the model asked for in one round; nothing is looked up twice."""
    results: list[dict[str, Any]] = []
    for query in _fresh(step.searches[:SEARCHES_MAX], desk.asked):
        desk, result = _searched(index, desk, query)
        results.append(result)
    for name in _fresh(step.open[:OPENS_MAX], desk.asked):
        desk, result = _opened(index, desk, name)
        results.append(result)
    return desk, results


def _fresh(wishes: Iterable[str], asked: frozenset[str]) -> list[str]:
    cleaned = (" ".join(wish.split())[:QUERY_CHARS] for wish in wishes)
    return [wish for wish in dict.fromkeys(cleaned) if wish and wish not in asked]


def _searched(index: SearchIndex, desk: Desk, query: str) -> tuple[Desk, dict[str, Any]]:
    """Tool `search`: the best codes for a phrase, without those the case bars."""
    (hits,) = index.search_phrases([query], PER_FINDING)
    offers = [Offer(code, hit.probability, hit.text) for hit in hits if (code := index.catalog.get(hit.code))]
    desk = _shown(desk, query, offers)
    codes = [desk.case.offers[o.code.code].payload() for o in offers if o.code.code in desk.case.offers]
    return desk, {"search": query, "codes": codes}


def _opened(index: SearchIndex, desk: Desk, name: str) -> tuple[Desk, dict[str, Any]]:
    """Tool `open`: a code with its notes, the exclusions of the codes above it, its children and neighbours."""
    catalog = index.catalog
    code = catalog.get(catalog.parse(name) or "")
    if code is None:
        return replace(desk, asked=desk.asked | {name}), {"open": name[:12], "error": "Diesen Kode gibt es nicht."}
    children = catalog.children(code.code)[:CHILDREN_SHOWN]
    neighbours = catalog.neighbours(code.code, NEIGHBOURS_SHOWN)
    desk = _shown(desk, name, [Offer(shown) for shown in (code, *children, *neighbours)])
    result = {
        "open": code.code,
        "title": code.title,
        "terminal": code.terminal,
        "exclusions": _notes(catalog.exclusion_notes(code)),
        "notes": _notes(note for note in code.notes if note.kind in ("inclusion", "coding-hint", "definition", "note")),
        "children": _titles(children, desk.case),
        "neighbours": _titles(neighbours, desk.case),
    }
    if code.code in desk.case.barred:
        result["barred"] = "Der Text schließt diese Krankheit aus oder führt sie als vergangen: nicht wählbar."
    return replace(desk, opened=(*desk.opened, result)), result


def _shown(desk: Desk, asked: str, offers: Sequence[Offer]) -> Desk:
    return replace(desk, case=desk.case.with_offers(offers), asked=desk.asked | {asked})


def _notes(notes: Iterable[Any]) -> list[str]:
    shown = (f"{note.text[:NOTE_CHARS]} {' '.join(note.references)}".strip() for note in notes)
    return list(shown)[:NOTES_SHOWN]


def _titles(codes: Iterable[Code], case: Case) -> dict[str, str]:
    return {code.code: code.title for code in codes if code.code in case.offers}
