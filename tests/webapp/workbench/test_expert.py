"""What a coder who knows the keys does: a long list to an exported result, conflicts, what is said more exactly, codes
that were used before."""

import re

from playwright.sync_api import Page, expect

from tests.webapp.workbench.conftest import finished, typed

KEYS_MOST = 30
TWENTY = """Diagnosen:
1. Arterielle Hypertonie
2. Diabetes mellitus Typ 2
3. Permanentes Vorhofflimmern
4. Z. n. Hinterwandinfarkt 2019
5. Koronare Dreigefäßerkrankung
6. Chronische Niereninsuffizienz Stadium 3
7. Hypothyreose
8. Gonarthrose links
9. V. a. Pneumonie rechts
10. Adipositas
11. Hyperlipidämie
12. Gicht
13. Benigne Prostatahyperplasie
14. Refluxösophagitis
15. Z. n. Appendektomie
16. Osteoporose
17. Mittelgradige depressive Episode
18. Eisenmangelanämie
19. COPD
20. Migräne
Kein Anhalt für eine Lungenembolie.
"""


def test_twenty_diagnoses_become_a_list_within_thirty_keys(page: Page) -> None:
    pressed = 1  # the text is pasted

    def press(key: str) -> None:
        nonlocal pressed
        pressed += 1
        page.keyboard.press(key)

    typed(page, TWENTY)
    finished(page)
    expect(page.locator(".code-card.undecided:not(:has(.choice, .candidates p))")).to_have_count(0)
    press("Control+Enter")
    press("s")
    for _ in range(KEYS_MOST):
        current = page.locator(".code-card:focus")
        if not current.count() or "open" not in current.get_attribute("class"):
            break
        undecided = "undecided" in current.get_attribute("class")
        press(("1" if current.locator(".choice").count() else "x") if undecided else "Enter")
        current = page.locator(".code-card:focus")
        doubtful = current.locator(".dots.high").count() == 0
        if "open" not in current.get_attribute("class") or not doubtful:
            press("w")
    press("c")
    expect(page.locator("#said")).to_contain_text("Kopiert")
    left = page.evaluate("navigator.clipboard.readText()").split("; ")
    undone = page.locator(".code-card.open").count()
    print(f"keys: {pressed}, codes: {len(left)}, left open: {undone}")
    assert pressed <= KEYS_MOST
    assert undone == 0
    assert len(left) >= 15


def test_what_does_not_go_together_is_said_and_can_be_left(page: Page) -> None:
    typed(page, "Arterielle Hypertonie")
    finished(page)
    page.keyboard.press("Control+Enter")
    for code in ("E11.90", "E14.90"):
        page.keyboard.press("/")
        page.keyboard.type(code)
        expect(page.locator("#matches")).to_have_attribute("data-of", code)
        page.keyboard.press("Enter")
    strip = page.locator("#conflicts")
    expect(strip).to_contain_text("E11.90 sagt genauer, was E14.90 offen lässt.")
    strip.get_by_role("button", name="E11.90 sagt genauer").click()
    expect(page.locator(".code-card:focus")).to_have_attribute("data-code", "E14.90")
    strip.get_by_role("button", name="So lassen").click()
    expect(strip).to_be_hidden()
    page.get_by_text("Angaben zum Fall").click()
    page.locator(".code-card").first.focus()
    page.keyboard.press("v")
    page.keyboard.press("Enter")
    expect(strip).to_be_hidden()
    page.get_by_label("Versorgung").select_option("inpatient")
    expect(strip).to_contain_text("I10.90: im Krankenhaus gibt es das Kennzeichen V nicht.")
    page.get_by_label("Land").select_option("at")
    expect(strip).to_contain_text("in Österreich wird ein Verdacht als sein Symptom kodiert")


def test_what_the_text_leaves_open_is_a_button_with_its_code(page: Page) -> None:
    typed(page, "Hypothyreose")
    finished(page)
    closer = page.locator("[data-closer]")
    expect(closer.first).to_be_visible()
    code = closer.first.get_attribute("data-closer")
    assert code.startswith("E03.")
    closer.first.click()
    expect(page.locator("#outcome")).to_have_text(f"{code}G")
    page.keyboard.press("o")
    expect(page.locator(".choice").first).to_be_focused()


def test_codes_used_before_are_offered_first_and_favourites_before_them(page: Page) -> None:
    for word in ("gicht", "asthma"):
        page.locator("#add").fill(word)
        expect(page.locator("#matches")).to_have_attribute("data-of", word)
        page.keyboard.press("Enter")
    page.locator("#add").focus()
    offered = page.locator("#matches .choice")
    expect(offered).to_have_count(2)
    expect(offered.first).to_have_text(re.compile("^J45"))
    page.locator("#matches .star").last.click()
    expect(offered.first).to_have_text(re.compile("^M10"))


def test_half_a_pair_names_what_is_missing_and_adds_it(page: Page) -> None:
    page.locator("#add").fill("N08.3")
    expect(page.locator("#matches")).to_have_attribute("data-of", "N08.3")
    page.keyboard.press("Enter")
    card = page.locator('.code-card[data-code="N08.3"]')
    expect(card).to_contain_text("Steht nie allein, es fehlt der Kreuzkode:")
    half = card.locator("[data-half]").first
    code = half.get_attribute("data-half")
    half.click()
    expect(page.locator("#outcome")).to_contain_text(f"{code}G")
    expect(card.locator("[data-half]")).to_have_count(0)
