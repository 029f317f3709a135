"""Ablation of the search: words, character n-grams and vectors by themselves, and the ways of joining them.

Every candidate has its exact BM25s and its exact mass of vectors among its columns, and the best of each search are
among the candidates. So the candidates in the order of one column are what that search alone would answer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from catalog_build.official import Source, Synonym
from clinical.reading import SearchIndex
from clinical.search import Candidates, Encoder, Ranker, Vectors, candidates, read_queries
from evals.coding.heldout import reindexed
from evals.data.examples import Example
from evals.measures.intervals import Measure, share

DEPTH: Final = 10
DAMPING: Final = 60.0
"""k of reciprocal rank fusion (Cormack et al. 2009)."""
JOINED: Final = ("words_bm25", "characters_bm25", "mass_soft")

BY_VECTORS: Final = "vectors, all wordings of a code"

Ranks = list[int | None]
"""Per query the place of its first right code, from 1; None where it is not among the first ten."""


def ranks_by_part(index: SearchIndex, examples: Sequence[Example]) -> dict[str, Ranks]:
    """Part -> rank of every query. The parts are those of `_orders`, and the whole search as it is served."""
    right = [{index.catalog.number(c) for c in example.codes if c in index.catalog} for example in examples]
    found: dict[str, Ranks] = {}
    for queries in read_queries([example.query for example in examples], index.encoder, index.wordings):
        some = candidates(queries, index.wordings, index.traits)
        ends = np.append(some.first[1:], len(some.codes))
        for name, values in _orders(some, index.ranker):
            ranks = found.setdefault(name, [None] * len(examples))
            for number, start, end in zip(queries.number, some.first, ends, strict=True):
                ranks[number] = _rank(some.codes[start:end], values[start:end], right[number])
    codes = [[hit.code for hit in hits] for hits in index.search_many([e.query for e in examples], DEPTH)]
    found["whole search"] = [_first(own, example.codes) for own, example in zip(codes, examples, strict=True)]
    return found


def top(ranks: Ranks, depth: int) -> Measure:
    """Share of queries with a right code among the first `depth`, with its 95 % interval."""
    measure = share(sum(rank is not None and rank <= depth for rank in ranks), len(ranks))
    assert measure is not None  # noqa: S101 - there are queries
    return measure


def _orders(some: Candidates, ranker: Ranker) -> Iterator[tuple[str, Vectors]]:
    """Name and values; a value that is not above 0 is no find."""
    yield "words (BM25)", some.column("words_bm25")
    yield "character 4-grams (BM25)", some.column("characters_bm25")
    yield "vectors, nearest wording", some.column("similarity")
    yield BY_VECTORS, np.exp(some.column("mass_soft"))
    yield "joined by reciprocal ranks", _reciprocal(some)
    yield "joined by the trained network", ranker.probabilities(some)[1]


def _reciprocal(some: Candidates) -> Vectors:
    """Sum of 1 / (60 + rank) over the searches that found the code."""
    total = np.zeros(len(some.codes), dtype=np.float32)
    of = np.repeat(np.arange(len(some.first)), np.diff(some.first, append=len(some.codes)))
    for name in JOINED:
        values = some.column(name)
        rank = pd.Series(-values).groupby(of).rank("first").to_numpy()
        missed = name.endswith("bm25") & (values <= 0)
        total += np.where(missed, 0, 1 / (DAMPING + rank)).astype(np.float32)
    return total


def _rank(codes: NDArray[np.int64], values: Vectors, right: set[int]) -> int | None:
    order = np.argsort(-values, kind="stable")[:DEPTH]
    return _first([int(codes[at]) for at in order if values[at] > 0], right)


def _first(codes: Sequence[object], right: Collection[object]) -> int | None:
    return next((rank for rank, code in enumerate(codes, start=1) if code in right), None)


def with_encoder(index: SearchIndex, source: Source, texts: Sequence[Synonym], encoder: Encoder) -> SearchIndex:
    """The same ranking model over an index of these texts made with another encoder."""
    return reindexed(index, source, texts, index.catalog, encoder)
