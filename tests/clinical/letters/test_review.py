"""The role check: what supports a field, what is named for review, and the state of every field."""

import pytest

from clinical.contract import Arztbrief, ExtractRequest, Zuweisung
from clinical.letters import ground, reviewed
from evals.letters.fields import Asked
from evals.letters.generator import letters
from evals.letters.review import rows_of

LETTER = """\
Spital Seeblick
Klinik für Innere Medizin
Seestrasse 4, 8400 Winterthur
Tel. 052 111 22 33

Frau
Dr. med. Anna Kern
Gartenstrasse 7
3011 Bern

Winterthur, 12.03.2024

Austrittsbericht

Herr Beat Muster, geb. 01.02.1950, wohnhaft Lindenweg 3, 9000 St. Gallen
AHV-Nr.: 756.1234.5678.97, Fallnummer: 48711

Sehr geehrte Frau Kollegin

Diagnosen:
- Arterielle Hypertonie

Operation:
- 10.03.2024: Gastroskopie

Medikation:
- Ramipril 5 mg 1-0-0

Allergien: keine
Kein Anhalt für Pneumonie.

Mit freundlichen Grüssen

Dr. med. Urs Amrein
"""
TRUE = {
    "dokument": {"typ": "Austrittsbericht", "datum": "2024-03-12"},
    "patient": {"nachname": "Muster", "geburtsdatum": "1950-02-01", "strasse": "Lindenweg 3",
                "versichertennummer": "756.1234.5678.97", "fallnummer": "48711"},
    "absender": {"institution": "Spital Seeblick", "strasse": "Seestrasse 4", "name": "Dr. med. Urs Amrein"},
    "empfaenger": {"name": "Dr. med. Anna Kern", "strasse": "Gartenstrasse 7"},
    "diagnosen": ["Arterielle Hypertonie"], "medikation": ["Ramipril 5 mg 1-0-0"],
    "eingriffe": [{"bezeichnung": "Gastroskopie", "datum": "2024-03-10"}],
}  # fmt: skip


def explained(answer, document=Arztbrief, text=LETTER):
    return reviewed(ground(answer, text, document, explain=True), text, document)


def test_a_true_answer_is_supported_and_nothing_of_it_is_named():
    found = explained(TRUE)
    assert found.removed == ()
    assert found.review == ()
    unsupported = {one.path for one in found.evidence if one.support is None}
    assert unsupported <= {"dokument.typ"}


@pytest.mark.parametrize(
    ("answer", "path"),
    [
        ({"patient": {"nachname": "Kern"}}, "patient.nachname"),
        ({"absender": {"name": "Anna Kern"}}, "absender.name"),
        ({"absender": {"strasse": "Gartenstrasse 7"}}, "absender.strasse"),
        ({"patient": {"fallnummer": "756.1234.5678.97"}}, "patient.fallnummer"),
        ({"patient": {"geburtsdatum": "2024-03-12"}}, "patient.geburtsdatum"),
        ({"dokument": {"datum": "2024-03-10"}}, "dokument.datum"),
        ({"diagnosen": ["Ramipril 5 mg 1-0-0"]}, "diagnosen[0]"),
        ({"medikation": ["Arterielle Hypertonie"]}, "medikation[0]"),
        ({"procedere": ["Gastroskopie"]}, "procedere[0]"),
    ],
)
def test_a_value_in_another_role_stays_and_is_named(answer, path):
    found = explained(answer)
    assert found.removed == ()
    assert [note.path for note in found.review] == [path]
    assert found.review[0].reason.startswith("D")


def test_every_field_has_one_of_four_states():
    answer = {**TRUE, "diagnosen": ["Pneumonie", "Septische Hypertonie", "Arterielle Hypertonie"]}
    found = explained(answer)
    states = {(one.path, one.state, one.value, one.words) for one in found.states}
    assert ("diagnosen[0]", "stated", None, ()) in states
    assert ("diagnosen", "denied", "Pneumonie", ()) in states
    assert ("diagnosen", "removed", "Septische Hypertonie", ("Septische",)) in states
    assert ("procedere", "not_mentioned", None, ()) in states
    named = {one.path.partition("[")[0] for one in found.states}
    assert {"versicherung.klasse", "patient.vorname", "empfaenger.email", "aufenthalt.art"} <= named


@pytest.mark.parametrize(
    ("text", "state"), [("Kein Notfall.", "denied"), ("Dringlichkeit: keine", "denied"), ("Guten Tag", "not_mentioned")]
)
def test_a_no_of_the_letter_is_a_state_of_its_own(text, state):
    found = explained({}, Zuweisung, text)
    assert next(one.state for one in found.states if one.path == "dringlichkeit") == state


def test_nobody_asked_nothing_added():
    plain = ground(TRUE, LETTER, Arztbrief)
    assert plain.review == ()
    assert all(one.support is None for one in plain.evidence)


def noted(answer):
    """The note on each value that is named."""
    return {note.path: note.reason for note in explained(answer).review}


def test_a_value_that_the_rules_read_in_another_field_is_named_with_that_field():
    assert noted({"absender": {"ort": "St. Gallen"}}) == {"absender.ort": "Der Regelleser liest hier «Winterthur»."}
    assert noted({"empfaenger": {"telefon": "052 111 22 33"}}) == {
        "empfaenger.telefon": "Der Regelleser liest diesen Wert beim Absender."
    }
    assert noted({"procedere": ["Ramipril 5 mg 1-0-0"]}) == {
        "procedere[0]": "Der Regelleser liest diesen Wert bei der Medikation."
    }


def test_a_value_that_the_rules_do_not_read_at_all_is_not_named():
    text = LETTER + "\nKopie an: Dr. med. Ines Vogt, Chur\n"
    found = reviewed(ground({"empfaenger": {"ort": "Chur"}}, text, Zuweisung), text, Zuweisung)
    assert all("Chur" not in note.reason for note in found.review)
    assert found.data.empfaenger.ort == "Chur"


def test_an_entry_that_sounds_like_another_list_is_named_wherever_it_stands():
    text = LETTER.replace("Kein Anhalt", "Wir empfehlen eine Kontrolle in sechs Wochen. Kein Anhalt")
    answer = {"diagnosen": ["Wir empfehlen eine Kontrolle in sechs Wochen"]}
    (note,) = reviewed(ground(answer, text, Arztbrief), text, Arztbrief).review
    assert note.path == "diagnosen[0]"
    assert note.reason.endswith("beim weiteren Vorgehen.")


def test_exchanged_values_are_named_and_true_ones_seldom():
    made = letters(48, seed=9)
    requests = [ExtractRequest(document_type=one.document_type, text=one.text) for one in made]
    exchanged, true = rows_of(Asked("", *both, {}) for both in zip(requests, [one.truth for one in made], strict=True))
    assert exchanged.n > 200
    assert exchanged.value >= 0.95
    assert true.value <= 0.03
