"""Weeks of pregnancy: read from the text, counted as completed, coded by the catalog's own titles."""

from dataclasses import replace

import pytest

from clinical.icd import Catalog
from clinical.reading.gestation import Gestation, stated_weeks

TITLES = {
    "O09.0": "Schwangerschaftsdauer: Weniger als 5 vollendete Wochen",
    "O09.1": "Schwangerschaftsdauer: 5 bis 13 vollendete Wochen",
    "O09.2": "Schwangerschaftsdauer: 14. Woche bis 19 vollendete Wochen",
    "O09.6": "Schwangerschaftsdauer: 37. Woche bis 41 vollendete Wochen",
    "O09.7": "Schwangerschaftsdauer: Mehr als 41 vollendete Wochen",
    "O09.9": "Schwangerschaftsdauer: Nicht näher bezeichnet",
}


@pytest.fixture(scope="module")
def catalog(index) -> Catalog:
    some = replace(index.catalog.codes[0], terminal=True)
    codes = [replace(some, code=code, title=title) for code, title in TITLES.items()]
    return Catalog("2026", codes, index.catalog.chapters, index.catalog.blocks)


@pytest.mark.parametrize(
    ("text", "weeks"),
    [
        ("in der 39. SSW", [38]),
        ("6. Schwangerschaftswoche", [5]),
        ("SSW 38+4", [38]),
        ("38+4 SSW", [38]),
        ("38 + 4. SSW", [38]),
        ("SSW 12", [11]),
        ("12. ſchwangerſchaftswoche", [11]),
        ("Aufnahme in der 20. SSW, jetzt 31. SSW", [19, 30]),
        ("99. SSW", []),
        ("39 Wochen", []),
        ("Frühgeborenes der 32. SSW", []),
        ("", []),
    ],
)
def test_weeks_are_read_as_completed_weeks(text, weeks):
    assert [stated.weeks for stated in stated_weeks(text)] == weeks


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("4. SSW", "O09.0"),
        ("5. SSW", "O09.0"),
        ("6. SSW", "O09.1"),
        ("14. SSW", "O09.1"),
        ("SSW 14+0", "O09.2"),
        ("38. SSW", "O09.6"),
        ("SSW 41+6", "O09.6"),
        ("SSW 42+0", "O09.7"),
    ],
)
def test_the_code_is_that_of_the_completed_weeks(catalog, text, code):
    assert [catalog.codes[number].code for number, _ in Gestation.of(catalog).codes(text)] == [code]


def test_where_it_stands_is_said(catalog):
    text = "Patientin in der 39. SSW"
    ((_, stated),) = Gestation.of(catalog).codes(text)
    assert text[stated.start : stated.end] == "39. SSW"


def test_a_catalog_without_these_codes_gives_none():
    assert list(Gestation({}).codes("39. SSW")) == []
