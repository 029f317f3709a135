"""What is known of each candidate code for one query: the columns that the ranking model reads.

Three views of the same wordings are joined: vectors (meaning), BM25 over words and over letters (form), and a soft
alignment of the query's words with the words of each wording: which of them have a counterpart on the other side,
weighted by IDF and by the encoder's own weight (after Kusner et al. 2015, relaxed word mover's distance).

Many queries are worked on at once: wordings lie in runs of the same code of the same query, runs in runs of a query.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinical.search.encoder import Vectors
from clinical.search.retrieval import Found, Queries, gather
from clinical.search.runs import Ints, first_largest, lengths, ranges, run_starts
from clinical.search.terms import Wordings

SOFT, SHARP = 0.05, 0.02
"""Temperatures at which similarities of a code's wordings are added up: exp((similarity - 1) / temperature)."""

EXACT: Final = 0.995
"""Squared cosine from which two words count as the same: quantised vectors of one word are not quite parallel."""

COLUMNS: Final = (
    "similarity", "mass_soft", "mass_sharp", "second", "title", "centre", "words_bm25", "letters_bm25",
    "query_covered", "wording_covered", "alignment", "weighted_alignment", "query_covered_by_all",
    "mass_share", "category_share", "parent_share", "words_bm25_share", "letters_bm25_share",
    "best_query_covered", "best_wording_covered", "worst_query_word", "worst_wording_word", "best_weighted_covered",
    "length_ratio", "weight_difference", "hits", "rank", "verbatim",
    "terminal", "level", "kind", "wordings", "unspecified", "other",
    "query_words", "query_rarity", "query_weight",
)  # fmt: skip
RELATIVE: Final = 13
"""The first so many columns are repeated as their distance to the best candidate of the same query."""


class Candidates(NamedTuple):
    """Candidate codes of Q queries, query by query: catalog numbers (c,), columns (c, F), the best wording of each
    (c,), and the place where each query begins (Q,)."""

    codes: Ints
    columns: Vectors
    wordings: Ints
    first: Ints


class CodeTraits(NamedTuple):
    """Columns that belong to the codes alone, one row per catalog number: (codes, 6), and the numbers of the
    three-character category and of the parent of each code."""

    columns: Vectors
    category: Ints
    parent: Ints


def candidates(queries: Queries, wordings: Wordings, traits: CodeTraits) -> Candidates:
    """All codes that one of the three searches puts forward for each query, with their columns."""
    found = gather(queries, wordings)
    similarity = _similarity(queries, wordings, found.query, found.wording)
    found, similarity, first = _ordered(found, similarity, wordings)
    group, one = _Runs(first, len(similarity)), _Runs.of(found.code_query)
    codes = wordings.tables.code[found.wording[first]].astype(np.int64)
    rows = wordings.code_row[codes]
    aligned = _align(queries, wordings, found)
    best = group.best(aligned.alignment + similarity)
    vectors = _vector_columns(queries, wordings, rows, found.code_query, similarity, group)
    bm25 = [found.words_bm25, found.letters_bm25]
    idf = queries.idf[queries.words[found.code_query]].T
    covered = (group.maximum(aligned.by_word) * idf).sum(axis=0) / idf.sum(axis=0)
    columns = [
        *vectors,
        *bm25,
        *(group.maximum(column) for column in aligned[1:5]),
        covered,
        *_shares(vectors[1], bm25, traits, codes, one),
        *(column[best] for column in (aligned[1], aligned[2], *aligned[5:])),
        *_lengths(queries, wordings, found.code_query, found.wording[best]),
        np.log1p(group.sizes),
        _rank(vectors[1], one),
        group.maximum(_verbatim(queries, wordings, found, aligned)),
    ]
    matrix = _matrix(columns, traits.columns[codes], queries, one)
    return Candidates(codes, matrix, found.wording[best], one.first)


