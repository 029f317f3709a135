"""Outcome: one query of a data set, what came back for it, and how near the index was to it beforehand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from clinical.search import SearchIndex
from clinical.text import words
from evals.datasets import Example
from evals.targets import Coded


class Outcome(NamedTuple):
    """`found`: the codes, best first, None where the target failed. `overlap`: best Jaccard overlap of the query's
    words with any wording of a right code; `verbatim`: its words stand in the index as they are; `wordings`: how many
    wordings the best-known right code has there."""

    example: Example
    found: tuple[Coded, ...] | None
    overlap: float
    verbatim: bool
    wordings: int = 0

    @property
    def rank(self) -> int | None:
        """Place of the first right code, from 1; None when it is not among those found."""
        places = [n for n, hit in enumerate(self.found or (), start=1) if hit.code in self.example.codes]
        return places[0] if places else None

    @property
    def first(self) -> Coded | None:
        """The best code; None where there is none."""
        return self.found[0] if self.found else None


class Nearness:
    """How near the index is to the queries of a data set, before any is asked."""

    def __init__(self, index: SearchIndex, examples: Iterable[Example]) -> None:
        tables, self._numbers = index.wordings.tables, index.wordings.vocabulary
        wanted = {code for example in examples for code in example.codes}
        codes = [code.code for code in index.catalog.codes]
        self._of: dict[str, list[frozenset[int]]] = {}
        self._all: set[bytes] = set()
        bounds = tables.word_start.tolist()
        for number, code in enumerate(tables.code.tolist()):
            spelled = tables.word[bounds[number] : bounds[number + 1]]
            self._all.add(spelled.tobytes())
            if codes[code] in wanted:
                self._of.setdefault(codes[code], []).append(frozenset(spelled.tolist()))
        self._type = tables.word.dtype

    def of(self, example: Example) -> tuple[float, bool, int]:
        """`overlap`, `verbatim` and `wordings` of an Outcome."""
        spelled = [self._numbers.get(word.text, word.text) for word in words(example.query)]
        own, best = frozenset(spelled), 0.0
        for wording in (wording for code in example.codes for wording in self._of.get(code, ())):
            common = len(own & wording)
            if common:
                best = max(best, common / (len(own) + len(wording) - common))
        known = all(isinstance(word, int) for word in spelled)
        verbatim = known and np.array(spelled, dtype=self._type).tobytes() in self._all
        return best, verbatim, max(len(self._of.get(code, ())) for code in example.codes)
