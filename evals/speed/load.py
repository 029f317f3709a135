"""A small HTTP load generator: keep-alive connections, one loop, one request under way on each.

One thread and no library on purpose: the server under test shares the machine, and every cycle spent here is taken from
it. A request is a fixed byte string; an answer ends where Content-Length says.
"""

import selectors
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from evals.wire import connect, head_of

WARMING, JOIN = 1.0, 0.03  # seconds


class WrongAnswer(Exception):
    """The server answered something else than it should; a speed of wrong answers would mean nothing."""


@dataclass(frozen=True, slots=True)
class Load:
    """What was measured: requests a second, and the latency in milliseconds that half / 99 % of them stayed below.

    `requests` were measured; `answered` counts those of the warming up too.
    """

    requests: int
    answered: int
    per_second: float
    p50_ms: float
    p99_ms: float


@dataclass(slots=True)
class _Client:
    socket: socket.socket
    sent: float = 0.0
    received: bytearray = field(default_factory=bytearray)
    length: int = -1


def measure(
    address: tuple[str, int], requests: Callable[[int], bytes], *, clients: int = 8, seconds: float = 5,
    status: int = 200,
) -> Load:  # fmt: skip
    """Ask `requests(number)` over `clients` connections for `seconds`, after one second of warming up.

    Clients join one after the other, as they do elsewhere: which of a server's processes takes a connection is decided
    when it comes, and of many in the same instant the first process to wake takes all. Raises WrongAnswer for any other
    status than `status`.
    """
    selector = selectors.DefaultSelector()
    number = answered = 0
    latencies: list[float] = []
    begin = time.perf_counter() + WARMING
    joins = begin - WARMING
    while (now := time.perf_counter()) < begin + seconds:
        if len(selector.get_map()) < clients and now >= joins:
            client = _Client(connect(address))
            selector.register(client.socket, selectors.EVENT_READ, client)
            _send(client, requests(number))
            number, joins = number + 1, now + JOIN
        for key, _ in selector.select(timeout=JOIN if len(selector.get_map()) < clients else 5):
            client = key.data
            if _answered(client, status):
                now = time.perf_counter()
                answered += 1
                if now >= begin:
                    latencies.append(now - client.sent)
                _send(client, requests(number))
                number += 1
    for key in list(selector.get_map().values()):
        key.data.socket.close()
    took = now - begin
    latencies.sort()
    count = len(latencies)
    if not count:
        raise WrongAnswer("no answer within the time")
    return Load(
        count, answered, count / took, latencies[count // 2] * 1000, latencies[int(count * 0.99)] * 1000
    )  # fmt: skip


def _send(client: _Client, request: bytes) -> None:
    client.received.clear()
    client.length = -1
    client.sent = time.perf_counter()
    client.socket.sendall(request)


def _answered(client: _Client, expected: int) -> bool:
    """Read what is there; whether the answer is complete."""
    chunk = client.socket.recv(1 << 18)
    if not chunk:
        raise WrongAnswer("the server closed the connection")
    client.received += chunk
    if client.length < 0:
        head = head_of(client.received)
        if head is None:
            return False
        if head.status != expected:
            raise WrongAnswer(f"status {head.status}")
        client.length = head.length + int(head.get("content-length"))
    return len(client.received) >= client.length
