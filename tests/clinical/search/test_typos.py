"""Mending: one edit away and no farther, known words alone, the rest of the query as it was typed."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from clinical.search.words.typos import SHORTEST, Typos
from clinical.text import fold

WORDS = [fold(word) for word in ("Pneumonie", "Hypertonie", "Hypotonie", "Gastritis", "Migräne", "Husten", "Herz")]
KNOWN = dict(zip(WORDS, range(len(WORDS)), strict=True))


@pytest.fixture(scope="module")
def typos() -> Typos:
    return Typos.of(WORDS)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("Pnuemonie", "Pneumonie"),  # two characters transposed
        ("Pneumonei", "Pneumonie"),
        ("Gastrtis", "Gastritis"),  # one left out
        ("Gastrittis", "Gastritis"),  # one too many
        ("Hustem", "Husten"),  # one replaced
        ("Migrene", "Migräne"),
    ],
)
def test_a_word_one_edit_away_is_found(typos: Typos, typed: str, meant: str) -> None:
    assert typos.nearest(fold(typed)) == fold(meant)


@pytest.mark.parametrize("typed", ["Pnuemnie", "Gstrts", "Lunge", "", "Hypertonie", "Herx", "12345"])
def test_what_is_known_far_short_or_a_number_is_left_alone(typos: Typos, typed: str) -> None:
    assert typos.nearest(fold(typed)) is None


def test_of_two_words_equally_near_the_one_with_the_same_beginning_is_taken() -> None:
    typos = Typos.of(["halten", "malten"])
    assert typos.nearest("maltex") == "malten"
    assert typos.nearest("hlten") == "halten"
    assert typos.nearest("xalten") == "halten"  # neither: the first of the vocabulary


def test_the_rest_of_the_query_stays_as_it_was_typed(typos: Typos) -> None:
    assert typos.mended("V. a. Pnuemonie, li. basal", KNOWN) == f"V. a. {fold('Pneumonie')}, li. basal"
    assert typos.mended("Hypertonie und Husten", KNOWN) is None
    assert typos.mended("", KNOWN) is None


@given(word=st.sampled_from(WORDS[:-1]), at=st.integers(0, 8), character=st.sampled_from("abmxz"))
def test_every_single_slip_is_mended_to_a_word_one_edit_away(word: str, at: int, character: str) -> None:
    typed = word[:at] + character + word[at + 1 :]
    found = Typos.of(WORDS).nearest(typed)
    assert (found is None) == (typed in KNOWN or len(typed) < SHORTEST)
    assert found is None or OSA.distance(typed, found) == 1


def test_saved_and_loaded_it_mends_the_same(typos: Typos, tmp_path: Path) -> None:
    typos.save(tmp_path / "typos.safetensors")
    again = Typos.load(tmp_path / "typos.safetensors", WORDS)
    assert [again.nearest(fold(word)) for word in ("Pnuemonie", "Hustem", "Lunge")] == [
        fold("Pneumonie"),
        fold("Husten"),
        None,
    ]
