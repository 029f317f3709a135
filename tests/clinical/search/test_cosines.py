"""Cosines: exact whole numbers, so that no row depends on the rows beside it."""

import numpy as np
import pytest

from clinical.search.cosines import EXACT, Whole, whole
from clinical.search.encoder import quantise, unit
from clinical.search.native.compiled import AskedWords, Comparing, KnownWordings


def vectors(rows: int, dimensions: int, seed: int = 0) -> np.ndarray:
    return unit(np.random.default_rng(seed).standard_normal((rows, dimensions)).astype(np.float32))


def cosines(left: Whole, at: np.ndarray, rows: np.ndarray, scales: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The similarity of the query `at` to the wording `wanted`, pair by pair, in a catalog of one wording a code."""
    count, none = len(rows), np.zeros(len(rows), dtype=np.float32)
    numbers = np.arange(count)
    known = KnownWordings(
        np.arange(count + 1), numbers.astype(np.int32), rows, none, none, none,
        rows, scales, none, numbers, numbers, rows, none,
    )  # fmt: skip
    queries = len(left.scales)
    zeros = np.zeros(queries, dtype=np.float32)
    asked = AskedWords(
        np.arange(queries)[:, None], np.ones(queries, dtype=np.int64), left.numbers, zeros, zeros, zeros,
        left.numbers, left.scales, zeros,
    )  # fmt: skip
    return Comparing(known).ordered(asked, at, wanted).similarity


@pytest.mark.parametrize("dimensions", [64, 192, 768])
def test_products_are_exact_and_never_reach_what_float32_cannot_hold(dimensions: int) -> None:
    left, (rows, _) = whole(vectors(40, dimensions)), quantise(vectors(50, dimensions, 1))
    exact = left.numbers.astype(np.int64) @ rows.astype(np.int64).T
    at, wanted = np.repeat(np.arange(40), 50), np.tile(np.arange(50), 40)
    ones = Whole(left.numbers, np.ones(40, dtype=np.float32)), np.ones(50, dtype=np.float32)
    np.testing.assert_array_equal(cosines(ones[0], at, rows, ones[1], wanted), exact.ravel())
    most = int(np.abs(left.numbers).max()) * 127 * dimensions
    assert most <= EXACT


def test_a_cosine_is_that_of_the_vectors_to_within_their_rounding() -> None:
    left, right = vectors(9, 192), vectors(30, 192, 1)
    rows, scales = quantise(right)
    at, wanted = np.array([0, 8, 3, 3]), np.array([29, 0, 29, 4])
    found = cosines(whole(left), at, rows, scales, wanted)
    np.testing.assert_allclose(found, (left[at] * right[wanted]).sum(axis=1), atol=0.005)


def test_a_row_has_the_same_bits_alone_and_among_others() -> None:
    left, (rows, scales) = vectors(70, 192), quantise(vectors(300, 192, 1))
    wanted = np.arange(300)
    alone = cosines(whole(left[:1]), np.zeros(300, dtype=np.int64), rows, scales, wanted)
    for count in (2, 3, 16, 70):
        among = cosines(whole(left[:count]), np.zeros(300, dtype=np.int64), rows, scales, wanted)
        np.testing.assert_array_equal(among, alone)


def test_a_row_of_zeros_is_near_to_nothing() -> None:
    rows, scales = quantise(vectors(3, 64))
    found = cosines(whole(np.zeros((1, 64), dtype=np.float32)), np.zeros(3, dtype=np.int64), rows, scales, np.arange(3))
    assert found.tolist() == [0, 0, 0]
