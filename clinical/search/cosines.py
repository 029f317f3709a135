"""Cosines that are the same to the last bit whatever is computed beside them.

A matrix product rounds its sums in an order that depends on the shape of the whole matrix, so the last digits of a
text's similarities would depend on which texts are searched together with it. Here both sides are whole numbers small
enough that every partial sum is a whole number below 2^24, which float32 holds exactly in any order of summation.
The scales are multiplied afterwards, each value by itself (`columns.c`).
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinical.quantised import LARGEST
from clinical.search.encoder import Vectors

EXACT: Final = 2**24
"""Up to which every whole number is a float32 (IEEE 754: 24 bits of significand)."""


class Whole(NamedTuple):
    """Rows of whole numbers, and what each row is to be multiplied with: `numbers * scales` is the row itself."""

    numbers: NDArray[np.int16]  # (rows, dimensions)
    scales: Vectors  # (rows,)


def whole(vectors: Vectors) -> Whole:
    """Rows rounded as finely as exact products with int8 rows allow: 688 steps either way at 192 dimensions."""
    steps = np.float32(EXACT // (LARGEST * vectors.shape[1]))
    scales = np.maximum(np.abs(vectors).max(axis=1), np.float32(1e-9)) / steps
    return Whole(np.rint(vectors / scales[:, None]).astype(np.int16), scales)
