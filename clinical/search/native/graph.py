"""The nearest wordings by the graph of an HNSW index of FAISS, searched by `graph.c`."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinical.search.native.compiled import BYTE, FLOAT, INT, LONG, SHORT, Floats, Ints, address_of, fields_of, loops


class Links(NamedTuple):
    """The graph of N wordings: neighbours of each, level by level, filled up with -1; where those of each begin; how
    many a wording has below each level; where a search begins, and at which level. `owner`: what the memory of the
    arrays belongs to, where they do not own it themselves."""

    neighbours: NDArray[np.int32]
    start: Ints  # (N + 1,)
    before_level: NDArray[np.int32]
    entry: int
    levels: int
    owner: Any = None


class _Graph(ctypes.Structure):
    _fields_ = fields_of("rows scales neighbours start before_level", "dimensions entry levels")


class GraphRoom(NamedTuple):
    """Room for `Graph.nearest`, which leaves nothing in `seen` and numbers of wordings in `visited`."""

    seen: NDArray[np.int8]  # (N,) all 0
    visited: NDArray[np.int32]  # (N,)


class Graph:
    """The links, and the vectors of the wordings: `rows` (N, D) times `scales`. The arrays are kept with their
    addresses."""

    def __init__(self, links: Links, rows: NDArray[np.int8], scales: Floats) -> None:
        self._kept = (links, rows, scales)
        addresses = (
            address_of(rows, BYTE), address_of(scales, FLOAT), address_of(links.neighbours, INT),
            address_of(links.start, LONG), address_of(links.before_level, INT),
        )  # fmt: skip
        self._struct = _Graph(*addresses, rows.shape[1], links.entry, links.levels)
        self.address = ctypes.addressof(self._struct)

    def room(self) -> GraphRoom:
        """Room of the right size."""
        size = len(self._kept[1])
        return GraphRoom(np.zeros(size, dtype=np.int8), np.empty(size, dtype=np.int32))

    def nearest(self, asked: NDArray[np.int16], count: int, depth: int, room: GraphRoom) -> Ints:
        """The numbers of the nearest wordings of each vector of whole numbers (Q, D), the nearest first: (Q, count), -1
        where there are fewer. `depth`: how many wordings are gone on from, at least `count`."""
        near = np.empty((len(asked), count), dtype=np.int64)
        best = np.empty(2 * max(depth, count), dtype=np.int32)
        loops().nearest(
            self.address, address_of(asked, SHORT), len(asked), count, max(depth, count), address_of(room.seen, BYTE),
            address_of(room.visited, INT), address_of(best, INT), address_of(near, LONG),
        )  # fmt: skip
        return near
