"""A vendor of the tests' own on loopback: correct by default, and able to do what a good one never does.

Every provider row points to `/MODE/authorize|token|userinfo`; MODE picks a misbehaviour from `TOKEN` or `USERINFO`
(see `hostile.py`), anything else is served correctly. The browser's part (authorize) is played by `grant`.
"""

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.serving import serving

Behaviour = Callable[["Handler", dict[str, str]], None]


@dataclass
class Grant:
    """The grant that an authorization code stands for; it is used up by one token request."""

    claims: Any
    redirect_uri: str
    client_id: str
    challenge: str
    made_at: float = field(default_factory=time.monotonic)


class StubVendor(ThreadingHTTPServer):
    """Issues codes and tokens for any client; remembers every secret value it handed out or received."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.codes: dict[str, Grant] = {}
        self.tokens: dict[str, Any] = {}
        self.seen: set[str] = set()
        self.requests: list[tuple[str, dict[str, str], dict[str, str]]] = []
        self.token_behaviours: dict[str, Behaviour] = {}
        self.userinfo_behaviours: dict[str, Behaviour] = {}
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def grant(self, location: str, claims: Any) -> dict[str, str]:
        """Play the person at the vendor: `location` is where our server redirected to; the callback's query."""
        query = {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}
        assert query["response_type"] == "code"
        code = secrets.token_urlsafe(24)
        with self.lock:
            self.codes[code] = Grant(claims, query["redirect_uri"], query["client_id"], query.get("code_challenge", ""))
            self.seen |= {code, query["state"]}
        return {"code": code, "state": query["state"]}

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up on a misbehaving vendor are expected."""


class Handler(BaseHTTPRequestHandler):
    """One request to the stub."""

    server: StubVendor
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        form = {name: values[0] for name, values in parse_qs(body, keep_blank_values=True).items()}
        self._note(form)
        mode = self.path.split("/")[1]
        if self.path.endswith("/token"):
            self.server.token_behaviours.get(mode, Handler.good_token)(self, form)
        else:
            self.answer(404, "{}")

    def do_GET(self) -> None:
        self._note({})
        mode, _, last = self.path.partition("?")[0].strip("/").partition("/")
        if last == "userinfo":
            self.server.userinfo_behaviours.get(mode, Handler.good_userinfo)(self, {})
        elif last == "authorize":
            self.answer(200, "<h1>Bitte melden Sie sich an</h1>", kind="text/html")
        else:
            self.answer(404, "{}")

    def good_token(self, form: dict[str, str]) -> None:
        """RFC 6749: client, code (once), redirect URI and PKCE are checked."""
        with self.server.lock:
            grant = self.server.codes.pop(form.get("code", ""), None)
        client_id = form.get("client_id") or self._basic()[0]
        secret = form.get("client_secret") or self._basic()[1]
        if secret != secret_of(client_id):
            self.answer(401, {"error": "invalid_client"})
        elif grant is None or grant.redirect_uri != form.get("redirect_uri") or not self._pkce_fits(grant, form):
            self.answer(400, {"error": "invalid_grant", "error_description": f"code {form.get('code')} is used"})
        else:
            token = secrets.token_urlsafe(32)
            with self.server.lock:
                self.server.tokens[token] = grant.claims
                self.server.seen.add(token)
            self.answer(200, {"access_token": token, "token_type": "Bearer", "expires_in": 600, "scope": "openid"})

    def good_userinfo(self, _: dict[str, str]) -> None:
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        with self.server.lock:
            claims = self.server.tokens.get(token)
        if claims is None:
            self.answer(401, {"error": "invalid_token"})
        else:
            self.answer(200, claims)

    def answer(self, status: int, body: Any, kind: str = "application/json", **headers: str) -> None:
        """Send one answer; dicts and lists become JSON."""
        data = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(data)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Silent: the tests watch what our side logs."""

    def _basic(self) -> tuple[str, str]:
        scheme, _, value = self.headers.get("Authorization", "").partition(" ")
        user, _, password = base64.b64decode(value).decode().partition(":") if scheme == "Basic" else ("", "", "")
        return user, password

    def _note(self, form: dict[str, str]) -> None:
        with self.server.lock:
            self.server.requests.append((self.path, form, dict(self.headers)))
            self.server.seen |= {form[key] for key in ("code", "client_secret", "code_verifier") if form.get(key)}

    @staticmethod
    def _pkce_fits(grant: Grant, form: dict[str, str]) -> bool:
        if not grant.challenge:
            return "code_verifier" not in form
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == grant.challenge


def secret_of(client_id: str) -> str:
    """The client secret the stub expects of a client: long and odd enough to be found when it leaks."""
    return f"s3cr3t-of-{client_id}-with +&=%ü"


@contextmanager
def running_stub() -> Iterator[StubVendor]:
    """A stub on a free port, stopped at the end."""
    server = StubVendor()
    with serving(server):
        yield server
