"""Free text: what evidences a diagnosis or a dose, and what only looks like it."""

import pytest

from clinical.claims import Reading
from clinical.letters.grounding.free_text import find_statement

SAID = [
    ("Ramipril (Delix®) 5 mg 1-0-0", "Ramipril 5 mg 1-0-0"),
    ("Ramipril 5mg\n1-0-0", "Ramipril 5 mg 1-0-0"),
    ("Ramipril 5 mg .............. 1-0-0", "Ramipril 5 mg 1-0-0"),
    ("Herz-\ninsuffizienz NYHA II", "Herzinsuffizienz NYHA II"),
    ("Fraktur distaler Radius re.", "Fraktur distaler Radius rechts"),
    ("art. Hypertonie", "arterielle Hypertonie"),
    ("arterielle Hypertonie", "art. Hypertonie"),
    ("Pneumonie nicht ausgeschlossen", "Pneumonie"),
    ("V. a. Pneumonie", "Pneumonie"),
    ("kein Hinweis auf Pneumonie", "kein Hinweis auf Pneumonie"),
    ("schweren chronischen Herzinsuffizienz", "schwere chronische Herzinsuffizienz"),
    ("Nikotinabusus, kein Diabetes. Hypertonie", "Hypertonie"),
    ("Kein Fieber bei Pneumonie rechts", "Pneumonie rechts"),
    ("Diagnosen\n1. Gonarthrose rechts\n2. Coxarthrose links", "Coxarthrose links"),
    ("Hyperton1e", "Hyperton1e"),
    ("COPD GOLD III", "COPD GOLD 3"),
    ("Die Mutter berichtet, das Kind habe Asthma", "Asthma"),
    ("Niereninsuffi-\nzienz Stadium G3a", "Niereninsuffizienz Stadium G3a"),
    ("akute schwere Exazerbation der COPD", "akute Exazerbation einer COPD"),
    ("Metoprolol 47,5 mg 1/2-0-0", "Metoprolol 47.5 mg ½-0-0"),
    ("Karzinom des Co-\nlon", "Karzinom des Colon"),
    ("Schmerzen im rechten Knie nach Sturz vom Fahrrad", "Schmerzen rechtes Knie nach Sturz"),
]

NOT_SAID = [
    ("Ramipril 5 mg", "Ramipril 10 mg"),
    ("Fraktur distaler Radius rechts", "Fraktur distaler Radius links"),
    ("Kein Hinweis auf Pneumonie.", "Pneumonie"),
    ("Vater: Herzinfarkt", "Herzinfarkt"),
    ("Herzinfarkt des Vaters", "Herzinfarkt"),
    ("FA: Diabetes", "Diabetes"),
    ("Familienanamnese: Vater mit KHK, Mutter Mammakarzinom", "Mammakarzinom"),
    ("Pneumonie ausgeschlossen", "Pneumonie"),
    ("Keine Anzeichen für Pneumothorax, Pleuraerguss, Stauung", "Pleuraerguss"),
    ("Ausschluss Lungenembolie", "Lungenembolie"),
    ("Zum Ausschluss einer Pneumonie", "Pneumonie"),
    ("Aspirin 47,5 mg, Ramipril 5 mg, Metoprolol 100 mg", "Ramipril 100 mg"),
    ("Ramipril 5 mg, Metoprolol 47,5 mg, Aspirin 100 mg", "Aspirin 47,5 mg"),
    ("Gonarthrose rechts, Coxarthrose links", "Coxarthrose rechts"),
    ("Gonarthrose rechts, Coxarthrose links", "rechtsseitige Coxarthrose"),
    ("Fraktur Radius und Luxation Ulna", "Fraktur Ulna"),
    ("Z. n. Appendektomie 2010", "Z. n. Cholezystektomie 2010"),
    ("Bisoprolol 5 mg 1-0-0", "Ramipril 5 mg 1-0-0"),
    ("Fraktur distaler Radius rechts", "Fraktur distaler Ulna rechts"),
    ("Hypertonietherapie", "Hypertonie"),
    ("Ramipril 2,5 mg", "Ramipril 5 mg"),
    ("1-0-1", "1-0"),
    ("Ramipril 5 mg 1-0-1", "Ramipril 5 mg 1-0-0"),
    ("Mukoviszidose", "   "),
    ("der und", "der und"),
    ("-", "-"),
    ("Fraktur nicht disloziert", "Fraktur disloziert"),
    ("Es fand sich kein\nHinweis auf eine Pneumonie oder\nLungenembolie.", "Lungenembolie"),
    ("Lungenembolie konnte nicht nachgewiesen werden", "Lungenembolie"),
    ("Herzinfarkt (Vater)", "Herzinfarkt"),
    ("familiär Herzinfarkt", "Herzinfarkt"),
    ("Diabetes: nein", "Diabetes"),
    ("weder Diabetes noch Hypertonie", "Hypertonie"),
    ("Ramipril 5 mg", "Ramipril 5 g"),
    ("NYHA II", "NYHA III"),
    ("akute Pankreatitis", "chronische Pankreatitis"),
    ("Bruder an Kolonkarzinom verstorben", "Kolonkarzinom"),
    ("Familienanamnese\nVater: KHK\nMutter: Diabetes mellitus", "Diabetes mellitus"),
    ("Diabetes mellitus in der Familie", "Diabetes mellitus"),
]


def stretch(text: str, value: str) -> str | None:
    source = Reading.of(text)
    found = find_statement(source, value, "diagnosis")
    return found and text[source.start[found.first] : source.end[found.last]]


@pytest.mark.parametrize(("text", "value"), SAID)
def test_what_the_text_says_is_evidenced(text, value):
    assert stretch(text, value)


@pytest.mark.parametrize(("text", "value"), NOT_SAID)
def test_what_the_text_does_not_say_is_not(text, value):
    assert stretch(text, value) is None


def test_a_long_value_that_no_text_holds_ends_soon():
    assert stretch("Ramipril " * 2_000, "Ramipril Metoprolol " * 1_000) is None


@pytest.mark.parametrize("behind", ["Kein Notfall.", "Keine Eile, Termin elektiv.", "nicht dringlich", "Nein."])
def test_a_question_is_asked_whatever_stands_behind_its_mark(behind):
    text = f"Fragestellung: Indikation zur Operation? {behind}"
    for value in ("Indikation zur Operation?", "Indikation zur Operation"):
        assert find_statement(Reading.of(text), value, "question") is not None
    assert find_statement(Reading.of("Aspirin? Nein."), "Aspirin", "statement") is None
