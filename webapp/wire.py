"""HTTP towards vendors and the keys of programs, bounded: no redirects, 3 s to connect, 10 s of silence, 13 s in all,
1 MiB of body.

A read timeout alone bounds the silence between two bytes; a server that drips one byte every nine seconds would hold
a thread for hours. Hence `deadline`: at its end the sockets opened under it are shut, whatever they are doing.

Connections live as long as their deadline: both calls of one sign-in share one, no two sign-ins do, since a code sent
into a connection that the vendor has just closed is lost. What all share is what is dear to make: the list of trusted
certificates, which takes longer to read than all the rest of a sign-in.

The project speaks HTTP by httpx2 alone, which the client of language models brings anyway; requests is there only
because Flask-Dance imports it. httpx2 takes a network of one's own, so that the rules on addresses and time need no
pools or adapters.
"""

import contextlib
import ipaddress
import os
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import certifi
import httpcore2
import httpx2

from webapp.config import settings

CONNECT_S = 3.0
SILENCE_S = 10.0
TOTAL_S = 13.0  # both calls of one sign-in together; the person waits for it
LARGEST_ANSWER = 1024 * 1024
HEADERS = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "Befund"}
NO_MORE: Mapping[str, str] = {}
TIMEOUT = httpx2.Timeout(SILENCE_S, connect=CONNECT_S).as_dict()
CERTIFICATES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")  # a file or folder in place of the public authorities
BAD_URL = "not an absolute URL without user name and fragment"
BAD_SCHEME = "must be https; http is for loopback in development"
BAD_NETWORK = "this is an address in a private network; BEFUND_PRIVATE_VENDORS=allow permits it"
NAT64 = ipaddress.ip_network("64:ff9b::/96")  # RFC 6052: an IPv4 address in other clothes


class NoAnswer(Exception):
    """The other side cannot be reached, breaks off, answers too much or no HTTP; its text is the kind of failure."""


class PrivateAddress(OSError):
    """The vendor's name leads into a network that is not the internet."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer, read whole, and the request that it answers."""

    status: int
    headers: httpx2.Headers
    body: bytes
    request: httpx2.Request


