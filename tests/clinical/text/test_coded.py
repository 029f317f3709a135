"""Codes beside diagnoses, with the letters of German outpatient coding."""

import pytest

from clinical.text import coded_diagnoses


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("E05.9 A Hyperthyreose\nI10.90 G Hypertonie", ["E05.9 A Hyperthyreose", "I10.90 G Hypertonie"]),
        ("Hyperthyreose (E05.9 A), Hypertonie (I10.90 G)", ["Hyperthyreose (E05.9 A)", "Hypertonie (I10.90 G)"]),
        ("Hyperthyreose, E05.9 A; Hypertonie, I10.90 G", ["Hyperthyreose, E05.9 A", "Hypertonie, I10.90 G"]),
        ("- E05.9 A Hyperthyreose, Husten seit gestern", ["E05.9 A Hyperthyreose"]),
        ("E11.90 G, I10.90 V", ["E11.90 G", "I10.90 V"]),
        ("Husten, Fieber", []),
        ("", []),
    ],
)
def test_a_diagnosis_is_its_code_and_its_name(text: str, found: list[str]) -> None:
    assert [text[one.first : one.stop].strip(" ,") for one in coded_diagnoses(text)] == found


@pytest.mark.parametrize(
    ("text", "code", "certainty"),
    [
        ("E05.9 A", "E05.9", "A"),
        ("E05.9A", "E05.9", "A"),
        ("(E05.9) A", "E05.9", "A"),
        ("E05.9 (A)", "E05.9", "A"),
        ("M17.1 GR", "M17.1", "G"),
        ("M17.1 RG", "M17.1", "G"),
        ("M17.1G L", "M17.1", "G"),
        ("M54.5L", "M54.5", ""),
        ("E14.30+ V", "E14.30", "V"),
        ("C18.7, Z", "C18.7", "Z"),
        ("I10.90 V. a. Hypertonie", "I10.90", ""),
        ("C50.9 Z. n. Ablatio", "C50.9", ""),
        ("E05.9 Adenom", "E05.9", ""),
    ],
)
def test_letters_behind_a_code(text: str, code: str, certainty: str) -> None:
    (one,) = coded_diagnoses(text)
    assert (text[one.start : one.behind], one.certainty) == (code, certainty)


@pytest.mark.parametrize("text", ["HB12", "A10/B12", "12.E05", "X123", "K29.712", "M17.1RGX", "T12-L1"])
def test_what_is_part_of_something_else_is_no_code(text: str) -> None:
    assert coded_diagnoses(text) == []
