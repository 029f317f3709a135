"""One call of the text API, handed on to a browser as a stream of events while it runs.

A gunicorn thread runs a small event loop of its own for it, so that it can wait for the API and look whether the
browser is still there at the same time. Who leaves ends the call: the connection to the API is closed, and the API
stops its work up to the language model. Nothing of a text is kept or logged.
"""

import asyncio
import json
import socket
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import httpx2

from clinical.sse import PING
from clinical.tracing import outgoing
from webapp.workbench.failures import kind_of, wait_of

LOOK_S = 0.1  # how often it is looked whether the browser is still there
PING_S = 0.5  # something is written this often: where the state of a connection cannot be asked, writing fails
LONGEST_S = 180.0  # the contract recommends that clients wait at least 120 s for tier 3
LONGEST_SAID = 300  # characters
TIMEOUT = httpx2.Timeout(LONGEST_S, connect=3.0)
TCP_ESTABLISHED = 1  # Linux, include/net/tcp_states.h; the first byte of TCP_INFO

Words = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class ApiCall:
    """A call of the text API: URL, key and body. `streams`: the API itself answers with events."""

    url: str
    key: str
    body: Mapping[str, Any]
    streams: bool = False


def event(fields: Mapping[str, Any]) -> bytes:
    """One event, ASCII only, as the text API writes them; a blank line before it ends what may have been cut."""
    return b"\n\ndata: " + json.dumps(fields, separators=(",", ":")).encode("ascii") + b"\n\n"


def relayed(call: ApiCall, words: Words, gone: Callable[[], bool], longest: float = LONGEST_S) -> Iterator[bytes]:
    """The events of a call, with pings between them, until it ends, `gone()` holds, the iterator is closed or `longest`
    seconds are over, which is told as the last event."""
    until, last = time.monotonic() + longest, time.monotonic()
    with asyncio.Runner() as runner:
        source = _chunks(call, words)
        step = _next(runner, source)
        try:
            while not gone():
                runner.run(asyncio.wait({step}, timeout=LOOK_S))
                now = time.monotonic()
                if step.done():
                    chunk = step.result()
                    if chunk is None:
                        return
                    yield chunk
                    last, step = now, _next(runner, source)
                elif now > until:
                    yield event(words["slow"])
                    return
                elif now - last > PING_S:
                    yield PING
                    last = now
        finally:
            runner.run(_end(step, source))


def warm_up() -> None:
    """Do once, towards nobody, what the first call of a process would do while a person waits: load what httpx2 only
    loads when it connects, and read the certificates. A tenth to half a second."""
    nobody = ApiCall("http://127.0.0.1:0/", "", {})
    for _ in relayed(nobody, {"dead": {}, "slow": {}, "broken": {}}, lambda: False):
        pass


def browser_left(environ: Mapping[str, Any]) -> Callable[[], bool]:
    """Return a test that is True once the browser of a request has closed its connection, as the kernel says; always
    False where the kernel cannot be asked."""
    connection = environ.get("gunicorn.socket")
    if not isinstance(connection, socket.socket) or not hasattr(socket, "TCP_INFO"):
        return lambda: False

    def left() -> bool:
        try:
            return connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] != TCP_ESTABLISHED
        except OSError:
            return False

    return left


def _next(runner: asyncio.Runner, source: AsyncIterator[bytes]) -> asyncio.Task[bytes | None]:
    async def step() -> bytes | None:
        return await anext(source, None)

    return runner.get_loop().create_task(step())


async def _end(step: asyncio.Task[bytes | None], source: AsyncGenerator[bytes]) -> None:
    """Close the connection to the API, from its reader outwards: a runner ends all that is open at once, and what is
    ended twice is a traceback in the log."""
    step.cancel()
    await asyncio.wait({step})
    await source.aclose()


async def _chunks(call: ApiCall, words: Words) -> AsyncGenerator[bytes]:
    """Yields the API's answer as events; a failure is the last event."""
    opened = False
    try:
        async with httpx2.AsyncClient(trust_env=False, timeout=TIMEOUT, verify=_tls()) as client:
            headers = {"Authorization": f"Bearer {call.key}", **outgoing()}
            async with client.stream("POST", call.url, json=call.body, headers=headers) as answer:
                opened = True
                if answer.status_code != httpx2.codes.OK:
                    wait = wait_of(answer.headers.get("Retry-After"))
                    kind = kind_of(answer.status_code, file="content" in call.body)
                    told = {"retry_after": wait, "status": answer.status_code, "said": await _said(answer)}
                    yield event({**words[kind], **told})
                elif call.streams:
                    async with aclosing(_streamed(answer, words)) as chunks:
                        async for chunk in chunks:
                            yield chunk
                else:
                    yield event({"type": "answer", "answer": json.loads(await answer.aread())})
    except httpx2.TimeoutException:
        yield event(words["slow" if opened else "dead"])
    except (httpx2.HTTPError, ValueError):
        yield event(words["broken" if opened else "dead"])


async def _said(answer: httpx2.Response) -> str:
    """The API's own sentence on a refusal, one of a few fixed ones (`detail`, RFC 9457); "" where it says none."""
    try:
        told = json.loads(await answer.aread())
    except ValueError:
        return ""
    detail = told.get("detail") if isinstance(told, dict) else None
    return detail[:LONGEST_SAID] if isinstance(detail, str) else ""


async def _streamed(answer: httpx2.Response, words: Words) -> AsyncGenerator[bytes]:
    """The API's own events, byte by byte; a stream that ends without its last event says so. Nothing else of an event
    is looked at, so that a text API of another version is served too."""
    ended, rest = False, b""
    async with aclosing(answer.aiter_raw()) as chunks:
        async for chunk in chunks:
            *whole, rest = (rest + chunk).split(b"\n\n")
            ended = ended or any(_is_last(event_fields(block)) for block in whole)
            yield chunk
    if not ended:
        yield event(words["broken"])


def event_fields(block: bytes) -> dict[str, Any]:
    """The fields of one event; none of a ping, or of what was cut in two."""
    try:
        found = json.loads(block.strip().removeprefix(b"data:"))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _is_last(fields: Mapping[str, Any]) -> bool:
    return fields.get("type") == "result" or fields.get("status") == "error"


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    """Reading the certificates takes longer than a search: once per process."""
    return ssl.create_default_context()
