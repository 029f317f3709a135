"""Near-duplicates: a query that the index holds in almost the same words measures memory, not search.

Two texts are near when the sets of their folded words have a Jaccard similarity of at least NEAR: the same words in
another order always are. Candidates are found exactly, by prefix filtering (Chaudhuri et al. 2006): a set that similar
to another holds one of the other's few rarest words.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable

NEAR = 0.8


class NearTexts:
    """A collection of word sets that can be asked whether it holds one near to another."""

    def __init__(self, sets: Iterable[Collection[Hashable]]) -> None:
        self._sets = list({frozenset(each) for each in sets})
        self._with: dict[Hashable, list[int]] = {}
        for number, own in enumerate(self._sets):
            for word in own:
                self._with.setdefault(word, []).append(number)

    def has_near(self, words: Collection[Hashable]) -> bool:
        """Return True when any set has a similarity of at least NEAR with this one."""
        own = frozenset(words)
        rarest = sorted(own, key=lambda word: len(self._with.get(word, ())))
        prefix = rarest[: len(own) - math.ceil(NEAR * len(own) - 1e-9) + 1]
        numbers = {number for word in prefix for number in self._with.get(word, ())}
        return any(similarity(own, self._sets[number]) >= NEAR for number in numbers)


def similarity(one: frozenset[Hashable], other: frozenset[Hashable]) -> float:
    """Jaccard (1901): common words by all words; 0 of nothing."""
    common = len(one & other)
    return common / (len(one) + len(other) - common) if common else 0.0
