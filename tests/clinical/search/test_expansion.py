"""Official synonyms of words: replaced where the query has them, left where it has not."""

from pathlib import Path

import pytest

from clinical.search.words.expansion import Expansion

PAIRS = [
    ("OSG", "Oberes Sprunggelenk"),
    ("Lues", "Syphilis"),
    ("Lues", "Zweitsyphilis"),
    ("Morbus Basedow", "Hyperthyreose"),
    ("Karzinom", "Carcinom"),
    ("", "nichts"),
]


@pytest.fixture(scope="module")
def expansion() -> Expansion:
    return Expansion.of(PAIRS)


@pytest.mark.parametrize(
    ("query", "expanded"),
    [
        ("Distorsion OSG", "Distorsion Oberes Sprunggelenk"),
        ("osg, links", "Oberes Sprunggelenk, links"),
        ("Lues", "Syphilis"),
        ("Lues und OSG", "Syphilis und Oberes Sprunggelenk"),
        ("Bronchitis", None),
        ("OSGE", None),
        ("", None),
    ],
)
def test_every_word_that_has_a_synonym_is_replaced_in_its_place(
    expansion: Expansion, query: str, expanded: str | None
) -> None:
    assert expansion.expanded(query) == expanded


def test_heads_of_several_words_and_other_spellings_of_one_word_are_no_synonyms(expansion: Expansion) -> None:
    assert len(expansion) == 2
    assert expansion.expanded("Morbus Basedow") is None
    assert expansion.expanded("Karzinom") is None


def test_saved_and_loaded_it_says_the_same_in_the_same_bytes(expansion: Expansion, tmp_path: Path) -> None:
    expansion.save(tmp_path / "one")
    again = Expansion.load(tmp_path / "one")
    assert again.expanded("Lues") == "Syphilis"
    Expansion.of(PAIRS).save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
