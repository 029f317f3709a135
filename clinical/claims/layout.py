"""Boundaries that limit the scope of triggers: statements, brackets, enumerations by one word."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import Final

from clinical.text import COLON, COMMA, SourceText, word_set

JOINTS: Final = word_set("und oder sowie bzw beziehungsweise noch u od wie vs versus")
"""Words that continue the same statement."""
_MANY: Final = 3
"""Joints of one kind in a clause from which they part items as commas do: "St. n. A u. B u. C u. D"."""


class Layout:
    """The divisions of one text; `cues`: the tokens that are words of triggers."""

    def __init__(self, source: SourceText, cues: Collection[int]) -> None:
        self._source, self._cues = source, cues
        self.depth = source.depths

    def divides(self, i: int) -> bool:
        """True if a statement ends before token `i`: a sentence, an item of a list, or a new labelled value."""
        return self._divided[i]

    @cached_property
    def _divided(self) -> list[bool]:
        source = self._source
        divided = [*source.ends_clause]
        for i in range(len(source.words) - 1):
            if source.gaps[i + 1] == COLON and source.gaps[i] >= COMMA and i not in self._cues:
                divided[i] = True
        return divided

    def is_enumerated(self, joint: int) -> bool:
        """True if the clause is an enumeration by this very word: "A u. B u. C u. D" are four items."""
        return self._joints.get(joint, 0) >= _MANY

    @cached_property
    def _joints(self) -> dict[int, int]:
        """Of each word that joins: how many of its kind its clause has, where the text has many."""
        found: dict[int, int] = {}
        for word in JOINTS:
            places = self._source.word_places.get(word, ())
            clause: list[int] = []
            for i in places if len(places) >= _MANY else ():
                if clause and any(self._divided[clause[-1] + 1 : i + 1]):
                    found |= dict.fromkeys(clause, len(clause))
                    clause = []
                clause.append(i)
            found |= dict.fromkeys(clause, len(clause))
        return found
