"""Pages that are left while the text API still works: its call ends, and nothing of the text stays anywhere."""

import json

import pytest
from playwright.sync_api import Page

from tests.serving import wait_until
from tests.webapp.workbench.conftest import Bench, Visitor, rows

CANARY = "Quarzgrube"


@pytest.mark.parametrize("path", ["/extraction/", "/drafting/"])
def test_leaving_ends_the_call_and_leaves_nothing(erika: Visitor, bench: Bench, path: str) -> None:
    bench.behind.mode = "slow"
    page = erika.open(path)
    addresses: list[str] = []
    page.on("request", lambda request: addresses.append(request.url))
    page.locator("#text").fill(f"Patient: {CANARY}, Max")
    if path == "/drafting/":
        page.locator("#prompt").fill(f"Kürze {CANARY}.")
    page.locator("[data-do=run]").click()
    wait_until(lambda: bench.behind.open == 1, "the call did not begin")
    _nothing_left(erika, bench, page, addresses)
    page.goto("about:blank")
    wait_until(lambda: bench.behind.open == 0, "leaving the page left a call open", 2)


def test_what_is_looked_for_in_the_catalog_stays_nowhere(erika: Visitor, bench: Bench) -> None:
    page = erika.open("/catalog/")
    addresses: list[str] = []
    page.on("request", lambda request: addresses.append(request.url))
    page.locator("input[name=q]").first.fill(CANARY)
    page.locator("input[name=q]").first.press("Enter")
    page.wait_for_url("**/catalog/search/")
    _nothing_left(erika, bench, page, addresses)


def _nothing_left(erika: Visitor, bench: Bench, page: Page, addresses: list[str]) -> None:
    stored = page.evaluate(
        """async () => JSON.stringify([{...localStorage}, {...sessionStorage}, await indexedDB.databases(),
                                       await caches.keys(), document.cookie, history.state])"""
    )
    state, url = json.dumps(erika.context.storage_state()), bench.app.config["BEFUND"].database_url
    database = "".join(line for table in ("browser_session", "audit_event") for line in rows(url, table))
    assert len(addresses) > 0
    for where in (stored, state, page.url, *addresses, bench.log, database):
        assert CANARY not in where
