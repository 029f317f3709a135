"""Pages that are left while the text API still works: its call ends, and nothing of the text stays anywhere."""

import pytest

from tests.serving import wait_until
from tests.webapp.workbench.conftest import Bench, Visitor, nothing_left

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
    nothing_left(erika, bench, page, addresses, CANARY)
    page.goto("about:blank")
    wait_until(lambda: bench.behind.open == 0, "leaving the page left a call open", 2)


def test_what_is_looked_for_in_the_catalog_stays_nowhere(erika: Visitor, bench: Bench) -> None:
    page = erika.open("/catalog/")
    addresses: list[str] = []
    page.on("request", lambda request: addresses.append(request.url))
    page.locator("input[name=q]").first.fill(CANARY)
    page.locator("input[name=q]").first.press("Enter")
    page.wait_for_url("**/catalog/search/")
    nothing_left(erika, bench, page, addresses, CANARY)
