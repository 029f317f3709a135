"""Decisions go with the text they were made on, undo touches nothing else, and what leaves the page is what it shows as
accepted: in a real browser, before the real text API."""

import json

from fhir.resources.R4B.bundle import Bundle
from playwright.sync_api import Browser, Page, expect

from tests.serving import wait_until
from tests.webapp.browser import Visitor
from tests.webapp.workbench.conftest import LETTER, Bench, coded, finished, member, saved, typed

NOTHING = "Noch nichts übernommen."
ENDED = "Ihre Sitzung ist beendet."


def leaving(page: Page) -> list[list[str]]:
    """The codes that leave the page, with their markers, by each way: copied, FHIR, CSV."""
    page.get_by_role("button", name="Kopieren").click()
    expect(page.locator("#said")).to_contain_text("opier")
    copied = page.evaluate("navigator.clipboard.readText()").split("; ")
    bundle = Bundle.model_validate(json.loads(saved(page, "FHIR")))
    codings = [entry.resource.code.coding[0] for entry in bundle.entry or []]
    rows = [row.split(";") for row in saved(page, "CSV").splitlines()[1:]]
    return [
        copied,
        [
            one.code + "".join(mark.valueCoding.code for mark in reversed(one.extension or [])).strip("†*")
            for one in codings
        ],
        ["".join(row[place].strip('"') for place in (0, 2, 3)) for row in rows],
    ]


# --- the text -------------------------------------------------------------------------------------------------------


def test_the_next_text_begins_with_nothing_decided(page: Page) -> None:
    coded(page, "Arterielle Hypertonie", "Enter", "/")
    page.keyboard.type("M10.99")
    page.locator("#matches .choice").first.wait_for()
    page.keyboard.press("Enter")
    expect(page.locator("#outcome")).to_have_text("I10.90G; M10.99G")
    typed(page, "Arterielle Hypertonie, Hypothyreose")
    finished(page)
    expect(page.locator(".code-card")).to_have_count(2)
    expect(page.locator(".code-card.accepted")).to_have_count(0)
    expect(page.locator("#outcome")).to_have_text(NOTHING)
    expect(page.locator(".case").first).to_contain_text("fertig · Kodes: 2")
    expect(page.locator(".case[aria-current]")).to_contain_text("neu")
    page.keyboard.press("Control+Enter")
    page.keyboard.press("Enter")
    assert leaving(page) == [["I10.90G"]] * 3


def test_a_case_is_new_in_work_and_done(page: Page) -> None:
    coded(page, "Arterielle Hypertonie, Hypothyreose", "Enter", "n")
    first = page.locator(".case").first
    expect(first).to_contain_text("in Arbeit · Kodes: 1")
    expect(page.locator(".case[aria-current]")).to_contain_text("neu")
    page.locator("h1").click()  # out of the text, in which a letter is a letter
    page.keyboard.press("p")
    expect(page.locator(".code-card").first).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    page.keyboard.press("n")
    expect(first).to_contain_text("fertig · Kodes: 2")


def test_marks_move_with_the_text_before_any_answer_comes(page: Page, bench: Bench) -> None:
    coded(page, "Hypothyreose, Gonarthrose links", "t")
    bench.behind.mode = "silent"
    page.keyboard.press("Control+Home")
    for letter in "Seit 2019 ":
        page.keyboard.type(letter)
        assert page.locator("#marks mark").all_inner_texts() == ["Hypothyreose", "Gonarthrose links"]
    expect(page.locator("#running")).to_contain_text("Suche im Katalog")


def test_what_has_no_code_stands_in_the_order_of_the_text_with_its_reason(page: Page) -> None:
    typed(page, "Kein Fieber. Bei Luftnot sofort wiederkommen. Arterielle Hypertonie. Keine Pneumonie.")
    finished(page)
    assert page.locator("#without li").all_inner_texts() == [
        "Fieber verneint: kein Kode",
        "Luftnot geplant oder befürchtet",
        "Pneumonie verneint: kein Kode",
    ]
    expect(page.locator(".code-card")).to_have_count(1)


def test_an_empty_text_has_no_codes(page: Page) -> None:
    coded(page, "Arterielle Hypertonie", "/")
    page.keyboard.type("M10.99")
    page.locator("#matches .choice").first.wait_for()
    page.keyboard.press("Enter")
    expect(page.locator("#outcome")).to_have_text("M10.99G")
    page.keyboard.press("t")
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    expect(page.locator(".code-card")).to_have_count(0)
    expect(page.locator("#outcome")).to_have_text(NOTHING)
    page.locator(".case").first.click()
    expect(page.locator("#text")).to_have_value("Arterielle Hypertonie")
    expect(page.locator("#outcome")).to_have_text("M10.99G")


