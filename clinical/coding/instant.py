"""Tier 1: what the search is sure enough of to show, as entries of the contract."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clinical.coding.ledger import CERTAINTY, NOT_CODED, Hit, ledger, missing
from clinical.coding.search_queue import SearchQueue
from clinical.coding.written_codes import written_codes
from clinical.contract import TIER1_MAX_CODES, CodeEntry, DetailedCodeEntry, PartialEvent, ResearchRequest, Span
from clinical.language import Reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clinical.catalog import Catalog, Code
    from clinical.search import Candidate, SearchIndex, Understood

SHORT_QUERY = 60
"""Code points up to which a search is over before a thread could have been woken (about 2 ms)."""

WRITTEN_PROBABILITY = 0.8
"""Of a code that is spelled out inside a text: it was meant by somebody, but may be negated or of another time."""


async def instant(request: ResearchRequest, index: SearchIndex, search_queue: SearchQueue) -> Understood:
    """What the search is sure enough of to show it: high or medium confidence, and the mentions of the text."""
    if len(request.query) <= SHORT_QUERY:
        found = index.read(request.query, TIER1_MAX_CODES)
    else:
        found = await search_queue.first(index.read, request.query, TIER1_MAX_CODES)
    return found._replace(codes=tuple(candidate for candidate in found.codes if candidate.confidence != "low"))


def tier_one(request: ResearchRequest, catalog: Catalog, found: Understood) -> PartialEvent:
    """At most ten codes, best first, none twice; those spelled out in the text among them. With details: the ledger."""
    hits = with_written_codes(request.query, found.codes, catalog)
    if request.rerank:
        hits.sort(key=lambda hit: -hit.probability)
    hits = hits[:TIER1_MAX_CODES]
    reading = Reading.of(request.query) if request.details else None
    entries = tuple(_entry(hit, request, catalog, reading) for hit in hits)
    return PartialEvent(layer=1, codes=entries, mentions=ledger(reading, found.mentions, hits) if reading else None)


def with_written_codes(query: str, found: Sequence[Candidate], catalog: Catalog) -> list[Hit]:
    """What was found, in its order, and the codes spelled out in the text before the first that is less probable."""
    hits = [Hit(one.code, one.probability, one.confidence, one.start, one.end) for one in found]
    known = {hit.code for hit in hits}
    spelled = [position for position in written_codes(query, catalog) if position[0] not in known]
    reading = Reading.of(query) if spelled else None
    written = [
        Hit(code, WRITTEN_PROBABILITY, "medium", start, end)
        for code, start, end in spelled
        if reading is None or reading.claim(start, end).assertion not in NOT_CODED
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
    claim = reading.claim(hit.start, hit.end).assertion
    return detailed(
        plain,
        code,
        evidence=Span(start=hit.start, end=hit.end),
        probability=hit.probability,
        assertion=claim,
        certainty=CERTAINTY[claim],
        side=reading.side(hit.start, hit.end),
        missing=missing(code, catalog),
    )


def detailed(entry: CodeEntry, code: Code, **known: Any) -> DetailedCodeEntry:
    """The entry with what it rests on; what is not `known` is None."""
    blank = {"evidence": None, "assertion": None, "probability": None}
    return DetailedCodeEntry(**entry.model_dump(), terminal=code.terminal, pair=None, notes=(), **(blank | known))
