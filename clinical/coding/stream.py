"""A text to ICD-10-GM codes in three tiers, as a stream of events.

Tier 1 is the search index alone and comes within milliseconds. A query that is nothing but a code is looked up in the
catalog, in all three layers, without a model (contract, section 4, "Code-only query").
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Literal, NamedTuple

from clinical.coding.model_tiers import model_tiers, searching
from clinical.coding.search_queue import Turns
from clinical.coding.written_codes import written_codes
from clinical.contract import (
    TIER1_MAX_CODES,
    CodeEntry,
    DetailedCodeEntry,
    Event,
    PartialEvent,
    ResearchRequest,
    ResultEvent,
    Span,
    StatusEvent,
)

if TYPE_CHECKING:
    from clinical.catalog import Catalog, Code
    from clinical.llm import LanguageModel
    from clinical.search import Candidate, SearchIndex

SHORT_QUERY = 60
"""Code points up to which a search is over before a thread could have been woken (about 2 ms)."""

WRITTEN_PROBABILITY = 0.8
"""Of a code that is spelled out inside a text: it was meant by somebody, but may be negated or of another time."""

EXACT_SCORE, NEIGHBOUR_SCORE = 100.0, 50.0
"""Scores of a code-only query with `rerank`: the code itself, and codes that are merely near it."""

NO_MODEL = "Kein Sprachmodell eingerichtet: nur die Sofortsuche (Stufe 1) steht zur Verfügung."


async def research(
    request: ResearchRequest, index: SearchIndex, model: LanguageModel | None = None, turns: Turns | None = None
) -> AsyncGenerator[Event]:
    """The events of one request in order; ends with a `result`, or with a `status` of `error` without a model.

    `turns` is shared by all requests of an event loop.
    """
    code = index.catalog.parse(request.query)
    if code is not None:
        for event in _looked_up(code, request, index.catalog):
            yield event
        return
    yield searching(1)
    found = await instant(request, index, turns or Turns())
    yield PartialEvent(layer=1, codes=tier_one(request, index.catalog, found))
    if model is None:
        yield StatusEvent(status="error", message=NO_MODEL)
        return
    async with aclosing(model_tiers(request, index, model, found, turns)) as later:
        async for event in later:
            yield event


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
    return _detailed(plain, code, evidence, hit.probability)


def _detailed(entry: CodeEntry, code: Code, evidence: Span | None, probability: float | None) -> DetailedCodeEntry:
    return DetailedCodeEntry(
        **entry.model_dump(),
        evidence=evidence,
        assertion=None,
        terminal=code.terminal,
        pair=None,
        probability=probability,
        notes=(),
    )


# --- a query that is nothing but a code -----------------------------------------------------------------------------


def _looked_up(code: str, request: ResearchRequest, catalog: Catalog) -> Iterator[Event]:
    """All three layers of a code-only query; deterministic, no model is called."""
    exact = catalog.get(code)
    if exact is not None:
        near = (*catalog.children(code), *catalog.neighbours(code, TIER1_MAX_CODES))[: TIER1_MAX_CODES - 1]
        why = f"Benachbarter Katalogeintrag zu {code}."
        summary = f"Direkte Suche nach {code}: benachbarte Codes im Katalog {catalog.version}."
    else:
        parent = catalog.nearest_existing(code)
        near = (parent, *catalog.children(parent.code))[:TIER1_MAX_CODES] if parent else ()
        why = f"{code} gibt es im Katalog {catalog.version} nicht; nächstliegender vorhandener Code."
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
        return _detailed(plain, code, None, None) if request.details else plain

    return tuple(entry(code) for code in ((exact, *near) if exact else near))


def _low(code: Code, reasoning: str, request: ResearchRequest) -> CodeEntry:
    plain = CodeEntry(code=code.code, description=code.title, confidence="low", reasoning=reasoning)
    return _detailed(plain, code, None, None) if request.details else plain