class _Runs:
    """Rows in runs that belong together: reductions of a column (its last axis) to one value per run."""

    def __init__(self, first: Ints, length: int) -> None:
        self.first, self.sizes = first, lengths(first, length)
        self.run = np.repeat(np.arange(len(first)), self.sizes)

    @classmethod
    def of(cls, keys: Ints) -> _Runs:
        """Runs of equal keys."""
        return cls(run_starts(keys), len(keys))

    def maximum(self, column: Vectors) -> Vectors:
        result: Vectors = np.maximum.reduceat(column, self.first, axis=-1)
        return result

    def total(self, column: Vectors) -> Vectors:
        result: Vectors = np.add.reduceat(column, self.first)
        return result

    def best(self, column: Vectors) -> Ints:
        """Place of the largest value of each run."""
        return first_largest(column, self.first)

    def second(self, descending: Vectors) -> Vectors:
        """The second value of each run of a column that descends in each run; 0 where there is only one."""
        at = np.minimum(self.first + 1, len(descending) - 1)
        return np.where(self.sizes > 1, descending[at], np.float32(0))


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


def _similarity(queries: Queries, wordings: Wordings, query: Ints, wording: Ints) -> Vectors:
    """Cosine of each wording with its query; a wording that several queries found is unpacked once."""
    distinct, place = np.unique(wording, return_inverse=True)
    cosines: Vectors = (queries.vectors @ wordings.vectors(distinct).T)[query, place]
    return cosines


def _ordered(found: Found, similarity: Vectors, wordings: Wordings) -> tuple[Found, Vectors, Ints]:
    """Within each code the most similar wording first; and where each code of each query begins."""
    key = wordings.row[found.wording] + found.query * len(wordings.codes)
    first = run_starts(key)
    order = np.lexsort((-similarity, key))
    return found._replace(wording=found.wording[order]), similarity[order], first


def _align(queries: Queries, wordings: Wordings, found: Found) -> _Alignment:
    tables = wordings.tables
    starts = tables.word_start[found.wording]
    places, first = ranges(starts, tables.word_start[found.wording + 1] - starts)
    word = tables.word[places]
    of = queries.words[found.query].T  # (W, wordings)
    match = _matches(queries, wordings, word, np.repeat(found.query, lengths(first, len(word))))
    by_word: Vectors = np.maximum.reduceat(match, first, axis=1)
    of_wording = match.max(axis=0)
    query_covered = _share(by_word, queries.idf[of])
    wording_covered = _ratio(of_wording, tables.word_idf[word], first)
    weighted_query = _share(by_word, queries.word_weight[of])
    weighted_wording = _ratio(of_wording, tables.word_weight[word], first)
    return _Alignment(
        by_word,
        query_covered,
        wording_covered,
        _harmonic(query_covered, wording_covered),
        _harmonic(weighted_query, weighted_wording),
        np.where(of < len(queries.idf) - 1, by_word, np.inf).min(axis=0),
        np.minimum.reduceat(of_wording, first),
        weighted_query,
    )


def _matches(queries: Queries, wordings: Wordings, word: NDArray[np.int32], query: Ints) -> Vectors:
    """Squared cosine of each word of a wording with each word of its query, (W, words); 0 behind a query's last word.

    Wordings share most of their words, and parts of one text theirs: each pair of words is compared once.
    """
    tables = wordings.tables
    known = np.zeros(len(tables.word_scales), dtype=bool)
    known[word] = True
    distinct = np.flatnonzero(known)
    place = np.empty(len(known), dtype=np.int64)
    place[distinct] = np.arange(len(distinct))
    rows = tables.word_rows[distinct].astype(np.float32) * tables.word_scales[distinct, None]
    cosine = np.square(np.maximum(queries.word_vectors @ rows.T, np.float32(0)))  # (m + 1, distinct)
    return cosine.ravel().take(queries.words.T[:, query] * len(distinct) + place[word])


