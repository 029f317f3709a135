"""Limits of codes on age, as the official metadata writes them."""

import pytest

from clinical.icd import outside


@pytest.mark.parametrize(
    ("days", "low", "high", "expected"),
    [
        (14 * 365, "j015", None, True),
        (15 * 365, "j015", "j124", False),
        (27, None, "t027", False),
        (28, None, "t027", True),
        (55 * 365, None, "j055", False),
        (56 * 365, None, "j055", True),
        (10, None, None, False),
    ],
)
def test_limits_of_the_metadata_are_inclusive(days, low, high, expected):
    assert outside(days, low, high) is expected
