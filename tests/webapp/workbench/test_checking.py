"""A letter's fields are gone through by keys: confirmed, filled with words of the letter, added, and marked when the
letter changes; the focus is never lost to the page."""

import json

import pytest
from playwright.sync_api import Page, expect

from tests.webapp.browser import Visitor
from tests.webapp.workbench.conftest import LETTER, Bench, saved, selected


@pytest.fixture
def page(erika: Visitor) -> Page:
    """The example letter with its fields."""
    page = erika.open("/extraction/")
    page.get_by_role("button", name="Beispielbrief").click()
    page.locator(".fields").first.wait_for()
    return page


def focused(page: Page) -> str:
    """The path of the field that has the focus, or the name of another element."""
    return str(page.evaluate("document.activeElement.dataset.path ?? document.activeElement.tagName"))


def counts(page: Page) -> tuple[int, int]:
    """The number of checked fields, and of all."""
    n, _, m, *_ = page.locator("#count").inner_text().split()
    return int(n), int(m)


def test_enter_confirms_a_field_and_goes_on_to_the_end(page: Page) -> None:
    none, many = counts(page)
    assert none == 0
    first = focused(page)
    assert page.locator("[data-path]").first.get_attribute("data-path") == first
    for number in range(1, many + 1):
        here = focused(page)
        assert "." in here or "[" in here or here == "fragestellung"
        page.keyboard.press("Enter")
        assert counts(page) == (number, many)
    expect(page.get_by_role("button", name="Als JSON speichern")).to_be_focused()
    expect(page.locator("#said")).to_have_text("Alle Felder sind geprüft.")
    assert len(json.loads(saved(page, "Als JSON speichern"))["checked"]) == many
    page.get_by_role("button", name="Änderung zurücknehmen").click()
    assert counts(page) == (many - 1, many)


def test_the_focus_stays_in_the_fields_while_they_are_changed(page: Page) -> None:
    city = page.locator('[data-path="patient.nachname"]')
    city.fill("Beispiel")
    page.keyboard.press("Tab")
    expect(page.locator(".one-field.edited")).to_have_count(1)
    assert focused(page) == "patient.vorname"
    birth = page.locator('[data-path="patient.geburtsdatum"]')
    birth.fill("31.02.1957")
    page.keyboard.press("Enter")
    expect(birth).to_be_focused()
    expect(birth).to_have_attribute("aria-invalid", "true")
    assert counts(page)[0] == 1
    birth.fill("1.2.1957")
    page.keyboard.press("Enter")
    assert focused(page) not in ("BODY", "patient.geburtsdatum")
    expect(birth).to_have_value("1957-02-01")
    kind = page.locator('[data-path="aufenthalt.art"]')
    kind.select_option("ambulant")
    expect(page.locator(".one-field.edited")).to_have_count(3)
    assert focused(page) != "BODY"


def test_a_long_value_has_room_and_its_lines_stay(page: Page) -> None:
    diagnosis = page.locator('[data-path="diagnosen[0]"]')
    diagnosis.fill("Chronische Herzinsuffizienz bei koronarer Herzkrankheit nach Hinterwandinfarkt 2019")
    page.keyboard.press("Enter")
    expect(page.locator('textarea[data-path="diagnosen[0]"]')).to_have_value(
        "Chronische Herzinsuffizienz bei koronarer Herzkrankheit nach Hinterwandinfarkt 2019"
    )


def test_an_entry_is_added_and_leaves_with_the_others(page: Page) -> None:
    before = page.locator('[data-path^="medikation["]').count()
    page.get_by_role("button", name="+ Medikation").click()
    assert focused(page) == f"medikation[{before}]"
    page.keyboard.type("Torasemid 10 mg 1-0-0")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="+ Eingriffe").click()
    page.keyboard.type("Koronarangiographie")
    page.keyboard.press("Tab")
    page.keyboard.type("3.2.2026")
    page.keyboard.press("Tab")
    left = json.loads(saved(page, "Als JSON speichern"))["data"]
    assert left["medikation"][-1] == "Torasemid 10 mg 1-0-0"
    assert left["eingriffe"][-1] == {"bezeichnung": "Koronarangiographie", "datum": "2026-02-03"}


def test_words_of_the_letter_fill_a_field_or_a_new_entry(page: Page) -> None:
    field = page.locator('[data-path="diagnosen[0]"]')
    field.focus()
    selected(page, "Diabetes mellitus Typ 2")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#fill button").first).to_be_focused()
    page.locator("#text").dispatch_event("select")  # a busy browser says so only now
    page.keyboard.press("Enter")
    expect(field).to_be_focused()
    expect(field).to_have_value("Diabetes mellitus Typ 2")
    assert page.locator("#marks mark.active").all_inner_texts() == ["Diabetes mellitus Typ 2"]
    selected(page, "Arztbrief")
    page.locator("#fill").get_by_role("button", name="+ Diagnosen").click()
    assert focused(page).startswith("diagnosen[")
    assert json.loads(saved(page, "Als JSON speichern"))["data"]["diagnosen"][-1] == "Arztbrief"


def test_a_field_whose_words_change_has_to_be_looked_at_again(erika: Visitor, bench: Bench) -> None:
    bench.behind.mode = "lying"
    page = erika.open("/extraction/")
    page.locator("#text").fill(LETTER)
    page.keyboard.press("Control+Enter")
    expect(page.locator('[data-path="patient.nachname"]')).to_be_focused()
    for _ in range(3):
        page.keyboard.press("Enter")
    assert counts(page) == (3, 3)
    page.locator("#text").press("Control+Home")
    page.keyboard.type("Frau ")
    assert page.locator("#marks mark").all_inner_texts() == ["Max", "Muster", "Ramipril 5 mg"]
    expect(page.locator(".one-field.stale")).to_have_count(0)
    page.locator("#text").press("Control+End")
    page.keyboard.press("Backspace")
    page.keyboard.press("Backspace")
    expect(page.locator(".one-field.stale")).to_contain_text("Die Stelle im Brief hat sich seither geändert.")
    assert counts(page) == (2, 3)
    page.locator('[data-path="medikation[0]"]').focus()
    page.keyboard.press("Enter")
    expect(page.locator(".one-field.stale")).to_have_count(0)
    assert counts(page) == (3, 3)
