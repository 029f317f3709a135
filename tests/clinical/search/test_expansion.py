"""Words of a query: synonyms, numerals, slips of one edit, and words cut off, as the catalog has them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from clinical.reading import SearchIndex
from clinical.reading.lattice import is_plain
from clinical.search.terms import Wordings
from clinical.search.words.expansion import Expansion
from clinical.search.words.numerals import Numerals
from clinical.search.words.shortened import EACH, MOST, Shortened
from clinical.search.words.typos import SHORTEST, Typos
from clinical.text import fold, folded_words
from tests.fakes import HashEncoder

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
