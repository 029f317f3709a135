"""The page "Kodieren" in a real browser, before the real text API and before ones that fail."""

import json
import re
from pathlib import Path

import pytest
from fhir.resources.R4B.bundle import Bundle
from playwright.sync_api import Page, expect

from catalog_build.training.feedback import read_counts, read_reviews
from clinical.reading.index import SearchIndex
from tests.serving import wait_until
from tests.webapp.browser import Visitor, picture
from tests.webapp.workbench.conftest import Bench, coded, finished, nothing_left, saved, typed

FIVE = "Arterielle Hypertonie, Diabetes mellitus Typ 2, Hypothyreose\nV. a. Pneumonie rechts\nGonarthrose links"
RIGHT = "I10.90G; E11.90G; E03.9G; J18.9VR; M17.9GL"
CANARY = "Quarzgrund"


def test_five_codes_are_accepted_and_copied_with_six_keys(page: Page) -> None:
    page.get_by_role("button", name="Beispiel").click()
    finished(page)
    expect(page.locator(".code-card").first).to_be_focused()
    picture(page, "coding")
    keys = ["Enter"] * 5 + ["c"]
    for key in keys:
        page.keyboard.press(key)
    expect(page.locator("#said")).to_contain_text("Kopiert")
    assert page.evaluate("navigator.clipboard.readText()") == RIGHT
    print(f"keystrokes to accept five right codes and copy them: {len(keys)}")


def test_a_dagger_code_and_its_asterisk_code_are_offered_and_accepted_together(page: Page, bench: Bench) -> None:
    bench.behind.mode = "paired"
    typed(page, "Diabetische Nephropathie")
    expect(page.locator(".code-card .pair")).to_contain_text("+ N08.3")
    page.keyboard.press("Control+Enter")
    page.keyboard.press("Enter")
    page.keyboard.press("c")
    expect(page.locator("#said")).to_contain_text("Kopiert")
    assert page.evaluate("navigator.clipboard.readText()") == "E11.20G; N08.3G"


def test_typing_shows_marks_and_codes_and_says_why_there_is_none(page: Page) -> None:
    typed(page, "Z. n. Hinterwandinfarkt 2019. Kein Fieber. V. a. Pneumonie. Mutter: Mammakarzinom.")
    finished(page)
    classes = [re.sub(r"\s*active", "", mark.get_attribute("class")) for mark in page.locator("#marks mark").all()]
    assert classes == ["m history", "m excluded", "m suspected", "m family"]
    expect(page.locator("#without")).to_contain_text("Fieber verneint: kein Kode")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#marks mark.active")).to_have_count(1)
    lines = page.evaluate("[...document.querySelectorAll('#marks mark')].map(m => getComputedStyle(m).textDecoration)")
    assert len(set(lines)) == 4, "form tells them apart, not colour alone"


def test_keys_decide_and_everything_can_be_undone(page: Page) -> None:
    coded(page, FIVE)
    outcome = page.locator("#outcome")
    for key, said in (
        ("Enter", "I10.90G"), ("x", "I10.90G"), ("v", "I10.90G"), ("Enter", "I10.90G; E03.9V"),
        ("u", "I10.90G"), ("u", "I10.90G"), ("u", "I10.90G"), ("u", "Noch nichts übernommen."),
    ):  # fmt: skip
        page.keyboard.press(key)
        expect(outcome).to_have_text(said)
    page.keyboard.press("Home")
    page.keyboard.press("l")
    page.keyboard.press("Enter")
    expect(outcome).to_have_text("I10.90GL")
    page.keyboard.press("End")
    page.keyboard.press("o")
    expect(page.locator(".choice").first).to_be_focused()
    page.keyboard.press("Enter")
    expect(outcome).to_have_text(re.compile(r"^I10.90GL; M17\.\dGL$"))
    page.keyboard.press("/")
    page.keyboard.type("gicht")
    page.locator("#matches .choice").first.wait_for()
    page.keyboard.press("Enter")
    expect(outcome).to_have_text(re.compile(r"; M10\.\S+G$"))
    page.keyboard.press("n")
    expect(page.locator("#text")).to_have_value("")
    expect(outcome).to_have_text("Noch nichts übernommen.")
    page.locator(".case").first.click()
    expect(page.locator("#text")).to_have_value(FIVE)
    expect(outcome).to_have_text(re.compile(r"M17\.\dGL"))


