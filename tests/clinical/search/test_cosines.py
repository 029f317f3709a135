"""Cosines: whole numbers whose products are exact, so that no row depends on the rows beside it."""

import numpy as np
import pytest

from clinical.search.cosines import EXACT, whole
from clinical.search.encoder import quantise, unit


def vectors(rows: int, dimensions: int, seed: int = 0) -> np.ndarray:
    return unit(np.random.default_rng(seed).standard_normal((rows, dimensions)).astype(np.float32))


@pytest.mark.parametrize("dimensions", [64, 192, 768])
def test_products_never_reach_what_float32_cannot_hold(dimensions: int) -> None:
    most = int(np.abs(whole(vectors(40, dimensions)).numbers).max()) * 127 * dimensions
    assert most <= EXACT


def test_a_cosine_is_that_of_the_vectors_to_within_their_rounding() -> None:
    left, right = vectors(9, 192), vectors(30, 192, 1)
    (numbers, scales), (rows, row_scales) = whole(left), quantise(right)
    found = numbers.astype(np.int64) @ rows.astype(np.int64).T * scales[:, None] * row_scales
    np.testing.assert_allclose(found, left @ right.T, atol=0.005)
    assert not whole(np.zeros((1, 64), dtype=np.float32)).numbers.any()
