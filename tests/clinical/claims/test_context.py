"""Every row of the table of trigger words says in its example what it promises, and not in its counter-example."""

import pytest

from clinical.claims import Reading, group
from clinical.claims.triggers import DEFAULTS, TriggerRow, read_table, table


def claim_of(sentence: str):
    """The claim of the mention that stands in square brackets."""
    start, end = sentence.index("["), sentence.index("]") - 1
    return Reading.of(sentence.replace("[", "").replace("]", "")).ruled(start, end)


def says(row: TriggerRow, sentence: str) -> bool:
    claim = claim_of(sentence)
    return all(getattr(claim, axis) == (DEFAULTS[axis] if row.value == "-" else row.value) for axis in row.axes)


def test_each_row_says_what_it_promises():
    rows = table().rows
    assert 100 < len(rows) <= 150
    assert [(row.example, claim_of(row.example)) for row in rows if not says(row, row.example)] == []
    assert [row.counter_example for row in rows if says(row, row.counter_example)] == []


@pytest.mark.parametrize(
    "line",
    [
        "kein\tnegation\tdenied\tbefore\tlist\tKein [Fieber].",
        "kein\tnegation\tnever\tbefore\tlist\tKein [Fieber].\t[Fieber].",
        "kein\tmood\tdenied\tbefore\tlist\tKein [Fieber].\t[Fieber].",
        "kein\tnegation\tdenied\tabove\tlist\tKein [Fieber].\t[Fieber].",
    ],
)
def test_a_line_that_cannot_be_read_is_named(line):
    with pytest.raises(ValueError, match=r"context\.tsv, line 2"):
        read_table(f"# a comment\n{line}\n")


def test_a_colleague_who_is_greeted_is_nobody_of_whom_a_letter_speaks():
    assert group("@others").fits("bettnachbar")
    assert not group("@another").fits("kollegin")
