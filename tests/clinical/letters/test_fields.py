"""A field is one row: what an invented one needs beside it, and that the contract's own have theirs."""

import json

from clinical.contract import Arztbrief, Zuweisung, words_of_fields
from clinical.letters import FIELDS, messages_for
from clinical.letters.fields import PARTS, paths_of
from clinical.letters.grounding.enumerations import values
from tests.invented_fields import served


def test_an_invented_list_and_list_of_objects_are_asked_for():
    _, model = served()
    _, messages, schema = model.asked[0]
    assert "- allergien: eine Allergie je Eintrag." in messages[0].content
    assert {"allergien", "implantate"} <= set(schema.schema["required"])
    assert schema.schema["$defs"]["Implantat"]["required"] == ["bezeichnung", "datum"]


def test_they_are_grounded_and_served():
    response, _ = served()
    data = json.loads(response.model_dump_json())["data"]
    assert data["allergien"] == ["Penicillin", "Ramipril 5 mg 1-0-0"]
    assert data["implantate"] == [
        {"bezeichnung": "Herzschrittmacher Modell A2", "datum": "2024-03-10"},
        {"bezeichnung": "Herzschrittmacher Modell A2", "datum": None},
    ]
    assert response.removed_by_grounding == ("allergien: 1", "implantate: 1", "implantate[1].datum: 2024-03-11")
    assert {"allergien[0]", "implantate[0].bezeichnung", "implantate[0].datum"} <= {
        one.path for one in response.evidence
    }


def test_they_are_reviewed_and_have_a_state():
    response, _ = served()
    reasons = {note.path: note.reason for note in response.review}
    assert reasons["allergien[1]"] == "Der Regelleser liest diesen Wert bei der Medikation."
    assert "allergien[0]" not in reasons
    states = {(one.path, one.state) for one in response.states}
    assert ("allergien[0]", "stated") in states
    assert ("implantate", "removed") in states
    assert ("eingriffe", "denied") in states


def test_every_field_of_the_contract_has_a_row_and_every_row_a_field():
    paths = {path for document in (Zuweisung, Arztbrief) for path in paths_of(document)}
    assert set(FIELDS) == paths
    assert {row.part for row in FIELDS.values()} == set(PARTS)


def test_every_field_of_the_contract_has_a_word_for_people():
    keys = {key for path in FIELDS for key in path.split(".")}
    words = words_of_fields()
    assert set(words) == keys
    assert [key for key, word in words.items() if word == key] == []


def test_every_field_that_is_a_fixed_list_has_the_words_of_its_values():
    lists = {path for path, row in FIELDS.items() if row.kind == "choice"}
    assert lists == {
        "patient.geschlecht", "versicherung.klasse", "aufenthalt.art", "kostengutsprache", "dringlichkeit",
    }  # fmt: skip
    assert all(values(path) for path in lists)


def test_a_document_is_asked_for_its_own_fields_alone():
    referral, letter = (messages_for(kind, "x")[0].content for kind in ("zuweisung", "arztbrief"))
    assert ("- dringlichkeit:" in referral, "- dringlichkeit:" in letter) == (True, False)
    assert ("- procedere:" in referral, "- procedere:" in letter) == (False, True)
