"""Grades and stages in the numerals of the catalog: "NYHA 3" is its "NYHA III", and "GOLD III" its "GOLD 3".

The classification writes some scales in Roman numerals and some in Arabic ones, and texts do as they please. A numeral
is exchanged where no wording has it beside the words before it and some wording has the other one there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence
from functools import reduce
from typing import Final

import numpy as np

from clinical.search.runs import Ints
from clinical.search.terms import Wordings
from clinical.text import Token, replaced, words

_PAIRS: Final = tuple((str(number), roman) for number, roman in enumerate(("i", "ii", "iii", "iv", "v", "vi"), 1))
OTHER: Final = {one: other for pair in _PAIRS for one, other in (pair, pair[::-1])}
"""Each numeral of a scale in the other notation."""
RANGE: Final = ("-", "–", "/")
"""Marks between two numerals of one grade."""
BEFORE: Final = 2
"""Words before a numeral that name its scale ("Herzinsuffizienz NYHA", "Adipositas Grad")."""


class Numerals:
    """The numerals of one catalog's wordings. Read-only."""

    def __init__(self, wordings: Wordings) -> None:
        self._wordings = wordings

    def __contains__(self, word: str) -> bool:
        return word in OTHER

    def exchanged(self, query: str, written: Sequence[Token] | None = None) -> str | None:
        """The query with its numerals as the catalog writes them; None where it writes them so, or does not know them.
        `written`: its words, where known."""
        written = words(query) if written is None else written
        found, before, known = [], deque[str](maxlen=BEFORE), dict[tuple[str, ...], str | None]()
        for at, word in enumerate(written):
            if word.text not in OTHER or query[word.start : word.end].islower():
                before.append(word.text)
            elif before and not (at and _counts_on(query, written[at - 1], word)):
                scale = (*before, word.text)
                if scale not in known:
                    known[scale] = self._other(before, word.text)
                found += [(word, other)] if (other := known[scale]) is not None else []
        return replaced(query, found) if found else None

    def _other(self, before: Collection[str], numeral: str) -> str | None:
        """The other numeral where the catalog has that one behind these words; None where it has this one, or none."""
        other = OTHER[numeral]
        return other.upper() if self._says(before, other) and not self._says(before, numeral) else None

    def _says(self, before: Collection[str], numeral: str) -> bool:
        """True if a wording has all of these words and the numeral."""
        having = sorted((self._having(word) for word in (numeral, *before)), key=len)
        return reduce(_common, having).size > 0

    def _having(self, word: str) -> Ints:
        """The wordings that have a word."""
        number = self._wordings.vocabulary.get(word)
        if number is None:
            return np.zeros(0, dtype=np.int64)
        return self._wordings.words_bm25.wordings_of(number, number + 1)[0]


def _common(few: Ints, many: Ints) -> Ints:
    """Those of a few ascending numbers that are among many; both have each number once."""
    at = np.searchsorted(many, few)
    found: Ints = few[many[np.minimum(at, len(many) - 1)] == few] if len(many) else few[:0]
    return found


def _counts_on(query: str, one: Token, other: Token) -> bool:
    """True if a numeral follows another without forming a range: "NYHA IV. 2. Hypertonie", not "NYHA II-III"."""
    return one.text in OTHER and query[one.end : other.start] not in RANGE
