"""Both BM25s of a catalog and the words of queries, as `loops.c` takes them to select the wordings to look at."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinical.search.native.compiled import FLOAT, INT, LONG, Floats, Ints, address_of, fields_of, loops


class _Postings(ctypes.Structure):
    _fields_ = fields_of("indices added start", "most")


class _Catalog(ctypes.Structure):
    _fields_ = (("words", _Postings), ("characters", _Postings), *fields_of("row starts ends", "wordings"))


class _Tokens(ctypes.Structure):
    _fields_ = fields_of("token start")


class SpelledStruct(ctypes.Structure):
    """`Spelled` of `loops.h`."""

    _fields_ = (
        *fields_of("words length"),
        *(("by_word", _Tokens), ("by_character", _Tokens)),
        *fields_of("", "queries longest"),
    )


class RoomStruct(ctypes.Structure):
    """`Room` of `loops.h`."""

    _fields_ = fields_of("scores word character of_words of_characters numbers words visits visited")


class Postings(NamedTuple):
    """A BM25: the wording of each posting, ascending within a token, what it adds to its score, where the postings of
    each token begin (and, last, end), and how many codes are put forward by it."""

    indices: NDArray[np.int32]
    added: Floats
    start: Ints
    most: int


class WordTokens(NamedTuple):
    """The tokens that each of m distinct words has in a BM25, word by word, and where each word's begin: (m + 2,), for
    the last one stands for no word, with which shorter queries are filled up."""

    token: Ints
    start: Ints

    @classmethod
    def of(cls, some: Sequence[Sequence[int]]) -> WordTokens:
        """From the tokens of each word."""
        flat: list[int] = []
        starts = [0]
        for own in some:
            flat += own
            starts.append(len(flat))
        starts.append(len(flat))
        return cls(np.array(flat, dtype=np.int64), np.array(starts, dtype=np.int64))


class SpelledWords(NamedTuple):
    """Q queries as numbers of m distinct words, W in the longest, filled up with m; and the tokens of the words."""

    words: Ints  # (Q, W)
    length: Ints  # (Q,)
    by_word: WordTokens
    by_character: WordTokens

    def struct(self) -> SpelledStruct:
        """The addresses; they count while the arrays live."""
        tokens = (
            _Tokens(address_of(one.token, LONG), address_of(one.start, LONG))
            for one in (self.by_word, self.by_character)
        )
        words, length = address_of(self.words, LONG), address_of(self.length, LONG)
        return SpelledStruct(words, length, *tokens, *self.words.shape)


class LookingRoom(NamedTuple):
    """Room for the scores of a query, which a search leaves as it was."""

    scores: Floats  # (2, wordings) all 0
    word: NDArray[np.int32]  # one for each token, all -1
    character: NDArray[np.int32]


class Looking:
    """Constants of all queries: both BM25s, the code (row) of each wording, and the start and end of the wordings of
    each code. The arrays are kept with their addresses."""

    def __init__(self, words: Postings, characters: Postings, row: Ints, starts: Ints, ends: Ints) -> None:
        loops()  # where they cannot be had, no index is loaded
        self._kept = (words, characters, row, starts, ends)
        both = (
            _Postings(address_of(one.indices, INT), address_of(one.added, FLOAT), address_of(one.start, LONG), one.most)
            for one in (words, characters)
        )
        self._catalog = _Catalog(
            *both, address_of(row, LONG), address_of(starts, LONG), address_of(ends, LONG), len(row)
        )
        self.address, self.most = ctypes.addressof(self._catalog), words.most + characters.most

    def room(self) -> LookingRoom:
        """Room of the right size."""
        words, characters, *_ = self._kept
        tokens = (np.full(len(one.start), -1, dtype=np.int32) for one in (words, characters))
        return LookingRoom(np.zeros((2, self._catalog.wordings), dtype=np.float32), *tokens)
