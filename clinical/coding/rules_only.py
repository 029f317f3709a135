"""Tiers 2 and 3 without a language model: clauses become findings, each with its best candidate.

A clause is what stands between punctuation and the words that join diagnoses ("mit", "bei", "und", "wegen"); what it
claims is decided by trigger words (`clinical.claims.Reading`); a candidate is taken where the search is sure
enough.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from clinical.budget import Budget, in_thread
from clinical.claims import Claim, Reading, either
from clinical.coding import rules as coding_rules
from clinical.coding.answers import NOTHING_FOUND, entries, proposals, summary
from clinical.coding.case import Case, Located, Offer, build_case
from clinical.coding.model_tiers import searching
from clinical.coding.prompts import CODES_MAX, FINDINGS_MAX, Choice, Finding, Selection
from clinical.coding.search_queue import SearchQueue
from clinical.contract import Event, PartialEvent, ResearchRequest, ResultEvent, StatusEvent
from clinical.errors import ModelTimeout

if TYPE_CHECKING:
    from clinical.reading import Candidate, SearchIndex

SECONDS: Final = 20.0
"""For one step: a text of 2,000 characters takes milliseconds."""
TOO_SLOW = "Die Regeln brauchten zu lange. Bisherige Ergebnisse bleiben gültig."
SURE, LIKELY, POSSIBLE = 0.8, 0.5, 0.3
"""Probabilities of the search from which a candidate is high, medium or low; below, a finding gives no code."""
CERTAIN, NEVER = 0.9, 2.0
"""Bars for a finding that tier 1 shows nothing for."""

_JOINT = re.compile(
    r"[.;:!?,()\n/]|\b(?:und|sowie|oder|mit|bei|wegen|wg|infolge|durch|aufgrund|nach|kommt|klagt|über|zeigt|besteht"
    r"|außerdem|ergibt|erhält|ist|sind|wird|war|hat|hatte)\b",
    re.I,
)
_EMPTY = re.compile(
    r"^(?:\W|\b(?:ein\w*|der|die|das|des|dem|den|im|in|am|an|auf|zu[rm]?|von|vom|für|seit|vor|aktuell|bekannt\w*|jetzt"
    rf"|{either('@denying', '@exclusion', '@differential', '@state_after', '@relative', '@earlier')}"
    r"|n|v|a|verdacht|patient\w*|herrn?|frau|mann|\d+|jährig\w*|jahre\w*"
    r"|tagen?|wochen?|monaten?|jahren|ihre\w*|sein\w*|sie|er|es|sich|praxis|tägl\w*|anhalt|hinweise?)\b)+",
    re.I,
)
"""Words before a finding in its clause that are no part of its name, whatever they claim."""
_NOUN = re.compile(r"\b[A-ZÄÖÜ][\wäöüß-]{2,}|\b[A-Z]{2,}\b")
_NO_FINDING = re.compile(
    r"^(?:Patient\w*|Praxis|Frau|Mann|Herrn?|Untersuchung|Kontrolle|Behandlung|Therapie|Medikation|Operation|Tag\w*"
    r"|Jahr\w*|Woche\w*|Monat\w*|Hausarzt|Quartal|Klinik|Uhr|Facharzt|Zuweisung|Überweisung|Vorstellung|Diagnosen?"
    r"|Anamnese|Befund|Procedere|Grüße\w*|Kollege\w*|Kollegin\w*|Zeit\w*|Arzt|Ärztin)$"
)
_ABBREVIATION = re.compile(r"\b(?:z|n|v|a|art|chron|ca|bds|re|li|dr|wg)$", re.I)
_LONGEST = 6
"""Characters that hold every abbreviation and what must not be a part of it."""
MAX_WORDS = 8


async def rules_tiers(
    request: ResearchRequest,
    index: SearchIndex,
    instant: Sequence[Candidate] = (),
    search_queue: SearchQueue | None = None,
) -> AsyncGenerator[Event]:
    """Events after tier 1, which found `instant`, as `model_tiers` gives them; used-up time is a `status` `error`."""
    search_queue = search_queue or SearchQueue()
    yield searching(2)
    try:
        await search_queue.turn()
        findings = await in_thread(SECONDS, partial(find, request.query))
        case = await search_queue.later(build_case, index, request.query, findings, instant)
        chosen = await in_thread(SECONDS, partial(choose, case, CERTAIN))
        yield PartialEvent(layer=2, **_shown(index, case, chosen, request.details))
        yield searching(3)
        chosen = await in_thread(SECONDS, partial(choose, case, NEVER))
        yield ResultEvent(**_shown(index, case, chosen, request.details))
    except ModelTimeout:
        yield StatusEvent(status="error", message=TOO_SLOW)


def _shown(index: SearchIndex, case: Case, chosen: Selection, details: bool) -> dict[str, Any]:
    """Summary and codes of an event."""
    if not case.findings or not case.offers:
        return {"summary": NOTHING_FOUND, "codes": ()}
    outcome = coding_rules.apply(index.catalog, case, proposals(case, chosen))
    return {"summary": summary(chosen, outcome), "codes": entries(outcome, details)}


def find(text: str, budget: Budget) -> tuple[Finding, ...]:
    """Findings of the text; those that are there first, in the order of the text."""
    read = Reading.of(text)
    spans = list(budget.each(_clauses(read.text)))
    found = [_finding(read, span, claim) for span, claim in zip(spans, budget.each(read.claims(spans)), strict=True)]
    unique = {(item.phrase.casefold(), item.assertion): item for item in reversed(found)}
    in_order = reversed(tuple(unique.values()))
    return tuple(sorted(in_order, key=lambda item: item.assertion in ("excluded", "family")))[:FINDINGS_MAX]


def _finding(read: Reading, span: tuple[int, int], claim: Claim) -> Finding:
    quote = read.text[slice(*span)]
    return Finding(quote=quote, phrase=" ".join(quote.split()), assertion=claim.assertion)


def _clauses(text: str) -> Iterator[tuple[int, int]]:
    """Places of what may be a finding: clauses that hold a noun, without the empty words at their start."""
    start = 0
    for match in _JOINT.finditer(text):
        if match.group() == "." and _ABBREVIATION.search(text[max(0, match.start() - _LONGEST) : match.start()]):
            continue
        yield from _trimmed(text, start, match.start())
        start = match.end()
    yield from _trimmed(text, start, len(text))


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    empty = _EMPTY.match(text[start:end])
    start += empty.end() if empty else 0
    clause = text[start:end].rstrip()
    words = clause.split()
    if len(words) > MAX_WORDS:
        clause = clause[: clause.index(words[MAX_WORDS - 1]) + len(words[MAX_WORDS - 1])]
    nouns = [noun for noun in _NOUN.findall(clause) if not _NO_FINDING.match(noun)]
    if nouns:
        yield start, start + len(clause)


def choose(case: Case, bar: float, budget: Budget) -> Selection:
    """Codes that the text names itself, and those that tier 1 shows, since it has weighed the whole text.

    Where tier 1 shows nothing at all, the surest candidate of each finding. A clause is no diagnosis: what its words
    alone lead to was right half as often as what tier 1 shows (evals/LOG.md). A finding of one word may have its
    candidate from the probability `bar` on.
    """
    candidates = [offer for offer in case.offers.values() if offer.findings]
    shown = [offer for offer in candidates if offer.instant is not None or offer.probability is None]
    chosen: list[Choice] = []
    for finding in budget.each(case.findings):
        best = _best(_of(candidates, finding), POSSIBLE if not shown else bar)
        alone = not shown or len(finding.phrase.split()) == 1
        chosen += [_choice(finding, offer) for offer in _of(shown, finding) or (best if alone else [])]
    chosen.sort(key=lambda choice: ("high", "medium", "low").index(choice.confidence))
    return Selection(codes=tuple(chosen[:CODES_MAX]), summary=_summary(chosen))


def _of(candidates: Iterable[Offer], finding: Located) -> list[Offer]:
    return [offer for offer in candidates if finding.number in offer.findings]


def _best(candidates: Iterable[Offer], bar: float) -> list[Offer]:
    likely = [offer for offer in candidates if (offer.probability or 0.0) >= bar]
    return sorted(likely, key=lambda offer: -(offer.probability or 0.0))[:1]


def _choice(finding: Located, offer: Offer) -> Choice:
    sure = next((one for one in (offer.instant, offer.probability) if one is not None), 1.0)
    return Choice(
        finding=finding.number,
        reasoning=f"Im Text: „{finding.quote[:120]}“; die Katalogsuche führt zu diesem Kode.",
        code=offer.code.code,
        confidence="high" if sure >= SURE else "medium" if sure >= LIKELY else "low",
    )


def _summary(chosen: Sequence[Choice]) -> str:
    count = {0: "Kein Kode", 1: "Ein Kode"}.get(len(chosen), f"{len(chosen)} Kodes")
    return f"{count} nach festen Regeln gewählt, ohne Sprachmodell."