def test_single_letters_can_be_switched_off_as_keys_for_good(page: Page) -> None:
    page.keyboard.press("Control+Enter")
    page.get_by_role("button", name="Tasten").click()
    page.get_by_label("Buchstaben wirken als Tasten").uncheck()
    for _ in range(2):
        coded(page, "Arterielle Hypertonie", "x")
        expect(page.locator(".code-card.rejected")).to_have_count(0)
        page.keyboard.press("Delete")
        expect(page.locator(".code-card.rejected")).to_have_count(1)
        page.reload()
    page.get_by_role("button", name="Tasten").click()
    page.get_by_label("Buchstaben wirken als Tasten").check()
    coded(page, "Arterielle Hypertonie", "x")
    expect(page.locator(".code-card.rejected")).to_have_count(1)


def test_the_system_colours_show_every_choice(page: Page) -> None:
    page.emulate_media(forced_colors="active")
    coded(page, "Arterielle Hypertonie", "Enter", "n")
    coded(page, "Hypothyreose, Gonarthrose links", "Enter", "Enter", "/")
    page.keyboard.type("gicht")
    page.keyboard.press("Enter")  # takes the first once these words are answered
    expect(page.locator(".code-card")).to_have_count(3)
    page.keyboard.press("x")
    page.keyboard.press("Home")
    page.keyboard.press("m")
    for chosen, other in (
        (".segment[aria-pressed=true]", ".segment[aria-pressed=false]"),
        (".act.accept[aria-pressed=true]", ".act.accept[aria-pressed=false]"),
        (".act.reject[aria-pressed=true]", ".act.reject[aria-pressed=false]"),
        (".chip.main", ".chip:not(.main)"),
        (".case[aria-current]", ".case:not([aria-current])"),
        ("#mention [aria-pressed=true]", "#mention [aria-pressed=false]"),
        ("nav [aria-current]", "nav a:not([aria-current])"),
    ):
        looks = [
            page.locator(one).first.evaluate("one => [getComputedStyle(one).background, getComputedStyle(one).border]")
            for one in (chosen, other)
        ]
        assert looks[0] != looks[1], chosen


def test_the_keys_are_a_table(page: Page) -> None:
    table = page.get_by_role("table", name="Tasten")
    expect(table).to_be_hidden()
    page.locator("h1").click()
    page.keyboard.press("?")
    expect(table.get_by_role("row", name="Strg Enter vom Text zu den Kodes")).to_be_visible()
    expect(table.get_by_role("row", name="S alles sehr wahrscheinlich Richtige übernehmen")).to_be_visible()
    page.keyboard.press("?")
    expect(table).to_be_hidden()


def test_print_shows_the_text_and_what_was_accepted(page: Page) -> None:
    coded(page, "Arterielle Hypertonie, Hypothyreose", "Enter")
    page.emulate_media(media="print")
    for there in ("#text", ".code-card.accepted", ".chip.main"):
        expect(page.locator(there)).to_be_visible()
    for gone in ("nav", ".code-card:not(.accepted)", "#add", "[data-do=copy]", ".code-acts", ".legend", ".foot"):
        expect(page.locator(gone).first).to_be_hidden()


