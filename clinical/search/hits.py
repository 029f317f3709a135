"""The codes mentioned in a long text: hits of its parts, weighed by what running text is like, and merged.

Denied diagnoses and those of relatives are left out, a part inside a part that is understood as a whole counts less,
and so does what running text names without meaning it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinical.catalog import Catalog
from clinical.language import Part, Reading
from clinical.search.encoder import Vectors
from clinical.search.runs import Ints

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


class Hits(NamedTuple):
    """Codes found by parts, one row each: `share` orders, `probability` is what it means."""

    part: Ints  # (h,) place of the part
    code: Ints  # (h,) catalog number
    share: Vectors  # (h,)
    probability: Vectors  # (h,)
    wording: Ints  # (h,) number of the code's best wording

    def at(self, rows: Ints | NDArray[np.bool_] | slice) -> Hits:
        """Some of the rows, in that order."""
        return Hits(self.part[rows], self.code[rows], self.share[rows], self.probability[rows], self.wording[rows])

    def weighed(self, weight: Vectors | float) -> Hits:
        """The same hits, believed less."""
        return self._replace(share=self.share * weight, probability=self.probability * weight)


def joined(some: Sequence[Hits]) -> Hits:
    """One behind the other; of none, no hits."""
    if not some:
        numbers, values = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32)
        return Hits(numbers, numbers, values, values, numbers)
    return Hits(
        np.concatenate([hits.part for hits in some]),
        np.concatenate([hits.code for hits in some]),
        np.concatenate([hits.share for hits in some]),
        np.concatenate([hits.probability for hits in some]),
        np.concatenate([hits.wording for hits in some]),
    )


def seldom_meant(catalog: Catalog) -> Vectors:
    """The weight of each code of the catalog in running text, by SELDOM: shape (codes,)."""
    categories = [code.code[:3] for code in catalog.codes]
    weights = [
        next((weight for first, last, weight in SELDOM if first <= category <= last), 1.0) for category in categories
    ]
    return np.array(weights, dtype=np.float32)


def weighed(reading: Reading, parts: Sequence[Part], hits: Hits, seldom: Vectors) -> Hits:
    """The hits of the parts of a text (part by part, best first) with share and probability as they count in a long
    text; what the text denies or says of relatives is left out."""
    found = np.unique(hits.part)
    claimed = [n for n in found if reading.claim(parts[n].start, parts[n].end).assertion not in NOT_CODED]
    hits = hits.at(np.isin(hits.part, claimed))
    noun = np.array([1.0 if part.noun else NO_NOUN for part in parts], dtype=np.float32)
    weight = _uncovered(parts, hits) * noun[hits.part] * seldom[hits.code] * np.float32(MENTION)
    return hits.weighed(weight)


def _uncovered(parts: Sequence[Part], hits: Hits) -> Vectors:
    """Hits of a part inside a longer part that is understood as a whole count less ("Fettleber" in "alkoholische
    Fettleber"), unless both mean the same code."""
    weight = np.ones(len(hits.part), dtype=np.float32)
    best = np.flatnonzero(np.r_[True, hits.part[1:] != hits.part[:-1]])[: len(hits.part)]
    whole = best[hits.share[best] >= UNDERSTOOD]
    for part in hits.part[best]:
        around = [row for row in whole if _inside(parts[part], parts[hits.part[row]])]
        if around:
            weight[(hits.part == part) & ~np.isin(hits.code, hits.code[around])] = INSIDE
    return weight


def _inside(part: Part, other: Part) -> bool:
    return other.start <= part.start and part.end <= other.end and len(part.text) < len(other.text)


def merged(hits: Hits) -> Hits:
    """The best hit of each code over all parts, most probable first; equally probable ones by their share."""
    ordered = hits.at(np.lexsort((-hits.share, -hits.probability)))
    return ordered.at(np.sort(np.unique(ordered.code, return_index=True)[1]))


def merged_by_part(hits: Hits) -> Hits:
    """The best hit of each code for each part; part by part, best first."""
    ordered = hits.at(np.lexsort((-hits.share, hits.part)))
    keys = ordered.part * (int(hits.code.max(initial=0)) + 1) + ordered.code
    return ordered.at(np.sort(np.unique(keys, return_index=True)[1]))
