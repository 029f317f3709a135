"""HTTP towards vendors and the keys of programs, bounded: no redirects, 3 s to connect, 10 s of silence, 13 s in all,
1 MiB of body.

A read timeout alone bounds the silence between two bytes; a server that drips one byte every nine seconds would hold
a thread for hours. Hence `deadline`: at its end the sockets opened under it are shut, whatever they are doing.

Connections live as long as their deadline: both calls of one sign-in share one, no two sign-ins do, since a code sent
into a connection that the vendor has just closed is lost. What all share is what is dear to make: the list of trusted
certificates, which takes longer to read than all the rest of a sign-in.
"""

import contextlib
import ipaddress
import math
import os
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, ClassVar
from urllib.parse import urlsplit

import certifi
from requests import PreparedRequest, Response
from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.util.connection import is_connection_dropped
from urllib3.util.ssl_ import create_urllib3_context

from webapp.config import settings

CONNECT_S = 3.0
SILENCE_S = 10.0
TOTAL_S = 13.0  # both calls of one sign-in together; the person waits for it
LARGEST_ANSWER = 1024 * 1024
CHUNK = 64 * 1024
POOLS_KEPT = 100  # one for each vendor's host; they hold no connections
BAD_URL = "not an absolute URL without user name and fragment"
BAD_SCHEME = "must be https; http is for loopback in development"
BAD_NETWORK = "this is an address in a private network; BEFUND_PRIVATE_VENDORS=allow permits it"
NAT64 = ipaddress.ip_network("64:ff9b::/96")  # RFC 6052: an IPv4 address in other clothes


class AnswerTooLarge(Exception):
    """The vendor's answer is longer than LARGEST_ANSWER."""


class Watch:
    """Duplicates of the sockets opened under one deadline: shutting a duplicate ends the connection itself. And the
    connections that wait for its next call, one for each pool."""

    def __init__(self) -> None:
        self.cut = False
        self.idle: dict[HTTPConnectionPool, Any] = {}
        self._sockets: list[socket.socket] = []
        self._lock = threading.Lock()

    def add(self, opened: socket.socket) -> None:
        """Watch a newly connected socket; one that comes after the deadline is shut at once."""
        with self._lock:
            self._sockets.append(opened.dup())
        if self.cut:
            self.end()

    def end(self) -> None:
        """Shut everything: blocked reads and handshakes return at once."""
        self.cut = True
        with self._lock:
            for watched in self._sockets:
                with contextlib.suppress(OSError):
                    watched.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the connections and give the duplicates back."""
        while self.idle:
            self.idle.popitem()[1].close()
        with self._lock:
            for watched in self._sockets:
                watched.close()
            self._sockets.clear()


class Clock:
    """Ends watches when their time is over: one thread for all sign-ins of a process, asleep until the next end."""

    def __init__(self) -> None:
        self._until: dict[Watch, float] = {}
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._wakes_at = math.inf

    def start(self, watch: Watch, seconds: float) -> None:
        """`watch` ends in that many seconds."""
        with self._changed:
            self._until[watch] = until = time.monotonic() + seconds
            if self._thread is None or not self._thread.is_alive():  # also in the child of a fork
                self._thread = threading.Thread(target=self._run, daemon=True, name="deadlines of sign-ins")
                self._thread.start()
            elif until < self._wakes_at:
                self._changed.notify()

    def stop(self, watch: Watch) -> None:
        """It is over before its time."""
        with self._changed:
            self._until.pop(watch, None)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._wakes_at = min(self._until.values(), default=math.inf)
                pause = None if self._wakes_at == math.inf else max(0.0, self._wakes_at - time.monotonic())
                self._changed.wait(pause)
                now = time.monotonic()
                over = [watch for watch, until in self._until.items() if until <= now]
                for watch in over:
                    del self._until[watch]
            for watch in over:
                watch.end()


_clock = Clock()
_watch: ContextVar[Watch | None] = ContextVar("befund_watch", default=None)


@contextlib.contextmanager
def deadline(seconds: float = TOTAL_S) -> Iterator[Watch]:
    """Everything that `transport` opens in this block is shut `seconds` after its beginning, or with its end."""
    watch = Watch()
    token = _watch.set(watch)
    _clock.start(watch, seconds)
    try:
        yield watch
    finally:
        _clock.stop(watch)
        _watch.reset(token)
        watch.close()


class PrivateAddress(OSError):
    """The vendor's name leads into a network that is not the internet."""


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


