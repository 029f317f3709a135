"""Statements of a letter, the question among them, and the entries of its lists: where they begin and end."""

import itertools

import numpy as np
import pytest
from safetensors.numpy import save_file

from clinical.letters import (
    LISTS,
    ROWS,
    HashedRegression,
    LetterLayout,
    Listed,
    RulesReader,
    asking,
    best_runs,
    entry_parts,
    question_rows,
    read_letter,
    statements_of,
)
from clinical.letters.reader.parts import LONGEST, diagnoses_of
from clinical.letters.reader.question import question_of
from clinical.letters.reader.spans import FEATURES, LIST_FEATURES, OUTSIDE, SPAN_ROWS, BareText


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


@pytest.mark.parametrize(
    ("likely", "asked"),
    [
        ([], []),
        ([0.05, 0.14], []),
        ([0.1, 0.2, 0.1], [1]),
        ([0.6, 0.9, 0.4, 0.7], [0, 1]),
        ([0.1, 0.5, 0.9, 0.6], [1, 2, 3]),
    ],
)
def test_the_likeliest_statement_is_the_question_with_its_likely_neighbours(likely, asked):
    assert list(asking(np.array(likely, dtype=np.float32))) == asked


LETTER = """Sehr geehrte Frau Kollegin,

ich überweise Ihnen Frau Karin Ott, geb. 02.02.1970, mit Leistenschmerz seit Mai.
Im Sono zeigt sich eine Hernie rechts. OP-Indikation? Laparoskopisch möglich?

Mit freundlichen Grüßen
Dr. Lea Kunz
"""


def test_the_question_is_what_the_model_says_of_each_statement():
    statements = RulesReader(LETTER).lists.statements
    rows = question_rows(statements.features, statements.rows, "zuweisung")
    weights = np.zeros((ROWS, 1), dtype=np.float32)
    for row, one in zip(rows, statements.all, strict=True):
        if one.text.endswith("?"):
            weights[row] = 1
    for row, one in zip(rows, statements.all, strict=True):
        if not one.text.endswith("?"):
            weights[row] = -1
    assert question_of(statements, "zuweisung", HashedRegression(weights)) == "OP-Indikation? Laparoskopisch möglich?"
    assert question_of(statements, "zuweisung", HashedRegression(-np.abs(weights))) is None


