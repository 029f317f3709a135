"""`fold` and `words`: spellings that stand side by side in German medicine are one word, found where it was written."""

import unicodedata

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from clinical.text.folding import LONGEST_WORD, fold, folded_words, folds_of, spelling, spellings, words

GERMAN = st.text("abcdefghijklmnopqrstuvwxyzäöüß", min_size=1, max_size=24)
LETTER_PAIRS = [("ä", "ae"), ("ö", "oe"), ("ü", "ue"), ("ß", "ss"), ("ph", "f"), ("th", "t"), ("rh", "r"), ("y", "i")]


@pytest.mark.parametrize(
    "variants",
    [
        ("Zystitis", "Cystitis", "ZYSTITIS", "Kystitis", "Zystytis"),
        ("Karzinom", "Carcinom", "Karcinom", "Carzinom"),
        ("Ösophagitis", "Oesophagitis", "Ösofagitis", "OESOPHAGITIS", "Osophagitis"),
        ("Hämorrhoiden", "Haemorrhoiden", "HÄMORRHOIDEN"),
        ("Übelkeit", "Uebelkeit", "übelkeit", "U\u0308belkeit"),
        ("Diarrhöen", "Diarrhoeen", "Diarrhoen"),
        ("Gefäß", "Gefaess", "GEFÄSS", "Gefäss", "GEFÄẞ"),
        ("Typhus", "Tiphus", "Tyfus"),
        ("Café", "Cafe", "Kafe", "Cafe\u0301"),
    ],
    ids=lambda variants: variants[0],
)
def test_variants_of_a_word_fall_together(variants: tuple[str, ...]) -> None:
    assert {fold(variant) for variant in variants} == {fold(variants[0])}
    assert {tuple(word.text for word in words(variant)) for variant in variants} == {(fold(variants[0]),)}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Hypertonie", "Hypotonie"),
        ("Arthritis", "Arthrose"),
        ("Ileus", "Ileum"),
        ("links", "rechts"),
        ("Typ1", "Typ2"),
        ("Hyperthyreose", "Hypothyreose"),
    ],
)
def test_different_words_stay_apart(one: str, other: str) -> None:
    assert fold(one) != fold(other)


@pytest.mark.parametrize(("written", "kept"), LETTER_PAIRS)
@given(before=GERMAN, after=GERMAN)
def test_each_pair_of_spellings_falls_together_in_any_word(written: str, kept: str, before: str, after: str) -> None:
    assume(not after.startswith(("h", "ee")))  # h makes another pair at the seam; no word has three e in a row
    assert fold(before + written + after) == fold(before + kept + after)


@given(GERMAN, st.sampled_from("ckz"), st.sampled_from("ckz"), GERMAN)
def test_c_k_and_z_are_one_letter(before: str, one: str, other: str, after: str) -> None:
    assert fold(before + one + after) == fold(before + other + after)


@given(GERMAN)
def test_upper_case_and_unicode_forms_do_not_matter(word: str) -> None:
    forms = {word.upper(), word.capitalize(), *(unicodedata.normalize(form, word) for form in ("NFC", "NFD", "NFKD"))}
    assert {fold(form) for form in forms} == {fold(word)}


@given(st.text(max_size=60))
def test_a_folded_word_is_lower_case_letters_and_digits_without_accents(word: str) -> None:
    folded = fold(word)
    assert folded == "" or folded.isalnum()
    assert folded == folded.casefold()
    assert not any(letter in folded for letter in "äöüßczy")


@given(st.text("abcdefghijklmnopqrstuvwxyzäöü", min_size=2, max_size=20), st.data())
def test_soft_hyphens_and_invisible_marks_do_not_part_a_word(word: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(1, len(word) - 1))
    mark = data.draw(st.sampled_from("\u00ad\u200b\u200c\u200d\u200e\u200f"))
    (found,) = words(word[:at] + mark + word[at:])
    assert found == (fold(word), 0, len(word) + 1)


@pytest.mark.parametrize("line_break", ["-\n", "-\r\n", "- \n  ", "-\n\n"])
def test_a_hyphen_at_a_line_end_does_not_part_a_word(line_break: str) -> None:
    text = f"Akute Herz{line_break}insuffizienz links"
    found = words(text)
    assert [word.text for word in found] == [fold("Akute"), fold("Herzinsuffizienz"), fold("links")]
    assert text[found[1].start : found[1].end] == f"Herz{line_break}insuffizienz"


@pytest.mark.parametrize("text", ["Herz-\nund Nierenleiden", "Ober-\noder Unterarm", "Typ-\nA-Gastritis"])
def test_a_hyphen_before_and_or_a_capital_parts_words(text: str) -> None:
    first = text.partition("-")[0]
    assert words(text)[0].text == fold(first)


@given(st.text(max_size=200))
def test_places_point_at_the_original(text: str) -> None:
    end = 0
    for word in words(text):
        assert end <= word.start < word.end <= len(text)
        assert fold(text[word.start : word.end]) == word.text
        end = word.end


PIECES = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        ["", "-\n", "- \n und", "\u0308", "\u00ad", "ß", "Ö", "_", "a" * LONGEST_WORD, "ä" * (LONGEST_WORD + 1)]
    ),
)


@given(st.lists(PIECES, max_size=8).map("".join))
def test_the_folded_words_alone_are_the_same_words(text: str) -> None:
    assert folded_words(text) == [word.text for word in words(text)]


@given(st.lists(GERMAN, min_size=1, max_size=8), st.sampled_from([" ", "  ", "\t", "\n", ", ", " / ", "; "]))
def test_every_word_is_found_at_its_place(written: list[str], between: str) -> None:
    text = between.join(written)
    assert [text[word.start : word.end] for word in words(text)] == written


@pytest.mark.parametrize("text", ["", " \t\n", "😀😀", "\x00", "...", "_", "\u0308", "\u00ad", "\u202e\u200f"])
def test_a_text_without_letters_and_digits_has_no_words(text: str) -> None:
    assert words(text) == []


def test_odd_characters_beside_words_do_no_harm() -> None:
    for text in ("\ud800Hypertonie\udfff", "\u202eHypertonie\u202c", "\x00Hypertonie\x00", "😀Hypertonie😀"):
        assert [word.text for word in words(text)] == [fold("Hypertonie")]


@given(st.lists(st.text(min_size=1, max_size=12), max_size=8))
def test_words_are_folded_together_as_each_is_alone(pieces: list[str]) -> None:
    text, folds = " ".join([*pieces, "Ärzte", "x" * (LONGEST_WORD + 1)]), dict[str, str]()
    found = words(text, folds)
    assert [word.text for word in found] == folded_words(text, folds) == folded_words(text)
    for written, folded in folds.items():
        assert folded == (fold(written) if len(written) <= LONGEST_WORD else "")
    assert all(word.text == folds[text[word.start : word.end]] for word in found)


@given(st.lists(st.text(max_size=12), max_size=8))
def test_the_folds_of_many_words_are_those_of_each(some: list[str]) -> None:
    assert folds_of(some) == [*map(fold, some)]


@given(st.lists(st.text(st.characters(exclude_characters="\n"), min_size=1, max_size=12), max_size=8))
@example(["Ödem", "STRASSE", "Straße", "\u212a", "ﬁstel", "A\u0308rzte", "İ", "ς", "Σ"])
def test_the_spellings_of_many_words_are_those_of_each(some: list[str]) -> None:
    assert spellings(some) == [*map(spelling, some)]
