"""Vectors are added up and scaled by compiled loops as numpy rounds them, to the last bit."""

import numpy as np
import pytest

from clinical.search.native.compiled import added, scaled_to_one

chance = np.random.default_rng(5)
ROWS = chance.integers(-127, 128, (400, 192)).astype(np.int8)
SCALES = chance.random(400, dtype=np.float32)


@pytest.mark.parametrize("longest", [1, 7, 9, 40, 128, 130, 700])
def test_sums_and_lengths_are_those_of_numpy(longest: int) -> None:
    sizes = np.append(chance.integers(1, longest + 1, 12), longest)
    numbers, ends = chance.integers(0, len(ROWS), sizes.sum()), np.cumsum(sizes)
    table = ROWS * SCALES[:, None]
    expected = np.add.reduceat(table[numbers], ends - sizes, axis=0)
    found = added(ROWS, SCALES, numbers, np.append(0, ends))
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(added(table, None, numbers, np.append(0, ends)), expected)
    lengths = np.linalg.norm(expected, axis=1)
    np.testing.assert_array_equal(scaled_to_one(found), lengths)
    np.testing.assert_array_equal(found, expected / lengths[:, None])


def test_a_row_of_zeros_stays_one_and_no_run_gives_no_row() -> None:
    rows = np.zeros((2, 192), dtype=np.float32)
    assert scaled_to_one(rows).tolist() == [0, 0]
    assert not rows.any()
    assert added(ROWS, SCALES, np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64)).shape == (0, 192)
