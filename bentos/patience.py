"""Time limits of the text API for slow clients: uvicorn's protocol with deadlines for headers and bodies.

uvicorn bounds the pause between two requests of a connection and nothing else: one that sends no headers, half of them,
or a body byte by byte behind an answer stays open for as long as its client likes. Here a request has HEADERS_S from
its first byte (of a new connection: from the connection on) to its last header, in at most HEADERS_MAX bytes; then
BODY_S and the time that its announced length takes at SLOWEST; whose request was answered before its end is read for
LINGER_S more. What is over is closed. The answer to a request that is there is never cut: streams last as long as they
do, and none begins with its headers alone.
"""

from __future__ import annotations

from asyncio import TimerHandle, Transport, get_running_loop
from typing import Any, Final, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEADERS_S: Final = 10.0
HEADERS_MAX: Final = 64 * 1024
"""Bytes: twice what nginx as shipped passes on."""
BODY_S: Final = 40.0
"""Longer than the application itself waits for a body (`admission.BODY_SECONDS`), so that its 408 comes first."""
SLOWEST: Final = 64 * 1024
"""Bytes a second: half a megabit, the slowest line a letter is sent over."""
LARGEST: Final = 32 * 1024 * 1024
"""Bytes that are waited for, whatever is announced: more than any body that is taken."""
LENGTH_DIGITS: Final = 12
LINGER_S: Final = 5.0


class Joined:
    """A transport that sends the headers of an answer together with what is written in the same turn of the loop, which
    a short answer is to its end. uvicorn sends them before: a process that is killed between the two leaves a proxy
    with headers that it has passed on already, so that it cannot ask the next server."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._headers = b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send it with the headers that wait; headers themselves wait for the end of this turn."""
        if self._headers or not data.startswith(b"HTTP/1."):
            self._transport.write(self._taken() + data)
        else:
            self._headers = data
            get_running_loop().call_soon(self._send)

    def close(self) -> None:
        """Send what waits, and close."""
        self._send()
        self._transport.close()

    def _taken(self) -> bytes:
        headers, self._headers = self._headers, b""
        return headers

    def _send(self) -> None:
        if self._headers:
            self._transport.write(self._taken())


class PatientProtocol(HttpToolsProtocol):
    """One connection of a client."""

    headers_s, body_s, linger_s = HEADERS_S, BODY_S, LINGER_S
    _waiting: TimerHandle | None = None
    _due: float | None = None
    """Seconds for what has begun in the data that is being read; a timer is set where it does not end there too."""
    _reading = False
    """True while a request has begun but not fully arrived."""
    _heading = 0
    """Bytes of its headers, as long as they are not there to their end."""

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """The first request is waited for."""
        super().connection_made(cast(Transport, Joined(transport)))
        self._wait(self.headers_s)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        self._stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Line ends between two requests are no request, but end the server's own wait for one."""
        self._heading += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._due is not None:
            self._wait(self._due)
        if self._heading > HEADERS_MAX:
            self.transport.close()
        elif self._waiting is None and not self._is_answering:
            self._wait(self.headers_s)

    def on_message_begin(self) -> None:
        """The first byte of a request."""
        super().on_message_begin()
        self._reading = True
        if self._waiting is None:
            self._due = self.headers_s

    def on_headers_complete(self) -> None:
        """The body is waited for, by the length it announces."""
        length = next((value for name, value in self.headers if name == b"content-length"), b"0")
        announced = min(LARGEST, int(length[:LENGTH_DIGITS])) if length.isdigit() else 0
        self._due = self.body_s + announced / SLOWEST
        super().on_headers_complete()
        self._heading = 0

    def on_body(self, body: bytes) -> None:
        """A body is no header, however long it is."""
        super().on_body(body)
        self._heading = 0

    def on_message_complete(self) -> None:
        """The request is there."""
        self._reading, self._heading = False, 0
        self._stop()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Discards the rest of an answered request; its client must finish sending within `linger_s`."""
        super().on_response_complete()
        if self._reading and not self.transport.is_closing():
            self._wait(self.linger_s)

    @property
    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _wait(self, seconds: float) -> None:
        self._stop()
        self._waiting = self.loop.call_later(seconds, self._over, seconds)

    def _stop(self) -> None:
        self._due = None
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _over(self, seconds: float) -> None:
        """A client that began its next request during an answer is looked at again when the answer may have ended."""
        self._waiting = None
        if self._is_answering and not self.cycle.more_body:
            self._wait(seconds)
        elif not self.transport.is_closing():
            self.transport.close()


def be_patient() -> None:
    """Servers that are made from here on in this process use it, where they are told no other protocol: BentoML has no
    setting for it."""
    from uvicorn.config import HTTP_PROTOCOLS

    HTTP_PROTOCOLS["auto"] = f"{PatientProtocol.__module__}:{PatientProtocol.__qualname__}"
