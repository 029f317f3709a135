"""The tagger's networks over all words of a text in one call (`tagging.c`)."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, Final, NamedTuple

import numpy as np

from clinical.search.native.compiled import FLOAT, LETTER, LONG, Floats, Ints, address_of, all_at, fields_of, loops

TILE: Final = 16
"""Outputs of a layer whose weights lie together: a network is a multiple of them wide."""
_SIZES: Final = "networks buckets wide marks between told hidden depth"


class _Tagger(ctypes.Structure):
    _fields_ = fields_of("table gaps entry entry_bias layers layers_bias joint joint_bias", _SIZES)


class _SeenWords(ctypes.Structure):
    _fields_ = fields_of("letters start told gaps", "words")


class TaggingWeights(NamedTuple):
    """TaggingWeights of N networks, as `clinical.claims.Tagger` has them; `joint` without the rows of the labels."""

    table: Floats
    gaps: Floats
    entry: Floats
    entry_bias: Floats
    layers: Floats
    layers_bias: Floats
    joint: Floats
    joint_bias: Floats


class Tagging:
    """The networks made ready once: their matrices are copied into tiles and kept with their addresses."""

    def __init__(self, own: TaggingWeights) -> None:
        networks, buckets, wide = own.table.shape
        _, marks, between = own.gaps.shape
        _, entered, hidden = own.entry.shape
        if hidden % TILE:
            raise ValueError(f"networks {hidden} wide, which is no multiple of {TILE}")
        self._kept = own._replace(entry=_tiled(own.entry), layers=_tiled(own.layers), joint=_joint(own.joint))
        told = entered - wide - 2 * between
        sizes = (networks, buckets, wide, marks, between, told, hidden, own.layers.shape[1])
        self._struct = _Tagger(*all_at(self._kept, [FLOAT] * len(self._kept)), *sizes)
        self._address, self._shape = ctypes.addressof(self._struct), (networks, hidden)

    def read(self, spelled: Sequence[str], told: Floats, gaps: Ints) -> tuple[Floats, Floats, Floats]:
        """Each word's share in a judgement as the first and as the last of a mention, and its state: (N, words, H).

        `spelled`: the words; `told`: what is told of each; `gaps` (words, 2): rows of what stands before and behind it.
        """
        networks, hidden = self._shape
        words, encoded = len(spelled), [word.encode() for word in spelled]
        letters = np.frombuffer(b"".join([*encoded, b"\n"]), dtype=LETTER)
        start = np.array([0, *accumulate(map(len, encoded))], dtype=np.int64)
        begins, ends, state = np.empty((3, networks, words, hidden), dtype=np.float32)
        seen = _SeenWords(*all_at((letters, start, told, gaps), (LETTER, LONG, FLOAT, LONG)), words)
        places = (address_of(one, FLOAT) for one in (begins, ends, state))
        if loops().tag(self._address, ctypes.addressof(seen), *places):
            raise MemoryError("no memory for the words of a text")
        return begins, ends, state


def _tiled(weights: Floats) -> Floats:
    """Matrices (..., inputs, outputs) as (..., outputs / TILE, inputs, TILE)."""
    *before, inputs, outputs = weights.shape
    tiles: Any = weights.reshape(*before, inputs, outputs // TILE, TILE)
    return np.ascontiguousarray(np.moveaxis(tiles, -2, -3))


def _joint(weights: Floats) -> Floats:
    """The joint matrix as two: of the first word of a mention and of the last."""
    networks, rows, hidden = weights.shape
    return _tiled(weights.reshape(networks, 2, rows // 2, hidden))
