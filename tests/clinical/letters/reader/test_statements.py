"""Statements of a letter: where they begin and end, and the lists that they belong to."""

import numpy as np
import pytest
from safetensors.numpy import save_file

from clinical.letters import (
    LISTS,
    ROWS,
    HashedRegression,
    LetterLayout,
    Listed,
    entry_parts,
    read_letter,
    statements_of,
)
from clinical.letters.reader.parts import LONGEST, diagnoses_of


def texts(letter: str) -> list[str]:
    return [one.text for one in statements_of(LetterLayout(letter))]


def test_a_line_that_was_broken_goes_on_and_one_that_ended_does_not():
    broken = (
        "Wir bitten um Kontrolle der Leberwerte in zwei Wochen\nund um Wiedervorstellung in der Ambulanz nach sechs\n"
    )
    assert texts(f"{broken}Wochen.\n") == [broken.replace("\n", " ") + "Wochen."]
    drugs = "Ramipril 5 mg 1-0-0\nBisoprolol 2,5 mg 1-0-1\nMetformin 1000 mg 1-0-1"
    assert texts(drugs) == drugs.split("\n")


def test_a_heading_is_no_statement_and_what_stands_behind_it_is_one():
    assert texts("Procedere: Fadenzug am 12. Tag.\n\nDiagnosen\n- Gicht\n- Asthma\n") == [
        "Fadenzug am 12. Tag.",
        "- Gicht",
        "- Asthma",
    ]


def test_each_statement_stands_at_its_place():
    sheet = LetterLayout("Verlauf\nKein Fieber. Am 3. Tag Mobilisation;\nder Zug blieb.\n\nKontrolle in 2 Wochen.")
    assert all(sheet.text[one.start :].startswith(one.text.split()[0]) for one in statements_of(sheet))


HEAD = (
    "Spital Musterau\n\nMusterau, 12.03.2026\n\nPatient: Anna Kern, geb. 01.02.1960\n\nSehr geehrter Herr Kollege\n\n"
)
END = "\n\nMit freundlichen Grüssen\nDr. med. Eva Ott\n"


def test_plans_are_told_from_findings_that_sound_like_them():
    told = (
        "Die Kontrolle der Leberwerte war unauffällig. Die geplante Koloskopie wurde gestern durchgeführt. "
        "Wir bitten um Kontrolle des Blutbildes in zwei Wochen."
    )
    assert read_letter(f"{HEAD}{told}{END}", "arztbrief")["procedere"] == [
        "Wir bitten um Kontrolle des Blutbildes in zwei Wochen."
    ]


def test_a_model_is_read_as_it_was_written(tmp_path):
    weights = np.zeros((ROWS, len(LISTS)), dtype=np.float32)
    weights[7] = (1.27, -2.54, 0.5, 4.0)
    weights[8, 2] = 1.27
    HashedRegression(weights).save(tmp_path / "w.safetensors")
    read = HashedRegression.load(tmp_path / "w.safetensors", len(LISTS))
    assert np.allclose(read.weights, weights, atol=0.01)
    likely = read.judge([[7], [8], [7, 8]])
    assert likely.shape == (3, len(LISTS))
    assert likely[1] == pytest.approx([0.5, 0.5, 1 / (1 + np.exp(-1.27)), 0.5], abs=0.01)
    assert likely[2, 1] == pytest.approx(1 / (1 + np.exp(2.54)), abs=0.01)


def test_a_letter_without_statements_has_no_likelihoods():
    assert HashedRegression(np.zeros((ROWS, len(LISTS)), dtype=np.float32)).judge([]).shape == (0, len(LISTS))


def test_weights_of_another_reading_are_refused(tmp_path):
    arrays = {"weights": np.zeros((4, 4), dtype=np.int8), "scale": np.ones(4, dtype=np.float32)}
    save_file(arrays, tmp_path / "w.safetensors", {"format": "befund-hashed-1"})
    with pytest.raises(ValueError, match="python -m catalog_build statements"):
        HashedRegression.load(tmp_path / "w.safetensors", len(LISTS))


IN_LINE = Listed(running=True, entries=1)


@pytest.mark.parametrize(
    ("entry", "diagnoses"),
    [
        (
            "Diabetes mellitus Typ 2, Hypertonie, NASH, Gonarthrose bds.",
            ["Diabetes mellitus Typ 2", "Hypertonie", "NASH", "Gonarthrose bds."],
        ),
        ("Gonarthrose links, Z. n. TAVI 2022, Hypertonie", ["Gonarthrose links", "Z. n. TAVI 2022", "Hypertonie"]),
        ("Mangelernährung, 47 kg, BMI 18.3", ["Mangelernährung, 47 kg, BMI 18.3"]),
        ("COPD GOLD II", ["COPD GOLD II"]),
        ("", [""]),
    ],
)
def test_an_entry_is_divided_where_another_diagnosis_begins(entry, diagnoses):
    assert diagnoses_of(entry, IN_LINE) == diagnoses


def test_parts_are_divided_outside_of_brackets_and_prose_is_left_alone():
    entry = "KHK (RCX, RIVA), Hypertonie; Gicht"
    assert [entry[start:end] for start, end in entry_parts(entry)] == ["KHK (RCX, RIVA),", "Hypertonie;", "Gicht"]
    long = "Gicht, " * (LONGEST // 7 + 1)
    assert diagnoses_of(long, IN_LINE) == [long]
