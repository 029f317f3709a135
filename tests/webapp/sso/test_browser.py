"""A real browser (the system's Chromium) walks the pages of the webapp under gunicorn, with a real vendor.

`PICTURES=docs/pictures python -m pytest tests/webapp/sso/test_browser.py` renews the pictures of the README.
"""

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.webapp.conftest import make_app
from tests.webapp.postgres import free_port
from tests.webapp.sso import live

FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
PICTURES = os.environ.get("PICTURES", "")
SECRET = "only-for-tests-only-for-tests-only-for-tests"
PHONE = {"width": 390, "height": 844}
DESK = {"width": 1180, "height": 800}


@dataclass
class Stage:
    """Everything that runs: the webapp's URL, its application object for preparing data, its folder."""

    base: str
    app: Flask
    folder: Path

    def run(self, *arguments: str) -> str:
        """One command of the command line; its output."""
        result = self.app.test_cli_runner().invoke(args=list(arguments))
        assert result.exit_code == 0, result.output
        return result.output

    def latest_code(self) -> str:
        """The code of the newest mail in the outbox."""
        mails = sorted((self.folder / "outbox").glob("*.eml"), key=lambda path: path.stat().st_mtime)
        found = re.search(r"\b(\d{6})\b", mails[-1].read_text().split("\n\n", 1)[1])
        assert found
        return found[1]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Iterator[Stage]:
    if not live.chromium():
        pytest.skip("Chromium is not installed (apt-get install chromium)")
    for package in ("oidc-provider", "axe-core"):
        if reason := live.node_missing(package):
            pytest.skip(reason)
    folder = tmp_path_factory.mktemp("stage")
    shutil.copy(sqlite_template, folder / "webapp.sqlite3")
    url = f"sqlite:///{folder / 'webapp.sqlite3'}"
    port = free_port()
    with (
        live.webapp(port, url, folder, BEFUND_SECRET_KEY=SECRET) as base,
        live.oidc_provider(free_port(), folder, base) as issuer,
    ):
        stage = Stage(base, make_app(url, folder, web_port=port), folder)
        for client_id, name in (("post", "Klinikum Musterstadt"), ("basic", "Praxisverbund Nord")):
            stage.run(
                "providers", "add", client_id, "--name", name, "--authorization-url", f"{issuer}/auth",
                "--token-url", f"{issuer}/token", "--userinfo-url", f"{issuer}/me", "--client-id", client_id,
                "--client-secret", f"geheimnis-von-{client_id}-0123456789", "--auth-method", client_id,
                "--issuer", issuer,
            )  # fmt: skip
        yield stage
        stage.app.extensions["befund_engine"].dispose()


@pytest.fixture(scope="module")
def chromium(stage: Stage) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=live.chromium(), args=list(FLAGS))
        yield browser
        browser.close()


class Visitor:
    """One person with a browser of their own; remembers what the browser complained of on our pages."""

    def __init__(self, chromium: Browser, stage: Stage, **options: Any) -> None:
        self.stage = stage
        self.context: BrowserContext = chromium.new_context(
            **{"locale": "de-DE", "viewport": DESK, "bypass_csp": False, **options}
        )
        self.page: Page = self.context.new_page()
        self.complaints: list[str] = []
        self.context.on("console", self._note)

    def open(self, path: str) -> Page:
        self.page.goto(self.stage.base + path)
        return self.page

    def choose(self, vendor: str) -> None:
        """Start at the login page with a vendor's link."""
        self.open("/accounts/login/")
        self.page.get_by_role("link", name=vendor).click()

    def at_vendor(self, name: str, page: Page | None = None) -> None:
        """The vendor's own pages: log in, consent."""
        page = page or self.page
        if page.locator('input[name="login"]').count():
            page.fill('input[name="login"]', name)
            page.fill('input[name="password"]', "egal")
            page.click('button[type="submit"]')
        if not page.url.startswith(self.stage.base):
            page.click('button[type="submit"]')
        page.wait_for_url(f"{self.stage.base}/**")

    def _note(self, message: Any) -> None:
        if message.type in ("error", "warning") and self.stage.base in (message.location or {}).get("url", ""):
            self.complaints.append(message.text)


@pytest.fixture
def visitor(chromium: Browser, stage: Stage) -> Iterator[Visitor]:
    someone = Visitor(chromium, stage)
    yield someone
    someone.context.close()
    assert [text for text in someone.complaints if "Content Security Policy" in text] == []


def picture(page: Page, name: str) -> None:
    """Keep a picture when asked to."""
    if PICTURES:
        Path(PICTURES).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=f"{PICTURES}/{name}.png", full_page=True)


