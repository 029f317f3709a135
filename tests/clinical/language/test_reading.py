"""What a text claims of a mention follows from the trigger words of its own clause."""

import pytest

from clinical.language import Reading


@pytest.mark.parametrize(
    ("text", "mention", "claim"),
    [
        ("Diabetes mellitus Typ 2", "Diabetes", "present"),
        ("Kein Anhalt für Pneumonie", "Pneumonie", "excluded"),
        ("Pneumonie radiologisch ausgeschlossen.", "Pneumonie", "excluded"),
        ("Husten ohne Fieber", "Fieber", "excluded"),
        ("Husten ohne Fieber", "Husten", "present"),
        ("V. a. Pneumonie", "Pneumonie", "suspected"),
        ("Verdacht auf Appendizitis", "Appendizitis", "suspected"),
        ("Pneumonie nicht ausgeschlossen", "Pneumonie", "suspected"),
        ("Z. n. Myokardinfarkt 2019", "Myokardinfarkt", "history"),
        ("Z.n. I21.9, jetzt Dyspnoe", "I21.9", "history"),
        ("Z. n. I21.9, jetzt Dyspnoe", "Dyspnoe", "present"),
        ("Infarkt vor einem Jahr. Aktuell Dyspnoe", "Dyspnoe", "present"),
        ("Mutter mit Mammakarzinom", "Mammakarzinom", "family"),
        ("Mammakarzinom in der Familie", "Mammakarzinom", "family"),
        ("Kein Fieber. Husten", "Husten", "present"),
        ("Kein Fieber\nHusten", "Husten", "present"),
        ("Bei der Patientin ist seit längerer Zeit anamnestisch\nein Hirninfarkt bekannt", "Hirninfarkt", "history"),
        ("Keine Besserung, sondern Pneumonie", "Pneumonie", "present"),
    ],
)
def test_claims(text, mention, claim):
    start = text.index(mention)
    assert Reading.of(text).claim(start, start + len(mention)).assertion == claim
