"""A text as it was typed: blanks, line ends, entities and encodings are mended, and every character stays in place."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinical.text import as_typed, words
from evals.load.slow_texts import cpu_seconds

SOFT = "\u00ad"
LONG = "Der Patient stellte sich mit seit drei Wochen bestehendem"


@pytest.mark.parametrize(
    ("copied", "typed"),
    [
        ("art.\u00a0Hypertonie", "art. Hypertonie"),
        ("KHK\r\nDiabetes", "KHK \nDiabetes"),
        ("KHK\rDiabetes", "KHK\nDiabetes"),
        ("KHK\u2028Diabetes", "KHK\nDiabetes"),
        ("RÃ¼ckenschmerz", f"Rü{SOFT}ckenschmerz"),
        ("R\u00c3\u2013TELN", f"RÖ{SOFT}TELN"),
        ("Tr&auml;nen", f"Trä{SOFT * 5}nen"),
        ("KHK&nbsp;II", "KHK      II"),
        ("<p>KHK</p>", "\n  KHK\n   "),
        ("<b>KHK</b> seit 2020", "   KHK     seit 2020"),
        ("R\ufffdckenschmerz", f"R{SOFT}ckenschmerz"),
        ("R?ckenschmerz", f"R{SOFT}ckenschmerz"),
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


@pytest.mark.parametrize(
    ("wrapped", "joined"),
    [
        (f"{LONG}\nSchwindel und mit\nÜbelkeit.", f"{LONG}\nSchwindel und mit Übelkeit."),
        (f"{LONG}\nbeidseitigem Schwindel.", f"{LONG} beidseitigem Schwindel."),
        (f"{LONG}\nbeidseitigem Schwindel, ferner mit einer Schwäche im\nBein.", None),
    ],
)
def test_a_line_that_goes_on_is_joined_with_the_next(wrapped, joined):
    assert as_typed(wrapped) == (joined or wrapped.replace("\n", " "))


FRAGMENTS = ["\r\n", "\n", "\n\n", "&auml;", "&#228;", "<br>", "Ã¼", "\ufffd", "?", "-\n", "\u00a0", "KHK", "mit ", "a", ",", "- "]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=6)), max_size=40).map("".join))
def test_the_length_stays_so_that_offsets_hold(text):
    typed = as_typed(text)
    assert len(typed) == len(text)
    assert all(0 <= word.start < word.end <= len(text) for word in words(typed))


@pytest.mark.parametrize("piece", ["&auml;", "<p ", "-\n", "Ã¼", "?a", "mit\n", " \r\n", "<b>x</b>", "a\n" * 3])
def test_a_text_of_one_kind_costs_its_length(piece):
    def seconds(length):
        return min(cpu_seconds(as_typed, (piece * length)[:length]) for _ in range(3))

    assert seconds(80_000) < 12 * max(seconds(20_000), 0.002)
