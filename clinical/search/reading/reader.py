"""A text as tier 1 reads it: which spans are searched, in which words, and which of them explain the text.

A wording by itself is one span. In a text the finder names the spans that may be mentions; what the text claims of
each decides how it is searched: what is denied is not, what is said of relatives is searched as family history, what
is over in the words of the past. Of the ranked spans a cover without overlap is chosen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from clinical.catalog import Catalog
from clinical.contract import Assertion
from clinical.language import Claim, Part, Reading, content_words, has_noun
from clinical.search.encoder import Vectors
from clinical.search.hits import Hits
from clinical.search.reading.finder import Finder, mentions, see
from clinical.search.reading.lattice import ACROSS, CandidateSpan, cover, gain, is_plain, spans
from clinical.search.words.rewriting import Spot

LEAST: Final = 0.01
"""Probability from which a run of words is looked at as a mention."""
MOST_WORDS: Final = 12
"""Words of the longest mention."""
RANKED_SPANS: Final = 40
"""Candidate spans of a text that are ranked in full: bounds its time."""
SELDOM: Final = (
    ("T36", "T65", 0.2),  # a drug named in a text is taken, rarely a poisoning
    ("V01", "Y98", 0.2),  # external causes are coded on request only
    ("Z55", "Z65", 0.5),  # circumstances of life are told far more often than coded
)
"""Ranges of categories, first to last, that running text mentions more often than it means."""
BESIDE: Final = 0.5
"""The weight of what a short text finds as a whole, beside what its mentions find: proposals, never shown."""
FAMILY: Final = "{} in der Familienanamnese"
"""How the catalog words the diseases of relatives, Z80 to Z84."""


@dataclass(frozen=True, slots=True)
class TextSpans:
    """The candidate spans of a text and what the text claims of each. `plain`: it is a wording by itself."""

    reading: Reading
    spans: tuple[CandidateSpan, ...]
    claims: tuple[Assertion, ...]
    plain: bool

    def spots(self) -> list[tuple[int, Spot]]:
        """What is to be searched: the number of the span, and its words as the catalog would say them."""
        found = []
        for number, (span, claim) in enumerate(zip(self.spans, self.claims, strict=True)):
            if claim != "excluded":
                found.append((number, _spot(self.reading, span.part, claim)))
        return found


def _spot(reading: Reading, part: Part, claim: Assertion) -> Spot:
    if claim != "family":
        return Spot(reading, part)
    own = FAMILY.format(part.text)
    return Spot(Reading.of(own), Part(own, 0, len(own)))


def seldom_meant(catalog: Catalog) -> Vectors:
    """The weight of each code of the catalog in running text, by SELDOM: shape (codes,)."""
    categories = (code.code[:3] for code in catalog.codes)
    weights = [next((w for first, last, w in SELDOM if first <= one <= last), 1.0) for one in categories]
    return np.array(weights, dtype=np.float32)


class MentionReader:
    """Reads texts with a finder; without one (an artifact from before there was one) every run of words may be a
    mention."""

    def __init__(self, catalog: Catalog, finder: Finder | None, cut_off: Callable[[str], bool] | None = None) -> None:
        self._finder, self._cut_off = finder, cut_off
        self._seldom = seldom_meant(catalog)
        self._of_family = np.array(["Z80" <= code.code[:3] <= "Z84" for code in catalog.codes], dtype=bool)

    def draft(self, text: str) -> TextSpans:
        """The spans of a text that are worth a search, and what it claims of them."""
        whole = CandidateSpan(Part(text, 0, len(text)), 1, 1.0)
        reading, content = Reading.of(text), content_words(text)
        if is_plain(text, content, self._cut_off) and reading.claim(0, len(text)) == Claim():
            return TextSpans(reading, (whole,), ("present",), True)
        found = self._spans(text)
        if not found:
            return TextSpans(reading, (whole,), ("present",), True)
        claims = [reading.claim(span.part.start, span.part.end).assertion for span in found]
        if len(content) <= ACROSS:
            found.append(whole._replace(chance=0.0))
            claims.append("present")
        return TextSpans(reading, tuple(found), tuple(claims), False)

    def _spans(self, text: str) -> list[CandidateSpan]:
        if self._finder is None:
            return spans(text)[:RANKED_SPANS]
        seen, lower = see(text), text.islower()
        found = mentions(self._finder.probabilities(seen), LEAST, MOST_WORDS)
        best = sorted(sorted(found, key=lambda run: -run[2])[:RANKED_SPANS])
        result = []
        for first, last, chance in best:
            start, end = int(seen.places[first, 0]), int(seen.places[last, 1])
            part = Part(text[start:end], start, end, has_noun(text[start:end], lower))
            result.append(CandidateSpan(part, last - first + 1, chance))
        return result

    def chosen(self, draft: TextSpans, hits: Hits) -> tuple[list[int], Hits]:
        """The numbers of the spans that explain the text best, and the hits (span by span) that count of them."""
        if draft.plain:
            return [0], hits
        family = np.array([claim == "family" for claim in draft.claims], dtype=bool)
        weight = np.where(family[hits.part], self._of_family[hits.code], ~self._of_family[hits.code])
        hits = hits.weighed(weight.astype(np.float32) * self._seldom[hits.code])
        best = np.zeros(len(draft.spans), dtype=np.float32)
        np.maximum.at(best, hits.part, hits.probability)
        gains = [
            gain(span.chance if claim in ("excluded", "family") else chance, span)
            for chance, span, claim in zip(best.tolist(), draft.spans, draft.claims, strict=True)
        ]
        real = [number for number, span in enumerate(draft.spans) if span.chance > 0]
        numbers = cover([draft.spans[n] for n in real], [gains[n] for n in real])
        beside = np.isin(hits.part, [n for n, span in enumerate(draft.spans) if not span.chance])
        hits = hits.weighed(np.where(beside, np.float32(BESIDE), np.float32(1)))
        return numbers, hits.at(np.isin(hits.part, numbers) | beside)
