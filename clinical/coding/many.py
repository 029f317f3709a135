"""Codes of many texts by the search alone: the step that batch coding and the bulk endpoint of the text API share."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from clinical.coding.instant import with_written_codes
from clinical.coding.ledger import Hit
from clinical.contract import CODED, EMPTY, QUERY_MAX, TOO_LONG

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clinical.reading import SearchIndex


class CodedAs(NamedTuple):
    """A code of a text; `wording`: the indexed words that it was found by, or the code as the text writes it."""

    hit: Hit
    wording: str


def status_of(text: str) -> str:
    """`coded` for a text that can be, else why it cannot."""
    if not text.strip():
        return EMPTY
    return TOO_LONG if len(text) > QUERY_MAX else CODED


def code_many(index: SearchIndex, texts: Sequence[str], limit: int) -> list[Sequence[CodedAs]]:
    """Codes of every confidence, at most `limit` of each text, the best first. As tier 1 of the text API: a text that
    is a code is looked up, codes inside a text count as named."""
    catalog = index.catalog
    bare = [catalog.parse(text) for text in texts]
    asked = [text for text, code in zip(texts, bare, strict=True) if code is None]
    searched = iter(index.search_many(asked, limit))
    coded: list[Sequence[CodedAs]] = []
    for text, code in zip(texts, bare, strict=True):
        if code is not None:
            coded.append([CodedAs(Hit(code, 1.0, "high", 0, len(text)), text)] if code in catalog else [])
        else:
            candidates = next(searched)
            wordings = {candidate.code: candidate.text for candidate in candidates}
            hits = with_written_codes(text, candidates, catalog)[:limit]
            coded.append([CodedAs(hit, wordings.get(hit.code, text[hit.start : hit.end])) for hit in hits])
    return coded