def _share(by_word: Vectors, weights: Vectors) -> Vectors:
    """Weighted mean over the words of a query."""
    total = np.maximum(weights.sum(axis=0), np.float32(1e-6))
    return np.asarray((by_word * (weights / total)).sum(axis=0), dtype=np.float32)


def _ratio(values: Vectors, weights: Vectors, first: Ints) -> Vectors:
    """Weighted mean of each run."""
    total = np.maximum(np.add.reduceat(weights, first), np.float32(1e-6))
    return np.asarray(np.add.reduceat(values * weights, first) / total, dtype=np.float32)


def _harmonic(one: Vectors, other: Vectors) -> Vectors:
    mean: Vectors = 2 * one * other / np.maximum(one + other, np.float32(1e-6))
    return mean


def _vector_columns(
    queries: Queries, wordings: Wordings, rows: Ints, query: Ints, similarity: Vectors, group: _Runs
) -> list[Vectors]:
    tables = wordings.tables
    soft = np.log(group.total(np.exp((similarity - 1) / SOFT)) + 1e-9)
    sharp = np.log(group.total(np.exp((similarity - 1) / SHARP)) + 1e-12)
    distinct, place = np.unique(rows, return_inverse=True)
    titles = queries.vectors @ wordings.vectors(tables.title[distinct]).T
    centres = queries.vectors @ (tables.centre_rows[distinct] * tables.centre_scales[distinct, None]).T
    both = [titles[query, place], centres[query, place]]
    return [group.maximum(similarity), soft, sharp, group.second(similarity), *both]


def _shares(soft: Vectors, bm25: list[Vectors], traits: CodeTraits, codes: Ints, one: _Runs) -> list[Vectors]:
    """Each code's share of its query's mass, its category's, its parent's, and its part of the best BM25s."""
    mass = np.exp(soft)
    mass = mass / one.total(mass)[one.run]
    families = [
        np.bincount(place, weights=mass)[place]
        for place in (
            np.unique(of[codes] + one.run * (int(of.max()) + 1), return_inverse=True)[1]
            for of in (traits.category, traits.parent)
        )
    ]
    best = (np.maximum(one.maximum(values), np.float32(1e-6))[one.run] for values in bm25)
    return [mass, *families, *(values / most for values, most in zip(bm25, best, strict=True))]


def _verbatim(queries: Queries, wordings: Wordings, found: Found, aligned: _Alignment) -> Vectors:
    """1 where a wording has the very words of the query, in any order."""
    starts = wordings.tables.word_start
    same = (starts[found.wording + 1] - starts[found.wording]) == queries.length[found.query]
    exact = np.minimum(aligned.worst_query_word, aligned.worst_wording_word) > EXACT
    return np.asarray(same & exact, dtype=np.float32)


def _lengths(queries: Queries, wordings: Wordings, query: Ints, best: Ints) -> list[Vectors]:
    starts = wordings.tables.word_start
    count = (starts[best + 1] - starts[best]).astype(np.float32)
    return [count / queries.length[query], queries.weight[query] - wordings.tables.weight[best]]


def _rank(column: Vectors, one: _Runs) -> Vectors:
    rank = np.empty(len(column), dtype=np.float32)
    rank[np.lexsort((-column, one.run))] = np.arange(len(column)) - one.first[one.run]
    return rank


def _matrix(columns: list[Vectors], traits: Vectors, queries: Queries, one: _Runs) -> Vectors:
    """All columns as float32 (c, len(COLUMNS) + RELATIVE)."""
    own = np.stack(columns, axis=1).astype(np.float32)
    whole = [queries.length, queries.idf[queries.words].sum(axis=1), queries.weight]
    constant = np.stack(whole, axis=1).astype(np.float32)[one.run]
    relative = own[:, :RELATIVE] - np.maximum.reduceat(own[:, :RELATIVE], one.first, axis=0)[one.run]
    return np.concatenate([own, traits, constant, relative], axis=1)
