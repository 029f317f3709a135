"""HTTPS towards vendors: whose certificate is trusted, and what two calls and two sign-ins share."""

import http.server
import ssl
from contextlib import contextmanager

import pytest

from tests.certificates import certificate
from tests.serving import serving
from webapp import wire
from webapp.wire import NoAnswer, deadline


class Answers(http.server.BaseHTTPRequestHandler):
    """200 with two letters, on a connection that stays open."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.callers.append(self.client_address)  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        """Nothing."""


@contextmanager
def vendor(file):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    server.daemon_threads, server.callers = True, []  # type: ignore[attr-defined]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    with serving(server):
        yield server


@pytest.fixture(params=["sqlite"])
def database_url(tmp_path, sqlite_template):
    return f"sqlite:///{sqlite_template}"


def asked(line, server):
    return line.ask("GET", f"https://127.0.0.1:{server.server_address[1]}/userinfo").body


def test_only_a_trusted_certificate_for_this_name_is_accepted(app, tmp_path, monkeypatch):
    right, other = certificate(tmp_path, "127.0.0.1"), certificate(tmp_path, "127.0.0.2")
    with app.app_context(), vendor(right) as server:
        with deadline() as line, pytest.raises(NoAnswer, match="ConnectError"):
            asked(line, server)
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(other))
        with deadline() as line, pytest.raises(NoAnswer, match="ConnectError"):
            asked(line, server)
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(right))
        with deadline() as line:
            assert asked(line, server) == b"ok"
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(other))
        with deadline() as line, vendor(other) as server, pytest.raises(NoAnswer, match="ConnectError"):
            asked(line, server)


def test_calls_of_one_sign_in_share_a_connection_and_sign_ins_do_not(app, tmp_path, monkeypatch):
    file = certificate(tmp_path, "127.0.0.1")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(file))
    with app.app_context(), vendor(file) as server:
        before = wire._trusting.cache_info().misses
        for _ in range(2):
            with deadline() as line:
                assert [asked(line, server) for _ in range(2)] == [b"ok", b"ok"]
        first, again, second, last = server.callers  # type: ignore[attr-defined]
        assert first == again
        assert second == last
        assert first != second
        assert wire._trusting.cache_info().misses == before + 1, "the list of certificates is read once"


def test_a_proxy_of_the_environment_is_asked_in_place_of_the_vendor(app, monkeypatch):
    """Its own address may be a private one; the vendor's name is its to resolve."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    server.daemon_threads, server.callers = True, []  # type: ignore[attr-defined]
    monkeypatch.setenv("http_proxy", f"127.0.0.1:{server.server_address[1]}")
    monkeypatch.setenv("no_proxy", "direct.invalid")
    with serving(server), app.app_context(), deadline() as line:
        assert line.ask("GET", "http://vendor.invalid/userinfo").body == b"ok"
        with pytest.raises(NoAnswer, match="ConnectError"):
            line.ask("GET", "http://direct.invalid/userinfo")
