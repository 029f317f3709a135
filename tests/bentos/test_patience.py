"""A client that does not come to an end is not waited for: uvicorn itself would keep its connection for ever."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

from bentos.patience import HEADERS_MAX, PatientProtocol
from tests.serving import served

LONGEST = 20
"""Seconds after which a connection counts as kept: a hundred times what the server waits here."""
HEAD = b"POST /x HTTP/1.1\r\nHost: x\r\n"
AT_ONCE = b"POST /at-once HTTP/1.1\r\nHost: x\r\n"
WHOLE = HEAD + b"Content-Length: 2\r\n\r\n{}"


class Hasty(PatientProtocol):
    """With short times."""

    headers_s = body_s = linger_s = 0.2


async def application(scope, receive, send) -> None:
    """Reads the body at `/x`, answers at once at `/at-once`, and slowly at `/stream`."""
    if scope["type"] == "lifespan":
        for step in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{step}.complete"})
        return
    if scope["path"] == "/x":
        while (message := await receive())["type"] == "http.request" and message.get("more_body"):
            pass
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range(8 if scope["path"] == "/stream" else 0):
        await asyncio.sleep(0.1)
        await send({"type": "http.response.body", "body": b"piece", "more_body": True})
    await send({"type": "http.response.body", "body": b"end"})


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    with served(application, http=Hasty, timeout_keep_alive=600) as address:
        yield address


@contextmanager
def connected(base: str, *pieces: bytes) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", urlsplit(base).port), timeout=LONGEST) as opened:
        for piece in pieces:
            opened.sendall(piece)
        yield opened


def read_to_the_end(opened: socket.socket) -> bytes:
    """The bytes that come until the server closes; TimeoutError when it does not."""
    parts = []
    while part := opened.recv(65_536):
        parts.append(part)
    return b"".join(parts)


@pytest.mark.parametrize(
    ("pieces", "answers"),
    {
        "nothing": ([], 0),
        "line ends": ([b"\r\n\r\n"], 0),
        "half a request line": ([b"GE"], 0),
        "half a header": ([HEAD + b"X-Slow: "], 0),
        "half a body": ([HEAD + b"Content-Length: 9\r\n\r\n{"], 0),
        "half a chunk": ([HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nab"], 0),
        "no end of chunks": ([HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"], 0),
        "an impossible length": ([AT_ONCE + b"Content-Length: " + b"9" * 18 + b"\r\n\r\n{"], 1),
        "half of a second request": ([WHOLE, b"GET /x HT"], 1),
        "both at once": ([WHOLE + b"GET /x HT"], 1),
        "a body behind its answer": ([AT_ONCE + b"Content-Length: 9\r\n\r\n{"], 1),
    }.values(),
    ids=lambda value: None,
)
def test_who_does_not_come_to_an_end_is_closed(base: str, pieces: list[bytes], answers: int) -> None:
    with connected(base, *pieces) as opened:
        assert read_to_the_end(opened).count(b"HTTP/1.1 200") == answers


@pytest.mark.parametrize("beginning", [b"", HEAD + b"X-Slow: ", WHOLE + b"\r\n"])
def test_who_trickles_gains_no_time(base: str, beginning: bytes) -> None:
    """A byte now and then: each is read, none is an end."""
    byte = b"\r\n" if beginning == WHOLE + b"\r\n" else b"G" if not beginning else b"a"
    with connected(base, beginning) as opened:
        opened.settimeout(0.05)
        for _ in range(LONGEST * 20):
            try:
                opened.sendall(byte)
                if opened.recv(65_536) == b"":
                    return
            except TimeoutError:
                continue
            except ConnectionError:
                return
    pytest.fail("the connection is kept")


def test_headers_without_an_end_are_not_collected(base: str) -> None:
    with connected(base, HEAD) as opened:
        try:
            for number in range(10 * HEADERS_MAX // 1000):
                opened.sendall(b"X-%d: " % number + b"a" * 1000 + b"\r\n")
            opened.sendall(b"\r\n")
            answer = read_to_the_end(opened)
        except ConnectionError:
            answer = b""
    assert answer == b""


def test_an_answer_under_way_is_not_cut(base: str) -> None:
    """It lasts four times as long as anybody is waited for, also where its client began the next request."""
    stream = HEAD.replace(b"/x", b"/stream") + b"Content-Length: 0\r\n\r\n"
    for behind in (b"", b"GET /x HT"):
        with connected(base, stream, behind) as opened:
            answer = b""
            while b"end" not in answer:
                part = opened.recv(65_536)
                assert part, answer
                answer += part
            assert answer.count(b"piece") == 8


def test_one_connection_serves_many_requests(base: str) -> None:
    with connected(base) as opened:
        for _ in range(50):
            opened.sendall(WHOLE)
            answer = b""
            while b"0\r\n\r\n" not in answer:
                answer += opened.recv(65_536)
            assert answer.startswith(b"HTTP/1.1 200")


def test_headers_are_sent_together_with_what_follows_at_once(base):
    """Else a server that is killed between the two had begun an answer that no other server can give any more."""
    for _ in range(20):
        with connected(base, b"GET /at-once HTTP/1.1\r\nHost: x\r\n\r\n") as opened:
            assert opened.recv(64_000).endswith(b"3\r\nend\r\n0\r\n\r\n")


def test_headers_do_not_wait_for_a_body_that_comes_later(base):
    with connected(base, b"GET /stream HTTP/1.1\r\nHost: x\r\n\r\n") as opened:
        got = [opened.recv(64_000)]
        while not got[-1].endswith(b"0\r\n\r\n"):
            got.append(opened.recv(64_000))
    assert got[0].startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"".join(got).count(b"piece") == 8
    assert len(got) > 1


def test_pipelined_requests_are_answered_in_their_order(base):
    request = b"GET /at-once HTTP/1.1\r\nHost: x\r\n\r\n"
    with connected(base, request * 3 + request.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")) as opened:
        answers = read_to_the_end(opened).split(b"HTTP/1.1 200 OK")
    assert [answer.endswith(b"3\r\nend\r\n0\r\n\r\n") for answer in answers] == [False, True, True, True, True]