def test_the_browsers_undo_brings_a_text_back_with_its_decisions(page: Page) -> None:
    coded(page, "Arterielle Hypertonie", "Enter", "t")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text("Hypothyreose")
    expect(page.locator("#outcome")).to_have_text(NOTHING)
    page.keyboard.press("Control+z")
    expect(page.locator("#text")).to_have_value("Arterielle Hypertonie")
    expect(page.locator("#outcome")).to_have_text("I10.90G")


def test_an_edit_keeps_the_decisions_of_the_words_it_leaves(page: Page) -> None:
    coded(page, "Hypothyreose, Gonarthrose links", "Enter", "Enter")
    expect(page.locator("#outcome")).to_have_text("E03.9G; M17.9GL")
    page.keyboard.press("t")
    page.keyboard.press("Control+Home")
    page.keyboard.type("Arterielle Hypertonie, ")
    finished(page)
    expect(page.locator("#outcome")).to_have_text("E03.9G; M17.9GL")
    expect(page.locator(".code-card.open, .code-card:not(.accepted)")).to_have_count(1)
    page.keyboard.press("Control+Home")
    for _ in range(len("Arterielle Hypertonie, Hypo")):
        page.keyboard.press("Delete")
    finished(page)
    expect(page.locator("#outcome")).to_have_text("M17.9GL")


def test_markers_follow_the_text_as_it_is(page: Page) -> None:
    coded(page, "V. a. Pneumonie rechts", "Enter")
    expect(page.locator("#outcome")).to_have_text("J18.9VR")
    page.locator("#text").press("Control+Home")
    for _ in range(len("V. a. ")):
        page.keyboard.press("Delete")
    finished(page)
    expect(page.locator("#outcome")).to_have_text("J18.9GR")


def test_undo_takes_decisions_back_and_never_text(page: Page) -> None:
    coded(page, "Arterielle Hypertonie", "Enter", "t")
    page.keyboard.press("End")
    page.keyboard.type(", Hypothyreose")
    finished(page)
    page.keyboard.press("Control+Enter")
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    expect(page.locator("#outcome")).to_have_text("I10.90G; E03.9G")
    for said in ("I10.90G", NOTHING, NOTHING, NOTHING):
        page.keyboard.press("u")
        expect(page.locator("#outcome")).to_have_text(said)
        expect(page.locator("#text")).to_have_value("Arterielle Hypertonie, Hypothyreose")
    page.keyboard.press("n")
    page.locator("[data-do=undo]").click()
    expect(page.locator("#text")).to_have_value("")


FILLER = " Der Patient berichtet über den Verlauf der letzten Wochen." * 30


def test_a_long_text_is_read_section_by_section_and_is_one_case(page: Page, bench: Bench) -> None:
    coded(page, f"Arterielle Hypertonie.{FILLER}\n\nHypothyreose.{FILLER}\n\nV. a. Pneumonie rechts.{FILLER}")
    assert page.locator("#marks mark").all_inner_texts() == [
        "Arterielle Hypertonie",
        "Hypothyreose",
        "Pneumonie rechts",
    ]
    for _ in range(3):
        page.keyboard.press("Enter")
    expect(page.locator("#outcome")).to_have_text("I10.90G; E03.9G; J18.9VR")
    assert leaving(page)[0] == ["I10.90G", "E03.9G", "J18.9VR"]
    begun = bench.behind.begun
    page.locator("#text").press("Control+End")
    page.keyboard.insert_text(" Gonarthrose links.")
    expect(page.locator(".code-card")).to_have_count(4)
    finished(page)
    assert bench.behind.begun - begun < 3, "the sections that stayed as they were are not asked about again"
    expect(page.locator("#outcome")).to_contain_text("I10.90G; E03.9G")


def test_a_large_replacement_can_still_be_the_same_case(page: Page) -> None:
    coded(page, "Arterielle Hypertonie", "Enter", "t")
    page.locator("#text").fill(
        "Anamnese: seit vielen Jahren bekannt. Arterielle Hypertonie, jetzt auch Hypothyreose und Gonarthrose."
    )
    finished(page)
    expect(page.locator("#outcome")).to_have_text(NOTHING)
    page.get_by_role("button", name="Doch derselbe Fall").click()
    finished(page)
    expect(page.locator("#cases")).to_be_hidden()
    expect(page.locator(".code-card")).to_have_count(3)


