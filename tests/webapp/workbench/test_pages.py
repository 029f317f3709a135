"""Every page of the webapp in light and dark, on a phone and on a desk: axe-core finds nothing; weights; times."""

import gzip
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Response, expect

from tests.webapp.browser import DESK, PHONE, Visitor, looks, picture, violations
from tests.webapp.sso import live
from tests.webapp.workbench.conftest import LETTER, Bench, coded, finished, member, typed
from tests.written_files import pdf_of

HEAVIEST = 60 * 1024
"""Bytes of a page with all it loads, compressed."""
CONTRAST = "{runOnly: ['color-contrast']}"
"""Light or dark changes colours alone."""


@pytest.fixture
def looking(chromium: Browser, bench: Bench) -> Iterator[Visitor]:
    if reason := live.node_missing("axe-core"):
        pytest.skip(reason)
    someone = member(chromium, bench, bypass_csp=True)
    yield someone
    someone.context.close()


def example(page: Page) -> None:
    page.get_by_role("button", name="Beispiel").click()
    expect(page.locator("#count")).to_contain_text("Stufe 3", timeout=20_000)
    page.locator(".code-card").first.focus()
    for key in ("Enter", "x", "o"):
        page.keyboard.press(key)
    page.locator("[data-do=help]").click()


def read(page: Page) -> None:
    page.get_by_role("button", name="Beispielbrief").click()
    page.locator(".fields").first.wait_for()


def drafted(page: Page) -> None:
    page.get_by_role("button", name="Beispiel").click()
    page.get_by_role("button", name="Entwurf schreiben").click()
    expect(page.locator("#draft")).not_to_have_value("")


def searched(page: Page) -> None:
    page.locator("#q").fill("diabetes")
    page.keyboard.press("Enter")
    page.locator("h1", has_text="Katalog").wait_for()


PAGES = {
    "/": None, "/coding/": example, "/extraction/": read, "/drafting/": drafted, "/catalog/": searched,
    "/catalog/chapters/04/": None, "/catalog/groups/E10-E14/": None, "/catalog/E11.90/": None,
    "/accounts/": None, "/documents/": None, "/tokens/": None, "/operator/providers/": None,
    "/operator/providers/add/": None, "/operator/providers/demo/": None, "/operator/audit/": None,
    "/operator/members/": None, "/no/such/page": None, f"{live.CALLBACK}?state=x": None, "/accounts/complete/": None,
}  # fmt: skip


def wrong_with(page: Page, name: str) -> list[str]:
    """Finds of axe-core on a desk in light and on a phone in dark, and whether a page is wider than a phone."""
    looks(page, name)
    found = []
    for size, scheme in ((DESK, "light"), (PHONE, "dark")):
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme)
        found += [f"{scheme}: {one}" for one in violations(page)]
    if page.evaluate("document.documentElement.scrollWidth > innerWidth + 1"):
        found.append("wider than the screen")
    return found


PARTS = 6
"""Parts of a walk over all pages or states: one test would be long on a busy machine."""


@pytest.mark.parametrize("part", range(PARTS))
def test_axe_finds_nothing_and_nothing_is_wider_than_the_screen(looking: Visitor, part: int) -> None:
    found: dict[str, list[str]] = {}
    for path, prepare in list(PAGES.items())[part::PARTS]:
        looking.page.set_viewport_size(DESK)
        page = looking.open(path)
        if prepare:
            prepare(page)
        if wrong := wrong_with(page, path.strip("/").partition("?")[0].replace("/", "-") or "start"):
            found[path] = wrong
        if path in ("/coding/", "/extraction/", "/"):
            picture(page, f"{path.strip('/') or 'start'}-phone-dark")
    assert found == {}


