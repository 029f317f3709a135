"""Tier 1: what the search is sure enough of to show, as entries of the contract."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from clinical.coding.search_queue import Turns
from clinical.coding.written_codes import written_codes
from clinical.contract import TIER1_MAX_CODES, CodeEntry, DetailedCodeEntry, ResearchRequest, Span

if TYPE_CHECKING:
    from clinical.catalog import Catalog, Code
    from clinical.search import Candidate, SearchIndex

SHORT_QUERY = 60
"""Code points up to which a search is over before a thread could have been woken (about 2 ms)."""

WRITTEN_PROBABILITY = 0.8
"""Of a code that is spelled out inside a text: it was meant by somebody, but may be negated or of another time."""


class Hit(NamedTuple):
    """A code of tier 1, and the place in the query (code points) that it was found by; `low` ones are not shown."""

    code: str
    probability: float
    confidence: Literal["high", "medium", "low"]
    start: int
    end: int


async def instant(request: ResearchRequest, index: SearchIndex, turns: Turns) -> tuple[Candidate, ...]:
    """What the search is sure enough of to show it: high or medium confidence, most probable first."""
    if len(request.query) <= SHORT_QUERY:
        found = index.search(request.query, TIER1_MAX_CODES)
    else:
        found = await turns.first(index.search, request.query, TIER1_MAX_CODES)
    return tuple(candidate for candidate in found if candidate.confidence != "low")


def tier_one(request: ResearchRequest, catalog: Catalog, found: Sequence[Candidate]) -> tuple[CodeEntry, ...]:
    """At most ten codes, best first, none twice; those spelled out in the text among them."""
    hits = with_written_codes(
        request.query, [Hit(c.code, c.probability, c.confidence, c.start, c.end) for c in found], catalog
    )
    if request.rerank:
        hits.sort(key=lambda hit: -hit.probability)
    return tuple(_entry(hit, request, catalog) for hit in hits[:TIER1_MAX_CODES])


def with_written_codes(query: str, hits: list[Hit], catalog: Catalog) -> list[Hit]:
    """`hits` in their order, and the codes spelled out in the text before the first that is less probable."""
    known = {hit.code for hit in hits}
    written = [
        Hit(code, WRITTEN_PROBABILITY, "medium", start, end)
        for code, start, end in written_codes(query, catalog)
        if code not in known
    ]
    place = next((n for n, hit in enumerate(hits) if hit.probability < WRITTEN_PROBABILITY), len(hits))
    return [*hits[:place], *written, *hits[place:]]


def _entry(hit: Hit, request: ResearchRequest, catalog: Catalog) -> CodeEntry:
    code = catalog.get(hit.code)
    assert code is not None  # noqa: S101 - the index and its catalog are one artifact, checked by checksum
    score = round(100 * hit.probability, 1) if request.rerank else 0.0
    plain = CodeEntry(
        code=code.code,
        description=code.title,
        confidence="score" if request.rerank else hit.confidence,
        score=score,
    )
    if not request.details:
        return plain
    evidence = Span(start=hit.start, end=hit.end)
    return detailed(plain, code, evidence, hit.probability)


def detailed(entry: CodeEntry, code: Code, evidence: Span | None, probability: float | None) -> DetailedCodeEntry:
    """The entry with what it rests on."""
    return DetailedCodeEntry(
        **entry.model_dump(),
        evidence=evidence,
        assertion=None,
        terminal=code.terminal,
        pair=None,
        probability=probability,
        notes=(),
    )
