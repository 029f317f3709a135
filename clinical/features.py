"""What is known of each candidate code for one query: the columns that the ranking model reads.

Three views of the same wordings are joined: vectors (meaning), BM25 over words and over letters (form), and a soft
alignment of the query's words with the words of each wording: which of them have a counterpart on the other side,
weighted by IDF and by the encoder's own weight (after Kusner et al. 2015, relaxed word mover's distance).
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinical.encoder import Encoder, Vectors, unit
from clinical.text import words
from clinical.wordings import Wordings, letter_grams

Ints = NDArray[np.int64]

NEAREST: Final = 150
"""Wordings taken from the vector search; 0.974 of held-out synonyms have their code among them, 0.976 at 300."""
BEST_BY_WORDS, BEST_BY_LETTERS = 15, 25
"""Codes added from each BM25."""
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


class Query(NamedTuple):
    """A query as the encoder sees it (m words, D dimensions)."""

    folded: list[str]
    vector: Vectors  # (D,) unit
    word_vectors: Vectors  # (m, D) unit
    word_weight: Vectors  # (m,)
    weight: float
    idf: Vectors  # (m,)


class Candidates(NamedTuple):
    """Candidate codes of one query: catalog numbers (c,), columns (c, F), the best wording of each (c,)."""

    codes: Ints
    columns: Vectors
    wordings: Ints


class CodeTraits(NamedTuple):
    """Columns that belong to the codes alone, one row per catalog number: (codes, 6), and the numbers of the
    three-character category and of the parent of each code."""

    columns: Vectors
    category: Ints
    parent: Ints


def read_query(text: str, encoder: Encoder, wordings: Wordings) -> Query | None:
    """None when the text has no word, or none of it means anything to the encoder."""
    folded = [word.text for word in words(text)]
    if not folded:
        return None
    rows = encoder.encode([" ".join(folded), *folded])
    weights = np.linalg.norm(rows, axis=1).astype(np.float32)
    if weights[0] < 1e-6:
        return None
    units = unit(rows)
    return Query(folded, units[0], units[1:], weights[1:], float(weights[0]), wordings.idf(folded))


def candidates(query: Query, wordings: Wordings, traits: CodeTraits) -> Candidates:
    """All codes that one of the three searches puts forward, with their columns."""
    found, by_words, by_letters = _gather(query, wordings)
    similarity = wordings.vectors(found) @ query.vector
    code = wordings.tables.code[found].astype(np.int64)
    order = np.lexsort((-similarity, code))
    found, similarity, code = found[order], similarity[order], code[order]
    group = _Group(np.flatnonzero(np.r_[True, code[1:] != code[:-1]]), len(code))
    codes = code[group.first]
    rows = wordings.code_row[codes]
    aligned = _align(query, wordings, found)
    best = group.best(aligned.alignment + similarity)
    vectors = _vector_columns(query, wordings, rows, similarity, group)
    bm25 = [by_words[rows], by_letters[rows]]
    alignment = [group.maximum(column) for column in aligned[1:5]]
    covered = group.maximum(aligned.by_word) @ query.idf / query.idf.sum()
    columns = [
        *vectors,
        *bm25,
        *alignment,
        covered,
        *_shares(vectors[1], bm25, traits, codes),
        *(column[best] for column in (aligned[1], aligned[2], *aligned[5:])),
        *_lengths(query, wordings, found[best]),
        np.log1p(group.sizes),
        _rank(vectors[1]),
        group.maximum(_verbatim(query, wordings, found, aligned)),
    ]
    return Candidates(codes, _matrix(columns, traits.columns[codes], query), found[best])


class _Group:
    """Wordings in runs of the same code: reductions of a column of wordings to one value per code."""

    def __init__(self, first: Ints, length: int) -> None:
        self.first, self.sizes = first, np.diff(np.r_[first, length])
        self._of = np.repeat(np.arange(len(first)), self.sizes)

    def maximum(self, column: Vectors) -> Vectors:
        result: Vectors = np.maximum.reduceat(column, self.first, axis=0)
        return result

    def total(self, column: Vectors) -> Vectors:
        result: Vectors = np.add.reduceat(column, self.first)
        return result

    def best(self, column: Vectors) -> Ints:
        """Place of the largest value of each run."""
        return np.lexsort((-column, self._of))[self.first]

    def second(self, descending: Vectors) -> Vectors:
        """The second value of each run of a column that descends in each run; 0 where there is only one."""
        at = np.minimum(self.first + 1, len(descending) - 1)
        return np.where(self.sizes > 1, descending[at], np.float32(0))


class _Alignment(NamedTuple):
    """Per wording: how well the words of each side find a counterpart on the other (squared cosine, 0..1)."""

    by_word: Vectors  # (wordings, query words)
    query_covered: Vectors  # share of the query's IDF
    wording_covered: Vectors  # share of the wording's IDF
    alignment: Vectors  # harmonic mean of the two
    weighted_alignment: Vectors  # the same with the encoder's own weights
    worst_query_word: Vectors
    worst_wording_word: Vectors
    weighted_covered: Vectors


def _gather(query: Query, wordings: Wordings) -> tuple[Ints, Vectors, Vectors]:
    """Numbers of the wordings to look at, and both BM25s' best value for every code (rows of C)."""
    _, near = wordings.nearest(query.vector[None], NEAREST)
    by_word = wordings.words_bm25.scores(query.folded)
    by_letter = wordings.letters_bm25.scores(letter_grams(query.folded))
    words_best, letters_best = wordings.best_by_code(by_word), wordings.best_by_code(by_letter)
    rows = np.union1d(_top(words_best, BEST_BY_WORDS), _top(letters_best, BEST_BY_LETTERS))
    best = [
        start + int(np.argmax(by_word[start:end] + by_letter[start:end]))
        for start, end in ((wordings.starts[row], wordings.ends[row]) for row in rows)
    ]
    found = np.union1d(near[0][near[0] >= 0], np.array(best, dtype=np.int64))
    return found.astype(np.int64), words_best, letters_best


