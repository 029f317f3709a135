"""Requests as no client should send them, with a secret in them: what a canary test sends to a server."""

import socket

from tests.serving import connect

WELL = b"Host: x\r\nConnection: close\r\n\r\n"
FORMS: dict[str, bytes] = {
    "well formed": b"GET %s?code=%s HTTP/1.1\r\n" + WELL,
    "raw umlaut": b"GET %s?patient=M\xc3\xbcller&code=%s HTTP/1.1\r\n" + WELL,
    "raw umlaut in latin-1": b"GET %s?patient=M\xfcller&code=%s HTTP/1.1\r\n" + WELL,
    "raw space": b"GET %s?patient=a b&code=%s HTTP/1.1\r\n" + WELL,
    "raw nul": b"GET %s?patient=\x00&code=%s HTTP/1.1\r\n" + WELL,
    "raw tab": b"GET %s?x=\t&code=%s HTTP/1.1\r\n" + WELL,
    "no version": b"GET %s?code=%s\r\n" + WELL,
    "version 9": b"GET %s?code=%s HTTP/9.9\r\n" + WELL,
    "version word": b"GET %s?code=%s HTTP/x\r\n" + WELL,
    "no method": b" %s?code=%s HTTP/1.1\r\n" + WELL,
    "odd method": b"G=T %s?code=%s HTTP/1.1\r\n" + WELL,
    "line too long": b"GET %s?code=%s" + b"x" * 9000 + b" HTTP/1.1\r\n" + WELL,
    "fragment": b"GET %s?code=%s#%s HTTP/1.1\r\n" + WELL,
    "absolute": b"GET http://x%s?code=%s HTTP/1.1\r\n" + WELL,
    "broken absolute": b"GET http://[%s?code=%s HTTP/1.1\r\n" + WELL,
    "lone percent": b"GET %s?code=%%zz%s HTTP/1.1\r\n" + WELL,
    "header without colon": b"GET %s?code=x HTTP/1.1\r\nX-Patient %s\r\n" + WELL,
    "header name with space": b"GET %s?code=x HTTP/1.1\r\nX Patient: %s\r\n" + WELL,
    "header with nul": b"GET %s?code=x HTTP/1.1\r\nX-A: \x00%s\r\n" + WELL,
    "folded header": b"GET %s?code=x HTTP/1.1\r\nX-A: b\r\n %s\r\n" + WELL,
    "header too long": b"GET %s?code=x HTTP/1.1\r\nX-A: " + b"x" * 70_000 + b"%s\r\n" + WELL,
    "many headers": b"GET %s?code=%s HTTP/1.1\r\n" + b"X-A: b\r\n" * 500 + WELL,
    "two lengths": b"POST %s?code=%s HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n" + WELL,
    "bad length": b"POST %s?code=x HTTP/1.1\r\nContent-Length: %s\r\n" + WELL,
    "bad coding": b"POST %s?code=x HTTP/1.1\r\nTransfer-Encoding: %s\r\n" + WELL,
    "bad chunk": b"POST %s?code=x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" + WELL + b"%s\r\n",
    "bad expectation": b"POST %s?code=x HTTP/1.1\r\nExpect: %s\r\n" + WELL,
    "bad host": b"GET %s?code=x HTTP/1.1\r\nHost: %s/\xfc\r\nConnection: close\r\n\r\n",
    "scheme": b"GET %s?code=%s HTTP/1.1\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Ssl: off\r\n" + WELL,
    "not http": b"\x16\x03\x01%s%s\r\n\r\n",
    "cut short": b"GET %s?code=%s HTTP/1.1\r\nHost: x",
    "form with nul": b"GET %s?state=%%00&code=%s HTTP/1.1\r\n" + WELL,
    "http/2 preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n%s%s",
}


def filled(form: str, path: bytes, canary: bytes) -> bytes:
    """A form for `path` with the canary in all its other places."""
    slots = FORMS[form].count(b"%s")
    return FORMS[form] % (path, *(canary for _ in range(slots - 1))) if slots > 1 else FORMS[form] % canary


def send(port: int, request: bytes) -> bytes:
    """The bytes that come back, until the server closes or has said enough."""
    with connect(("127.0.0.1", port)) as opened:
        opened.settimeout(2)
        try:
            opened.sendall(request)
            opened.shutdown(socket.SHUT_WR)
            return opened.recv(65_536)
        except OSError:
            return b""