def test_axe_finds_nothing_in_the_rarer_states(looking: Visitor, bench: Bench) -> None:
    page = looking.open("/coding/")
    found = []
    for mode, words in (("listed", "Diabetische Nephropathie"), ("over", "Hypertonie, Gicht, Asthma")):
        bench.behind.mode = mode
        page.set_viewport_size(DESK)
        typed(page, words)
        expect(page.locator("#count")).to_contain_text("Stufe 1")
        page.keyboard.press("Control+Enter")
        page.keyboard.press("Enter")
        expect(page.locator(".code-card.accepted")).to_have_count(1)
        found += wrong_with(page, f"coding-{mode}")
    bench.behind.mode = "real"
    page.set_viewport_size(DESK)
    looking.open("/extraction/")
    read(page)
    page.locator('[data-path="patient.geburtsdatum"]').fill("31.02.1957")
    page.keyboard.press("Tab")
    found += wrong_with(page, "extraction-wrong-day")
    looking.open("/coding/")
    looking.context.clear_cookies()
    page.locator("#add").fill("gicht")
    typed(page, "Hypertonie")
    expect(page.get_by_text("Ihre Sitzung ist beendet.")).to_have_count(2)
    found += wrong_with(page, "coding-signed-out")
    assert found == []


def corrected(page: Page, bench: Bench) -> None:
    coded(page, "Arterielle Hypertonie, V. a. Pneumonie rechts, kein Fieber. Mutter: Mammakarzinom.", "m")


def conflicting(page: Page, bench: Bench) -> None:
    coded(page, "Arterielle Hypertonie, Diabetes mellitus Typ 2, Hypothyreose", "s")
    page.locator("#add").fill("E14.90")
    expect(page.locator("#matches")).to_have_attribute("data-of", "E14.90")
    page.keyboard.press("Enter")
    page.get_by_text("Angaben zum Fall").click()
    page.get_by_text("Rückmeldung an den Betreiber").click()
    expect(page.locator("#conflicts")).to_be_visible()


def several(page: Page, bench: Bench) -> None:
    for words in ("Arterielle Hypertonie", "Hypothyreose und Gicht"):
        coded(page, words, "Enter", "n")
    typed(page, "Gonarthrose links")
    finished(page)
    page.locator("#add").focus()


def undecided(page: Page, bench: Bench) -> None:
    bench.behind.mode = "unsure"
    typed(page, "Hypertonie, Gicht, Asthma")
    page.locator(".candidates .choice").first.wait_for()
    page.keyboard.press("Control+Enter")


def lonely(page: Page, bench: Bench) -> None:
    page.locator("#add").fill("E11.20")
    expect(page.locator("#matches")).to_have_attribute("data-of", "E11.20")
    page.keyboard.press("Enter")
    page.locator("[data-half]").first.wait_for()


def failing(page: Page, bench: Bench) -> None:
    bench.behind.mode = "quota"
    typed(page, "Hypertonie")
    page.locator("#failure .note").wait_for()


def waiting(page: Page, bench: Bench) -> None:
    bench.behind.mode = "silent"
    typed(page, "Hypertonie")
    expect(page.locator("#running")).to_contain_text("ungewöhnlich lange")


def lying(page: Page, bench: Bench) -> None:
    bench.behind.mode = "lying"
    page.locator("#text").fill(LETTER)
    page.keyboard.press("Control+Enter")
    expect(page.locator('[data-path="patient.nachname"]')).to_be_focused()
    page.keyboard.press("Enter")
    page.locator("#text").press("Control+End")
    page.keyboard.press("Backspace")
    page.locator('[data-path="patient.vorname"]').focus()
    page.locator("#text").press("Control+a")
    page.locator("#fill button").first.wait_for()


def filed(page: Page, bench: Bench) -> None:
    page.locator("#file").set_input_files(
        [{"name": "brief.pdf", "mimeType": "", "buffer": pdf_of(LETTER.splitlines())}]
    )
    expect(page.locator(".sheet img")).to_have_attribute("src", re.compile("^data:image"), timeout=20_000)


def another(page: Page, bench: Bench) -> None:
    coded(page, "Arterielle Hypertonie", "Enter", "c")
    typed(page, "Kein Fieber. Mutter: Mammakarzinom. Termin zur Abklärung einer Gicht.")
    finished(page)
    page.locator("#same").wait_for()


def unread(page: Page, bench: Bench) -> None:
    bench.behind.mode = "unusable"
    page.get_by_role("button", name="Beispielbrief").click()
    page.locator("#failure .note").wait_for()


def reading(page: Page, bench: Bench) -> None:
    bench.behind.mode = "silent"
    page.get_by_role("button", name="Beispielbrief").click()
    page.locator("#running .spinner").wait_for()