def test_the_same_statement_has_other_features_in_another_kind_of_document():
    statements = RulesReader(LETTER).lists.statements
    one, other = (question_rows(statements.features, statements.rows, kind) for kind in ("zuweisung", "arztbrief"))
    assert all(a != b for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize(
    ("text", "kind", "asked"),
    [
        (LETTER, "zuweisung", "OP-Indikation?"),
        (LETTER.replace("OP-Indikation? Laparoskopisch möglich?", "Wir bitten um Beurteilung und ggf. Operation."),
         "zuweisung", "Wir bitten um Beurteilung und ggf. Operation."),
        ("Konsil vom 03.03.2026\nFragestellung: Delir? Weiter Haloperidol?\n\nDer Patient ist wach und orientiert.\n",
         "arztbrief", "Delir?"),
    ],
)  # fmt: skip
def test_a_question_is_read_as_it_stands(text, kind, asked):
    assert asked in (read_letter(text, kind)["fragestellung"] or "")


def test_a_letter_that_asks_nothing_has_no_question():
    told = LETTER.replace(" OP-Indikation? Laparoskopisch möglich?", "")
    assert read_letter(told.replace("überweise Ihnen", "berichte über"), "arztbrief")["fragestellung"] is None


ENTRY_LETTER = (
    "Spital Musterau\n\nMusterau, 12.03.2026\n\nPatient: Anna Kern, geb. 01.02.1960\n\nSehr geehrter Herr Kollege\n\n"
    "Diagnosen:\n1. COPD (GOLD II)\n2. Arterielle Hypertonie\n\nMedikation bei Austritt:\nRamipril 5 mg 1-0-0\n"
    "Metformin 1000 mg 1-0-1\n\nVerlauf\nDie Kontrolle der Leberwerte war unauffällig. Am 03.03.2026 erfolgte "
    "komplikationslos die laparoskopische Cholezystektomie.\n\nProcedere\nWir bitten um Kontrolle des Blutbildes in "
    "zwei Wochen.\n\nMit freundlichen Grüssen\n"
    "Dr. med. Eva Ott\n"
)


def test_an_entry_is_placed_behind_the_one_before_whatever_its_blanks():
    text = "Gicht; Asthma\n  Gicht\n seit  2020"
    assert BareText(text).placed(["Gicht", "Asthma", "Gicht seit 2020", "Rheuma", "", "Gicht"]) == [
        (0, 5),
        (7, 13),
        (16, 33),
        None,
        None,
        (0, 5),
    ]


def by_trying_all(begin, go_on):
    """The best sequence of states (0 outside, 1 begins, 2 goes on), by trying every one."""

    def worth(states):
        return sum((OUTSIDE, begin[n], go_on[n])[state] for n, state in enumerate(states))

    every = itertools.product(range(3), repeat=len(begin))
    allowed = (one for one in every if all(state < 2 or (n and one[n - 1]) for n, state in enumerate(one)))
    return worth(max(allowed, key=worth)), worth


@pytest.mark.parametrize("seed", range(20))
def test_the_best_runs_are_those_that_trying_all_finds(seed):
    random = np.random.default_rng(seed)
    begin, go_on = random.normal(-0.5, 2, (2, 6)).tolist()
    most, worth = by_trying_all(begin, go_on)
    states = [0] * 6
    for first, last in best_runs(begin, go_on):
        states[first : last + 1] = [1] + [2] * (last - first)
    assert worth(states) == pytest.approx(most)


def test_no_words_have_no_runs():
    assert best_runs([], []) == []


def test_each_word_has_a_row_for_each_feature_and_sees_the_words_beside_it():
    one, other = (
        RulesReader(text).lists.words for text in (ENTRY_LETTER, ENTRY_LETTER.replace("Arterielle", "Pulmonale"))
    )
    rows, changed = one.rows(), other.rows()
    assert rows.shape == (len(one.words), len(FEATURES) + len(LISTS) * len(LIST_FEATURES))
    assert 0 <= rows.min() <= rows.max() < SPAN_ROWS
    differ = np.flatnonzero((rows != changed).any(axis=1))
    at = int(np.searchsorted(one.words[:, 0], ENTRY_LETTER.index("Arterielle")))
    assert {at - 2, at - 1, at, at + 1, at + 2} <= set(differ.tolist())


def test_what_the_rules_say_stands_in_the_features():
    words = RulesReader(ENTRY_LETTER).lists.words
    inside = words.inside(words.said["diagnosen"])
    named = [
        ENTRY_LETTER[start:end]
        for (start, end), each in zip(words.words.tolist(), inside.tolist(), strict=True)
        if each
    ]
    assert "Hypertonie" in named
    assert "Leberwerte" not in named


def test_a_letter_without_words_has_no_entries():
    assert read_letter("...", "arztbrief")["diagnosen"] == []


def test_entries_keep_their_brackets_and_a_procedure_its_day():
    found = read_letter(ENTRY_LETTER, "arztbrief")
    assert found["diagnosen"] == ["COPD (GOLD II)", "Arterielle Hypertonie"]
    assert found["medikation"] == ["Ramipril 5 mg 1-0-0", "Metformin 1000 mg 1-0-1"]
    assert found["eingriffe"] == [{"bezeichnung": "laparoskopische Cholezystektomie", "datum": "2026-03-03"}]
    assert found["procedere"] == ["Wir bitten um Kontrolle des Blutbildes in zwei Wochen."]
