"""HTTP/1.1 by hand: requests as they go over the wire, connections, and the head of an answer.

A client of a library measures itself beside the server. What is measured here sends prepared bytes and reads only what
tells that an answer is complete.
"""

import socket
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

END_OF_HEAD = b"\r\n\r\n"


class Head(NamedTuple):
    """The head of an answer: its status, header names in lower case with their values, and its length in bytes."""

    status: int
    headers: tuple[tuple[str, str], ...]
    length: int

    def get(self, name: str) -> str:
        """The first value of a header, "" where it is missing."""
        return next((value for known, value in self.headers if known == name), "")


def request_bytes(url: str, headers: Mapping[str, str], *, method: str = "GET", body: bytes = b"") -> bytes:
    """A request of `url` as it goes over the wire; with a body its length is said."""
    parts = urlsplit(url)
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    said = {"Host": parts.netloc, **headers, **({"Content-Length": str(len(body))} if body else {})}
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in said.items())]
    return "\r\n".join(lines).encode() + END_OF_HEAD + body


def connect(address: tuple[str, int], *, timeout: float = 10, source: str | None = None) -> socket.socket:
    """A connection that sends at once what it is given; `source` is the address of ours that it comes from.

    Raises OSError where nobody listens.
    """
    connection = socket.create_connection(address, timeout=timeout, source_address=(source, 0) if source else None)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def head_of(received: bytes | bytearray) -> Head | None:
    """The head that received bytes begin with, None while it is not whole."""
    end = received.find(END_OF_HEAD)
    if end < 0:
        return None
    first, *lines = bytes(received[:end]).decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in lines)
    return Head(int(first.split()[1]), tuple((name.lower(), value.strip()) for name, _, value in pairs), end + 4)