def test_sign_in_account_and_sign_out(visitor: Visitor) -> None:
    visitor.open("/accounts/")
    assert visitor.page.url.endswith("/accounts/login/?next=/accounts/")
    picture(visitor.page, "login")
    visitor.page.get_by_role("link", name="Mit Klinikum Musterstadt anmelden").click()
    visitor.at_vendor("erika")
    assert visitor.page.url == f"{visitor.stage.base}/accounts/"
    assert visitor.page.get_by_role("definition").all_inner_texts()[:2] == ["Erika Mustermann", "erika@example.org"]
    picture(visitor.page, "account")
    cookies = {cookie["name"]: cookie for cookie in visitor.context.cookies(visitor.stage.base)}
    assert cookies["befund_session"]["httpOnly"]
    assert cookies["befund_session"]["sameSite"] == "Lax"
    assert not [name for name in cookies if name.startswith("befund_signin")]
    visitor.page.get_by_role("button", name="Abmelden").click()
    expect(visitor.page.get_by_text("Sie sind abgemeldet.")).to_be_visible()
    visitor.open("/accounts/")
    assert "login" in visitor.page.url


def test_denial_at_the_vendor(visitor: Visitor) -> None:
    visitor.choose("Klinikum Musterstadt")
    visitor.page.get_by_role("link", name="Cancel").click()
    visitor.page.wait_for_url(f"{visitor.stage.base}/**")
    expect(visitor.page.get_by_role("heading", name="Anmeldung abgelehnt")).to_be_visible()
    expect(visitor.page.get_by_text("access_denied")).to_be_visible()
    picture(visitor.page, "denied")
    visitor.page.get_by_role("link", name="Zur Anmeldung").click()
    expect(visitor.page.get_by_role("heading", name="Anmelden")).to_be_visible()


def test_completion_with_a_code(visitor: Visitor) -> None:
    visitor.choose("Praxisverbund Nord")
    visitor.at_vendor("ohne")
    page = visitor.page
    expect(page.get_by_role("heading", name="E-Mail-Adresse bestätigen")).to_be_visible()
    page.get_by_label("E-Mail-Adresse").fill("keine adresse")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Bitte geben Sie eine gültige E-Mail-Adresse ein")).to_be_visible()
    picture(page, "complete-address")
    page.get_by_label("E-Mail-Adresse").fill("otto@example.org")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Code aus der E-Mail")).to_be_visible()
    page.get_by_label("Code aus der E-Mail").fill("000000" if visitor.stage.latest_code() != "000000" else "111111")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Noch 4 Versuche")).to_be_visible()
    picture(page, "complete-code")
    page.get_by_label("Code aus der E-Mail").fill(visitor.stage.latest_code())
    page.keyboard.press("Enter")
    page.wait_for_url(f"{visitor.stage.base}/accounts/")
    expect(page.get_by_text("otto@example.org")).to_be_visible()


def test_two_tabs_at_once(visitor: Visitor) -> None:
    """Both leave before either comes back, and the first one left comes back last."""
    first, second = visitor.page, visitor.context.new_page()
    first.goto(f"{visitor.stage.base}/accounts/vendor_oauth2/login/?provider_id=post&next=/?erster")
    second.goto(f"{visitor.stage.base}/accounts/vendor_oauth2/login/?provider_id=basic&next=/?zweiter")
    visitor.at_vendor("erika", second)
    assert second.url.endswith("/?zweiter")
    visitor.at_vendor("erika", first)
    assert first.url.endswith("/?erster")
    visitor.open("/accounts/")
    names = visitor.page.locator("section[aria-labelledby=ways] strong").all_inner_texts()
    assert set(names) == {"Klinikum Musterstadt", "Praxisverbund Nord"}


def test_the_back_button_after_sign_in_does_no_harm(visitor: Visitor) -> None:
    visitor.choose("Klinikum Musterstadt")
    visitor.at_vendor("erika")
    visitor.page.go_back()
    visitor.open("/accounts/")
    expect(visitor.page.get_by_text("erika@example.org")).to_be_visible()