def _watched(opened: socket.socket, behind_proxy: bool) -> socket.socket:
    if not behind_proxy and not is_allowed(str(opened.getpeername()[0])):
        opened.close()
        raise PrivateAddress
    watch = _watch.get()
    if watch is not None:
        watch.add(opened)
    return opened


class _Connection(HTTPConnection):
    def _new_conn(self) -> socket.socket:
        return _watched(super()._new_conn(), self.proxy is not None)


class _SecureConnection(HTTPSConnection):
    def _new_conn(self) -> socket.socket:
        return _watched(super()._new_conn(), self.proxy is not None)


class _OfOneDeadline(HTTPConnectionPool):
    """A pool that keeps its connections on the deadline they were opened under, not for others."""

    def _get_conn(self, timeout: float | None = None) -> Any:
        watch = _watch.get()
        kept = watch.idle.pop(self, None) if watch else None
        if kept is not None and is_connection_dropped(kept):
            kept.close()
        return kept or self._new_conn()

    def _put_conn(self, conn: Any) -> None:
        watch = _watch.get()
        if conn is None:
            return
        if watch is None or watch.cut or self in watch.idle:
            conn.close()
        else:
            watch.idle[self] = conn


class _Pool(_OfOneDeadline):
    ConnectionCls = _Connection


class _SecurePool(_OfOneDeadline, HTTPSConnectionPool):
    ConnectionCls = _SecureConnection


class BoundedAdapter(HTTPAdapter):
    """Transport whose sockets obey `deadline`; never retries, since an authorization code works once. One for the whole
    process: `close`, which a session of requests calls at its end, leaves it as it is."""

    POOLS: ClassVar = {"http": _Pool, "https": _SecurePool}

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """As in requests, with our connection classes."""
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = self.POOLS

    def proxy_manager_for(self, proxy: str, **kwargs: Any) -> Any:
        """The same behind a proxy, whose own address may be a private one."""
        manager = super().proxy_manager_for(proxy, **kwargs)
        manager.pool_classes_by_scheme = self.POOLS
        return manager

    def build_connection_pool_key_attributes(
        self, request: PreparedRequest, verify: Any, cert: Any = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """As in requests, with one TLS context for each list of trusted certificates (`verify`: its path, or True)."""
        host, tls = super().build_connection_pool_key_attributes(request, verify, cert)
        if host["scheme"] != "https":
            return host, {}
        given = certifi.where() if verify is True else str(verify)
        tls["ssl_context"] = _trusting(given, os.stat(given).st_mtime_ns)
        return host, {name: value for name, value in tls.items() if not name.startswith("ca_")}

    def cert_verify(self, conn: Any, url: str, verify: Any, cert: Any) -> None:
        """Nothing is left to say: without a list of its own, a connection would read that of the context again."""

    def close(self) -> None:
        """Nothing: every connection ends with its deadline."""


@lru_cache(maxsize=8)
def _trusting(certificates: str, _changed: int) -> ssl.SSLContext:
    """A context that trusts what a file or a folder lists, and asks for the host's name (`_changed`: read again)."""
    context = create_urllib3_context(cert_reqs=ssl.CERT_REQUIRED)
    folder = os.path.isdir(certificates)
    context.load_verify_locations(None if folder else certificates, certificates if folder else None)
    return context


transport = BoundedAdapter(pool_connections=POOLS_KEPT)


def read_answer(response: Response) -> bytes:
    """The body of a streamed answer. Raises AnswerTooLarge, and what urllib3 raises on a broken connection."""
    parts: list[bytes] = []
    size = 0
    while chunk := response.raw.read1(CHUNK, decode_content=True):
        size += len(chunk)
        if size > LARGEST_ANSWER:
            response.close()
            raise AnswerTooLarge
        parts.append(chunk)
    return b"".join(parts)


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
