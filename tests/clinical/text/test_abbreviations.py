"""The full stop of a word that is cut off divides nothing; that of a sentence does."""

import pytest

from clinical.claims import Reading
from clinical.reading.lattice import borders
from clinical.text.abbreviations import is_abbreviation
from clinical.text.folding import spelling

CUT_OFF = [
    "chron. Pankreatitis",
    "dekomp. HI",
    "rezid. TIA",
    "fragl. KM-Allergie",
    "Diab. mell. Typ 2",
    "Hypertens. Herzkrankh. Stadium 3",
    "Chron. obstr. Lungenerkr. Grad 2",
    "Niereninsuff. Stadium 3",
    "hochgr. Aortenstenose",
    "echokardiogr. EF 55 %",
    "Z. n. Apoplex",
    "bzgl. Ramipril",
]
SENTENCES = ["Kein Fieber. Husten", "Der Befund ist normal. Hypertonie", "Schmerzen im Arm. Fraktur", "HWS. Fraktur"]


@pytest.mark.parametrize("text", CUT_OFF)
def test_a_word_that_is_cut_off_ends_no_clause(text):
    assert len(Reading.of(text).clauses) == 1
    assert borders(text) == []


@pytest.mark.parametrize("text", SENTENCES)
def test_a_sentence_ends_at_its_full_stop(text):
    assert len(Reading.of(text).clauses) == 2


WHOLE = """vor dar konkret Helm Kerl Wahl Stoff Darm Film Turm Husten Kinn davon Puls Zahl Stuhl Fell Schmerz Kropf
    Kopf Magen Asthma Lipom Plasma Karzinom Diabetes Fraktur normal unauffällig bekannt behandelt BWS COPD mmHg"""


@pytest.mark.parametrize("word", WHOLE.split())
def test_a_whole_word_is_no_abbreviation(word):
    assert not is_abbreviation(spelling(word), word)


def test_denial_reaches_over_the_full_stop_of_an_abbreviation():
    text = "Kein Anhalt für dekomp. HI"
    assert Reading.of(text).ruled(text.index("HI"), len(text)).is_denied
