"""Words that are cut off: written out by the catalog's own words, whichever fits the words beside them."""

import pytest

from clinical.reading import SearchIndex
from clinical.reading.lattice import is_plain
from clinical.search.terms import Wordings
from clinical.search.words.shortened import EACH, MOST, Shortened
from clinical.text import fold, folded_words
from tests.fakes import HashEncoder

TEXTS = [
    *("Chronische obstruktive Lungenerkrankung", "Chronisch obstruktive Bronchitis", "Chronische Gastritis"),
    *("Hypertensive Herzkrankheit", "Hypertensive Krise", "Hyperthyreose", "Herzklappenfehler", "Herzkrampf"),
    *("Diabetes mellitus", "Diarrhoe", "Hyperplasie der Prostata", "Hypersekretion der Prostata"),
    *("Lymphangitis", "Nephropathie", "Muskelriss", "Erkrankung der Niere", "Erkältung", "Nervenschmerz"),
]


@pytest.fixture(scope="module")
def shortened() -> Shortened:
    return Shortened(Wordings.build(TEXTS, range(len(TEXTS)), [True] * len(TEXTS), HashEncoder()))


def first(shortened: Shortened, query: str) -> list[str]:
    """The folded words of the likeliest reading."""
    return folded_words(shortened.expanded(query)[0][0])


@pytest.mark.parametrize(
    ("query", "meant"),
    [
        ("chron. obstr. Lungenerkr.", "chronische obstruktive Lungenerkrankung"),
        ("chron obstr Lungenerkr", "chronische obstruktive Lungenerkrankung"),
        ("Hypertens. Herzkrankh.", "hypertensive Herzkrankheit"),
        ("Diab. mell.", "Diabetes mellitus"),
        ("Nephrop.", "Nephropathie"),  # cut within ph, which is folded to f
        ("Erkrkg. der Niere", "Erkrankung der Niere"),  # without its vowels
        ("Muskelerkr.", "Muskelerkrankung"),  # a compound that no wording has
    ],
)
def test_cut_off_words_are_written_out(shortened: Shortened, query: str, meant: str) -> None:
    assert first(shortened, query) == [fold(word) for word in meant.split()]


@pytest.mark.parametrize(
    ("query", "meant"),
    [
        ("Hyp. der Prostata", {"hiperplasie", "hipersekretion"}),
        ("Hyp. Krise", {"hipertensive"}),
        ("Herzk. hypertens.", {"herkkrankheit"}),
        ("Diabetes m.", set()),  # too short
    ],
)
def test_the_words_beside_it_say_which_is_meant(shortened: Shortened, query: str, meant: set[str]) -> None:
    found = shortened.expanded(query)
    likely = {word for text, chance in found if chance > 0.5 for word in folded_words(text)}
    assert meant <= likely
    assert bool(found) == bool(meant)
    assert not likely & {"hipertireose", "herkklappenfehler", "diare"}


def test_a_word_is_not_written_out_as_one_that_stands_there_already(shortened: Shortened) -> None:
    texts = [text for text, _ in shortened.expanded("Erkrankung der Niere, Erk.")]
    assert texts == ["Erkrankung der Niere, erkaltung."]


@pytest.mark.parametrize(
    "query",
    [
        "Hypertensive Herzkrankheit",
        "",
        "§",
        "Xqzw",
        "Muskelgastritis",
        "Prostata 12.",
        "DIA",
        "II.",
        "Muskelerkr",
        "Krisen",
    ],
)
def test_whole_unknown_and_compound_words_stay_as_they_are(shortened: Shortened, query: str) -> None:
    assert [text for text, _ in shortened.expanded(query) if fold(text) != fold(query)] == []


def test_the_likeliest_reading_comes_first_and_there_are_few(shortened: Shortened) -> None:
    found = shortened.expanded("Hyp. H. Herzk. Hyp. Er. Ne.")
    chances = [chance for _, chance in found]
    assert chances == sorted(chances, reverse=True)
    assert chances[0] == 1
    assert len(found) == MOST
    assert len(shortened.expanded("Hyp. Herzk.", most=100)) <= EACH**2


def test_a_stop_behind_a_word_that_is_cut_off_ends_nothing(shortened: Shortened) -> None:
    assert is_plain("Hypertens. Krise", cut_off=shortened.is_cut)
    assert not is_plain("Hypertensive Krise. Erkältung", cut_off=shortened.is_cut)
    assert [shortened.is_cut(word) for word in ("Hypertens", "Prostata", "Xqzw", "12")] == [True, False, False, False]


def test_cut_off_wordings_find_what_they_find_whole(index: SearchIndex) -> None:
    for short, whole in (("Hypertens. Herzkrankh.", "Hypertensive Herzkrankheit"), ("Migr.", "Migräne")):
        wanted = index.search(whole)[0]
        assert wanted.code[:3] in [one.code[:3] for one in index.search(short)[:3]], short


def test_a_text_of_hundreds_of_cut_off_words_has_its_readings_too(shortened: Shortened) -> None:
    """The product of their probabilities is smaller than the smallest number."""
    found = shortened.expanded("hyp. " * 2_000)
    assert found[0][1] == 1.0
    assert all(0 <= chance <= 1 for _, chance in found)


def test_a_long_wording_of_rare_words_is_written_out_without_an_overflow() -> None:
    """Their rarities add up to more than the exponential of single precision can take."""
    rare = [f"{one}{other}{one}itis" for one in "bdfgklmnprst" for other in "aeiou"]
    wordings = [" ".join(rare), *TEXTS]
    long = Shortened(Wordings.build(wordings, range(len(wordings)), [True] * len(wordings), HashEncoder()))
    found = long.expanded(f"{' '.join(rare[1:])} {rare[0][:5]}.")
    assert folded_words(found[0][0])[-1] == fold(rare[0])
    assert found[0][1] == 1.0
    assert all(0 <= chance <= 1 for _, chance in found)
