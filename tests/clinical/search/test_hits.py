"""Hits of parts: joined, believed less, and merged to the best of each code."""

import numpy as np

from clinical.search.hits import Hits, joined, merged, merged_by_part

Row = tuple[int, int, float, float, int]


def hits(*rows: Row) -> Hits:
    """From rows (part, code, share, probability, wording)."""
    part, code, share, probability, wording = zip(*rows, strict=True)
    return Hits(
        np.array(part),
        np.array(code),
        np.array(share, dtype=np.float32),
        np.array(probability, dtype=np.float32),
        np.array(wording),
    )


def rows(some: Hits) -> list[tuple[int, int, int]]:
    """(part, code, wording) of each hit."""
    return list(zip(some.part.tolist(), some.code.tolist(), some.wording.tolist(), strict=True))


SOME = hits(
    (0, 7, 0.9, 0.8, 70), (0, 3, 0.1, 0.2, 30), (1, 7, 0.95, 0.8, 71), (1, 5, 0.6, 0.5, 50), (0, 3, 0.3, 0.2, 31)
)


def test_the_best_hit_of_each_code_over_all_parts_is_kept_by_probability_then_share() -> None:
    assert rows(merged(SOME)) == [(1, 7, 71), (1, 5, 50), (0, 3, 31)]


def test_the_best_hit_of_each_code_is_kept_for_each_part() -> None:
    assert rows(merged_by_part(SOME)) == [(0, 7, 70), (0, 3, 31), (1, 7, 71), (1, 5, 50)]


def test_of_no_hits_there_is_nothing_to_merge() -> None:
    nothing = joined([])
    assert rows(merged(nothing)) == rows(merged_by_part(nothing)) == []
    assert rows(joined([nothing, SOME])) == rows(SOME)


def test_hits_are_joined_one_behind_the_other() -> None:
    assert rows(joined([SOME, SOME.at(slice(1))])) == [*rows(SOME), (0, 7, 70)]


def test_what_is_believed_less_has_a_lower_share_and_probability_and_nothing_else_changes() -> None:
    half = SOME.weighed(0.5)
    np.testing.assert_allclose(half.share, SOME.share / 2)
    np.testing.assert_allclose(half.probability, SOME.probability / 2)
    assert rows(half) == rows(SOME)
