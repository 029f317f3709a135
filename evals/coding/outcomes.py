"""Outcome: one query of a data set, what came back for it, and how much like it the nearest indexed wording is."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import NamedTuple

from clinical.language import folded_words
from clinical.search import SearchIndex
from evals.coding.datasets import Example
from evals.coding.studies.near import NearTexts, similarity
from evals.coding.targets import Coded


class Outcome(NamedTuple):
    """`found`: the codes, best first, None where the target failed. `overlap`: best Jaccard overlap of the query's
    words with any wording of a right code; `verbatim`: its words stand in the index as they are; `wordings`: how many
    wordings the best-known right code has there; `near`: some wording of any code is nearly the same (`near`)."""

    example: Example
    found: tuple[Coded, ...] | None
    overlap: float
    verbatim: bool
    wordings: int = 0
    near: bool = False

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
        self._of: dict[str, list[frozenset[Hashable]]] = {}
        self._all: set[tuple[int | str, ...]] = set()
        bounds, spelled = tables.word_start.tolist(), tables.word.tolist()
        sets = []
        for number, code in enumerate(tables.code.tolist()):
            own = tuple(spelled[bounds[number] : bounds[number + 1]])
            self._all.add(own)
            sets.append(frozenset(own))
            if codes[code] in wanted:
                self._of.setdefault(codes[code], []).append(sets[-1])
        self._near = NearTexts(sets)

    def of(self, example: Example) -> tuple[float, bool, int, bool]:
        """`overlap`, `verbatim`, `wordings` and `near` of an Outcome."""
        spelled = tuple(self._numbers.get(word, word) for word in folded_words(example.query))
        own = frozenset(spelled)
        best = max((similarity(own, each) for code in example.codes for each in self._of.get(code, ())), default=0.0)
        wordings = max(len(self._of.get(code, ())) for code in example.codes)
        return best, spelled in self._all, wordings, self._near.has_near(own)
