"""What is known of each candidate code for one query: the columns that the ranking model reads, by name.

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

from clinical.search.compiled import AskedWords, descending
from clinical.search.cosines import cosines, whole
from clinical.search.encoder import Vectors
from clinical.search.retrieval import Gathered, Queries, gather, room_of
from clinical.search.runs import Ints, Runs, run_starts
from clinical.search.terms import Wordings
from clinical.search.traits import TRAITS, CodeTraits

SOFT, SHARP = 0.05, 0.02
"""Temperatures at which similarities of a code's wordings are added up: exp((similarity - 1) / temperature)."""

EXACT: Final = 0.995
"""Squared cosine from which two words count as the same: quantised vectors of one word are not quite parallel."""

RELATIVE: Final = (
    "similarity", "mass_soft", "mass_sharp", "second", "title", "centre", "words_bm25", "letters_bm25",
    "query_covered", "wording_covered", "alignment", "weighted_alignment", "query_covered_by_all",
)  # fmt: skip
"""These columns are repeated, behind all others, as their distance to the best candidate of the same query."""

COLUMNS: Final = (
    *RELATIVE,
    "mass_share", "category_share", "parent_share", "words_bm25_share", "letters_bm25_share",
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


class _Alignment(NamedTuple):
    """Per wording: how well the words of each side find a counterpart on the other (squared cosine, 0..1)."""

    by_word: Vectors  # (words of the longest query, wordings)
    query_covered: Vectors  # share of the query's IDF
    wording_covered: Vectors  # share of the wording's IDF
    alignment: Vectors  # harmonic mean of the two
    weighted_alignment: Vectors  # the same with the encoder's own weights
    worst_query_word: Vectors
    worst_wording_word: Vectors
    weighted_covered: Vectors


def candidates(queries: Queries, wordings: Wordings, traits: CodeTraits) -> Candidates:
    """All codes that one of the three searches puts forward for each query, with their columns."""
    gathered = gather(queries, wordings)
    tables = wordings.tables
    vectors = whole(queries.vectors)
    similarity = cosines(vectors, gathered.query, tables.rows, tables.scales, gathered.wording)
    gathered, similarity, first = _ordered(gathered, similarity, wordings)
    group, one = Runs(first, len(similarity)), Runs.of(gathered.code_query)
    codes = tables.code[gathered.wording[first]].astype(np.int64)
    rows, query = wordings.code_row[codes], gathered.code_query
    aligned = _align(queries, wordings, gathered)
    best = group.best(aligned.alignment + similarity)
    soft = np.log(group.total(np.exp((similarity - 1) / SOFT)) + np.float32(1e-9))
    columns = {
        "similarity": group.maximum(similarity),
        "mass_soft": soft,
        "mass_sharp": np.log(group.total(np.exp((similarity - 1) / SHARP)) + np.float32(1e-12)),
        "second": group.second(similarity),
        "title": cosines(vectors, query, tables.rows, tables.scales, tables.title[rows]),
        "centre": cosines(vectors, query, tables.centre_rows, tables.centre_scales, rows),
        **_aligned_columns(queries, gathered, aligned, group, best),
        **_shares(soft, gathered, traits, codes, one),
        **_lengths(queries, wordings, query, gathered.wording[best]),
        "hits": np.log1p(group.sizes),
        "rank": _rank(soft, one),
        "verbatim": group.maximum(_verbatim(queries, wordings, gathered, aligned)),
        **{name: getattr(traits, name)[codes] for name in TRAITS},
        "query_words": queries.length[query],
        "query_rarity": _added(queries.idf[queries.words].T)[query],
        "query_weight": queries.weight[query],
    }
    return Candidates(codes, _matrix(columns, one), gathered.wording[best], one.first)


def _ordered(gathered: Gathered, similarity: Vectors, wordings: Wordings) -> tuple[Gathered, Vectors, Ints]:
    """Within each code the most similar wording first; and where each code of each query begins."""
    key = wordings.row[gathered.wording] + gathered.query * len(wordings.codes)
    first = run_starts(key)
    order = descending(similarity, first)
    return gathered._replace(wording=gathered.wording[order]), similarity[order], first


def _align(queries: Queries, wordings: Wordings, gathered: Gathered) -> _Alignment:
    vectors = whole(queries.word_vectors)
    asked = AskedWords(queries.words, queries.length, *vectors, queries.idf, queries.word_weight)
    pairs = gathered.query, gathered.wording
    by_word, found = wordings.known_words.aligned(asked, *pairs, room_of(wordings).seen)
    query_covered, wording_covered, weighted_covered, weighted_wording, worst_query_word, worst_wording_word = found
    return _Alignment(
        by_word=by_word,
        query_covered=query_covered,
        wording_covered=wording_covered,
        alignment=_harmonic(query_covered, wording_covered),
        weighted_alignment=_harmonic(weighted_covered, weighted_wording),
        worst_query_word=worst_query_word,
        worst_wording_word=worst_wording_word,
        weighted_covered=weighted_covered,
    )


def _added(rows: Iterable[Vectors]) -> Vectors:
    """The rows added up one by one: a row of zeros changes nothing, so a longer query beside this one does not either
    (numpy's own sum takes them in another order, the more there are)."""
    first, *others = rows
    total: Vectors = first.copy()
    for row in others:
        total += row
    return total


def _share(by_word: Vectors, weights: Vectors, query: Ints) -> Vectors:
    """Weighted mean over the words of a query; `weights` (Q, W)."""
    share = weights / np.maximum(_added(weights.T), np.float32(1e-6))[:, None]
    return _added(matched * of_query[query] for matched, of_query in zip(by_word, share.T, strict=True))


def _harmonic(one: Vectors, other: Vectors) -> Vectors:
    mean: Vectors = 2 * one * other / np.maximum(one + other, np.float32(1e-6))
    return mean


def _aligned_columns(
    queries: Queries, gathered: Gathered, aligned: _Alignment, group: Runs, best: Ints
) -> dict[str, Vectors]:
    """The best of all wordings of a code, and what its best wording says."""
    return {
        "query_covered": group.maximum(aligned.query_covered),
        "wording_covered": group.maximum(aligned.wording_covered),
        "alignment": group.maximum(aligned.alignment),
        "weighted_alignment": group.maximum(aligned.weighted_alignment),
        "query_covered_by_all": _share(group.maximum(aligned.by_word), queries.idf[queries.words], gathered.code_query),
        "best_query_covered": aligned.query_covered[best],
        "best_wording_covered": aligned.wording_covered[best],
        "worst_query_word": aligned.worst_query_word[best],
        "worst_wording_word": aligned.worst_wording_word[best],
        "best_weighted_covered": aligned.weighted_covered[best],
    }


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
        "letters_bm25": gathered.characters_bm25,
        "mass_share": mass,
        "category_share": family(traits.category, traits.categories),
        "parent_share": family(traits.parent, traits.parents),
        "words_bm25_share": of_best(gathered.words_bm25),
        "letters_bm25_share": of_best(gathered.characters_bm25),
    }


