"""Names, numbers, dates, fixed lists and free text: evidenced as such, never by a part or an implication."""

import zlib
from collections import Counter
from dataclasses import replace

import pytest

from clinical.claims import Reading
from clinical.contract import Arztbrief, Zuweisung
from clinical.letters.fields import FIELDS, paths_of
from clinical.letters.grounding.enumerations.phrases import PhrasePlaces, matches, table
from clinical.letters.grounding.free_text import find_statement
from clinical.letters.grounding.policy import Verdict
from clinical.letters.grounding.validator import judge
from evals.letters.generator import letters
from tests.clinical.letters.grounding.tables import rows


def finding(text: str, path: str, value: str, surname: str | None) -> Verdict:
    outer, _, inner = path.partition(".")
    answer = {"patient": {"nachname": surname}, outer: {inner: value} if inner else value}
    if outer == "patient":
        answer["patient"] = {"nachname": surname, inner: value}
    return next(one for one in judge(answer, text) if one.path == path)


def test_a_text_evidences_the_values_that_it_says_and_no_others():
    told = rows("values.tsv")
    assert len(told) > 100
    for evidence, path, value, surname, text in told:
        found = finding(text, path, value, surname or None)
        assert found.kept == (evidence == "yes"), (path, value, text)
        assert found.reason if evidence == "no" else 0 <= found.start < found.end <= len(text), (path, value, text)


def test_every_value_of_both_documents_has_a_rule():
    assert {*paths_of(Zuweisung), *paths_of(Arztbrief)} <= set(FIELDS)
    assert set(Zuweisung.model_fields) ^ set(Arztbrief.model_fields) == {
        "kostengutsprache", "dringlichkeit", "eingriffe", "procedere",
    }  # fmt: skip


def test_a_title_set_apart_and_a_procedure_that_excluded_something_are_evidenced():
    text = "Z u w e i s u n g\n\nEine Meningitis konnte durch Lumbalpunktion ausgeschlossen werden. A. B. Muster\n"
    answer = {
        "dokument": {"typ": "Zuweisung"},
        "diagnosen": ["Meningitis"],
        "eingriffe": [{"bezeichnung": "Lumbalpunktion"}, {"bezeichnung": "Meningitis"}],
    }
    kept = {one.path: one.kept for one in judge(answer, text, document=Arztbrief)}
    assert kept == {
        "dokument.typ": True,
        "diagnosen[0]": False,
        "eingriffe[0].bezeichnung": True,
        "eingriffe[1].bezeichnung": False,
    }


def test_a_surname_set_apart_is_evidenced_and_no_part_of_it():
    text = "Pat.: B U C H N E R , Erna, geb. 05.10.1938"
    for name, kept in (("Buchner", True), ("Buch", False), ("Büchner", False), ("Erna", True)):
        assert judge({"patient": {"nachname": name}}, text)[0].kept is kept, name


def test_a_house_number_with_characters_of_a_scan_is_evidenced_as_it_stands_and_no_other():
    text = "Deichstrasse 1l, 26736 Musterau"
    judged = {
        value: judge({"absender": {"strasse": value}}, text)[0].kept
        for value in ("Deichstrasse 1l", "Deichstrasse 1", "Deichstrasse 1O")
    }
    assert judged == {"Deichstrasse 1l": True, "Deichstrasse 1": False, "Deichstrasse 1O": False}


def test_what_a_phrase_needs_leaves_out_none_of_its_places() -> None:
    texts = [letter.text for letter in letters(10, 11)] + ["\n".join(row[-1] for row in rows("stated_choices.tsv"))]
    found = 0
    for text in texts:
        places = PhrasePlaces(Reading.of(text))
        for phrase in table():
            every = list(matches(places, phrase))
            assert every == list(matches(places, replace(phrase, needs=())))
            found += len(every)
    assert found > len(texts)


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


ROWS = rows("stated_choices.tsv")
DOCUMENTS = {"zuweisung": Zuweisung, "arztbrief": Arztbrief}


def is_held_out(text: str) -> bool:
    return zlib.crc32(text.encode()) % 2 == 1


def is_kept(document: str, field: str, value: str, text: str) -> bool:
    outer, _, inner = field.partition(".")
    answer = {"patient": {"nachname": "Amrein"}}
    if inner:
        answer.setdefault(outer, {})[inner] = value
    else:
        answer[outer] = value
    letter = text.replace("↵", "\n").replace("⇥", "\t")
    return next(one for one in judge(answer, letter, document=DOCUMENTS[document]) if one.path == field).kept


def counted(kind: str) -> tuple[Counter[bool], Counter[bool], list[str]]:
    """(rows, rows kept) by whether they are held out, and the rows looked at that are wrong."""
    asked, kept, wrong = Counter(), Counter(), []
    for document, field, value, said, text in ROWS:
        if said == kind:
            found = is_kept(document, field, value, text)
            asked[is_held_out(text)] += 1
            kept[is_held_out(text)] += found
            if found != (kind == "true") and not is_held_out(text):
                wrong.append(f"{field} {value}: {text}")
    return asked, kept, wrong


def test_values_that_a_letter_states_are_kept_also_in_words_nobody_looked_at():
    asked, kept, wrong = counted("true")
    assert asked[False] > 130
    assert asked[True] > 120
    assert wrong == []
    assert kept[True] / asked[True] >= 0.97, f"{kept[True]} of {asked[True]}"


def test_what_only_looks_like_a_stated_value_is_removed():
    asked, kept, wrong = counted("trap")
    assert asked[False] > 75
    assert asked[True] > 75
    assert wrong == []
    assert kept[True] <= 1, f"{kept[True]} of {asked[True]}"


def test_every_value_of_every_list_is_stated_in_both_halves():
    halves = [
        {(field, value) for _, field, value, _, text in ROWS if is_held_out(text) is half} for half in (True, False)
    ]
    assert halves[0] == halves[1]
    assert len(halves[0]) == 13
