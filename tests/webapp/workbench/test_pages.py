"""Every page of the webapp in light and dark, on a phone and on a desk: axe-core finds nothing; weights; times."""

import gzip
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Response, expect

from tests.webapp.browser import DESK, PHONE, Visitor, picture, violations
from tests.webapp.sso import live
from tests.webapp.workbench.conftest import Bench, member, typed

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


def coded(page: Page) -> None:
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
    "/": None, "/coding/": coded, "/extraction/": read, "/drafting/": drafted, "/catalog/": searched,
    "/catalog/chapters/04/": None, "/catalog/groups/E10-E14/": None, "/catalog/E11.90/": None,
    "/accounts/": None, "/documents/": None, "/tokens/": None, "/operator/providers/": None,
    "/operator/providers/add/": None, "/operator/providers/demo/": None, "/operator/audit/": None,
    "/operator/members/": None, "/no/such/page": None, f"{live.CALLBACK}?state=x": None, "/accounts/complete/": None,
}  # fmt: skip


def wrong_with(page: Page) -> list[str]:
    """What axe-core finds on a desk and on a phone, in light and in dark, and whether a page is wider than a phone."""
    found = []
    for size in (DESK, PHONE):
        page.set_viewport_size(size)
        page.emulate_media(color_scheme="light")
        found += violations(page)
        page.emulate_media(color_scheme="dark")
        found += [f"dark: {one}" for one in violations(page, CONTRAST)]
    if page.evaluate("document.documentElement.scrollWidth > innerWidth + 1"):
        found.append("wider than the screen")
    return found


def test_axe_finds_nothing_and_nothing_is_wider_than_the_screen(looking: Visitor) -> None:
    found: dict[str, list[str]] = {}
    for path, prepare in PAGES.items():
        looking.page.set_viewport_size(DESK)
        page = looking.open(path)
        if prepare:
            prepare(page)
        if wrong := wrong_with(page):
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
        found += wrong_with(page)
    bench.behind.mode = "real"
    page.set_viewport_size(DESK)
    looking.open("/extraction/")
    read(page)
    page.locator('[data-path="patient.geburtsdatum"]').fill("31.02.1957")
    page.keyboard.press("Tab")
    found += wrong_with(page)
    looking.open("/coding/")
    looking.context.clear_cookies()
    page.locator("#add").fill("gicht")
    typed(page, "Hypertonie")
    expect(page.get_by_text("Ihre Sitzung ist beendet.")).to_have_count(2)
    found += wrong_with(page)
    assert found == []


def test_the_demo_vendor_and_the_code_page_too(looking: Visitor, bench: Bench) -> None:
    looking.context.clear_cookies()
    page = looking.open("/accounts/vendor_oauth2/login/?provider_id=demo")
    assert "/development/vendor/" in page.url
    assert wrong_with(page) == []
    page.locator('button[value="otto"]').click()
    page.get_by_label("E-Mail-Adresse").fill("otto@example.org")
    assert wrong_with(page) == []
    page.keyboard.press("Enter")
    expect(page.get_by_label("Code aus der E-Mail")).to_be_visible()
    assert wrong_with(page) == []
    looking.context.clear_cookies()
    for path in ("/", "/accounts/login/"):
        assert wrong_with(looking.open(path)) == []


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
    page.keyboard.type(" und noch Worte", delay=60)
    expect(page.locator("#text")).to_have_value(re.compile("und noch Worte$"))
    expect(page.locator("#count")).to_contain_text("Stufe 3", timeout=20_000)
    tasks = page.evaluate("window.tasks")
    print(f"tasks of more than 50 ms while 15 keys were typed: {len(tasks)}, the longest {max(tasks, default=0)} ms")
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
