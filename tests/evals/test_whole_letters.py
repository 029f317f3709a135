"""Whole invented letters of 80 layouts: the truth stands in the text, and what the embedded reader makes of them."""

from __future__ import annotations

import pytest

from evals.extraction.annotated import ENTRIES, SINGLE, Count
from evals.extraction.whole.command import FILES, measured, whole_letters

LAYOUTS = 20
"""Templates of each file."""


@pytest.fixture(scope="module")
def counts() -> dict[str, Count]:
    letters = [one for name in FILES for one in whole_letters(name, 1, seed=7)]
    report = measured(letters)
    return {**report.fields, **report.totals()}


def test_every_file_has_its_layouts_and_a_seed_always_gives_the_same_letters() -> None:
    for name in FILES:
        letters = whole_letters(name, 1)
        assert len(letters) == LAYOUTS
        assert letters == whole_letters(name, 1)
        assert letters != whole_letters(name, 1, seed=1)


def test_what_was_drawn_stands_in_the_letter() -> None:
    for letter in (one for name in FILES for one in whole_letters(name, 2)):
        patient = letter.truth["patient"]
        plain = " ".join(letter.text.split())
        assert patient["nachname"] in plain
        assert patient["vorname"] in plain
        assert "{" not in letter.text
        assert "[[" not in letter.text


def test_the_reader_names_the_patient_and_invents_little(counts: dict[str, Count]) -> None:
    """The floors of docs/measured.md where they are reached, else what was measured when the layouts were read."""
    name, born, single, lists = (counts[key] for key in ("patient.nachname", "patient.geburtsdatum", SINGLE, ENTRIES))
    assert name.precision >= 0.93
    assert born.precision >= 0.97
    assert single.f1 >= 0.90
    assert single.precision >= 0.94
    assert lists.f1 >= 0.85
    assert lists.precision >= 0.92
