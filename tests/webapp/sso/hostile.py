"""Deeds of no good vendor, by name: at the token endpoint, and at the userinfo endpoint."""

import gzip
import json
import socket
import time
from collections.abc import Callable
from typing import Any

from tests.webapp.sso.stub_vendor import Behaviour, Handler, StubVendor

BIG = 10 * 1024 * 1024
GOOD_TOKEN = {"access_token": "hostile-token-0123456789", "token_type": "Bearer", "expires_in": 600}
DEEP = "[" * 200_000 + "]" * 200_000


def answering(body: Any, status: int = 200, kind: str = "application/json", **headers: str) -> Behaviour:
    """Always this answer."""
    return lambda handler, form: handler.answer(status, body, kind, **headers)


def token(**changes: Any) -> Behaviour:
    """A token answer with some fields changed; None removes one."""
    answer = {name: value for name, value in {**GOOD_TOKEN, **changes}.items() if value is not None}
    return answering(answer)


def _echo_secret(handler: Handler, form: dict[str, str]) -> None:
    """An error that quotes the secret and the code back."""
    handler.answer(400, {"error": f"bad {form.get('client_secret')}", "error_description": json.dumps(form)})


def _redirect(status: int) -> Behaviour:
    def behave(handler: Handler, form: dict[str, str]) -> None:
        handler.answer(status, "", Location=f"{handler.server.url}/stolen/token")

    return behave


def _big(handler: Handler, form: dict[str, str]) -> None:
    handler.answer(200, b'{"access_token": "' + b"x" * BIG + b'"}')


def _endless(handler: Handler, form: dict[str, str]) -> None:
    """No Content-Length, and never done."""
    handler.close_connection = True
    handler.send_response(200)
    handler.end_headers()
    for _ in range(100):
        handler.wfile.write(b"x" * 65_536)


def _truncated(handler: Handler, form: dict[str, str]) -> None:
    handler.close_connection = True
    handler.answer(200, '{"access_token": "t", "token', Content_Length="5000")


def _raw(data: bytes) -> Behaviour:
    def behave(handler: Handler, form: dict[str, str]) -> None:
        handler.close_connection = True
        handler.wfile.write(data)

    return behave


def _reset(handler: Handler, form: dict[str, str]) -> None:
    handler.close_connection = True
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
    handler.connection.close()


def _silence(handler: Handler, form: dict[str, str]) -> None:
    handler.close_connection = True
    time.sleep(30)


def _drip_body(handler: Handler, form: dict[str, str]) -> None:
    """One byte every half second: no silence is ever long."""
    handler.close_connection = True
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.flush()
    _drip(handler, b'{"access' * 20)


def _drip_headers(handler: Handler, form: dict[str, str]) -> None:
    handler.close_connection = True
    _drip(handler, b"HTTP/1.1 200 OK\r\nX-Slow: " + b"x" * 100)


def _drip(handler: Handler, data: bytes) -> None:
    for byte in data[:60]:
        handler.wfile.write(bytes([byte]))
        handler.wfile.flush()
        time.sleep(0.5)


TOKEN: dict[str, Behaviour] = {
    "type-mac": token(token_type="mac"),
    "type-missing": token(token_type=None),
    "type-list": token(token_type=["Bearer"]),
    "token-missing": token(access_token=None),
    "token-empty": token(access_token=""),
    "token-number": token(access_token=12345678),
    "token-newline": token(access_token="abcdef\r\nX-Evil: 1"),
    "token-umlaut": token(access_token="schlüssel-0123"),
    "token-huge": token(access_token="x" * 100_000),
    "token-expired": token(expires_in=0),
    "redirect-307": _redirect(307),
    "redirect-308": _redirect(308),
    "redirect-302": _redirect(302),
    "html": answering("<h1>Willkommen</h1>", kind="text/html"),
    "html-502": answering("<h1>Bad gateway</h1>", 502, "text/html"),
    "form-encoded": answering("access_token=abc12345&token_type=Bearer", kind="application/x-www-form-urlencoded"),
    "empty": answering(""),
    "array": answering([GOOD_TOKEN]),
    "null": answering("null"),
    "nan": answering('{"access_token": "abc12345", "token_type": "Bearer", "expires_in": NaN}'),
    "deep": answering(DEEP),
    "utf-16": answering(json.dumps(GOOD_TOKEN).encode("utf-16")),
    "digits": answering('{"expires_in": ' + "9" * 100_000 + "}"),
    "error-200": answering({"error": "invalid_grant", **GOOD_TOKEN}),
    "error-secret": _echo_secret,
    "error-object": answering({"error": {"code": "x"}}, 400),
    "invalid-client": answering({"error": "invalid_client"}, 401),
    "big": _big,
    "endless": _endless,
    "zip-bomb": answering(gzip.compress(b"x" * BIG), Content_Encoding="gzip"),
    "bad-zip": answering(b"no gzip at all", Content_Encoding="gzip"),
    "truncated": _truncated,
    "not-http": _raw(b"SSH-2.0-OpenSSH_9.2\r\n"),
    "no-answer": _raw(b""),
    "header-flood": _raw(b"HTTP/1.1 200 OK\r\n" + b"X-A: b\r\n" * 5000 + b"\r\n{}"),
    "header-long": _raw(b"HTTP/1.1 200 OK\r\nX-A: " + b"b" * 200_000 + b"\r\n\r\n{}"),
    "bad-length": _raw(b"HTTP/1.1 200 OK\r\nContent-Length: -7\r\n\r\n{}"),
    "bad-chunks": _raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}"),
    "status-999": answering(GOOD_TOKEN, 599),
    "reset": _reset,
}

