"""A text as it was typed: blanks, line ends, entities and encodings are mended, and every character stays in place."""

import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinical.text import TypedText, as_prose, as_typed, words
from evals.load.slow_texts import cpu_seconds

SOFT = "\u00ad"
LONG = "Der Patient stellte sich mit seit drei Wochen bestehendem"


@pytest.mark.parametrize(
    ("copied", "typed"),
    [
        ("art.\u00a0Hypertonie", "art. Hypertonie"),
        ("KHK\r\nDiabetes", f"KHK{SOFT}\nDiabetes"),
        ("KHK â€“ COPD", f"KHK –{SOFT * 2} COPD"),
        ("Ru\u0308cken", f"Rü{SOFT}cken"),
        ("KHK\\nCOPD", f"KHK{SOFT}\nCOPD"),
        ("KHK\\r\\nCOPD", f"KHK{SOFT * 3}\nCOPD"),
        ('<dg code="I25">KHK</dg>', "\n" + " " * 14 + "KHK\n" + " " * 4),
        ("> KHK\n> COPD", f"{SOFT * 2}KHK\n{SOFT * 2}COPD"),
        ("KHK\rDiabetes", "KHK\nDiabetes"),
        ("KHK\u2028Diabetes", "KHK\nDiabetes"),
        ("RÃ¼ckenschmerz", f"Rü{SOFT}ckenschmerz"),
        ("R\u00c3\u2013TELN", f"RÖ{SOFT}TELN"),
        ("Tr&auml;nen", f"Trä{SOFT * 5}nen"),
        ("KHK&nbsp;II", f"KHK {SOFT * 5}II"),
        ("<p>KHK</p>", "\n  KHK\n   "),
        ("<b>KHK</b> seit 2020", "   KHK     seit 2020"),
        ("Rücken-\nschmerz", f"Rücken{SOFT * 2}schmerz"),
    ],
)
def test_what_copying_changed_is_mended(copied, typed):
    assert as_typed(copied) == typed


@pytest.mark.parametrize(
    "text",
    [
        "Cholezystitis?",
        "COPD? Asthma?",
        "GFR<60",
        "Druck < 90 und > 60",
        "A & B",
        "Müller & Söhne",
        "Magen-\nund Darmblutung",
        "Diabetes mellitus\nHypertonie\nKHK",
        "- Diabetes mellitus\n- Hypertonie, seit Jahren behandelt\n- KHK",
        "1. Asthma\n2. COPD",
        f"{LONG}.\n\nSchwindel.",
        f"{LONG}\nDiagnose: Schwindel",
    ],
)
def test_what_was_typed_so_stays(text):
    assert as_typed(text) == text
    assert as_prose(text) == text
    assert TypedText.of(text) == (text, None)


@pytest.mark.parametrize(
    ("wrapped", "joined"),
    [
        (f"{LONG}\nSchwindel und mit\nÜbelkeit.", f"{LONG}\nSchwindel und mit Übelkeit."),
        (f"{LONG}\nbeidseitigem Schwindel.", f"{LONG} beidseitigem Schwindel."),
        (f"{LONG}\nbeidseitigem Schwindel, ferner mit einer Schwäche im\nBein.", None),
    ],
)
def test_a_line_that_goes_on_is_joined_with_the_next(wrapped, joined):
    assert as_prose(wrapped) == (joined or wrapped.replace("\n", " "))


@pytest.mark.parametrize(
    ("table", "prose"),
    [
        ("KHK\tCOPD", "KHK;COPD"),
        ("KHK (2019)   \t COPD", "KHK (2019);    COPD"),
        ("KHK    COPD  GOLD 2", "KHK;   COPD  GOLD 2"),
        ("Diagnose:\tKHK", "Diagnose:\tKHK"),
        ("1.\tKHK", "1.\tKHK"),
        ("\tKHK\n\tCOPD", "\tKHK\n\tCOPD"),
    ],
)
def test_columns_of_a_table_are_parted(table, prose):
    assert as_prose(table) == prose


@pytest.mark.parametrize("lost", ["R\ufffdckenschmerz", "R?ckenschmerz"])
def test_a_lost_letter_is_nothing_to_a_search_and_stays_in_a_value(lost):
    assert as_prose(lost) == f"R{SOFT}ckenschmerz"
    assert TypedText.of(lost).text == lost


def test_a_piece_of_a_typed_text_has_its_place_in_the_copy():
    copied = "Tr&auml;nen bei Rücken-\nschmerz und KHK"
    typed = TypedText.of(copied)
    assert typed.text == "Tränen bei Rückenschmerz und KHK"
    for word, own in (("Tränen", "Tr&auml;nen"), ("Rückenschmerz", "Rücken-\nschmerz"), ("KHK", "KHK")):
        start, end = typed.copied(typed.text.index(word), typed.text.index(word) + len(word))
        assert copied[start:end] == own


def test_a_text_wrapped_at_one_width_is_read_in_paragraphs():
    prose = " ".join(["Der Patient wurde wegen zunehmender Atemnot und Schwellung beider Beine aufgenommen."] * 3)
    wrapped = "Befund:\n\n" + textwrap.fill(prose, 60)
    assert TypedText.of(wrapped).text == f"Befund:\n\n{prose}"


FRAGMENTS = ["> ", "\n> ", "â€“", "u\u0308", "\r\n", "\n", "\n\n", "&auml;", "&#228;", "<br>"]
FRAGMENTS += ["Ã¼", "\ufffd", "?", "-\n", "\u00a0", "KHK", "mit ", "a", ",", "- "]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=6)), max_size=40).map("".join))
def test_the_length_stays_so_that_offsets_hold(text):
    assert len(as_typed(text)) == len(as_prose(text)) == len(text)
    typed = TypedText.of(text)
    for word in words(typed.text):
        start, end = typed.copied(word.start, word.end)
        assert 0 <= start < end <= len(text)


@pytest.mark.parametrize("piece", ["&auml;", "<p ", "-\n", "Ã¼", "?a", "mit\n", " \r\n", "<b>x</b>", "a\n" * 3])
def test_a_text_of_one_kind_costs_its_length(piece):
    def read(text):
        return as_prose(text), TypedText.of(text)

    def seconds(length):
        return min(cpu_seconds(read, (piece * length)[:length]) for _ in range(3))

    assert seconds(80_000) < 12 * max(seconds(20_000), 0.002)
