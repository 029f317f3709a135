"""Two webapps behind the shipped nginx, of which one is killed: who is sent on to the other, and who is not."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace

import httpx2
import pytest
from gunicorn.config import Config

from tests.nginx import in_front_of
from tests.serving import answers, free_port, wait_until
from tests.webapp.sso.live import CALLBACK
from webapp.gunicorn_parts import WholeResponse

SERVER = '''
"""Writes down each request that reached it; hangs up without an answer where the path says so."""
import http.server, sys
port, seen = int(sys.argv[1]), open(sys.argv[2], "a", buffering=1)
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/there":
            return self.answer()
        seen.write(f"{self.command} {self.path}\\\\n")
        if "hang-up" in self.path:
            self.close_connection = True
        else:
            self.answer()
    do_POST = do_HEAD = do_GET
    def answer(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *_):
        pass
http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
'''.replace("\\\\", "\\")


class Pair:
    """Two servers at their ports behind one nginx, and what reached them."""

    def __init__(self, folder: Path) -> None:
        self.base, self._folder = "", folder
        self.ports = (free_port(), free_port())
        self._running: dict[int, subprocess.Popen[bytes]] = {}
        (folder / "server.py").write_text(SERVER, "utf-8")

    def start(self, port: int) -> None:
        """Start one and wait for its first answer."""
        command = [sys.executable, str(self._folder / "server.py"), str(port), str(self._folder / "seen")]
        self._running[port] = subprocess.Popen(command)
        wait_until(lambda: answers(f"http://127.0.0.1:{port}/there"), "the server did not start")

    def kill(self, port: int) -> None:
        """End one without a farewell."""
        process = self._running.pop(port)
        process.kill()
        process.wait(10)

    def end(self) -> None:
        """End those that run."""
        for port in list(self._running):
            self.kill(port)

    def reached(self) -> Counter[str]:
        """The number of times each request reached a server."""
        return Counter((self._folder / "seen").read_text("utf-8").splitlines())


@contextmanager
def _pair(folder: Path) -> Iterator[Pair]:
    pair = Pair(folder)
    try:
        for port in pair.ports:
            pair.start(port)
        with in_front_of("webapp", {5000: pair.ports}, folder / "nginx") as pair.base:
            yield pair
    finally:
        pair.end()


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    """Two servers that run, and nginx."""
    with _pair(tmp_path) as running:
        yield running


def test_what_reached_a_server_that_hangs_up_goes_on_only_where_it_may_be_asked_twice(pair: Pair) -> None:
    calls = {
        ("GET", "/documents/"): 2,
        ("HEAD", "/documents/"): 2,
        ("POST", "/documents/"): 1,
        ("POST", "/00000000-0000-4000-8000-000000000000/fhir/r4/Binary"): 1,
        ("GET", CALLBACK): 1,
        ("GET", f"{CALLBACK}klinik/"): 1,
        ("POST", CALLBACK): 1,
    }
    for method, path in calls:
        assert httpx2.request(method, f"{pair.base}{path}?hang-up", timeout=30).status_code == 502, path
    assert pair.reached() == {f"{method} {path}?hang-up": times for (method, path), times in calls.items()}


@pytest.mark.parametrize("gone", [0, 1])
def test_nobody_notices_one_of_two_servers_that_is_gone(pair: Pair, gone: int) -> None:
    calls = (
        ("GET", "/documents/"),
        ("POST", "/workbench/coding/events/"),
        ("POST", "/documents/00000000-0000-4000-8000-000000000000/upload/"),
        ("POST", "/00000000-0000-4000-8000-000000000000/fhir/r4/Binary"),
        ("GET", CALLBACK),
        ("GET", f"{CALLBACK}klinik/"),
    )
    pair.kill(pair.ports[gone])
    with httpx2.Client(timeout=30) as client:
        for method, path in calls:
            statuses = [client.request(method, f"{pair.base}{path}").status_code for _ in range(20)]
            assert statuses == [200] * 20, (method, path)


def test_with_both_servers_gone_a_call_is_answered_502_and_not_tried_for_ever(pair: Pair) -> None:
    pair.end()
    for path in ("/documents/", CALLBACK):
        assert httpx2.get(f"{pair.base}{path}", timeout=30).status_code == 502


def _messages(*parts: bytes, method: str = "GET", length: int | None = None) -> list[bytes]:
    """Send an answer of these parts by gunicorn's class; each of its calls of the socket by itself."""
    here, there = socket.socketpair(type=socket.SOCK_SEQPACKET)
    with here, there:
        asked = SimpleNamespace(method=method, version=(1, 1), headers=[], should_close=lambda: False)
        answer = WholeResponse(asked, here, Config())
        headers = [] if length is None else [("Content-Length", str(length))]
        answer.start_response("200 OK", headers)
        for part in parts:
            answer.write(part)
        answer.close()
        there.setblocking(False)
        found: list[bytes] = []
        with suppress(BlockingIOError):
            while True:
                found.append(there.recv(65_536))
        return found


def test_headers_are_sent_together_with_the_first_bytes_of_the_body() -> None:
    """Else a server that is killed between the two had begun an answer that no other server can give any more."""
    [whole] = _messages(b"body", length=4)
    assert whole.startswith(b"HTTP/1.1 200 OK\r\n")
    assert whole.endswith(b"\r\n\r\nbody")
    first, *further = _messages(b"one", b"two")
    assert first.endswith(b"\r\n\r\n3\r\none\r\n")
    assert further == [b"3\r\ntwo\r\n", b"0\r\n\r\n"]
    [alone] = _messages(length=0)
    assert alone.endswith(b"\r\n\r\n")
    [of_head] = _messages(b"", method="HEAD", length=4)
    assert of_head.endswith(b"\r\n\r\n")