def _verbatim(queries: Queries, wordings: Wordings, gathered: Gathered, aligned: _Alignment) -> Vectors:
    """1 where a wording has the very words of the query, in any order."""
    starts = wordings.tables.word_start
    same = (starts[gathered.wording + 1] - starts[gathered.wording]) == queries.length[gathered.query]
    exact = np.minimum(aligned.worst_query_word, aligned.worst_wording_word) > EXACT
    return np.asarray(same & exact, dtype=np.float32)


def _lengths(queries: Queries, wordings: Wordings, query: Ints, best: Ints) -> dict[str, Vectors]:
    starts = wordings.tables.word_start
    count = (starts[best + 1] - starts[best]).astype(np.float32)
    return {
        "length_ratio": count / queries.length[query],
        "weight_difference": queries.weight[query] - wordings.tables.weight[best],
    }


def _rank(column: Vectors, one: Runs) -> Vectors:
    rank = np.empty(len(column), dtype=np.float32)
    rank[descending(column, one.first)] = np.arange(len(column)) - one.first[one.run]
    return rank


def _matrix(columns: Mapping[str, Vectors], one: Runs) -> Vectors:
    """All columns by their names as float32: shape (c, len(COLUMNS) + len(RELATIVE))."""
    rows = np.empty((len(COLUMNS) + len(RELATIVE), len(one.run)), dtype=np.float32)
    for number, name in enumerate(COLUMNS):
        rows[number] = columns[name]
    for number, name in enumerate(RELATIVE, start=len(COLUMNS)):
        column = rows[COLUMNS.index(name)]
        np.subtract(column, one.maximum(column)[one.run], out=rows[number])
    return rows.T
