"""The codes mentioned in a long text: hits of its parts, weighed by what running text is like, and merged.

Denied diagnoses and those of relatives are left out, a part inside a part that is understood as a whole counts less,
and so does what running text names without meaning it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from clinical.assertions import assertion_of
from clinical.catalog import Catalog
from clinical.parts import Part

NOT_CODED: Final = frozenset({"excluded", "family"})
"""Claims that give no code of the disease itself."""
SELDOM: Final = (
    ("T36", "T65", 0.2),  # a drug named in a text is taken, rarely a poisoning
    ("V01", "Y98", 0.2),  # external causes are coded on request only
    ("Z55", "Z65", 0.5),  # circumstances of life are told far more often than coded
)
"""Ranges of categories, first to last, that running text mentions more often than it means."""
NO_NOUN: Final = 0.6
"""German diagnoses are nouns: the weight of what a part without a capital letter, or of numbers alone, gives."""
MENTION: Final = 0.85
"""The weight of every hit of a long text: of those that alone would be `high`, 0.80 were right in texts made of several
held-out diagnoses (the best of many parts is more often too good to be true), which is what `medium` promises."""
UNDERSTOOD, INSIDE = 0.5, 0.5
"""From which share a part counts as understood, and what hits of the parts inside it are multiplied with."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A code (catalog number) found by a part; `share` orders, `probability` is what it means."""

    code: int
    probability: float
    share: float
    wording: int
    part: Part

    def weighed(self, weight: float) -> Hit:
        """The same hit, believed less."""
        return replace(self, share=self.share * weight, probability=self.probability * weight)


def weighed(text: str, lists: Sequence[list[Hit]], catalog: Catalog) -> list[list[Hit]]:
    """The hits of each part of `text`, best first in each, with probability and share as they count in a long text."""
    full = [hits for hits in lists if hits]
    claimed = [hits for hits in full if assertion_of(text, hits[0].part.start, hits[0].part.end) not in NOT_CODED]
    return [[hit.weighed(_weight(hit, catalog)) for hit in hits] for hits in _uncovered(claimed)]


def _weight(hit: Hit, catalog: Catalog) -> float:
    category = catalog.codes[hit.code].code[:3]
    seldom = next((weight for first, last, weight in SELDOM if first <= category <= last), 1.0)
    return seldom * MENTION * (1.0 if hit.part.noun else NO_NOUN)


def _uncovered(lists: Sequence[list[Hit]]) -> list[list[Hit]]:
    """Hits of a part inside a longer part that is understood as a whole count less ("Fettleber" in "alkoholische
    Fettleber"), unless both mean the same code."""
    whole = [hits[0] for hits in lists if hits and hits[0].share >= UNDERSTOOD]
    result = []
    for hits in lists:
        around = [hit for hit in whole if hits and _inside(hits[0].part, hit.part)]
        codes = {hit.code for hit in around}
        result.append([hit if not around or hit.code in codes else hit.weighed(INSIDE) for hit in hits])
    return result


def _inside(part: Part, other: Part) -> bool:
    return other.start <= part.start and part.end <= other.end and len(part.text) < len(other.text)


def merged(lists: Iterable[list[Hit]]) -> list[Hit]:
    """The best hit of each code over all parts, most probable first."""
    best: dict[int, Hit] = {}
    for hits in lists:
        for hit in hits:
            if hit.code not in best or hit.share > best[hit.code].share:
                best[hit.code] = hit
    return sorted(best.values(), key=lambda hit: -hit.share)