def queued(page: Page, bench: Bench) -> None:
    files = {"eins.pdf": pdf_of(LETTER.splitlines()), "zwei.pdf": b"%PDF-1.7"}
    page.locator("#file").set_input_files(
        [{"name": name, "mimeType": "", "buffer": data} for name, data in files.items()]
    )
    page.get_by_role("button", name="✗ zwei.pdf").click(timeout=20_000)
    page.locator("#failure .note").wait_for()


def undrafted(page: Page, bench: Bench) -> None:
    bench.behind.mode = "quota"
    page.get_by_role("button", name="Beispiel").click()
    page.get_by_role("button", name="Entwurf schreiben").click()
    page.locator("#failure .note").wait_for()


def dropping(page: Page, bench: Bench) -> None:
    page.get_by_label("Anweisung", exact=True).fill("Fasse zusammen.")
    page.get_by_text("Anweisung merken").click()
    page.get_by_label("Name").fill("Kurzfassung")
    page.get_by_role("button", name="Speichern").click()
    page.get_by_role("button", name="Kurzfassung löschen").click()
    expect(page.get_by_role("dialog")).to_be_visible()


def looking_up(page: Page, bench: Bench) -> None:
    page.locator("#q").press_sequentially("zuckerkr")
    page.locator("#live a").first.wait_for()


def unfound(page: Page, bench: Bench) -> None:
    page.locator("#q").fill("xqzxqz")
    page.keyboard.press("Enter")
    page.locator("h1", has_text="Katalog").wait_for()


def stored(page: Page, bench: Bench) -> None:
    page.get_by_role("link", name="Arztbrief Kardiologie").click()
    page.get_by_role("button", name="Als fehlerhaft markieren").wait_for()


def in_error(page: Page, bench: Bench) -> None:
    page.get_by_role("link", name="Zuweisung Radiologie").click()
    page.get_by_role("button", name="Als fehlerhaft markieren").click()
    page.get_by_role("button", name="Ja").click()
    page.get_by_role("button", name="Markierung aufheben").wait_for()


def of_nobody(page: Page, bench: Bench) -> None:
    page.goto(f"{page.url}?patient=niemand")


def read_out(page: Page, bench: Bench) -> None:
    stored(page, bench)
    page.get_by_role("link", name="Auslesen").click()
    page.locator("[data-code]").first.wait_for(timeout=20_000)


def created(page: Page, bench: Bench) -> None:
    page.get_by_label("Wofür").fill("Praxisprogramm")
    page.get_by_role("button", name="Erstellen").click()
    page.locator("#token").wait_for()


def revoking(page: Page, bench: Bench) -> None:
    created(page, bench)
    page.get_by_role("button", name="widerrufen").first.click()
    expect(page.get_by_role("dialog")).to_be_visible()


def nameless(page: Page, bench: Bench) -> None:
    page.get_by_role("button", name="Anlegen").click()


def serving(page: Page, bench: Bench) -> None:
    page.get_by_label("Name des Programms").fill("Praxisprogramm")
    page.get_by_role("button", name="Anlegen").click()
    page.locator("h1", has_text="Praxisprogramm").wait_for()


def removing(page: Page, bench: Bench) -> None:
    page.get_by_role("button", name="entfernen").first.click()
    expect(page.get_by_role("dialog")).to_be_visible()


def asking(page: Page, bench: Bench) -> None:
    page.get_by_role("button", name="Alle Sitzungen beenden").click()
    expect(page.get_by_role("dialog")).to_be_visible()


def managing(page: Page, bench: Bench) -> None:
    page.get_by_role("button", name="Verwaltung").click()


