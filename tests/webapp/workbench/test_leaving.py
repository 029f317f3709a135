"""Pages that are left while the text API still works: its call ends, and nothing of the text stays anywhere."""

import socket
import struct
from urllib.parse import urlsplit

import pytest

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
