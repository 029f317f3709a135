"""The tagger's networks over all words of some texts in one call (`tagging.c`)."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinical.search.native.compiled import (
    BYTE,
    FLOAT,
    LETTER,
    LONG,
    Floats,
    Ints,
    address_of,
    all_at,
    fields_of,
    loops,
)

TILE, GROUP = 16, 4
"""Outputs of a layer whose weights lie together, a multiple of which a network is wide; inputs that do."""
_SIZES: Final = "networks buckets wide marks between told hidden depth"


class TaggingWeights(NamedTuple):
    """Weights of N networks of width H, as `clinical.claims.Tagger` has them, the layers in bytes; `joint` are the two
    matrices of the first and the last word of a mention."""

    grams: NDArray[np.int8]
    words: NDArray[np.int8]
    grams_scale: Floats
    words_scale: Floats
    gaps: Floats
    entry: Floats
    entry_bias: Floats
    layers: NDArray[np.int8]  # (N, L, 3 * H, H)
    layers_scale: Floats  # (N, L, H)
    layers_bias: Floats
    joint: NDArray[np.int8]  # (N, 2, H, H)
    joint_scale: Floats  # (N, 2, H)
    joint_bias: Floats


class _Tagger(ctypes.Structure):
    _fields_ = fields_of(" ".join(TaggingWeights._fields), _SIZES)


class _SeenWords(ctypes.Structure):
    _fields_ = fields_of("letters start text_start told gaps", "words texts")


class Tagging:
    """The networks made ready once: their matrices are copied into tiles and kept with their addresses."""

    def __init__(self, own: TaggingWeights) -> None:
        networks, buckets, wide = own.grams.shape
        _, marks, between = own.gaps.shape
        _, entered, hidden = own.entry.shape
        if hidden % TILE:
            raise ValueError(f"networks {hidden} wide, which is no multiple of {TILE}")
        self._kept = own._replace(layers=_tiled(own.layers), joint=_tiled(own.joint))
        told = entered - 2 * wide - 2 * between
        sizes = (networks, buckets, wide, marks, between, told, hidden, own.layers.shape[1])
        kinds = [BYTE if array.dtype == np.int8 else FLOAT for array in self._kept]
        self._struct = _Tagger(*all_at(self._kept, kinds), *sizes)
        self._address, self._shape = ctypes.addressof(self._struct), (networks, hidden)

    def read(self, texts: Sequence[Sequence[str]], told: Floats, gaps: Ints) -> list[tuple[Floats, Floats, Floats]]:
        """Of each text, its words' share in a judgement as the first and as the last of a mention, and their state:
        (N, words, H) each. The same whatever texts are read beside it.

        `texts`: their words; `told`: what is told of each word; `gaps` (words, 2): rows of what stands before and
        behind it.
        """
        networks, hidden = self._shape
        encoded = [word.encode() for words in texts for word in words]
        letters = np.frombuffer(b"".join([*encoded, b"\n"]), dtype=LETTER)
        start = np.array([0, *accumulate(map(len, encoded))], dtype=np.int64)
        ends = [0, *accumulate(map(len, texts))]
        found = np.empty((3, networks, len(encoded), hidden), dtype=np.float32)
        arrays = (letters, start, np.array(ends, dtype=np.int64), told, gaps)
        seen = _SeenWords(*all_at(arrays, (LETTER, LONG, LONG, FLOAT, LONG)), len(encoded), len(texts))
        places = (address_of(one, FLOAT) for one in found)
        if loops().tag(self._address, ctypes.addressof(seen), *places):
            raise MemoryError("no memory for the words of a text")
        begin, last, state = found
        return [(begin[:, a:b], last[:, a:b], state[:, a:b]) for a, b in pairwise(ends)]


def _tiled(weights: NDArray[np.int8]) -> NDArray[np.int8]:
    """Matrices (..., inputs, outputs) as (..., outputs / TILE, inputs / GROUP, TILE, GROUP)."""
    *before, inputs, outputs = weights.shape
    tiles: Any = weights.reshape(*before, inputs // GROUP, GROUP, outputs // TILE, TILE)
    return np.ascontiguousarray(np.moveaxis(tiles, (-2, -4, -1, -3), (-4, -3, -2, -1)))
