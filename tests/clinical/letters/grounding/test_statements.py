"""Free text: what evidences a diagnosis, a dose or a question, and what only looks like it (`statements.tsv`)."""

import pytest

from clinical.claims import Reading
from clinical.letters.grounding.free_text import find_statement
from tests.clinical.letters.grounding.tables import rows


def says(text: str, value: str, kind: str = "diagnosis") -> bool:
    return find_statement(Reading.of(text), value, kind) is not None


def test_a_sentence_evidences_what_it_says_and_nothing_else():
    """Denials, relatives, sides, doses and stages in the many ways letters write them; whatever stands around."""
    told = rows("statements.tsv")
    assert len(told) > 250
    wrong = [
        (evidence, value, text)
        for evidence, value, text in told
        if says(text, value) != (evidence == "yes")
        or says(f"Vorher.\n\n{text}\n\nNachher.", value) != (evidence == "yes")
        or (evidence == "never" and says(text, value, "statement"))
    ]
    assert wrong == []


def test_a_long_value_that_no_text_holds_ends_soon():
    assert not says("Ramipril " * 2_000, "Ramipril Metoprolol " * 1_000)


@pytest.mark.parametrize("behind", ["Kein Notfall.", "Keine Eile, Termin elektiv.", "nicht dringlich", "Nein."])
def test_a_question_is_asked_whatever_stands_behind_its_mark(behind):
    text = f"Fragestellung: Indikation zur Operation? {behind}"
    assert says(text, "Indikation zur Operation?", "question")
    assert says(text, "Indikation zur Operation", "question")
    assert not says("Aspirin? Nein.", "Aspirin", "statement")
