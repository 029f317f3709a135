"""The fuzzer of slow texts finds what is slow, ends what never ends, and knows every kind of token of the tables."""

import time

from evals.speed import slow_texts
from evals.speed.slow_texts import LONGEST, SHAPES, cpu_seconds, tokens, ways


def test_every_table_gives_tokens():
    known = tokens()
    assert len(known) == len(set(known)) > len(SHAPES) + 50
    for token in ("I21.", "Dr. ", "IIII", "\u0661", "verneint ", "1."):
        assert token in known


def test_a_quadratic_reader_is_found_and_one_that_never_ends_is_ended():
    def quadratic(text):
        return sum(one == other for one in text for other in text)

    short, long = cpu_seconds(quadratic, "a" * 1000), cpu_seconds(quadratic, "a" * 4000)
    assert long > 8 * short
    began = time.process_time()

    def failing(text):
        raise ValueError(text)

    assert cpu_seconds(failing, "a") == LONGEST
    assert time.process_time() - began < LONGEST, "the work is not done in this process"


def test_the_known_slow_texts_stay_near_an_ordinary_one(index):
    """What once held tier 1 for everybody; every token on every way is `python -m evals slow-texts`."""
    index.search("Husten", 10)
    known = ("1.", "I21.", "Dr. ", "IIII", "Husten und ", "kein ")
    found = slow_texts.slow_texts(index, known, by=("instant", "findings"))
    assert len(found) == 2 * len(known) < len(ways(index, {})) * len(known)
    over = [one for one in found if one.ratio > slow_texts.WORST]
    assert not over, over