def test_the_operator_adds_a_vendor(visitor: Visitor) -> None:
    operator(visitor)
    page = visitor.open("/operator/providers/")
    picture(page, "providers")
    visitor.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.reload()
    page.get_by_role("button", name="Kopieren").click()
    expect(page.get_by_role("button", name="Kopiert")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == f"{visitor.stage.base}{live.CALLBACK}"
    page.get_by_role("link", name="Anbieter hinzufügen").click()
    page.get_by_label("Kennung").fill("labor")
    page.get_by_role("button", name="Speichern").click()
    expect(page.get_by_text("Hier wird eine Zeile Text gebraucht").first).to_be_visible()
    picture(page, "provider")
    page.get_by_label("Name auf der Anmeldeseite").fill("Labor Süd")
    for label in ("Authorization URL", "Token URL", "Userinfo URL"):
        page.get_by_label(label).fill(f"https://sso.labor.example/{label.split()[0].lower()}")
    page.get_by_label("Client ID", exact=True).fill("befund")
    page.get_by_label("Client Secret", exact=True).fill("ein-langes-geheimnis")
    page.get_by_role("button", name="Speichern").click()
    expect(page.get_by_text("Der Anbieter ist gespeichert.")).to_be_visible()
    page.get_by_role("link", name="labor").click()
    assert page.get_by_label("Client Secret", exact=True).input_value() == ""
    visitor.open("/operator/audit/")
    picture(visitor.page, "audit")


def test_pictures_of_phone_and_dark_mode(chromium: Browser, stage: Stage) -> None:
    """No page scrolls sideways on a phone."""
    visitor = Visitor(chromium, stage, viewport=PHONE, color_scheme="dark", locale="en-US")
    visitor.open("/accounts/login/")
    picture(visitor.page, "login-phone-dark")
    operator(visitor, "Sign in with Klinikum Musterstadt")
    for path, name in (
        ("/accounts/", "account-phone-dark"), ("/operator/providers/add/", ""), ("/operator/providers/", ""),
        ("/operator/audit/", ""), ("/nowhere", ""),
    ):  # fmt: skip
        visitor.open(path)
        if name:
            picture(visitor.page, name)
        width = visitor.page.evaluate("document.documentElement.scrollWidth")
        assert width <= PHONE["width"], f"{path} is {width} wide"
    visitor.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_any_page(chromium: Browser, stage: Stage, scheme: str) -> None:
    axe = (live.NODE / "node_modules" / "axe-core" / "axe.min.js").read_text()
    visitor = Visitor(chromium, stage, bypass_csp=True, color_scheme=scheme)
    found: dict[str, list[str]] = {}

    def check(path: str) -> None:
        if path:
            visitor.open(path)
        visitor.page.add_script_tag(content=axe)
        result = visitor.page.evaluate("axe.run()")
        found[path or visitor.page.url] = [
            f"{violation['id']} ({violation['impact']}): {violation['nodes'][0]['html']}"
            for violation in result["violations"]
        ]

    for path in ("/", "/accounts/login/", "/nowhere", f"{live.CALLBACK}?state=x", "/accounts/complete/"):
        check(path)
    visitor.choose("Klinikum Musterstadt")
    visitor.at_vendor("offen")
    check("")
    operator(visitor)
    for path in ("/", "/accounts/", "/operator/providers/", "/operator/providers/add/", "/operator/providers/post/",
                 "/operator/audit/"):  # fmt: skip
        check(path)
    visitor.page.goto(f"{stage.base}/operator/providers/add/")
    visitor.page.locator("main form button").last.click()
    check("")
    visitor.context.close()
    assert {path: violations for path, violations in found.items() if violations} == {}


def test_nothing_secret_is_in_the_logs_of_gunicorn(stage: Stage) -> None:
    """After all walks above, with gunicorn at debug and its access log on."""
    log = (stage.folder / "webapp.log").read_text(errors="replace")
    assert "/accounts/vendor_oauth2/login/callback/" in log, "the access log is on"
    for word in ("code=", "state=", "geheimnis-von", "ein-langes-geheimnis", "Bearer "):
        assert word not in log
    for mail in (stage.folder / "outbox").glob("*.eml"):
        code = re.search(r"\b(\d{6})\b", mail.read_text().split("\n\n", 1)[1])
        assert code
        assert not re.search(rf"\b{code[1]}\b", log)


def operator(visitor: Visitor, link: str = "Mit Klinikum Musterstadt anmelden") -> None:
    """Sign in as erika, who is made an operator."""
    visitor.context.clear_cookies()
    visitor.open("/accounts/login/")
    visitor.page.get_by_role("link", name=link).click()
    visitor.at_vendor("erika")
    listed = visitor.stage.run("orgs", "list")
    organization = listed.split("\t")[0] or visitor.stage.run("orgs", "add", "Praxis am Beispielplatz").split("\t")[0]
    visitor.stage.run("orgs", "members", "add", organization, "erika@example.org", "--role", "operator")