def test_the_result_leaves_as_fhir_csv_and_feedback(page: Page, tmp_path: Path, index: SearchIndex) -> None:
    coded(page, FIVE, "Enter", "Enter", "x", "Enter", "Enter")
    bundle = Bundle.model_validate(json.loads(saved(page, "FHIR")))
    codings = [entry.resource.code.coding[0] for entry in bundle.entry]
    assert [one.code for one in codings] == ["I10.90", "E11.90", "J18.9", "M17.9"]
    assert {e.valueCoding.code for e in codings[2].extension} == {"V", "R"}
    assert bundle.entry[2].resource.verificationStatus.coding[0].code == "provisional"
    table = saved(page, "CSV").lstrip("\ufeff").splitlines()
    assert table[0] == "Kode;Bezeichnung;Sicherheit;Seite;Art;Textstelle;Gehört zu"
    assert table[3] == '"J18.9";"Pneumonie, nicht näher bezeichnet";"V";"R";"Nebendiagnose";"Pneumonie rechts";""'
    assert bundle.entry[2].resource.evidence[0].code[0].text == "Pneumonie rechts"
    lines = saved(page, "xDT").split("\n")
    assert lines[4:] == ["0146001J18.9", "0106003V", "0106004R", "0146001M17.9", "0106003G", "0106004L", ""]
    page.get_by_text("Rückmeldung an den Betreiber").click()
    silent = saved(page, "Datei speichern")
    assert not any(word in silent for word in FIVE.split())
    (tmp_path / "counts.jsonl").write_text(silent, "utf-8")
    counts, faults = read_counts(tmp_path / "counts.jsonl", index.catalog)
    assert faults == []
    assert {(one.code, one.accepted, one.rejected) for one in counts} == {
        ("I10.90", 1, 0), ("E11.90", 1, 0), ("E03.9", 0, 1), ("J18.9", 1, 0), ("M17.9", 1, 0),
    }  # fmt: skip
    assert {one.confidence for one in counts} <= {"high", "medium", "low"}
    page.get_by_label("Die Texte mitgeben").check()
    spoken = json.loads(saved(page, "Datei speichern"))
    assert spoken["query"] == FIVE
    (tmp_path / "feedback.jsonl").write_text(json.dumps(spoken), "utf-8")
    reviews, faults = read_reviews(tmp_path / "feedback.jsonl", index.catalog)
    assert faults == []
    assert (reviews[0].accepted, reviews[0].rejected) == (("I10.90", "E11.90", "J18.9", "M17.9"), ("E03.9",))


@pytest.mark.parametrize(
    ("mode", "part", "said"),
    [
        ("broken", "Text-API:", "brach mitten in der Antwort ab"),
        ("quota", "Text-API:", "Das Kontingent ist erreicht. Danach geht es weiter. in 17 s"),
        ("dead", "Text-API:", "antwortet nicht"),
    ],
)
def test_a_failure_names_the_part_and_keeps_the_text(page: Page, bench: Bench, mode: str, part: str, said: str) -> None:
    bench.behind.mode = mode
    typed(page, "Hypertonie")
    failure = page.locator("#failure")
    expect(failure).to_contain_text(part)
    expect(failure).to_contain_text(said)
    expect(page.locator("#text")).to_have_value("Hypertonie")
    assert page.locator(".code-card").count() == (1 if mode == "broken" else 0)
    assert "geheim" not in page.content()
    bench.behind.mode = "real"
    page.get_by_role("button", name="Erneut versuchen").click()
    finished(page)
    expect(failure).to_be_empty()


def test_a_slow_model_shows_tier_time_and_a_way_out_and_leaving_ends_the_call(page: Page, bench: Bench) -> None:
    bench.behind.mode = "slow"
    typed(page, "Hypertonie")
    expect(page.locator("#running")).to_contain_text("Stufe 2 von 3: Auswahl durch das Sprachmodell")
    expect(page.locator("#running .clock")).to_have_text("1 s")
    expect(page.locator(".code-card")).to_have_count(1)
    page.get_by_role("button", name="Abbrechen").click()
    wait_until(lambda: bench.behind.open == 0, "cancelling left a call open", 2)
    typed(page, "Hypertonie!")
    expect(page.locator("#running")).to_contain_text("Stufe 2")
    assert bench.behind.open == 1
    page.goto("about:blank")
    wait_until(lambda: bench.behind.open == 0, "leaving the page left a call open", 2)
    print("calls left 2 s after leaving the page: 0")


def test_a_search_that_takes_long_is_said_to(page: Page, bench: Bench) -> None:
    bench.behind.mode = "silent"
    typed(page, "Hypertonie")
    expect(page.locator("#running")).to_contain_text("Suche im Katalog")
    expect(page.locator("#running")).to_contain_text("Es dauert ungewöhnlich lange.")
    page.get_by_role("button", name="Abbrechen").click()
    expect(page.locator("#running")).to_be_hidden()
    expect(page.locator("#text")).to_have_value("Hypertonie")


def test_nothing_of_a_text_stays_in_the_browser_the_address_or_the_logs(erika: Visitor, bench: Bench) -> None:
    page = erika.open("/coding/")
    addresses: list[str] = []
    page.on("request", lambda request: addresses.append(request.url))
    typed(page, f"{CANARY}, Hypertonie, Gicht")
    finished(page)
    page.locator("#add").fill(CANARY)
    page.keyboard.press("Enter")
    nothing_left(erika, bench, page, addresses, CANARY)
    assert any("/coding/events/" in address for address in addresses)
