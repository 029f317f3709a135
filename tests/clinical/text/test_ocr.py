"""Characters mixed up by OCR are set right where the rest of the word leaves no doubt, and nothing else is touched."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinical.text import ocr
from clinical.text.ocr import without_lookalikes
from evals.load.slow_texts import cpu_seconds


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
    "text",
    ["I10", "T1N0", "O2", "5l", "HIV", "KI", "Ill", "Herz-\nlnsult", "L5/S1", "", "0", "|", "pAVK Stadium IIa", "IIb"],
)
def test_what_may_be_meant_is_left_alone(text):
    assert without_lookalikes(text) == text


@given(st.text("abcHIloO01|.,-/ \n", max_size=80))
def test_the_length_stays_so_that_offsets_hold(text):
    assert len(without_lookalikes(text)) == len(text)


NUMBERISH = re.compile(
    r"(?<![^\W\d_])(?=[OoIl|\d.,:/–-]*\d)(?=[\d.,:/–-]*[OoIl|])[OoIl|\d][OoIl|\d.,:/–-]*(?![^\W\d_])"
)
"""A number with characters mixed up, said in one pattern, which looks at a long run again from each of its places."""


@settings(max_examples=400, deadline=None)
@given(st.text("OoIl|01³.,:/–-+ abÄ_(", max_size=14))
def test_a_number_is_found_where_one_pattern_would_find_it(text):
    places = [ocr._number_place(run) for run in ocr._RUN.finditer(text)]
    assert [(begin, end) for begin, end in places if begin < end] == [m.span() for m in NUMBERISH.finditer(text)]


@pytest.mark.parametrize("token", ["1.", "l.", "1O", "l1a", "I1-", "1O+"])
def test_a_number_without_end_costs_its_length(token):
    def seconds(length):
        return min(cpu_seconds(without_lookalikes, (token * length)[:length] + "l") for _ in range(3))

    assert seconds(80_000) < 12 * max(seconds(20_000), 0.002)