def test_leaving_with_codes_that_did_not_leave_is_asked_about(page: Page) -> None:
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    coded(page, "Arterielle Hypertonie", "Enter")
    page.evaluate("setTimeout(() => location.reload())")
    wait_until(lambda: page.evaluate("1") == 1 and asked == ["beforeunload"], "nobody was asked")
    expect(page.locator("#outcome")).to_have_text("I10.90G")
    page.locator(".code-card").focus()
    page.keyboard.press("c")
    expect(page.locator("#said")).to_contain_text("Kopiert")
    page.reload()
    expect(page.locator("#outcome")).to_have_text(NOTHING)
    assert asked == ["beforeunload"]


def test_the_main_diagnosis_is_chosen_by_key_and_by_dragging(page: Page) -> None:
    coded(page, "Arterielle Hypertonie, Hypothyreose, Gonarthrose links", "Enter", "Enter", "Enter")
    expect(page.locator(".chip.main")).to_have_text("HD I10.90G")
    page.keyboard.press("h")
    expect(page.locator("#outcome")).to_have_text("M17.9GL; I10.90G; E03.9G")
    page.locator(".chip").nth(2).focus()
    page.keyboard.press("Shift+ArrowLeft")
    expect(page.locator("#outcome")).to_have_text("M17.9GL; E03.9G; I10.90G")
    page.locator(".chip").nth(2).drag_to(page.locator(".chip").first)
    expect(page.locator("#outcome")).to_have_text("I10.90G; M17.9GL; E03.9G")
    expect(page.locator(".chip.main")).to_have_text("HD I10.90G")
    assert leaving(page) == [["I10.90G", "M17.9GL", "E03.9G"]] * 3
    page.locator(".chip").nth(1).focus()
    page.keyboard.press("Delete")
    expect(page.locator("#outcome")).to_have_text("I10.90G; E03.9G")


def test_a_mention_without_a_code_ends_with_one_or_deliberately_without(page: Page, bench: Bench) -> None:
    bench.behind.mode = "unsure"
    typed(page, "Hypertonie, Gicht, Asthma")
    cards = page.locator(".code-card")
    expect(cards).to_have_count(3)
    expect(page.locator(".code-card.undecided .candidates .choice").first).to_contain_text("M10.")
    page.keyboard.press("Control+Enter")
    page.keyboard.press("w")
    expect(cards.nth(1)).to_be_focused()
    page.keyboard.press("1")
    expect(page.locator("#outcome")).to_have_text("M10.99V")
    expect(cards.nth(1)).to_contain_text("von Hand gewählt")
    expect(cards.nth(2)).to_be_focused()
    page.keyboard.press("x")
    expect(cards.nth(2)).to_contain_text("bewusst ohne Kode")
    page.keyboard.press("s")
    expect(page.locator("#outcome")).to_have_text("I10.90G; M10.99V")
    expect(page.locator("#said")).to_have_text("Nichts mehr zu prüfen.")
    page.keyboard.press("u")
    page.keyboard.press("u")
    expect(cards.nth(2)).to_contain_text("unentschieden")


def test_candidates_that_could_not_be_asked_for_are_not_said_to_be_none(page: Page, bench: Bench) -> None:
    bench.behind.mode = "unsure"
    page.route("**/catalog/search/", lambda route: route.abort())
    with page.expect_event("requestfailed"):
        typed(page, "Hypertonie, Gicht, Asthma")
    expect(page.locator(".code-card.undecided")).to_have_count(2)
    expect(page.locator("#codes")).not_to_contain_text("Kein Kode mit diesen Worten.")
    page.unroute("**/catalog/search/")
    page.locator("#text").press("End")
    page.keyboard.type(".")
    expect(page.locator(".code-card.undecided:has(.choice)")).to_have_count(2)


# --- the codes ------------------------------------------------------------------------------------------------------


