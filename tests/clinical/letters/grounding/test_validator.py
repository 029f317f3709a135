"""Names, addresses, numbers, dates and fixed lists: evidenced as such, never by a part or an implication."""

from clinical.contract import Arztbrief, Zuweisung
from clinical.letters.fields import FIELDS, paths_of
from clinical.letters.grounding.policy import Verdict
from clinical.letters.grounding.validator import judge
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
