"""Entries of lists word by word: their places, the best sequence of them, and what the features see."""

import itertools

import numpy as np
import pytest

from clinical.letters import LISTS, RulesReader, best_runs, read_letter
from clinical.letters.reader.spans import FEATURES, LIST_FEATURES, OUTSIDE, SPAN_ROWS, BareText

LETTER = (
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
    one, other = (RulesReader(text).lists.words for text in (LETTER, LETTER.replace("Arterielle", "Pulmonale")))
    rows, changed = one.rows(), other.rows()
    assert rows.shape == (len(one.words), len(FEATURES) + len(LISTS) * len(LIST_FEATURES))
    assert 0 <= rows.min() <= rows.max() < SPAN_ROWS
    differ = np.flatnonzero((rows != changed).any(axis=1))
    at = int(np.searchsorted(one.words[:, 0], LETTER.index("Arterielle")))
    assert {at - 2, at - 1, at, at + 1, at + 2} <= set(differ.tolist())


def test_what_the_rules_say_stands_in_the_features():
    words = RulesReader(LETTER).lists.words
    inside = words.inside(words.said["diagnosen"])
    named = [
        LETTER[start:end] for (start, end), each in zip(words.words.tolist(), inside.tolist(), strict=True) if each
    ]
    assert "Hypertonie" in named
    assert "Leberwerte" not in named


def test_a_letter_without_words_has_no_entries():
    assert read_letter("...", "arztbrief")["diagnosen"] == []


def test_entries_keep_their_brackets_and_a_procedure_its_day():
    found = read_letter(LETTER, "arztbrief")
    assert found["diagnosen"] == ["COPD (GOLD II)", "Arterielle Hypertonie"]
    assert found["medikation"] == ["Ramipril 5 mg 1-0-0", "Metformin 1000 mg 1-0-1"]
    assert found["eingriffe"] == [{"bezeichnung": "laparoskopische Cholezystektomie", "datum": "2026-03-03"}]
    assert found["procedere"] == ["Wir bitten um Kontrolle des Blutbildes in zwei Wochen."]
