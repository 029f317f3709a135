"""Corrections of what was read: from a click on the page to a text that the next training learns from."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from catalog_build.training.own_texts import fed_back
from clinical.reading.index import SearchIndex
from tests.webapp.workbench.conftest import finished, saved, selected, typed

TEXT = "Arterielle Hypertonie, kein Fieber. Die Schwester klagt über Migräne."


def marks(page: Page) -> list[tuple[str, str]]:
    """Words and kind of each mark of the text."""
    found = page.locator("#marks mark").all()
    return [(one.inner_text(), one.get_attribute("class").replace("active", "").split()[-1]) for one in found]


def learned(page: Page, folder: Path, index: SearchIndex) -> list[tuple[str, str, tuple[str, ...]]]:
    """The mentions that a training reads out of the feedback file: words, claim, codes."""
    page.get_by_text("Rückmeldung an den Betreiber").click()
    page.get_by_label("Die Texte mitgeben").check()
    (folder / "coder.jsonl").write_text(saved(page, "Datei speichern"), "utf-8")
    texts = fed_back(folder / "coder.jsonl", {code.code for code in index.catalog.codes if code.terminal})
    return [(one.text[at.start : at.end], at.claim, at.codes) for one in texts for at in one.mentions]


@pytest.fixture
def coded(page: Page) -> Page:
    typed(page, TEXT)
    finished(page)
    return page


def test_a_claim_is_changed_by_a_key_and_the_next_training_reads_it(
    coded: Page, tmp_path: Path, index: SearchIndex
) -> None:
    page = coded
    assert ("Fieber", "excluded") in marks(page)
    page.locator("#without").get_by_role("button", name="Fieber").click()
    expect(page.locator("#mention [aria-pressed=true]")).to_have_text("verneint A")
    page.keyboard.press("v")
    expect(page.locator("#said")).to_have_text("„Fieber“: Verdacht")
    assert ("Fieber", "suspected") in marks(page)
    expect(page.locator(".code-card.undecided", has_text="Fieber")).to_have_count(1)
    page.keyboard.press("u")
    assert ("Fieber", "excluded") in marks(page)
    page.locator("#without").get_by_role("button", name="Fieber").click()
    page.keyboard.press("p")
    expect(page.locator("#without")).to_contain_text("Fieber geplant oder befürchtet")
    page.keyboard.press("Escape")
    for card in page.locator(".code-card").all():
        card.focus()
        page.keyboard.press("Enter" if card.get_attribute("data-code") == "I10.90" else "x")
    read = learned(page, tmp_path, index)
    assert ("Arterielle Hypertonie", "present", ("I10.90",)) in read
    assert ("Fieber", "hypothetical", ()) in read


def test_selected_words_become_a_mention_and_end_with_a_code(coded: Page, tmp_path: Path, index: SearchIndex) -> None:
    page = coded
    typed(page, "Arterielle Hypertonie. Der Zucker ist schlecht.")
    finished(page)
    selected(page, "Zucker ")
    expect(page.locator("#mention")).to_contain_text("„Zucker“")
    page.keyboard.press("Control+Enter")
    page.keyboard.press("g")
    assert ("Zucker", "present") in marks(page) or ("Zucker", "none") in marks(page)
    card = page.locator(".code-card", has_text="„Zucker“")
    expect(card).to_have_count(1)
    card.focus()
    if card.locator(".candidates").count():
        page.locator(".candidates .choice").first.wait_for()
        page.keyboard.press("1")
    else:
        page.keyboard.press("Enter")
    chosen = card.get_attribute("data-code")
    while (others := page.locator(".code-card.open")).count():  # each that is decided is open no more
        others.first.focus()
        page.keyboard.press("x")
    read = learned(page, tmp_path, index)
    assert ("Zucker", "present", (chosen,)) in read


def test_the_ends_of_a_mention_move_by_keys_and_by_dragging(coded: Page) -> None:
    page = coded
    page.keyboard.press("Control+Enter")
    page.keyboard.press("m")
    expect(page.locator("#mention strong")).to_have_text("„Arterielle Hypertonie“")
    page.keyboard.press("Shift+ArrowRight")
    assert marks(page)[0][0] == "Hypertonie"
    expect(page.locator("#mention strong")).to_have_text("„Hypertonie“")
    page.keyboard.press("Shift+ArrowLeft")
    assert marks(page)[0][0] == "Arterielle Hypertonie"
    page.keyboard.press("Escape")
    expect(page.locator(".code-card").first).to_be_focused()
    page.keyboard.press("m")
    grip = page.locator(".grip.end").bounding_box()
    first = page.locator("#marks mark").first.bounding_box()
    page.mouse.move(grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2)
    page.mouse.down()
    page.mouse.move(first["x"] + 70, grip["y"] + grip["height"] / 2, steps=5)
    page.mouse.up()
    assert marks(page)[0][0] == "Arterielle"
    expect(page.locator("#mention strong")).to_have_text("„Arterielle“")


def test_words_that_are_no_mention_lose_their_code_until_that_is_undone(coded: Page) -> None:
    page = coded
    page.keyboard.press("Control+Enter")
    page.keyboard.press("Enter")
    expect(page.locator("#outcome")).to_have_text("I10.90G")
    page.locator(".code-card").first.focus()
    page.keyboard.press("m")
    page.keyboard.press("x")
    expect(page.locator("#outcome")).to_have_text("Noch nichts übernommen.")
    assert "Arterielle Hypertonie" not in dict(marks(page))
    page.locator("#text").press("Control+End")
    page.keyboard.type(" Gonarthrose links.")
    finished(page)
    expect(page.locator('.code-card[data-code="M17.9"]')).to_have_count(1)
    expect(page.locator('.code-card[data-code="I10.90"]')).to_have_count(0)
    page.locator("[data-do=undo]").click()
    expect(page.locator("#outcome")).to_have_text("I10.90G")


def test_a_text_that_nobody_has_gone_through_teaches_no_mentions(page: Page) -> None:
    typed(page, "Arterielle Hypertonie, Hypothyreose")
    finished(page)
    page.keyboard.press("Control+Enter")
    page.keyboard.press("Enter")
    page.get_by_text("Rückmeldung an den Betreiber").click()
    page.get_by_label("Die Texte mitgeben").check()
    left = json.loads(saved(page, "Datei speichern"))
    assert left["accepted"] == ["I10.90"]
    assert "mentions" not in left
