"""The best codes of queries, or all candidates with their columns, in one call for all of them (`ranking.c`)."""

from __future__ import annotations

import ctypes
from typing import Any, Final, NamedTuple

import numpy as np

from clinical.search.native.compiled import (
    BYTE,
    FLOAT,
    INT,
    LONG,
    Comparing,
    Floats,
    Ints,
    address_of,
    all_at,
    fields_of,
    loops,
)
from clinical.search.native.graph import Graph
from clinical.search.native.looking import Looking, RoomStruct, SpelledStruct, SpelledWords

WIDTH: Final = 50
"""Columns of the ranking model, as `loops.h` has it."""
_TRAITS: Final = 6


class _Traits(ctypes.Structure):
    _fields_ = (("values", ctypes.c_void_p * _TRAITS), *fields_of("category parent", "categories parents"))


class _Networks(ctypes.Structure):
    _fields_ = fields_of(
        "mean scale first first_bias second second_bias last none none_columns raw calibrated",
        "networks hidden narrow nones points",
    )


class _Index(ctypes.Structure):
    _fields_ = fields_of("catalog graph known traits networks codes", "depth kept")


class _Texts(ctypes.Structure):
    _fields_ = (
        ("spelled", SpelledStruct),
        *fields_of("vectors weight word_vectors word_weight idf answers answered", "words dimensions"),
    )


class _Ranked(ctypes.Structure):
    _fields_ = fields_of("code wording share probability columns")


class Networks(NamedTuple):
    """The ranking model: see `ranking.Ranker`; `none_columns` are the numbers of the columns of the "none" logit."""

    mean: Floats
    scale: Floats
    first: Floats
    first_bias: Floats
    second: Floats  # (K, H, G)
    second_bias: Floats
    last: Floats
    none: Floats
    none_columns: Ints
    raw: Floats
    calibrated: Floats


class Traits(NamedTuple):
    """Of each code of the catalog: columns of its own, and the numbers of its category and its parent."""

    values: tuple[Floats, ...]
    category: Ints
    parent: Ints
    categories: int
    parents: int


class Vectors(NamedTuple):
    """Q queries and m words as the encoder sees them, D dimensions: unit vectors and their weights."""

    vectors: Floats  # (Q, D)
    weight: Floats  # (Q,)
    word_vectors: Floats  # (m, D)
    word_weight: Floats  # (m,)
    idf: Floats  # (m,)


class Room:
    """Room of a thread for one catalog, which every call leaves as it was: nothing of a query stays in it."""

    def __init__(self, looking: Looking, comparing: Comparing, graph: Graph | None) -> None:
        self.looking, self.seen = looking.room(), comparing.seen()
        self.graph = None if graph is None else graph.room()
        scores, word, character = self.looking
        visits, visited = (
            (None, None)
            if self.graph is None
            else (address_of(self.graph.seen, BYTE), address_of(self.graph.visited, INT))
        )
        self._struct = RoomStruct(
            address_of(scores, FLOAT), address_of(word, INT), address_of(character, INT), None, None, None,
            address_of(self.seen, INT), visits, visited,
        )  # fmt: skip
        self.address = ctypes.addressof(self._struct)


class Ranked(NamedTuple):
    """Codes of Q queries, one query's behind the other's, with the best wording of each; `counts` (Q,): how many."""

    code: Ints
    wording: Ints
    share: Floats
    probability: Floats
    counts: Ints


class BestRoom:
    """Room for the best codes of Q queries."""

    def __init__(self, queries: int, most: int) -> None:
        self._numbers = np.empty((2, queries * most), dtype=np.int64)
        self._values = np.empty((2, queries * most), dtype=np.float32)
        self.counts = np.empty(queries, dtype=np.int64)
        code, share = address_of(self._numbers, LONG), address_of(self._values, FLOAT)
        size = queries * most
        self._struct = _Ranked(code, code + size * LONG.itemsize, share, share + size * FLOAT.itemsize, None)
        self.address = ctypes.addressof(self._struct)

    def filled(self) -> Ranked:
        """The codes that were written into it."""
        total = int(self.counts.sum())
        (code, wording), (share, probability) = self._numbers[:, :total], self._values[:, :total]
        return Ranked(code, wording, share, probability, self.counts)


