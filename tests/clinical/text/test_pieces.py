"""A wording found by its pieces is where a pattern made of it would find it."""

import random
import re

import pytest

from clinical.text import BLANKS, WORD_EDGE, find_pieces, lowered
from clinical.text.pieces import MOST_STEPS

MARKS = re.compile(r"[\s./-]{0,3}")


def drawn(chance: random.Random, characters: str, most: int) -> str:
    return "".join(chance.choice(characters) for _ in range(chance.randint(1, most)))


@pytest.mark.parametrize("gap", [BLANKS, MARKS, re.compile("")])
@pytest.mark.parametrize("edge", [WORD_EDGE, re.compile(""), re.compile(r"(?<!\d[-.])"), re.compile(r"(?!\d)")])
def test_the_first_place_is_that_of_a_pattern(gap: re.Pattern[str], edge: re.Pattern[str]):
    chance, found = random.Random(7), 0
    for _ in range(3_000):
        pieces = [drawn(chance, "aAbß1", 2) for _ in range(chance.randint(1, 3))]
        text = drawn(chance, "aAbBßẞ1 .-\n", 24)
        wanted = edge.pattern + gap.pattern.join(map(re.escape, pieces)) + edge.pattern
        match = re.search(wanted, text, re.IGNORECASE)
        place = find_pieces(lowered(text), [lowered(one) for one in pieces], gap, before=edge, behind=edge)
        assert place == (match and match.span()), (text, pieces)
        found += place is not None
    assert found > 100


@pytest.mark.parametrize("one", list("aÄßẞİIıſSsKÅΣςσµμ1@-"))
@pytest.mark.parametrize("other", list("aÄßẞİIıſSsKÅΣςσµμ1@-"))
def test_characters_are_the_same_where_a_pattern_takes_them_for_that(one: str, other: str):
    same = re.fullmatch(re.escape(one), other, re.IGNORECASE) is not None
    assert (lowered(one) == lowered(other)) == same
    assert len(lowered(f"{one}ΑΣ {other}")) == 5


def test_a_text_made_to_be_slow_is_left():
    slow, pieces = "a " * MOST_STEPS, ["a"] * 100
    assert find_pieces(slow + "a b", [*pieces, "b"], BLANKS) is None
    assert find_pieces("a " * 300 + "a b", [*pieces, "b"], BLANKS) == (402, 603)