def test_an_asterisk_code_that_is_left_out_leaves_by_no_way(page: Page, bench: Bench) -> None:
    bench.behind.mode = "listed"
    typed(page, "Diabetische Nephropathie")
    expect(page.locator(".code-card")).to_have_count(1)
    page.keyboard.press("Control+Enter")
    page.keyboard.press("Enter")
    assert leaving(page) == [["E11.20G", "N08.3G"]] * 3
    dagger, asterisk = json.loads(saved(page, "FHIR"))["entry"]
    assert "extension" not in dagger["resource"]
    (related,) = asterisk["resource"]["extension"]
    assert related["valueReference"] == {"reference": dagger["fullUrl"]}, "the asterisk code names its dagger code"
    page.get_by_role("button", name="N08.3* mitkodieren").click()
    assert leaving(page) == [["E11.20G"]] * 3
    expect(page.locator(".code-card .pair")).to_contain_text("Es fehlt N08.3*.")
    page.locator(".code-card").focus()
    page.keyboard.press("x")
    expect(page.locator("#outcome")).to_have_text(NOTHING)
    page.get_by_text("Rückmeldung an den Betreiber").click()
    counts = [json.loads(line) for line in saved(page, "Datei speichern").splitlines()]
    assert {(one["code"], one["accepted"], one["rejected"]) for one in counts} == {("E11.20", 0, 1), ("N08.3", 0, 1)}


def test_a_code_in_the_place_of_another_is_by_hand_and_says_that_it_cannot_be_billed(page: Page) -> None:
    coded(page, "Diabetes mellitus Typ 2")
    first = page.locator(".code-card").first
    expect(first).to_contain_text("wahrscheinlich richtig")
    page.keyboard.press("o")
    first.locator('[data-choice="E11"]').click()
    expect(first).to_contain_text("von Hand gewählt")
    expect(first).not_to_contain_text("wahrscheinlich richtig")
    expect(first).to_contain_text("nicht endständig")
    expect(page.locator("#unusable")).to_have_text("E11 nicht endständig: nicht abrechenbar")
    assert leaving(page) == [["E11G"]] * 3
    page.get_by_text("Rückmeldung an den Betreiber").click()
    counts = [json.loads(line) for line in saved(page, "Datei speichern").splitlines()]
    assert [(one["code"], one["confidence"], one["accepted"]) for one in counts][1:] == [("E11", "hand", 1)]
    assert (counts[0]["code"], counts[0]["rejected"]) == ("E11.90", 1)


def test_codes_above_the_limit_of_ten_are_shown_and_leave_with_their_titles(page: Page, bench: Bench) -> None:
    bench.behind.mode = "over"
    typed(page, "Hypertonie, Gicht, Asthma")
    cards = page.locator(".code-card")
    expect(cards).to_have_count(3)
    assert [card.get_attribute("data-code") for card in cards.all()] == ["I10.90", "M10.90", "J45.99"]
    expect(cards.last).to_contain_text("„Asthma“")
    expect(cards.last.locator(".code-title")).to_contain_text("Asthma")
    expect(page.locator("#without")).to_be_empty()
    page.keyboard.press("Control+Enter")
    for _ in range(3):
        page.keyboard.press("Enter")
    assert leaving(page) == [["I10.90G", "M10.90V", "J45.99V"]] * 3
    assert "Asthma" in saved(page, "CSV").splitlines()[3]


# --- the session ----------------------------------------------------------------------------------------------------


def signed_in_again(someone: Visitor, path: str = "/coding/") -> None:
    """In a second tab, by the link that is offered."""
    with someone.context.expect_page() as opened:
        someone.page.get_by_role("link", name="Anmelden").last.click()
    second = opened.value
    second.wait_for_load_state()
    assert "/accounts/login/" in second.url
    second.locator(".vendor").click()
    second.locator('button[value="erika"]').click()
    second.wait_for_url(f"**{path}")
    second.close()


def test_an_ended_session_says_so_keeps_the_text_and_goes_on_after_signing_in(chromium: Browser, bench: Bench) -> None:
    someone = member(chromium, bench)
    page = someone.open("/coding/")
    coded(page, "Arterielle Hypertonie", "Enter")
    someone.context.clear_cookies()
    page.locator("#add").fill("gicht")
    expect(page.locator("#adder")).to_contain_text(ENDED)
    expect(page.locator("#adder")).not_to_contain_text("Katalog")
    page.locator("#text").press("End")
    page.keyboard.type(", Hypothyreose")
    expect(page.locator("#failure")).to_contain_text(ENDED)
    expect(page.locator("#text")).to_have_value("Arterielle Hypertonie, Hypothyreose")
    expect(page.locator("#outcome")).to_have_text("I10.90G")
    signed_in_again(someone)
    page.locator("#failure").get_by_role("button", name="Erneut versuchen").click()
    finished(page)
    expect(page.locator(".code-card")).to_have_count(2)
    page.locator("#adder").get_by_role("button", name="Erneut versuchen").click()
    expect(page.locator("#matches .choice").first).to_be_visible()
    someone.context.close()