class AllRanked(NamedTuple):
    """All candidates of Q queries with their columns (c, WIDTH); `counts` (Q,): how many of each."""

    code: Ints
    wording: Ints
    columns: Floats
    counts: Ints


class Ranking:
    """The ranking of one catalog, made once: its arrays are kept with their addresses. `codes`: the catalog numbers of
    the codes with a wording; without `networks` there are columns only."""

    def __init__(
        self,
        looking: Looking,
        comparing: Comparing,
        graph: Graph | None,
        traits: Traits,
        codes: Ints,
        networks: Networks | None,
        depth: int,
        kept: int,
    ) -> None:
        self._kept: list[Any] = [looking, comparing, graph, traits, codes, networks]
        own = _Traits(
            (ctypes.c_void_p * _TRAITS)(*(address_of(values, FLOAT) for values in traits.values)),
            address_of(traits.category, LONG), address_of(traits.parent, LONG), traits.categories, traits.parents,
        )  # fmt: skip
        model = None if networks is None else _networks(networks)
        self._kept += [own, model]
        self._struct = _Index(
            looking.address, None if graph is None else graph.address, comparing.address, ctypes.addressof(own),
            None if model is None else ctypes.addressof(model), address_of(codes, LONG), depth, kept,
        )  # fmt: skip
        self.address, self._most, self._best = ctypes.addressof(self._struct), looking.most, kept

    def room_for(self, queries: int) -> BestRoom:
        """Room for the best codes of some queries."""
        return BestRoom(queries, self._best)

    def best(self, texts: Vectors, spelled: SpelledWords, near: Ints | int, room: Room) -> Ranked:
        """The best codes of each query. `near`: the nearest wordings (Q, K), or how many the graph is to find."""
        out = self.room_for(len(spelled.length))
        self._ranked(texts, spelled, near, room, out.address, out.counts)
        return out.filled()

    def every(self, texts: Vectors, spelled: SpelledWords, near: Ints | int, room: Room) -> AllRanked:
        """All candidates of each query with their columns; of an index without networks."""
        nears = near if isinstance(near, int) else near.shape[1]
        size = len(spelled.length) * (nears + self._most)
        code, wording = np.empty((2, size), dtype=np.int64)
        columns = np.empty((size, WIDTH), dtype=np.float32)
        out = _Ranked(address_of(code, LONG), address_of(wording, LONG), None, None, address_of(columns, FLOAT))
        counts = np.empty(len(spelled.length), dtype=np.int64)
        self._ranked(texts, spelled, near, room, ctypes.addressof(out), counts)
        total = int(counts.sum())
        return AllRanked(code[:total], wording[:total], columns[:total], counts)

    def _ranked(
        self, texts: Vectors, spelled: SpelledWords, near: Ints | int, room: Room, out: int, counts: Ints
    ) -> None:
        nears, given = (near, None) if isinstance(near, int) else (near.shape[1], address_of(near, LONG))
        values = (address_of(values, FLOAT) for values in texts)
        asked = _Texts(spelled.struct(), *values, None, None, *texts.word_vectors.shape)
        refused = loops().rank(
            self.address, ctypes.addressof(asked), room.address, given, nears, address_of(counts, LONG), out,
        )  # fmt: skip
        if refused:
            raise MemoryError("no memory for the candidates of a query")


def _networks(own: Networks) -> _Networks:
    kinds: tuple[np.dtype[Any], ...] = (*[FLOAT] * 8, LONG, FLOAT, FLOAT)
    count, hidden, narrow = own.second.shape
    return _Networks(*all_at(own, kinds), count, hidden, narrow, len(own.none_columns), len(own.raw))
