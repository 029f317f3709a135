"""Candidate wordings for many queries at once: which of them the three searches put forward, and the BM25 of each code.

A query is a short text: what somebody typed, or a part of a long text. What all queries share is done once: their
distinct words are encoded once, their vectors go through the graph in one call.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple
from weakref import ReferenceType, ref

import numpy as np
from numpy.typing import NDArray

from clinical.search.bm25 import character_grams
from clinical.search.encoder import Encoder, StaticEncoder, Vectors
from clinical.search.native.compiled import scaled_to_one
from clinical.search.native.looking import SpelledWords, WordTokens
from clinical.search.native.ranked import Room
from clinical.search.native.ranked import Vectors as Asked
from clinical.search.runs import Ints
from clinical.search.terms import Wordings
from clinical.text import folded_words

NEAREST: Final = 150
"""Wordings taken from the vector search; 0.974 of held-out synonyms have their code among them, 0.976 at 300."""
CELLS: Final = 512
"""Queries times words of the longest that are looked at together: bounds memory to some MB, whatever the text."""


class Queries(NamedTuple):
    """Q queries as the encoder sees them, with m distinct words and D dimensions; W is the length of the longest.

    `words` are numbers of the m words, filled up with m; `word_vectors`, `word_weight` and `idf` have zeros there.
    """

    number: Ints  # (Q,) number of each among the texts that were asked; those without a known word are left out
    folded: list[list[str]]
    distinct: list[str]  # the m words
    vectors: Vectors  # (Q, D) unit
    weight: Vectors  # (Q,)
    length: Ints  # (Q,)
    words: Ints  # (Q, W)
    word_vectors: Vectors  # (m + 1, D) unit
    word_weight: Vectors  # (m + 1,)
    idf: Vectors  # (m + 1,)


def read_queries(texts: Sequence[str], encoder: Encoder, wordings: Wordings) -> Iterator[Queries]:
    """The texts in batches of bounded size; texts without a word, or of which none means anything, are left out."""
    folds: dict[str, str] = {}
    return in_batches([folded_words(text, folds) for text in texts], encoder, wordings)


def in_batches(folded: Sequence[Sequence[str]], encoder: Encoder, wordings: Wordings) -> Iterator[Queries]:
    """The same of texts by their folded words."""
    batch: list[int] = []
    for number in sorted((number for number, own in enumerate(folded) if own), key=lambda number: len(folded[number])):
        if batch and (len(batch) + 1) * len(folded[number]) > CELLS:
            yield from _read(batch, folded, encoder, wordings)
            batch = []
        batch.append(number)
    if batch:
        yield from _read(batch, folded, encoder, wordings)


def _read(
    numbers: Sequence[int], folded: Sequence[Sequence[str]], encoder: Encoder, wordings: Wordings
) -> Iterator[Queries]:
    own = [list(folded[number]) for number in numbers]
    distinct = list(dict.fromkeys(word for spelled in own for word in spelled))
    if isinstance(encoder, StaticEncoder):
        rows = encoder.encode_words([*own, *([word] for word in distinct)])
    else:
        rows = encoder.encode([*map(" ".join, own), *distinct])
    units = np.zeros((len(rows) + 1, rows.shape[1]), dtype=np.float32)  # the last one is of no word
    units[:-1] = rows
    weights = scaled_to_one(units)
    known = np.flatnonzero(weights[: len(own)] >= 1e-6)
    if not len(known):
        return
    vectors, weight = units[: len(own)], weights[: len(own)]
    if len(known) < len(own):
        vectors, weight, own = vectors[known], weight[known], [own[at] for at in known.tolist()]
    of_word = {word: at for at, word in enumerate(distinct)}
    length = [len(spelled) for spelled in own]
    longest, none = max(length), len(distinct)
    filled = [[*(of_word[word] for word in spelled), *[none] * (longest - len(spelled))] for spelled in own]
    yield Queries(
        np.array(numbers, dtype=np.int64)[known],
        own,
        distinct,
        vectors,
        weight,
        np.array(length),
        np.array(filled),
        units[len(numbers) :],
        weights[len(numbers) :],
        wordings.idf(distinct, 0.0),
    )


def asked_of(queries: Queries, wordings: Wordings) -> tuple[Asked, SpelledWords, Ints | int, Room]:
    """The queries for the compiled loops (`Ranking`). An index that is no graph finds the nearest wordings here."""
    vectors = Asked(queries.vectors, queries.weight, queries.word_vectors, queries.word_weight, queries.idf)
    near = NEAREST if wordings.links else wordings.nearest(queries.vectors, NEAREST)[1]
    return vectors, spelled_of(queries, wordings), near, room_of(wordings)


def spelled_of(queries: Queries, wordings: Wordings) -> SpelledWords:
    """The words of the queries, and the tokens that each has in both BM25s."""
    by_word, by_character = wordings.words_bm25, wordings.characters_bm25
    words = WordTokens.of([by_word.numbers((word,)) for word in queries.distinct])
    grams = WordTokens.of([by_character.numbers(character_grams((word,))) for word in queries.distinct])
    return SpelledWords(queries.words, queries.length, words, grams)


def nearest_wordings(vectors: Vectors, whole: NDArray[np.int16], wordings: Wordings, count: int, depth: int) -> Ints:
    """The numbers of the nearest wordings of unit vectors (Q, D), which are also given as whole numbers (`cosines`):
    (Q, count), -1 where there are fewer. `depth`: of the search in a graph."""
    room = room_of(wordings)
    if wordings.links is None or room.graph is None:
        return wordings.nearest(vectors, count, depth)[1]
    return wordings.links.nearest(whole, count, depth, room.graph)


_of_thread = threading.local()
"""The room of a thread: fresh arrays of this size for every query would cost a page fault for each 4 kB of them."""


def room_of(wordings: Wordings) -> Room:
    """The room of this thread for this catalog."""
    known: tuple[ReferenceType[Wordings], Room] | None = getattr(_of_thread, "room", None)
    if known is None or known[0]() is not wordings:
        room = Room(wordings.looking, wordings.comparing, wordings.links)
        known = _of_thread.room = (ref(wordings), room)
    return known[1]