def test_an_ended_session_keeps_a_letter_and_an_instruction(chromium: Browser, bench: Bench) -> None:
    for path, button, kept in (
        ("/extraction/", "Felder lesen", {"#text": LETTER}),
        ("/drafting/", "Entwurf schreiben", {"#text": LETTER, "#prompt": "Fasse zusammen."}),
    ):
        someone = member(chromium, bench)
        page = someone.open(path)
        someone.context.clear_cookies()
        for box, words in kept.items():
            page.locator(box).fill(words)
        page.get_by_role("button", name=button).click()
        expect(page.locator("#failure")).to_contain_text(ENDED)
        for box, words in kept.items():
            expect(page.locator(box)).to_have_value(words)
        signed_in_again(someone, path)
        page.locator("#failure").get_by_role("button", name="Erneut versuchen").click()
        expect(page.locator("#failure")).to_be_empty()
        expect(page.locator("#running")).to_be_hidden()
        assert page.locator(".fields").count() or page.locator("#draft").input_value()
        someone.context.close()


# --- letters --------------------------------------------------------------------------------------------------------


def test_nothing_can_be_saved_before_a_letter_was_read(erika: Visitor) -> None:
    page = erika.open("/extraction/")
    thrown: list[str] = []
    page.on("pageerror", lambda error: thrown.append(str(error)))
    for name in ("json", "copy", "undo"):
        expect(page.locator(f"[data-do={name}]")).to_be_hidden()
        page.locator(f"[data-do={name}]").dispatch_event("click")
    assert thrown == []


def test_a_day_that_is_not_in_the_calendar_is_not_taken(erika: Visitor) -> None:
    page = erika.open("/extraction/")
    page.get_by_role("button", name="Beispielbrief").click()
    birth = page.locator('[data-path="patient.geburtsdatum"]')
    expect(birth).to_have_value("1957-08-12")
    downloads: list[object] = []
    page.on("download", lambda one: downloads.append(one))
    for day in ("31.02.1957", "1957-02-31", "12.13.1957", "am Montag", "12.08.2057"):
        birth.fill(day)
        page.keyboard.press("Tab")
        expect(birth).to_have_value(day)
        expect(birth).to_have_attribute("aria-invalid", "true")
        expect(page.get_by_text("Erwartet wird TT.MM.JJJJ").first).to_be_visible()
        page.get_by_role("button", name="Als JSON speichern").click()
        expect(birth).to_be_focused()
    assert downloads == []
    birth.fill("3.2.1957")
    page.keyboard.press("Tab")
    expect(birth).to_have_value("1957-02-03")
    assert json.loads(saved(page, "Als JSON speichern"))["data"]["patient"]["geburtsdatum"] == "1957-02-03"


def test_a_field_of_a_fixed_list_takes_its_values_alone(erika: Visitor) -> None:
    page = erika.open("/extraction/")
    page.get_by_role("button", name="Beispielbrief").click()
    kind = page.locator('[data-path="aufenthalt.art"]')
    expect(kind).to_have_value("stationaer")
    assert kind.locator("option").all_inner_texts() == ["", "stationär", "ambulant"]
    kind.select_option("ambulant")
    assert json.loads(saved(page, "Als JSON speichern"))["data"]["aufenthalt"]["art"] == "ambulant"


def test_no_field_stays_beside_another_letter_than_its_own(erika: Visitor, bench: Bench) -> None:
    bench.behind.mode = "lying"
    page = erika.open("/extraction/")
    page.locator("#text").fill(LETTER)
    page.keyboard.press("Control+Enter")
    name = page.locator('[data-path="patient.nachname"]')
    expect(name).to_have_value("Muster")
    page.locator("#text").press("Control+End")
    page.keyboard.type(" morgens")
    expect(page.locator("#remarks")).to_contain_text("Der Brief wurde geändert, seit er gelesen wurde.")
    expect(name).to_have_value("Muster")
    page.locator("#text").fill("Patientin: Berta Beispiel")
    expect(name).to_have_count(0)
    expect(page.locator("[data-do=json]")).to_be_hidden()


def test_no_draft_stays_beside_another_text_than_its_own(erika: Visitor) -> None:
    page = erika.open("/drafting/")
    page.get_by_role("button", name="Beispiel").click()
    page.get_by_role("button", name="Entwurf schreiben").click()
    expect(page.locator("#draft")).not_to_have_value("")
    page.get_by_label("Text", exact=True).fill("Hypertonie seit 2019.")
    expect(page.locator("#draft")).to_have_value("")
    page.get_by_role("button", name="Vorigen Entwurf zeigen").click()
    expect(page.locator("#draft")).not_to_have_value("")
