"""The catalog's search in the browser, and pages that are left: calls end, and nothing of a text stays anywhere."""

import socket
import struct
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from tests.serving import wait_until
from tests.webapp.workbench.conftest import Bench, Visitor, finished, nothing_left, typed

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


@pytest.mark.parametrize("mode", ["slow", "silent", "broken", "dead"])
def test_a_call_that_is_cut_off_is_no_fault_of_the_server(erika: Visitor, bench: Bench, mode: str) -> None:
    """The text API breaks off, or the browser's connection is reset while the server writes: no traceback."""
    page = erika.open("/coding/")
    with page.expect_request("**/coding/events/*") as caught:
        typed(page, "Gicht")
    finished(page)
    asked, begun, before = caught.value, bench.behind.begun, len(bench.log)
    bench.behind.mode = mode
    headers = {name: value for name, value in asked.all_headers().items() if not name.startswith(":")}
    body = asked.post_data_buffer or b""
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items() if name.lower() != "content-length")
    address, path = urlsplit(bench.base), urlsplit(asked.url)
    with socket.create_connection((address.hostname, address.port), 20) as browser:
        browser.sendall(f"POST {path.path} HTTP/1.1\r\n{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        assert browser.recv(64).startswith(b"HTTP/1.1 200")
        wait_until(lambda: bench.behind.begun > begun, "the call did not begin")
        browser.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # closing it resets it
    wait_until(lambda: bench.behind.open == 0, "the reset left a call open", 5)
    assert "Traceback" not in bench.log[before:]


FOUND = "#live a[href$='/catalog/E11.90/']"


def test_codes_appear_while_one_types(erika: Visitor) -> None:
    page = erika.open("/catalog/")
    page.locator("#q").press_sequentially("dia")
    expect(page.locator(FOUND)).to_be_visible()
    assert "dia" not in page.url
    page.locator("#q").fill("d")
    expect(page.locator("#live a")).to_have_count(0)
    page.locator("#q").fill("xqzxqz")
    expect(page.locator("#live")).to_have_text("Kein Kode mit diesen Worten.")


def test_a_search_is_handed_on_by_its_address(erika: Visitor) -> None:
    page = erika.open("/catalog/")
    page.locator("#q").fill("zuckerkr")
    page.locator("#share a").click()
    assert page.url.endswith("/catalog/#q=zuckerkr")
    other = erika.open("/catalog/#q=zuckerkr")
    expect(other.locator(FOUND)).to_be_visible()


def test_a_code_shows_the_notes_that_it_inherits_and_its_usual_ages_in_german(erika: Visitor) -> None:
    page = erika.open("/catalog/E11.90/")
    inherited = page.get_by_role("region", name="Gilt auch: von E11")
    expect(inherited).to_contain_text("Schließt aus: Diabetes mellitus in der Schwangerschaft")
    inherited.get_by_role("link", name="O24.-").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("O24")
    page = erika.open("/catalog/N40/")
    expect(page.locator(".tags")).to_contain_text("üblich ab 30 Jahren")
