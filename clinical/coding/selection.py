"""Tier 2: the model names the findings, the catalog is searched for each, the model selects from what was found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from clinical.coding import rules as coding_rules
from clinical.coding.answers import NOTHING_FOUND, entries, proposals, summary
from clinical.coding.case import Case, build_case
from clinical.coding.prompts import Findings, Selection, bound_to, findings_question, selection_question
from clinical.coding.search_queue import SearchQueue
from clinical.contract import PartialEvent
from clinical.icd import Catalog
from clinical.llm import LanguageModel, Limits, ask

if TYPE_CHECKING:
    from clinical.reading import Candidate, SearchIndex

FINDINGS_LIMITS = Limits(max_tokens=1_500, timeout_s=20)
SELECTION_LIMITS = Limits(max_tokens=2_000, timeout_s=25)
"""Tiers 2 and 3 share the first call and then run side by side: 20 + 60 + 25 s stay under the 120 s a client waits."""


async def understand(
    model: LanguageModel,
    index: SearchIndex,
    text: str,
    instant: Sequence[Candidate] = (),
    search_queue: SearchQueue | None = None,
) -> Case:
    """The findings of the text and the codes on offer for them, those of tier 1 (`instant`) among them. One call, made
    when nobody waits for a first answer."""
    search_queue = search_queue or SearchQueue()
    await search_queue.turn()
    answer = await ask(model, findings_question(text), Findings, FINDINGS_LIMITS)
    return await search_queue.later(build_case, index, text, answer.value.findings, instant)


async def select(model: LanguageModel, catalog: Catalog, case: Case, details: bool) -> PartialEvent:
    """Tier 2's answer. Without a single candidate no model is asked."""
    if not case.offers:
        return PartialEvent(layer=2, summary=NOTHING_FOUND, codes=())
    findings = [finding.payload() for finding in case.findings]
    question = selection_question(case.text, findings, [offer.payload() for offer in case.offers.values()])
    schema = bound_to(Selection, case.offers, len(case.findings))
    answer = await ask(model, question, Selection, SELECTION_LIMITS, schema)
    outcome = coding_rules.apply(catalog, case, proposals(case, answer.value))
    return PartialEvent(layer=2, summary=summary(answer.value, outcome), codes=entries(outcome, details))
