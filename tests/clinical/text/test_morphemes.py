"""Words in the other language: made from the table, used only where a wording has them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinical.text.folding import fold
from clinical.text.morphemes import MOST, same_meaning, table, translated


def known(*words: str) -> set[str]:
    return {fold(word) for word in words}


@pytest.mark.parametrize(
    ("unknown", "word"),
    [
        ("Eichelentzündung", "Balanitis"),
        ("Leberentzündung", "Hepatitis"),
        ("Hirnhautentzündung", "Meningitis"),
        ("Nierensteine", "Nephrolithiasis"),
        ("Magenkatarrh", "Gastritis"),
        ("Augenlidkrampf", "Blepharospasmus"),
        ("Cholangitis", "Gallengangsentzündung"),
        ("Pulmonalarterienembolie", "Lungenarterienembolie"),
        ("Beckenbruch", "Beckenfraktur"),
        ("renis", "Niere"),
        ("costae", "Rippe"),
    ],
)
def test_an_unknown_word_in_the_other_language(unknown, word):
    assert translated(unknown, known(word)) == [fold(word)]


def test_only_unknown_words_change_and_the_rest_stays_as_it_is():
    words = known("chronische", "Leberentzündung", "Hepatitis", "links")
    assert translated("Chronische Leberentzündung, links", words) == []
    assert translated("Chronische Magenentzündung, links", words | known("Gastritis")) == [
        f"Chronische {fold('Gastritis')}, links"
    ]


def test_words_that_no_wording_has_are_not_made():
    assert translated("Eichelentzündung", known("Husten")) == []
    assert translated("", set()) == []
    assert translated("12 🙂 ...", known("Husten")) == []


def test_several_meanings_are_tried_in_turn():
    found = translated("Kornealuxation", known("Hornhautluxation", "Hornhautverrenkung", "Korneadislokation"))
    assert len(found) == MOST
    assert set(found) <= known("Hornhautluxation", "Hornhautverrenkung", "Korneadislokation")


@given(st.text(max_size=40), st.lists(st.sampled_from(["Hepatitis", "Balanitis", "Rippe", "Niere"]), max_size=4))
def test_any_text_gives_at_most_that_many_and_never_itself(text, words):
    found = translated(text, known(*words))
    assert len(found) <= MOST
    assert text not in found


def test_the_table_is_well_formed():
    parts = table()
    assert min(map(len, (parts.beginnings, parts.endings, parts.words))) > 50
    for groups in parts:
        for form, others in groups.items():
            assert form.isalpha() or form.replace(" ", "").isalpha(), form
            assert others, f"{form} stands alone"
            assert form not in others
            assert all(form in groups[other] for other in others), form


def test_a_lay_word_finds_what_the_catalog_calls_by_another_name(index):
    unknown = "Hirnhautkatarrh"
    assert fold(unknown) not in index.wordings.vocabulary
    assert any(word in index.wordings.vocabulary for word in same_meaning(fold(unknown)))
    assert index.search(unknown, 3)[0].code.startswith(("G0", "A8", "A39"))
