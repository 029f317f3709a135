"""Bad input: each has a clear outcome, the answer repeats nothing of it, and the next request works."""

import asyncio
import json
import logging

import httpx2
import pytest
from fastapi import Request

from bentos.api.admission import BODY_MAX, read_body
from bentos.api.problems import BodyTooSlow
from tests.bentos.conftest import ask
from tests.serving import connect, wait_until

ONE_API = True

SECRET = "Mustermann"
PATH = "/api/deep-research"


def _head(key: str, last: str) -> bytes:
    return f"POST {PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n{last}\r\n\r\n".encode()


def _deep(levels: int) -> bytes:
    return b'{"query": ' + b"[" * levels + b"]" * levels + b"}"


REFUSED = {
    "nothing": b"",
    "no JSON": f"{SECRET} hat Husten".encode(),
    "half a JSON": f'{{"query": "{SECRET}'.encode(),
    "a list": json.dumps([SECRET]).encode(),
    "a string": json.dumps(SECRET).encode(),
    "no query": json.dumps({"rerank": True, "text": SECRET}).encode(),
    "query null": b'{"query": null}',
    "query a number": b'{"query": 12}',
    "query a list": json.dumps({"query": [SECRET]}).encode(),
    "query an object": json.dumps({"query": {SECRET: SECRET}}).encode(),
    "query empty": b'{"query": ""}',
    "query of white space": json.dumps({"query": " \t\n\u00a0\u2003"}).encode(),
    "query of 2,001 characters": json.dumps({"query": (SECRET * 300)[:2001]}).encode(),
    "2,001 characters outside the BMP": json.dumps({"query": "😀" * 2001}).encode(),
    "rerank a string": json.dumps({"query": "Husten", "rerank": SECRET}).encode(),
    "rerank a number": b'{"query": "Husten", "rerank": 1}',
    "deep JSON": _deep(100_000),
    "deep JSON beside the query": b'{"query": "Husten", "x": ' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    "invalid UTF-8": b'{"query": "Husten \xff\xfe"}',
    "UTF-16": json.dumps({"query": SECRET}).encode("utf-16"),
    "a lone surrogate": b'{"query": "Husten \\ud83d"}',
    "a lone surrogate in UTF-8": b'{"query": "Husten \xed\xa0\xbd"}',
    "a raw NUL": b'{"query": "Husten \x00"}',
}

SEARCHED = {
    "one character": "R",
    "2,000 characters": ("Husten und Fieber, " * 200)[:2000],
    "2,000 characters outside the BMP": "😀" * 2000,
    "2,000 characters without a space": "Appendizitis" * 166 + "Husten!!",
    "NUL": "Husten\x00Fieber",
    "only NUL": "\x00",
    "control characters": "".join(map(chr, range(1, 32))) + "x",
    "right-to-left marks": "\u202eHusten\u202c \u200f\u2067Fieber\u2069",
    "zero width": "Hus\u200bten\ufeff",
    "combining marks": "a" + "\u0301" * 1_000,
    "only emoji": "🤒🤧",
    "only punctuation": "?!?...---",
    "another script": "高血圧 гипертония",
    "line separators": "Husten\u2028Fieber\u0085\r\n\r\ndata: {}",
    "SQL and HTML": "'; DROP TABLE api_keys; -- <script>alert(1)</script>",
    "a noncharacter": "Husten \uffff\U0010ffff",
    "a regular expression": "(a+)+$ \\d{2000} [",
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_422_and_without_an_echo(api, name):
    answer = api.post(PATH, content=REFUSED[name])
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["status"] == 422
    assert {"type", "title", "detail", "errors"} <= set(problem)
    assert problem["errors"]
    assert all(set(error) == {"loc", "msg", "type"} for error in problem["errors"])
    assert SECRET not in answer.text
    assert api.get("/api/health").status_code == 200


@pytest.mark.parametrize("name", SEARCHED)
def test_odd_text_is_searched_and_never_breaks_the_stream(api, name):
    answer = api.post(PATH, json={"query": SEARCHED[name]})
    assert answer.status_code == 200
    assert answer.content.isascii()
    assert [getattr(event, "layer", event.type) for event in ask(api, SEARCHED[name])] == ["status", 1, "status"]


def test_unknown_fields_are_ignored(api):
    assert api.post(PATH, json={"query": "Husten", "patient": SECRET}).status_code == 200


def test_twenty_thousand_escaped_characters_pass_the_length_of_the_body(api):
    body = json.dumps({"query": "x" * 2000, "note": "\U0001f600" * 20_000}).encode()
    assert 200_000 < len(body) < BODY_MAX
    assert api.post(PATH, content=body).status_code == 200


def test_a_body_over_1_mib_is_refused_unread(api, key):
    """The head announces the length; the answer comes although not a byte of the body was sent."""
    url = httpx2.URL(api.base_url)
    with connect((url.host, url.port)) as connection:
        head = (
            f"POST {PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nContent-Length: {BODY_MAX + 1}\r\n\r\n"
        )
        connection.sendall(head.encode())
        answer = connection.recv(4096)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"application/problem+json" in answer
    assert ask(api, "Husten")


def test_a_chunked_body_over_1_mib_is_not_read_to_its_end(api, key):
    """The sender stops after a little more than 1 MiB and never ends the body; the answer comes all the same."""
    url = httpx2.URL(api.base_url)
    with connect((url.host, url.port)) as connection:
        connection.sendall(_head(key, "Transfer-Encoding: chunked"))
        for _ in range(17):
            connection.sendall(b"10000\r\n" + b" " * 65_536 + b"\r\n")
        answer = connection.recv(4096)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert ask(api, "Husten")


@pytest.mark.parametrize("length", ["abc", "-5", "9" * 400])
def test_a_false_length_is_refused(api, key, length):
    url = httpx2.URL(api.base_url)
    with connect((url.host, url.port)) as connection:
        connection.sendall(_head(key, f"Content-Length: {length}"))
        status = connection.recv(4096).split(b" ")[1]
    assert status in {b"400", b"413"}
    assert ask(api, "Husten")


def test_a_body_that_does_not_end_is_given_up():
    async def silence():
        await asyncio.sleep(60)

    scope = {"type": "http", "method": "POST", "headers": []}
    with pytest.raises(BodyTooSlow):
        asyncio.run(read_body(Request(scope, silence), seconds=0.05))


def test_a_client_that_leaves_while_it_sends_is_no_error(api, key, caplog):
    caplog.set_level(logging.INFO)
    url = httpx2.URL(api.base_url)
    with connect((url.host, url.port)) as connection:
        connection.sendall(_head(key, "Content-Length: 100") + b'{"query": ')
    assert ask(api, "Husten")
    wait_until(lambda: " 0 " in caplog.text, "the request that was left has no log line", 5)
    assert "unforeseen" not in caplog.text


def test_wrong_methods_and_paths_are_problems_too(api):
    for method, path, status in (("GET", PATH, 405), ("POST", "/api/health", 405), ("GET", f"/api/{SECRET}", 404)):
        answer = api.request(method, path)
        assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
        assert SECRET not in answer.text
