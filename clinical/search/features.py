"""Features of each candidate code of a query: the columns that the ranking model reads, by name.

Three views of the same wordings are joined: vectors (meaning), BM25 over words and over character n-grams (form), and
a soft alignment of the query's words with the words of each wording: which of them have a counterpart on the other
side, weighted by IDF and by the encoder's own weight (after Kusner et al. 2015, relaxed word mover's distance).

Many queries are worked on at once: wordings lie in runs of the same code of the same query, runs in runs of a query.
What a query gets does not depend on the queries beside it, to the last bit: products of vectors are exact (`cosines`),
sums run over what belongs to the query alone, in its own order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

import numpy as np

from clinical.search.cosines import whole
from clinical.search.encoder import Vectors
from clinical.search.native.compiled import AskedWords, OfCodes, descending, distances
from clinical.search.retrieval import Gathered, Queries, gather, room_of
from clinical.search.runs import Ints, Runs
from clinical.search.terms import Wordings
from clinical.search.traits import TRAITS, CodeTraits

SOFT, SHARP = 0.05, 0.02
"""Temperatures at which similarities of a code's wordings are added up: exp((similarity - 1) / temperature)."""

RELATIVE: Final = (
    "similarity", "mass_soft", "mass_sharp", "second", "title", "centre", "words_bm25", "characters_bm25",
    "query_covered", "wording_covered", "alignment", "weighted_alignment", "query_covered_by_all",
)  # fmt: skip
"""These columns are repeated, behind all others, as their distance to the best candidate of the same query."""

COLUMNS: Final = (
    *RELATIVE,
    "mass_share", "category_share", "parent_share", "words_bm25_share", "characters_bm25_share",
    "best_query_covered", "best_wording_covered", "worst_query_word", "worst_wording_word", "best_weighted_covered",
    "length_ratio", "weight_difference", "hits", "rank", "verbatim",
    *TRAITS,
    "query_words", "query_rarity", "query_weight",
)  # fmt: skip
"""The names of the columns in their order; a trained model keeps them and refuses others."""


class Candidates(NamedTuple):
    """Candidate codes of Q queries, query by query."""

    codes: Ints  # (c,) catalog numbers
    columns: Vectors  # (c, len(COLUMNS) + len(RELATIVE))
    wordings: Ints  # (c,) the best wording of each
    first: Ints  # (Q,) where the candidates of each query begin

    def column(self, name: str) -> Vectors:
        """One of COLUMNS: shape (c,)."""
        return self.columns[:, COLUMNS.index(name)]

    def relative(self, name: str) -> Vectors:
        """One of RELATIVE as its distance to the best candidate of the query, 0 or less: shape (c,)."""
        return self.columns[:, len(COLUMNS) + RELATIVE.index(name)]


def candidates(queries: Queries, wordings: Wordings, traits: CodeTraits) -> Candidates:
    """All codes that one of the three searches puts forward for each query, with their columns."""
    asked = _asked(queries)
    gathered = gather(queries, asked.whole, wordings)
    some = wordings.comparing.ordered(asked, gathered.query, gathered.wording)
    compared, best = wordings.comparing.compared(asked, some, room_of(wordings).seen)
    group, one = Runs(some.first, len(some.wording)), Runs.of(gathered.code_query)
    codes = wordings.tables.code[best].astype(np.int64)
    query, similarity = gathered.code_query, some.similarity
    soft = np.log(group.total(np.exp((similarity - 1) / SOFT)) + np.float32(1e-9))
    columns = {
        "mass_soft": soft,
        "mass_sharp": np.log(group.total(np.exp((similarity - 1) / SHARP)) + np.float32(1e-12)),
        **_compared(compared),
        **_shares(soft, gathered, traits, codes, one),
        "hits": np.log1p(group.sizes),
        "rank": _rank(soft, one),
        **{name: getattr(traits, name)[codes] for name in TRAITS},
        "query_words": queries.length[query],
        "query_rarity": _added(queries.idf[queries.words].T)[query],
        "query_weight": queries.weight[query],
    }
    return Candidates(codes, _matrix(columns, one), best, one.first)


def _asked(queries: Queries) -> AskedWords:
    """The queries for the compiled loops, their vectors as whole numbers."""
    count = len(queries.word_vectors)
    both = whole(np.concatenate([queries.word_vectors, queries.vectors]))
    return AskedWords(
        queries.words, queries.length, both.numbers[:count], both.scales[:count], queries.idf, queries.word_weight,
        both.numbers[count:], both.scales[count:], queries.weight,
    )  # fmt: skip


def _compared(found: OfCodes) -> dict[str, Vectors]:
    """Columns that compare each code's wordings with the query, by name."""
    return {
        "similarity": found.similarity,
        "second": found.second,
        "title": found.title,
        "centre": found.centre,
        "query_covered": found.query_covered,
        "wording_covered": found.wording_covered,
        "alignment": found.alignment,
        "weighted_alignment": found.weighted_alignment,
        "query_covered_by_all": found.query_covered_by_all,
        "best_query_covered": found.best_query_covered,
        "best_wording_covered": found.best_wording_covered,
        "worst_query_word": found.worst_query_word,
        "worst_wording_word": found.worst_wording_word,
        "best_weighted_covered": found.best_weighted_covered,
        "length_ratio": found.length_ratio,
        "weight_difference": found.weight_difference,
        "verbatim": found.verbatim,
    }


def _added(rows: Iterable[Vectors]) -> Vectors:
    """The rows added up one by one: a row of zeros changes nothing, so a longer query beside this one does not either
    (numpy's own sum takes them in another order, the more there are)."""
    first, *others = rows
    total: Vectors = first.copy()
    for row in others:
        total += row
    return total


def _shares(soft: Vectors, gathered: Gathered, traits: CodeTraits, codes: Ints, one: Runs) -> dict[str, Vectors]:
    """BM25 of each code, and its share of its query's mass, its category's, its parent's, and of the best BM25."""
    mass = np.exp(soft)
    mass /= one.total(mass)[one.run]

    def family(of: Ints, families: int) -> Vectors:
        number = of[codes] + one.run * families
        return np.asarray(np.bincount(number, weights=mass)[number], dtype=np.float32)

    def of_best(values: Vectors) -> Vectors:
        best = np.maximum(one.maximum(values), np.float32(1e-6))
        return np.asarray(values / best[one.run], dtype=np.float32)

    return {
        "words_bm25": gathered.words_bm25,
        "characters_bm25": gathered.characters_bm25,
        "mass_share": mass,
        "category_share": family(traits.category, traits.categories),
        "parent_share": family(traits.parent, traits.parents),
        "words_bm25_share": of_best(gathered.words_bm25),
        "characters_bm25_share": of_best(gathered.characters_bm25),
    }


def _rank(column: Vectors, one: Runs) -> Vectors:
    rank = np.empty(len(column), dtype=np.float32)
    rank[descending(column, one.first)] = np.arange(len(column)) - one.first[one.run]
    return rank


_RELATIVE_NUMBERS: Final = np.array([COLUMNS.index(name) for name in RELATIVE])


def _matrix(columns: Mapping[str, Vectors], one: Runs) -> Vectors:
    """All columns by their names as float32: shape (c, len(COLUMNS) + len(RELATIVE))."""
    rows = np.empty((len(COLUMNS) + len(RELATIVE), len(one.run)), dtype=np.float32)
    for number, name in enumerate(COLUMNS):
        rows[number] = columns[name]
    distances(rows, _RELATIVE_NUMBERS, one.first, rows[len(COLUMNS) :])
    return rows.T