USERINFO: dict[str, Behaviour] = {
    "array": answering([{"sub": "1", "email": "a@example.org"}]),
    "string": answering('"sub"'),
    "null": answering("null"),
    "html": answering("<h1>Profil</h1>", kind="text/html"),
    "empty": answering(""),
    "401": answering({"error": "invalid_token"}, 401),
    "404": answering("{}", 404),
    "redirect": _redirect(302),
    "sub-missing": answering({"email": "a@example.org"}),
    "sub-null": answering({"sub": None, "email": "a@example.org"}),
    "sub-empty": answering({"sub": "  ", "email": "a@example.org"}),
    "sub-true": answering({"sub": True, "email": "a@example.org"}),
    "sub-float": answering({"sub": 1.5, "email": "a@example.org"}),
    "sub-object": answering({"sub": {"id": 1}, "email": "a@example.org"}),
    "sub-long": answering({"sub": "x" * 300, "email": "a@example.org"}),
    "sub-nul": answering({"sub": "a\x00b", "email": "a@example.org"}),
    "sub-surrogate": answering('{"sub": "\\ud800", "email": "a@example.org"}'),
    "sub-digits": answering('{"sub": ' + "9" * 5000 + ', "email": "a@example.org"}'),
    "deep": answering('{"sub": "1", "x": ' + DEEP + "}"),
    "big": answering({"sub": "1", "x": "y" * BIG}),
    "truncated": _truncated,
    "reset": _reset,
}

SLOW: dict[str, Behaviour] = {"silence": _silence, "drip-body": _drip_body, "drip-headers": _drip_headers}

ODD_BUT_FINE: dict[str, tuple[dict[str, Any], Callable[[Any], bool]]] = {
    "emoji": ({"given_name": "Zoë 👩‍⚕️", "family_name": "O'Brien-Müller"}, lambda u: u.given_name == "Zoë 👩‍⚕️"),
    "long names": ({"given_name": "Ä" * 300, "family_name": "ß" * 300}, lambda u: len(u.given_name) == 200),
    "nul": ({"given_name": "Eri\x00ka"}, lambda u: u.given_name == "Erika"),
    "surrogate": ({"given_name": "Eri\ud800ka"}, lambda u: u.given_name == "Erika"),
    "markup": ({"given_name": "<script>alert(1)</script>"}, lambda u: u.given_name.startswith("<script>")),
    "right to left": ({"given_name": "Eri\u202eka"}, lambda u: u.given_name == "Erika"),
    "no strings": ({"given_name": ["a"], "family_name": 7}, lambda u: (u.given_name, u.family_name) == ("", "")),
    "null names": ({"given_name": None, "first_name": "Max"}, lambda u: u.given_name == "Max"),
    "script picture": ({"picture": "javascript:alert(1)"}, lambda u: u.picture == ""),
    "broken picture": ({"picture": "https://[::1"}, lambda u: u.picture == ""),
    "many claims": ({f"claim{n}": n for n in range(1000)}, lambda u: True),
}


def install(vendor: StubVendor) -> None:
    """Put every misbehaviour on the stub, at `/t-NAME/` and `/u-NAME/`."""
    vendor.token_behaviours |= {f"t-{name}": behaviour for name, behaviour in (TOKEN | SLOW).items()}
    vendor.userinfo_behaviours |= {f"u-{name}": behaviour for name, behaviour in (USERINFO | SLOW).items()}
