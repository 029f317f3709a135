"""Grades and stages are searched in the numerals of the catalog."""

import pytest

from clinical.search.terms import Wordings
from clinical.search.words.numerals import Numerals
from tests.fakes import HashEncoder

WORDINGS = [
    *(f"Herzinsuffizienz NYHA {stage}" for stage in ("I", "II", "III", "IV")),
    *(f"Adipositas Grad {grade}" for grade in ("I", "II", "III")),
    *(f"Dekubitus Grad {grade}" for grade in (1, 2, 3)),
    *(f"COPD GOLD {grade}" for grade in (1, 2, 3)),
    "Diabetes mellitus Typ 2",
    "Hyperlipoproteinämie Typ II",
]


@pytest.fixture(scope="module")
def numerals() -> Numerals:
    return Numerals(Wordings.build(WORDINGS, list(range(len(WORDINGS))), [True] * len(WORDINGS), HashEncoder()))


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("Herzinsuffizienz NYHA 3", "Herzinsuffizienz NYHA III"),
        ("bek. Herzinsuffizienz, NYHA 2-3", "bek. Herzinsuffizienz, NYHA II-III"),
        ("COPD GOLD III", "COPD GOLD 3"),
        ("Adipositas Grad 2", "Adipositas Grad II"),
        ("Dekubitus Grad III", "Dekubitus Grad 3"),
    ],
)
def test_a_numeral_is_exchanged_where_the_catalog_has_the_other_one(numerals, text, other):
    assert numerals.exchanged(text) == other


@pytest.mark.parametrize(
    "text",
    [
        "Herzinsuffizienz NYHA III",
        "Dekubitus Grad 3",
        "Diabetes mellitus Typ 2",
        "Herzinsuffizienz NYHA IV. 2. Adipositas",  # an item's number
        "Herzinsuffizienz NYHA 5",  # no such stage
        "Gicht Grad 3",
        "3",
        "",
    ],
)
def test_a_numeral_stays_where_the_catalog_has_it_or_neither(numerals, text):
    assert numerals.exchanged(text) is None
