"""Search beside plain libraries on the same wordings and the same queries, which all of them answer in turn.

`bm25s` and scikit-learn's TF-IDF as in `evals.benchmark`; `rank_bm25` (BM25Okapi) over the same folded words;
`rapidfuzz` by the best token-set ratio of any wording. What a library builds before its first answer is not timed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from clinical.language import folded_words
from clinical.search import SearchIndex
from evals.benchmark.systems import DEPTH, Ranked, System, systems

BEFUND: Final = "Befund"
SHARED: Final = {"bm25s": "BM25, words", "scikit-learn TF-IDF": "TF-IDF, words"}
"""Name here -> name in `evals.benchmark`."""
WARM_UP: Final = 3


@dataclass(frozen=True, slots=True)
class Searched:
    """One system: shares of queries whose right code came first, or among ten; milliseconds for a query."""

    system: str
    queries: int
    top_1: float
    top_10: float
    p50_ms: float
    p99_ms: float


def rivals(index: SearchIndex) -> dict[str, System]:
    """Name to system."""
    shared = systems(index)
    texts = [index.wordings.text(number) for number in range(len(index.wordings))]
    return {
        BEFUND: lambda queries: ([hit.code for hit in index.search(query, DEPTH)] for query in queries),
        **{name: shared[theirs] for name, theirs in SHARED.items()},
        "rank_bm25": lambda queries: _rank_bm25(index, texts, queries),
        "rapidfuzz": lambda queries: _rapidfuzz(index, texts, queries),
    }


def compared(index: SearchIndex, queries: Sequence[tuple[str, frozenset[str]]]) -> list[Searched]:
    """Every system on every query, in turn, so that what else the machine does meets all alike."""
    warm = [query for query, _ in queries[:WARM_UP]]
    asked = [*warm, *(query for query, _ in queries)]
    under_way = {name: iter(system(asked)) for name, system in rivals(index).items()}
    for answers in under_way.values():
        for _ in warm:
            next(answers)
    took: dict[str, list[float]] = {name: [] for name in under_way}
    ranks: dict[str, list[int]] = {name: [] for name in under_way}
    for _, right in queries:
        for name, answers in under_way.items():
            began = time.perf_counter()
            codes = next(answers)
            took[name].append(1_000 * (time.perf_counter() - began))
            ranks[name].append(next((place for place, code in enumerate(codes) if code in right), DEPTH))
    return [_summary(name, ranks[name], took[name]) for name in under_way]


def _summary(name: str, ranks: Sequence[int], took: Sequence[float]) -> Searched:
    first, ten = np.mean([rank == 0 for rank in ranks]), np.mean([rank < DEPTH for rank in ranks])
    p50, p99 = np.percentile(took, (50, 99))
    return Searched(name, len(ranks), float(first), float(ten), float(p50), float(p99))


def _rank_bm25(index: SearchIndex, texts: Sequence[str], queries: Sequence[str]) -> Iterator[Ranked]:
    from rank_bm25 import BM25Okapi

    found = BM25Okapi([folded_words(text) for text in texts])
    for query in queries:
        yield _codes(index, found.get_scores(folded_words(query)))


def _rapidfuzz(index: SearchIndex, texts: Sequence[str], queries: Sequence[str]) -> Iterator[Ranked]:
    from rapidfuzz import fuzz, process

    folded = [" ".join(folded_words(text)) for text in texts]
    for query in queries:
        asked = [" ".join(folded_words(query))]
        (scores,) = process.cdist(asked, folded, scorer=fuzz.token_set_ratio, dtype=np.float32)
        yield _codes(index, scores)


def _codes(index: SearchIndex, scores: Any) -> Ranked:
    """The codes of the best wordings, each by its best; one that scores nothing is no find."""
    of_code = np.maximum.reduceat(np.asarray(scores, dtype=np.float64), index.wordings.starts)
    best = np.argsort(-of_code, kind="stable")[:DEPTH]
    return [index.catalog.codes[index.wordings.codes[place]].code for place in best if of_code[place] > 0]