STATES = {
    "coding-empty": ("/coding/", None), "coding-correcting": ("/coding/", corrected),
    "coding-conflicts": ("/coding/", conflicting), "coding-cases": ("/coding/", several),
    "coding-undecided": ("/coding/", undecided), "coding-half-a-pair": ("/coding/", lonely),
    "coding-failed": ("/coding/", failing), "coding-slow": ("/coding/", waiting),
    "extraction-empty": ("/extraction/", None), "extraction-removed": ("/extraction/", lying),
    "extraction-file": ("/extraction/", filed), "account-asks": ("/accounts/", asking),
    "management": ("/", managing), "coding-another-case": ("/coding/", another),
    "extraction-failed": ("/extraction/", unread), "extraction-slow": ("/extraction/", reading),
    "extraction-files": ("/extraction/", queued), "drafting-failed": ("/drafting/", undrafted),
    "drafting-asks": ("/drafting/", dropping), "catalog-typed": ("/catalog/", looking_up),
    "catalog-nothing": ("/catalog/", unfound), "document": ("/documents/", stored),
    "stored-letter": ("/documents/", read_out), "token-asks": ("/tokens/", revoking),
    "services": ("/operator/services/", None), "service": ("/operator/services/", serving),
    "members-ask": ("/operator/members/", removing), "document-in-error": ("/documents/", in_error),
    "documents-nothing": ("/documents/", of_nobody), "token": ("/tokens/", created),
    "services-refused": ("/operator/services/", nameless),
}  # fmt: skip


@pytest.mark.parametrize("part", range(PARTS))
def test_axe_finds_nothing_in_any_state(looking: Visitor, bench: Bench, part: int) -> None:
    found: dict[str, list[str]] = {}
    for name, (path, prepare) in list(STATES.items())[part::PARTS]:
        bench.behind.mode = "real"
        looking.page.set_viewport_size(DESK)
        looking.page.emulate_media(color_scheme="light")
        page = looking.open(path)
        if prepare:
            prepare(page, bench)
        looks(page, name)
        page.set_viewport_size(PHONE)
        page.emulate_media(color_scheme="light")
        wrong = violations(page)
        page.emulate_media(color_scheme="dark")
        wrong += [f"dark: {one}" for one in violations(page, CONTRAST)]
        if page.evaluate("document.documentElement.scrollWidth > innerWidth + 1"):
            wrong.append("wider than the screen")
        if wrong:
            found[name] = wrong
    assert found == {}


def test_the_demo_vendor_and_the_code_page_too(looking: Visitor, bench: Bench) -> None:
    looking.context.clear_cookies()
    page = looking.open("/accounts/vendor_oauth2/login/?provider_id=demo")
    assert "/development/vendor/" in page.url
    assert wrong_with(page, "demo-vendor") == []
    page.locator('button[value="otto"]').click()
    page.get_by_label("E-Mail-Adresse").fill("otto@example.org")
    assert wrong_with(page, "address") == []
    page.keyboard.press("Enter")
    expect(page.get_by_label("Code aus der E-Mail")).to_be_visible()
    assert wrong_with(page, "code") == []
    looking.context.clear_cookies()
    for path, name in {"/": "start-signed-out", "/accounts/login/": "login"}.items():
        assert wrong_with(looking.open(path), name) == []


def test_the_menu_is_whole_on_a_phone_and_by_keys(erika: Visitor) -> None:
    page = erika.open("/accounts/")
    for size in (DESK, PHONE):
        page.set_viewport_size(size)
        for name in ("Kodieren", "Extrahieren", "Formulieren", "Katalog", "Dokumente", "Konto", "Abmelden"):
            box = page.locator(".bar").get_by_text(name, exact=True).bounding_box()
            assert 0 <= box["x"] < box["x"] + box["width"] <= size["width"], name
        page.get_by_role("button", name="Verwaltung").focus()
        page.keyboard.press("Enter")
        for name in ("Anbieter", "Mitglieder", "Dienstkonten", "Protokoll"):
            expect(page.get_by_role("link", name=name)).to_be_in_viewport()
        page.keyboard.press("Escape")
        expect(page.get_by_role("link", name="Protokoll")).to_be_hidden()
    page.set_viewport_size(DESK)
    page.get_by_role("button", name="Verwaltung").click()
    page.get_by_role("link", name="Protokoll").click()
    expect(page.get_by_role("heading", name="Protokoll")).to_be_visible()
    expect(page.get_by_role("button", name="Verwaltung")).to_have_attribute("aria-current", "true")


def test_every_page_has_the_same_width(looking: Visitor) -> None:
    boxes = {}
    for path in PAGES:
        box = looking.open(path).locator("main").bounding_box()
        assert box
        boxes[path] = (box["x"], box["width"])
    assert len(set(boxes.values())) == 1, boxes


