"""One plain word that no letter says, inside a true value: it fails the value, and true values stay."""

from __future__ import annotations

import pytest

from evals.extraction.annotated import letters_of
from evals.extraction.whole.invented_words import measured, of_whole_letters

KEPT, REMOVED = 0.03, 0.01
"""Largest shares that pass; what is reached stands in docs/measured.md."""


def test_a_word_that_stands_nowhere_fails_its_value_in_whole_letters() -> None:
    found = measured(of_whole_letters(1), seed=3)
    assert found.invented > 300
    assert found.share_kept <= 0.005, found.kept
    assert found.share_removed <= REMOVED, found.removed


@pytest.mark.parametrize(("name", "texts"), [("letters", "grascco"), ("referrals", "referrals")])
def test_the_same_in_annotated_letters(shared_data, name: str, texts: str) -> None:  # type: ignore[no-untyped-def]
    folder = shared_data / "eval-dev"
    rows = letters_of(folder / f"{name}.jsonl", folder / texts).values()
    found = measured(((row["document_type"], asked.text, row["data"]) for row, asked in rows), seed=3)
    assert found.invented > 100
    assert found.share_kept <= KEPT, found.kept
    assert found.share_removed <= REMOVED, found.removed


def test_a_letter_that_says_the_word_keeps_its_value() -> None:
    letter = "Diagnosen:\n- Tiefe septische Beinvenenthrombose rechts\n"
    found = measured([("arztbrief", letter, {"diagnosen": ["Tiefe septische Beinvenenthrombose rechts"]})])
    assert not found.removed
    assert not found.kept
