"""Joints: conditions in a row with nothing but a blank between them are parted, and no wording is cut."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinical.reading import SearchIndex
from clinical.reading.joints import Joints
from evals.load.slow_texts import cpu_seconds


@pytest.fixture(scope="module")
def joints(index: SearchIndex) -> Joints:
    return Joints(index.wordings)


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("KHK COPD Migräne", "KHK,COPD,Migräne"),
        ("Diabetes mellitus Typ 2 KHK", "Diabetes mellitus Typ 2,KHK"),
        ("COPD GOLD III Migräne", "COPD GOLD III,Migräne"),
        ("Karpaltunnelsyndrom re Migräne", "Karpaltunnelsyndrom re,Migräne"),
        ("migräne bluthochdruck", "migräne,bluthochdruck"),
        ("Migräne seit Jahren bekannt KHK COPD", "Migräne seit Jahren bekannt KHK,COPD"),
    ],
)
def test_conditions_in_a_row_are_parted(joints, typed, read):
    assert joints.parted(typed) == read


@pytest.mark.parametrize(
    "text",
    [
        "Diabetes mellitus Typ 2",
        "KHK, COPD. Migräne",
        "Migräne bei KHK und COPD",
        "COPD GOLD III",
        "Migräne 2020",
        "KHK\nCOPD",
        "Karpaltunnelsyndrom re",
        "",
        "...",
    ],
)
def test_where_no_condition_begins_nothing_is_parted(joints, text):
    assert joints.parted(text) == text


def test_a_list_without_commas_is_read_as_one_with_them(index: SearchIndex) -> None:
    listed = {hit.code for hit in index.read("KHK, COPD, Migräne, Bluthochdruck").codes}
    assert {"I25.19", "J44.99", "G43.9", "I10.90"} <= listed
    assert {hit.code for hit in index.read("KHK COPD Migräne Bluthochdruck").codes} == listed


def test_a_mention_quotes_the_text_as_it_was_typed(index: SearchIndex) -> None:
    text = "Diagnosen: KHK\u00a0COPD Migr&auml;ne"
    quoted = {text[mention.start : mention.end] for mention in index.read(text).mentions}
    assert quoted == {"KHK", "COPD", "Migr&auml;ne"}


PIECES = ["KHK", "COPD", " ", "  ", ". ", "Typ", "2", "re", "Migräne", ",", "\n", "° ", "ß"]


@settings(max_examples=200, deadline=None)
@given(text=st.lists(st.sampled_from(PIECES)).map("".join))
def test_only_a_blank_becomes_a_comma(joints, text):
    parted = joints.parted(text)
    assert len(parted) == len(text)
    assert all(one == other or (one, other) == (" ", ",") for one, other in zip(text, parted, strict=True))


def test_a_long_list_costs_its_length(joints):
    def seconds(length):
        return min(cpu_seconds(joints.parted, ("KHK COPD Typ 2 re " * length)[:length]) for _ in range(3))

    assert seconds(80_000) < 12 * max(seconds(20_000), 0.002)
