"""A real browser (the system's Chromium) before the webapp under gunicorn, with a real vendor: the stage of the tests
that walk its pages, and their visitor.

`PICTURES=docs/pictures python -m pytest tests/webapp -k browser` renews the pictures of the documentation;
`LOOKS=var/looks python -m pytest tests/webapp/workbench/test_pages.py` takes every page and state in light and dark, on
a phone and in the system's own colours.
"""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.serving import free_port
from tests.webapp.conftest import SECRET, command, make_app
from tests.webapp.sso import live

FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
PICTURES = os.environ.get("PICTURES", "")
LOOKS = os.environ.get("LOOKS", "")
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
        return command(self.app, *arguments)

    def latest_code(self) -> str:
        """The code of the newest mail in the outbox."""
        mails = sorted((self.folder / "outbox").glob("*.eml"), key=lambda path: path.stat().st_mtime)
        found = re.search(r"\b(\d{6})\b", mails[-1].read_text().split("\n\n", 1)[1])
        assert found
        return found[1]


@contextmanager
def staged(folder: Path, template: Path) -> Iterator[Stage]:
    """Everything started, on a copy of the SQLite file `template`; fixture `stage` of the whole run."""
    if not live.chromium():
        pytest.skip("Chromium is not installed (apt-get install chromium)")
    for package in ("oidc-provider", "axe-core"):
        if reason := live.node_missing(package):
            pytest.skip(reason)
    shutil.copy(template, folder / "webapp.sqlite3")
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


def looks(page: Page, name: str) -> None:
    """Keep the page as it is in every look when asked to: light, dark, on a phone, in forced colours."""
    if not LOOKS:
        return
    Path(LOOKS).mkdir(parents=True, exist_ok=True)
    touch = page.context.new_cdp_session(page)
    for look, size, scheme, forced in (
        ("light", DESK, "light", "none"), ("dark", DESK, "dark", "none"),
        ("phone", PHONE, "light", "none"), ("forced", DESK, "light", "active"),
    ):  # fmt: skip
        page.set_viewport_size(size)  # type: ignore[arg-type] # its keys are those of a size
        touch.send("Emulation.setTouchEmulationEnabled", {"enabled": size is PHONE})
        page.emulate_media(color_scheme=scheme, forced_colors=forced)  # type: ignore[arg-type]
        page.evaluate("scrollTo(0, 0)")
        whole = page.evaluate("document.documentElement.scrollHeight")
        page.set_viewport_size({**size, "height": max(size["height"], whole)})  # what sticks to the edge is at the edge
        page.screenshot(path=f"{LOOKS}/{name}-{look}.png")
    page.emulate_media(forced_colors="none")


def operator(visitor: Visitor, link: str = "Mit Klinikum Musterstadt anmelden") -> None:
    """Sign in as erika, who is made an operator."""
    visitor.context.clear_cookies()
    visitor.open("/accounts/login/")
    visitor.page.get_by_role("link", name=link).click()
    visitor.at_vendor("erika")
    listed = visitor.stage.run("orgs", "list")
    organization = listed.split("\t")[0] or visitor.stage.run("orgs", "add", "Praxis am Beispielplatz").split("\t")[0]
    visitor.stage.run("orgs", "members", "add", organization, "erika@example.org", "--role", "operator")


def violations(page: Page, options: str = "{}") -> list[str]:
    """Violations that axe-core finds on the page; the context must bypass the CSP. `options` are axe's, a script."""
    if not page.evaluate("'axe' in window"):
        page.add_script_tag(content=(live.NODE / "node_modules" / "axe-core" / "axe.min.js").read_text())
    found = page.evaluate(f"axe.run({options})")["violations"]
    return [f"{item['id']} ({item['impact']}): {item['nodes'][0]['html']}" for item in found]
