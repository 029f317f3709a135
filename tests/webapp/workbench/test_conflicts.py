"""Conflicts among accepted codes, by the facts of the starter catalog or of one written here."""

from typing import Any

import pytest
from flask import Flask

from clinical.icd import Code, Note
from webapp.workbench.catalog import CodeBook
from webapp.workbench.conflicts import Accepted, Checked, conflicts, usual_ages


def row(code: str, title: str, block: str, parent: str | None = None, **more: Any) -> Code:
    given = {"kind": "plain", "use_295": "P", "use_301": "P", **more}
    return Code(code=code, title=title, level=len(code) - ("." in code), terminal=True, parent=parent, block=block,
                chapter="01", **given)  # fmt: skip


BOOK = CodeBook(
    "2026",
    [
        row("F00", "Demenz bei Alzheimer-Krankheit", "F00-F09"),
        row("F00.1", "Demenz bei Alzheimer-Krankheit, mit spätem Beginn", "F00-F09", "F00", kind="asterisk",
            notes=(Note("pair", "Demenz", ("G30.1",)),)),
        row("F03", "Nicht näher bezeichnete Demenz", "F00-F09",
            notes=(Note("exclusion", "Senilität o.n.A.", ("R54",)),)),
        row("F05", "Delir", "F00-F09"),
        row("G30.1", "Alzheimer-Krankheit mit spätem Beginn", "G30-G32", kind="dagger"),
        row("R54", "Senilität", "R50-R69"),
        row("E11", "Diabetes mellitus, Typ 2", "E10-E14"),
        row("E11.90", "Diabetes mellitus, Typ 2: Ohne Komplikationen", "E10-E14", "E11"),
        row("E14", "Nicht näher bezeichneter Diabetes mellitus", "E10-E14"),
        row("C50.9", "Bösartige Neubildung: Brustdrüse, nicht näher bezeichnet", "C50-C50"),
        row("Z85.3", "Bösartige Neubildung der Brustdrüse [Mamma] in der Eigenanamnese", "Z80-Z99",
            notes=(Note("inclusion", "Zustände, klassifizierbar unter", ("C50.-",)),)),
        row("M17", "Gonarthrose", "M15-M19"),
        row("M17.1", "Sonstige primäre Gonarthrose", "M15-M19", "M17"),
        row("M17.9", "Gonarthrose, nicht näher bezeichnet", "M15-M19", "M17"),
        row("N40", "Prostatahyperplasie", "N40-N51", sex="M", age_low="j030", age_high="j124"),
    ],
    {},
    {},
)  # fmt: skip


def found(app: Flask, *codes: str, **case: Any) -> list[tuple[str, tuple[str, ...]]]:
    """Kind and codes of each conflict; a code is written with its certainty and side behind a colon."""
    given = [Accepted(code=code, certainty=(marks or "G")[0], side=marks[1:] or None)
             for code, _, marks in (one.partition(":") for one in codes)]  # fmt: skip
    with app.test_request_context():
        return [(one.kind, one.codes) for one in conflicts(BOOK, Checked(codes=given, **case))]


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    return sqlite_url


def test_codes_that_do_not_go_together(app: Flask) -> None:
    assert found(app, "F03", "R54") == [("exclusion", ("F03", "R54"))]
    assert found(app, "F03", "F00.1", "G30.1") == [("vague", ("F03", "F00.1"))]
    assert found(app, "F03", "F05") == []
    assert found(app, "E11.90", "E14") == [("vague", ("E14", "E11.90"))]
    assert found(app, "C50.9", "Z85.3") == [("history", ("Z85.3", "C50.9"))]
    assert found(app, "F03", "R54:A") == [], "what is ruled out is in nobody's way"


def test_a_vague_code_of_the_other_side_is_no_conflict(app: Flask) -> None:
    assert found(app, "M17.9:GL", "M17.1:GL") == [("vague", ("M17.9", "M17.1"))]
    assert found(app, "M17.9:GL", "M17.1:GR") == []


def test_codes_that_never_stand_alone(app: Flask) -> None:
    assert found(app, "F00.1") == [("alone", ("F00.1",))]
    assert found(app, "F00.1", "G30.1") == []


def test_sex_and_age_speak_up_only_when_they_are_violated(app: Flask) -> None:
    assert found(app, "N40") == []
    assert found(app, "N40", sex="M", age=64) == []
    assert found(app, "N40", sex="W", age=64) == [("sex", ("N40",))]
    assert found(app, "N40", sex="M", age=12) == [("age", ("N40",))]


def test_suspicion_by_setting_and_country(app: Flask) -> None:
    assert found(app, "E11.90:V") == []
    assert found(app, "E11.90:V", setting="inpatient") == [("suspected", ("E11.90",))]
    assert found(app, "E11.90:V", country="at") == [("suspected", ("E11.90",))]


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        ("j015", "j055", "üblich von 15 bis 55 Jahren"),
        ("j030", "j124", "üblich ab 30 Jahren"),
        ("t000", "t028", "üblich bis 28 Tage"),
        ("t028", "j001", "üblich von 28 Tagen bis 1 Jahr"),
        (None, None, ""),
    ],
)
def test_ages_are_said_in_german(app: Flask, low: str, high: str, said: str) -> None:
    with app.test_request_context(headers={"Accept-Language": "de"}):
        assert usual_ages(row("N40", "", "N40-N51", age_low=low, age_high=high)) == said
