"""Outcomes: each query of a data set, the codes that came back for it, and its likeness to the nearest indexed wording.

`frame_of` makes the table that the measures and the files of results take. Queries are named by a hash, so that two
results can be paired without holding a text. A hash keeps a text out of sight, not secret: who guesses it can confirm
it.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from typing import Any, Final, NamedTuple

import pandas as pd

from clinical.icd import Catalog, category, parent_of
from clinical.reading import SearchIndex
from clinical.text import folded_words
from evals.coding.targets import Coded
from evals.data.examples import Example


class Outcome(NamedTuple):
    """`found`: the codes, best first, None where the target failed. `overlap`: best Jaccard overlap of the query's
    words with any wording of a right code; `verbatim`: its words stand in the index as they are; `wordings`: how many
    wordings the best-known right code has there; `near`: some wording of any code is nearly the same (NEAR)."""

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


NEAR: Final = 0.8
"""Jaccard similarity of the sets of folded words from which on two texts are near: then a query measures memory, not
search. The same words in another order always are."""


class NearTexts:
    """A collection of word sets that can be asked whether it holds one near to another.

    Candidates are found exactly, by prefix filtering (Chaudhuri et al. 2006): a set that similar to another holds one
    of the other's few rarest words."""

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


class Nearness:
    """Likeness of the index to the queries of a data set, before any is asked."""

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


def frame_of(outcomes: Sequence[Outcome], catalog: Catalog) -> pd.DataFrame:
    """One row for each query: its name, text and right codes, the first code, what the measures take of it, and the
    codes shown, each with confidence and probability."""
    seen: Counter[str] = Counter()
    rows = []
    for outcome in outcomes:
        example, name = outcome.example, _name_of(outcome)
        seen[name] += 1
        row: dict[str, Any] = {"id": f"{name}.{seen[name]}", "text": example.query, "kind": example.kind}
        row |= {"codes": sorted(example.codes), "failed": outcome.found is None, "overlap": round(outcome.overlap, 4)}
        row |= {"verbatim": outcome.verbatim, "near": outcome.near, "wordings": outcome.wordings}
        rows.append(row | _scores(outcome, catalog))
    kinds = {"failed": bool, "rank": float, "probability": float, "category": bool, "chapter": bool}
    return pd.DataFrame(rows, columns=COLUMNS).astype(kinds)


def _name_of(outcome: Outcome) -> str:
    """16 hexadecimal digits of the SHA-256 of the text and its right codes."""
    whole = "\0".join([outcome.example.query, *sorted(outcome.example.codes)])
    return hashlib.sha256(whole.encode()).hexdigest()[:16]


def _scores(outcome: Outcome, catalog: Catalog) -> dict[str, Any]:
    first, right, hits = outcome.first, outcome.example.codes, outcome.found or ()
    chapters = sorted({path_of(code, catalog)[0] for code in right})
    both, shown, wanted = _count(outcome, str)
    short = _count(outcome, category)
    return {
        "first": first.code if first else None,
        "confidence": first.confidence if first else None,
        "probability": round(first.probability, 4) if first and first.probability is not None else None,
        "rank": outcome.rank,
        "category": first is not None and category(first.code) in set(map(category, right)),
        "chapter": first is not None and path_of(first.code, catalog)[0] in chapters,
        "distance": distance_of(outcome, catalog),
        "recall_10": round(len(right & {hit.code for hit in hits}) / len(right), 4),
        "set_precision": round(both / shown, 4) if shown else 0.0,
        "set_recall": round(both / wanted, 4),
        "f1": round(2 * both / (shown + wanted), 4),
        "f1_category": round(2 * short[0] / (short[1] + short[2]), 4),
        "chapters": chapters,
        "shown": [
            [hit.code, hit.confidence, None if hit.probability is None else round(hit.probability, 4)]
            for hit in hits
            if hit.shown
        ],
    }


COLUMNS = (
    "id", "text", "kind", "codes", "failed", "first", "confidence", "probability", "rank", "category", "chapter",
    "distance", "recall_10", "set_precision", "set_recall", "f1", "f1_category", "chapters", "shown", "overlap",
    "verbatim", "near", "wordings",
)  # fmt: skip


def _count(outcome: Outcome, level: Callable[[str], str]) -> tuple[int, int, int]:
    """(shown and right, shown, right) of the codes at a level of the classification: itself, or their category."""
    right = {level(code) for code in outcome.example.codes}
    shown = {level(hit.code) for hit in outcome.found or () if hit.shown}
    return len(right & shown), len(shown), len(right)


def distance_of(outcome: Outcome, catalog: Catalog) -> int:
    """Steps along chapter, block, category and subcategories from the first code to the nearest right one: 0 is right,
    2 a sibling. A query without any code is as far off as its right code is from the root."""
    said = path_of(outcome.first.code, catalog) if outcome.first else ()
    return min(_steps(said, path_of(code, catalog)) for code in outcome.example.codes)


def path_of(code: str, catalog: Catalog) -> tuple[str, ...]:
    """From the root: chapter, block, category, ..., the code. One the catalog does not have hangs where it would be."""
    near = catalog.nearest_existing(code)
    above = (f"chapter {near.chapter}", f"block {near.block}") if near else ("chapter ?", f"block of {category(code)}")
    spelled: list[str] = []
    each: str | None = code
    while each is not None:
        spelled.insert(0, each)
        each = parent_of(each)
    return (*above, *spelled)


def _steps(one: Sequence[str], other: Sequence[str]) -> int:
    common = 0
    while common < min(len(one), len(other)) and one[common] == other[common]:
        common += 1
    return len(one) + len(other) - 2 * common
