"""The fuzzer of slow texts finds what is slow, ends what never ends, and knows every kind of token of the tables."""

import os
import signal
import time

import pytest

from evals.load import slow_texts
from evals.load.slow_texts import LENGTHS, LONGEST, SHAPES, cpu_seconds, tokens, ways


def test_every_table_gives_tokens():
    known = tokens()
    assert len(known) == len(set(known)) > len(SHAPES) + 50
    for token in ("E11.", "Dr. ", "IIII", "\u0661", "verneint ", "1."):
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


def test_a_text_whose_process_the_machine_ended_is_read_again(tmp_path):
    def ended_once(text):
        if not (seen := tmp_path / "seen").exists():
            seen.touch()
            os.kill(os.getpid(), signal.SIGKILL)

    assert cpu_seconds(ended_once, "a") < LONGEST
    with pytest.raises(RuntimeError, match="3 times"):
        cpu_seconds(lambda text: os.kill(os.getpid(), signal.SIGKILL), "a")


def test_what_never_ends_is_ended_by_the_kernel():
    def endless(text):
        while True:
            pass

    assert cpu_seconds(endless, "a", longest=1) == 1, "the limit itself, however long the machine took to it"


LONG = ("...", "?", "\u0661", "24.12.2024 ", "notfall ", "männlich ", "Z ", "Dr. ", "A\n")
"""Tokens that took 3 to 60 times an ordinary letter of 20,000 characters, one token for each cause."""


def test_every_kind_of_token_stays_near_an_ordinary_text_on_every_way(index):
    """2,000 characters; processor time, the least of three, in which a busy machine cannot make it fail."""
    index.search("Husten", 10)
    known = tokens()
    found = slow_texts.slow_texts(index, known, lengths=LENGTHS[:1])
    assert {one.way for one in found} == set(ways(index, {}))
    assert len(found) > 0.9 * len(known) * len(ways(index, {})), "white space alone is left out, and nothing else"
    assert not (over := [one for one in found if one.ratio > slow_texts.WORST]), over


def test_what_was_slow_in_long_letters_costs_their_length(index):
    found = slow_texts.slow_texts(index, LONG, by=("zuweisung", "arztbrief", "grounding"), lengths=LENGTHS[1:])
    assert len(found) == 3 * len(LONG)
    assert not (over := [one for one in found if one.ratio > slow_texts.WORST]), over
