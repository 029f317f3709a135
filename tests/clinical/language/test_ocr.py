"""Characters mixed up by OCR are set right where the rest of the word leaves no doubt, and nothing else is touched."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinical.language.ocr import without_lookalikes


@pytest.mark.parametrize(
    ("read", "meant"),
    [
        ("C0PD", "COPD"),
        ("Hyperto1le", "Hypertolle"),
        ("2O24", "2024"),
        ("l0 mg", "10 mg"),
        ("KIein", "Klein"),
        ("FIüssigkeit", "Flüssigkeit"),
        ("lnfarkt", "Infarkt"),
        ("Z. n. lnfarkt 2O19", "Z. n. Infarkt 2019"),
    ],
)
def test_a_mixed_up_character_is_set_right(read, meant):
    assert without_lookalikes(read) == meant


@pytest.mark.parametrize(
    "text", ["I10", "T1N0", "O2", "5l", "HIV", "KI", "Ill", "Herz-\nlnsult", "L5/S1", "", "0", "|"]
)
def test_what_may_be_meant_is_left_alone(text):
    assert without_lookalikes(text) == text


@given(st.text("abcHIloO01|.,-/ \n", max_size=80))
def test_the_length_stays_so_that_offsets_hold(text):
    assert len(without_lookalikes(text)) == len(text)