class OutgoingCalls:
    """Calls under one deadline, and duplicates of the sockets they opened: shutting one ends the connection itself."""

    def __init__(self) -> None:
        self._cut = False
        self._transports: dict[str, httpx2.HTTPTransport] = {}
        self._sockets: list[socket.socket] = []
        self._lock = threading.Lock()

    def ask(self, method: str, url: str, headers: Mapping[str, str] = NO_MORE, body: str = "") -> Answer:
        """One answer: never redirected or sent twice, never waited for long, never much of it. Raises NoAnswer."""
        try:
            request = httpx2.Request(
                method, url, headers={**HEADERS, **headers}, content=body or None, extensions={"timeout": TIMEOUT}
            )
            with contextlib.closing(self._transport(url).handle_request(request)) as response:
                return Answer(response.status_code, response.headers, _read(response), request)
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
            raise NoAnswer(type(error).__name__) from None

    def watch(self, opened: socket.socket) -> None:
        """Watch a newly connected socket; one that comes after the deadline is shut at once."""
        with self._lock:
            self._sockets.append(opened.dup())
        if self._cut:
            self.end()

    def end(self) -> None:
        """Shut everything: blocked reads and handshakes return at once."""
        self._cut = True
        with self._lock:
            for watched in self._sockets:
                with contextlib.suppress(OSError):
                    watched.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the connections and give the duplicates back."""
        while self._transports:
            self._transports.popitem()[1].close()
        with self._lock:
            for watched in self._sockets:
                watched.close()
            self._sockets.clear()

    def _transport(self, url: str) -> httpx2.HTTPTransport:
        """The connections of this line by the proxy for a URL, or by none."""
        proxy = _proxy(url)
        if proxy not in self._transports:
            self._transports[proxy] = _Transport(self, proxy)
        return self._transports[proxy]


class _Transport(httpx2.HTTPTransport):
    """As in httpx2, over our network. It never sends twice: an authorization code works once."""

    def __init__(self, line: OutgoingCalls, proxy: str) -> None:
        tls = _trusting(where := _certificates(), os.stat(where).st_mtime_ns)
        by = httpx2.Proxy(proxy) if proxy else None
        self._pool = httpcore2.ConnectionPool(
            ssl_context=tls,
            proxy=httpcore2.Proxy(str(by.url), auth=by.raw_auth) if by else None,
            network_backend=_Network(line, checked=not proxy),
        )


class _Network(httpcore2.SyncBackend):
    """Sockets that a line watches; `checked`: only to addresses that a vendor may have."""

    def __init__(self, line: OutgoingCalls, checked: bool) -> None:
        self._line, self._checked = line, checked

    def connect_tcp(self, *args: Any, **kwargs: Any) -> httpcore2.NetworkStream:
        """As in httpcore2. Raises PrivateAddress."""
        stream = super().connect_tcp(*args, **kwargs)
        opened: socket.socket = stream.get_extra_info("socket")
        if self._checked and not is_allowed(str(opened.getpeername()[0])):
            stream.close()
            raise PrivateAddress
        self._line.watch(opened)
        return stream


def _read(response: httpx2.Response) -> bytes:
    """The body of an answer. Raises ValueError when it is longer than LARGEST_ANSWER."""
    body = bytearray()
    for chunk in response.iter_bytes():  # unpacked in pieces of a MiB at most
        body += chunk
        if len(body) > LARGEST_ANSWER:
            raise ValueError
    return bytes(body)


@contextlib.contextmanager
def deadline() -> Iterator[OutgoingCalls]:
    """Calls of which all is shut TOTAL_S after the beginning of this block, or with its end."""
    line = OutgoingCalls()
    end = threading.Timer(TOTAL_S, line.end)
    end.daemon = True
    end.start()
    try:
        yield line
    finally:
        end.cancel()
        line.close()


def is_allowed(address: str) -> bool:
    """Return True when a vendor may have this IP address: a public one; loopback in development; any with
    BEFUND_PRIVATE_VENDORS=allow. Otherwise a row, or a name that changes its address, would make the server ask its own
    neighbours (OWASP ASVS 5, V1.3.6)."""
    given = settings()
    if given.private_vendors == "allow":
        return True
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour or (found.teredo[1] if found.teredo else None)
        if inner is None and found in NAT64:
            inner = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
        found = inner or found
    return (found.is_global and not found.is_multicast) or (given.development and found.is_loopback)


@lru_cache(maxsize=256)
def _proxy(url: str) -> str:
    """The environment's proxy for a URL; "" for none."""
    parts, said = urlsplit(url), getproxies()
    if proxy_bypass(parts.netloc.rpartition("@")[2]):
        return ""
    proxy = said.get(parts.scheme) or said.get("all", "")
    return f"http://{proxy}" if proxy and "://" not in proxy else proxy


def _certificates() -> str:
    """The list of trusted certificates: the environment's, else that of the public authorities."""
    return next(filter(None, map(os.environ.get, CERTIFICATES)), "") or certifi.where()


@lru_cache(maxsize=8)
def _trusting(certificates: str, _changed: int) -> ssl.SSLContext:
    """A context that trusts what a file or a folder lists, and asks for the host's name (`_changed`: read again)."""
    folder = os.path.isdir(certificates)
    return ssl.create_default_context(cafile=None if folder else certificates, capath=certificates if folder else None)


def url_problem(url: str) -> str:
    """The reason that `url` is no vendor endpoint; "" when it is one: HTTPS, or HTTP on loopback in development."""
    given = settings()
    return _url_problem(url, given.development, given.private_vendors)


@lru_cache(maxsize=1024)  # asked three times at each way to a vendor and back, for the same few addresses
def _url_problem(url: str, development: bool, _private_vendors: str) -> str:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError:
        return BAD_URL
    if not host or parts.fragment or parts.username or not url.isprintable() or " " in url:
        return BAD_URL
    if _is_private(host):
        return BAD_NETWORK
    if parts.scheme == "https" or (parts.scheme == "http" and development and _is_loopback(host)):
        return ""
    return BAD_SCHEME


def _is_private(host: str) -> bool:
    """An address that would be refused; a name is looked at when it is connected to."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost" and not is_allowed("127.0.0.1")
    return not is_allowed(host)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
