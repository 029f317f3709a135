"""Tier 1: what the search is sure enough of to show, as entries of the contract."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clinical.claims import Reading
from clinical.coding.ledger import CERTAINTY, NOT_CODED, Hit, ledger, missing
from clinical.coding.written_codes import written_codes
from clinical.contract import TIER1_MAX_CODES, CodeEntry, DetailedCodeEntry, PartialEvent, ResearchRequest, Span
from clinical.icd import SYMPTOMS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clinical.icd import Catalog, Code
    from clinical.reading import Candidate, Understood

WRITTEN_PROBABILITY = 0.8
"""Of a code that is spelled out inside a text: it was meant by somebody, but may be negated or of another time."""


def tier_one(request: ResearchRequest, catalog: Catalog, found: Understood) -> PartialEvent:
    """At most ten codes, best first, none twice; those spelled out in the text among them. With details: the ledger of
    the text, and the codes beyond the ten."""
    hits = with_written_codes(request.query, found.codes, catalog, found.reading)
    if request.rerank:
        hits.sort(key=lambda hit: -hit.probability)
    sent = most_probable(hits, TIER1_MAX_CODES)
    if not request.details:
        return PartialEvent(layer=1, codes=tuple(_entry(hit, request, catalog, None) for hit in sent))
    reading, told = found.reading, {hit.code for hit in sent}
    return PartialEvent(
        layer=1,
        codes=tuple(_entry(hit, request, catalog, reading) for hit in sent),
        mentions=ledger(reading, found.mentions, hits, told, found.general),
        beyond=tuple(_entry(hit, request, catalog, reading) for hit in hits if hit.code not in told),
    )


def most_probable(hits: Sequence[Hit], limit: int) -> list[Hit]:
    """At most `limit` of them, in their order: symptoms give way to diseases, of which they mostly are (German coding
    guidelines D003), the less probable codes to the others."""
    best = sorted(range(len(hits)), key=lambda at: (hits[at].code in SYMPTOMS, -hits[at].probability))[:limit]
    return [hits[at] for at in sorted(best)]


def with_written_codes(
    text: str, found: Sequence[Candidate], catalog: Catalog, reading: Reading | None = None
) -> list[Hit]:
    """Insert the codes spelled out in a text before the first less probable hit of `found`, but for those of which it
    holds a more specific one ("Parkinson (G20)"). `reading`: of the text, where it has been read."""
    hits = [Hit(one.code, one.probability, one.confidence, one.start, one.end, one.claim) for one in found]
    known = {hit.code for hit in hits}
    spelled = [
        position for position in written_codes(text, catalog) if not any(code.startswith(position[0]) for code in known)
    ]
    reading = reading or Reading.of(text) if spelled else None
    written = [
        Hit(code, WRITTEN_PROBABILITY, "medium", start, end, claim)
        for code, start, end in spelled
        if reading and (claim := reading.claim(start, end).assertion) not in NOT_CODED
    ]
    position = next((n for n, hit in enumerate(hits) if hit.probability < WRITTEN_PROBABILITY), len(hits))
    return [*hits[:position], *written, *hits[position:]]


def _entry(hit: Hit, request: ResearchRequest, catalog: Catalog, reading: Reading | None) -> CodeEntry:
    code = catalog.get(hit.code)
    assert code is not None  # noqa: S101 - the index and its catalog are one artifact, checked by checksum
    score = round(100 * hit.probability, 1) if request.rerank else 0.0
    plain = CodeEntry(
        code=code.code,
        description=code.title,
        confidence="score" if request.rerank else hit.confidence,
        score=score,
    )
    if reading is None:
        return plain
    return detailed(
        plain,
        code,
        evidence=Span(start=hit.start, end=hit.end),
        probability=hit.probability,
        assertion=hit.claim,
        certainty=CERTAINTY[hit.claim],
        side=reading.side(hit.start, hit.end),
        missing=missing(code, catalog),
    )


def detailed(entry: CodeEntry, code: Code, **known: Any) -> DetailedCodeEntry:
    """The entry with what it rests on; what is not `known` is None."""
    blank = {"evidence": None, "assertion": None, "probability": None}
    return DetailedCodeEntry(**entry.model_dump(), terminal=code.terminal, pair=None, notes=(), **(blank | known))