def _top(values: Vectors, count: int) -> Ints:
    """Places of the `count` largest values above 0."""
    positive = np.flatnonzero(values > 0)
    if len(positive) <= count:
        return positive
    return positive[np.argpartition(values[positive], len(positive) - count)[-count:]]


def _align(query: Query, wordings: Wordings, found: Ints) -> _Alignment:
    tables = wordings.tables
    starts, lengths = tables.word_start[found], tables.word_start[found + 1] - tables.word_start[found]
    first = np.cumsum(lengths) - lengths
    word = tables.word[np.repeat(starts - first, lengths) + np.arange(int(lengths.sum()))]
    rows = np.asarray(tables.word_rows[word], dtype=np.float32) * tables.word_scales[word, None]
    match = np.square(np.maximum(rows @ query.word_vectors.T, np.float32(0)))
    by_word: Vectors = np.maximum.reduceat(match, first, axis=0)
    of_wording = match.max(axis=1)
    idf, weight = tables.word_idf[word], tables.word_weight[word]
    query_covered = np.asarray(by_word @ (query.idf / query.idf.sum()), dtype=np.float32)
    wording_covered = _ratio(of_wording, idf, first)
    weight_of_query = max(float(query.word_weight.sum()), 1e-6)
    weighted_query = np.asarray(by_word @ query.word_weight / weight_of_query, dtype=np.float32)
    weighted_wording = _ratio(of_wording, weight, first)
    return _Alignment(
        by_word,
        query_covered,
        wording_covered,
        _harmonic(query_covered, wording_covered),
        _harmonic(weighted_query, weighted_wording),
        by_word.min(axis=1),
        np.minimum.reduceat(of_wording, first),
        weighted_query,
    )


def _ratio(values: Vectors, weights: Vectors, first: Ints) -> Vectors:
    """Weighted mean of each run."""
    total = np.maximum(np.add.reduceat(weights, first), np.float32(1e-6))
    return np.asarray(np.add.reduceat(values * weights, first) / total, dtype=np.float32)


def _harmonic(one: Vectors, other: Vectors) -> Vectors:
    mean: Vectors = 2 * one * other / np.maximum(one + other, np.float32(1e-6))
    return mean


def _vector_columns(query: Query, wordings: Wordings, rows: Ints, similarity: Vectors, group: _Group) -> list[Vectors]:
    tables = wordings.tables
    soft = np.log(group.total(np.exp((similarity - 1) / SOFT)) + 1e-9)
    sharp = np.log(group.total(np.exp((similarity - 1) / SHARP)) + 1e-12)
    title = wordings.vectors(tables.title[rows]) @ query.vector
    centre = (tables.centre_rows[rows] * tables.centre_scales[rows, None]) @ query.vector
    return [group.maximum(similarity), soft, sharp, group.second(similarity), title, centre]


def _shares(soft: Vectors, bm25: list[Vectors], traits: CodeTraits, codes: Ints) -> list[Vectors]:
    """Each code's share of the mass, its category's, its parent's, and its part of the best BM25s."""
    mass = np.exp(soft)
    mass = mass / mass.sum()
    families = [
        np.bincount(place, weights=mass)[place]
        for place in (np.unique(of[codes], return_inverse=True)[1] for of in (traits.category, traits.parent))
    ]
    return [mass, *families, *(values / max(float(values.max()), 1e-6) for values in bm25)]


def _verbatim(query: Query, wordings: Wordings, found: Ints, aligned: _Alignment) -> Vectors:
    """1 where a wording has the very words of the query, in any order."""
    starts = wordings.tables.word_start
    same = (starts[found + 1] - starts[found]) == len(query.folded)
    exact = np.minimum(aligned.worst_query_word, aligned.worst_wording_word) > EXACT
    return np.asarray(same & exact, dtype=np.float32)


def _lengths(query: Query, wordings: Wordings, best: Ints) -> list[Vectors]:
    starts = wordings.tables.word_start
    count = (starts[best + 1] - starts[best]).astype(np.float32)
    return [count / len(query.folded), query.weight - wordings.tables.weight[best]]


def _rank(column: Vectors) -> Vectors:
    rank = np.empty(len(column), dtype=np.float32)
    rank[np.argsort(-column, kind="stable")] = np.arange(len(column))
    return rank


def _matrix(columns: list[Vectors], traits: Vectors, query: Query) -> Vectors:
    """All columns as float32 (c, len(COLUMNS) + RELATIVE)."""
    whole = [len(query.folded), float(query.idf.sum()), query.weight]
    own = np.stack(columns, axis=1).astype(np.float32)
    constant = np.broadcast_to(np.array(whole, dtype=np.float32), (len(own), len(whole)))
    relative = own[:, :RELATIVE] - own[:, :RELATIVE].max(axis=0)
    return np.concatenate([own, traits, constant, relative], axis=1)
