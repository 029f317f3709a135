"""The served API measured from outside: real workers, a key without limits, raw HTTP/1.1 over kept connections.

The client is as thin as it can be, since it shares the cores with the workers: it writes a request, and reads until the
end of the chunked answer.
"""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from bentos.keys import KeyLimits, Keys, open_database
from evals.speed.servers import answers, environment_with, free_port, running
from evals.wire import connect, request_bytes

CONNECTIONS = 16
END = b"0\r\n\r\n"
PARTIAL = b'"type":"partial"'


@dataclass(frozen=True)
class Server:
    """Running workers and a key for them."""

    port: int
    key: str
    process: subprocess.Popen[bytes]

    def request(self, query: str) -> bytes:
        """One POST /api/deep-research as it goes over the wire."""
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        url = f"http://127.0.0.1:{self.port}/api/deep-research"
        return request_bytes(url, headers, method="POST", body=json.dumps({"query": query}).encode())

    def first_partials(self, warm_up: Sequence[str], queries: Sequence[str]) -> list[float]:
        """Milliseconds from the first byte sent to the first `partial` received, one request after the other."""
        with closing(connect(("127.0.0.1", self.port), timeout=30)) as connection:
            for query in warm_up:
                _exchange(connection, self.request(query))
            return [_exchange(connection, self.request(query)) for query in queries]

    def throughput(self, queries: Sequence[str], seconds: float) -> float:
        """Complete streams per second over sixteen connections, after a second of warm-up."""
        requests = [self.request(query) for query in queries]
        asyncio.run(_load(self.port, requests, 1.0))
        begun = time.perf_counter()
        done = asyncio.run(_load(self.port, requests, seconds))
        return done / (time.perf_counter() - begun)

    def resident_mb(self) -> list[float]:
        """Resident memory of each worker, in MB."""
        children = psutil.Process(self.process.pid).children(recursive=True)
        return [
            child.memory_info().rss / 1e6 for child in children if "_bentoml_impl.worker.service" in child.cmdline()
        ]


def _exchange(connection: socket.socket, request: bytes) -> float:
    """Send a request, read the whole answer; milliseconds until its first `partial`."""
    answer = b""
    seen = 0.0
    begun = time.perf_counter()
    connection.sendall(request)
    while not answer.endswith(END):
        piece = connection.recv(65_536)
        if not piece:
            raise ConnectionError("the server closed the connection")
        answer += piece
        if not seen and PARTIAL in answer:
            seen = time.perf_counter()
    if not seen:
        raise ValueError(f"no partial in an answer of status {answer[9:12].decode('ascii', 'replace')}")
    return 1_000 * (seen - begun)


async def _load(port: int, requests: Sequence[bytes], seconds: float) -> int:
    """Complete streams within `seconds`, over all connections."""
    until = time.perf_counter() + seconds
    shares = [requests[number::CONNECTIONS] for number in range(CONNECTIONS)]
    return sum(await asyncio.gather(*(_client(port, share, until) for share in shares)))


async def _client(port: int, requests: Sequence[bytes], until: float) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    done = 0
    while time.perf_counter() < until:
        writer.write(requests[done % len(requests)])
        answer = await reader.readuntil(b"\r\n" + END)
        if PARTIAL not in answer:
            raise ValueError(f"no partial in an answer of status {answer[9:12].decode('ascii', 'replace')}")
        done += 1
    writer.close()
    return done


@contextmanager
def serving(catalog: Path, workers: int, settings: Mapping[str, str] | None = None) -> Iterator[Server]:
    """`python -m bentos serve` with its own key database in a temporary folder; stopped at the end.

    `settings` are further ones, by name without the prefix.
    """
    with tempfile.TemporaryDirectory(prefix="befund-speed-") as folder:
        database = f"sqlite:///{folder}/api.sqlite"
        key = Keys(open_database(database)).create("speed", KeyLimits(0, 0))
        port, log = free_port(), Path(folder) / "log"
        given = {"ENV": "development", "CATALOG": catalog, "WORKERS": workers, "API_PORT": port}
        environment = environment_with({**given, "API_DATABASE_URL": database, **(settings or {})})

        def ready() -> bool:
            started = log.read_bytes().count(b"befund ready") >= workers
            return started and answers(f"http://127.0.0.1:{port}/api/health")

        command = [sys.executable, "-m", "bentos", "serve"]
        # The folder is the working folder too, so that no .env of the repository is read.
        with running(command, ready, environment=environment, folder=Path(folder), log=log) as process:
            yield Server(port, key, process)