def test_people_see_no_identifiers_of_systems(erika: Visitor) -> None:
    page = erika.open("/documents/")
    expect(page.locator("tbody tr").first).to_be_visible()
    assert "|" not in page.locator("main").inner_text()
    assert "|" not in "".join(one.get_attribute("placeholder") or "" for one in page.locator("input").all())


def test_one_click_from_the_start_page_to_the_first_codes(chromium: Browser, bench: Bench) -> None:
    someone = Visitor(chromium, bench)  # type: ignore[arg-type] # it has what a visitor needs of a stage
    page = someone.open("/")
    picture(page, "start")
    page.get_by_role("button", name="Als Erika Mustermann ausprobieren").click()
    expect(page.locator(".code-card")).to_have_count(5, timeout=20_000)
    someone.context.close()


def test_no_page_is_heavy(erika: Visitor) -> None:
    for path in ("/coding/", "/extraction/", "/drafting/", "/catalog/", "/catalog/E11.90/"):
        answers: list[Response] = []
        page = erika.context.new_page()
        page.on("response", lambda answer, kept=answers: kept.append(answer))
        page.goto(erika.stage.base + path)
        page.wait_for_load_state("networkidle")
        assert [answer.url for answer in answers if not answer.url.startswith(erika.stage.base)] == []
        weight = sum(len(gzip.compress(answer.body())) for answer in answers)
        print(f"{path}: {weight / 1024:.1f} kB compressed in {len(answers)} files")
        assert weight < HEAVIEST
        page.close()


def test_scripts_hold_no_words_of_their_own_and_no_addresses_of_others() -> None:
    scripts = list(Path("webapp/static/workbench").glob("*.js"))
    assert len(scripts) > 3
    for script in scripts:
        source = script.read_text("utf-8")
        assert "localStorage" not in source
        assert "innerHTML" not in source
        assert "console.log" not in source


def test_how_long_the_page_is_busy_while_somebody_types_on_at_two_thousand_characters(erika: Visitor) -> None:
    page = erika.open("/coding/")
    words = "Arterielle Hypertonie, Hypothyreose, Gonarthrose links, Diabetes mellitus Typ 2. "
    typed(page, (words * 30)[:1_980])
    expect(page.locator("#count")).to_contain_text("Stufe 3", timeout=20_000)
    page.evaluate(
        """() => { window.tasks = []; new PerformanceObserver((list) => window.tasks.push(
             ...list.getEntries().map((one) => Math.round(one.duration)))).observe({type: "longtask"}); }"""
    )
    page.locator("#text").press("Control+End")
    page.keyboard.type(" und noch", delay=60)
    page.locator("#text").press("Control+Home")
    page.keyboard.type("Heute: ", delay=60)
    expect(page.locator("#text")).to_have_value(re.compile("^Heute: .* und noch$"))
    expect(page.locator("#count")).to_contain_text("Stufe 3", timeout=20_000)
    tasks = page.evaluate("window.tasks")
    print(f"tasks of more than 50 ms while 16 keys were typed: {len(tasks)}, the longest {max(tasks, default=0)} ms")
    assert page.locator("#marks mark").count() > 0, "marks stay while somebody types"


def test_how_soon_the_first_codes_come(erika: Visitor) -> None:
    page = erika.open("/coding/")
    times = []
    for words in ("Hypertonie", "Hypertonie, Gicht", "Gonarthrose links", "Diabetes mellitus Typ 2", "Hypothyreose"):
        page.locator("#text").fill("")
        expect(page.locator(".code-card")).to_have_count(0)
        times.append(
            page.evaluate(
                """words => new Promise(done => {
                     const list = document.getElementById("codes"), box = document.getElementById("text");
                     new MutationObserver((_, seen) => {
                       if (!list.children.length) return;
                       seen.disconnect();
                       done(performance.now() - began);
                     }).observe(list, {childList: true});
                     box.value = words;
                     const began = performance.now();
                     box.dispatchEvent(new InputEvent("input", {inputType: "insertText", bubbles: true}));
                   })""",
                words,
            )
        )
    print("first codes after the last keystroke, ms:", [round(time) for time in times])
    assert len(times) == 5
