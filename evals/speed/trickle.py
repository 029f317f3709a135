"""python -m evals trickle [--connections 5000]: slow clients in front of the webapp as it is shipped behind nginx.

Connections that begin a request line, headers or a body and never end it stand open, from another address than the
visitor's, while an ordinary visitor opens the sign-in page again and again. Nothing is simulated: the real nginx with
`webapp/proxy.conf`, the real gunicorn settings, one machine.
"""

from __future__ import annotations

import json
import resource
import shutil
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click
import httpx

from clinical.settings import ROOT
from evals.command import JSON, main_of
from evals.speed.servers import free_port, listens
from evals.speed.servers import running as start
from evals.speed.sign_in import running
from evals.wire import connect

BEGINNINGS = (
    b"GE",
    b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ",
    b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\na",
)
VISITS = 100
LONGEST = 10.0


@click.command()
@click.option("--connections", default=5000, show_default=True)
@JSON
def command(connections: int, as_json: bool) -> int:
    """How an ordinary visitor fares beside connections that trickle; status 1 when a visit fails."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    temporary = tempfile.TemporaryDirectory(prefix="befund-trickle-")
    with running("") as web, temporary as folder, nginx(web.port, Path(folder)) as port:
        alone = visits(port)
        slow = [_begin(port, BEGINNINGS[number % len(BEGINNINGS)]) for number in range(connections)]
        beside = visits(port)
        still = sum(_is_open(one) for one in slow)
        for one in slow:
            one.close()
    result = {
        "connections": connections,
        "open_at_the_end": still,
        "visits": VISITS,
        "failed": VISITS - len(beside),
        "p50_ms_alone": round(1000 * sorted(alone)[len(alone) // 2], 1),
        "p50_ms_beside": round(1000 * sorted(beside)[len(beside) // 2], 1) if beside else 0,
        "longest_ms_beside": round(1000 * max(beside, default=0), 1),
    }
    click.echo(json.dumps(result) if as_json else "\n".join(f"{name:<24}{value}" for name, value in result.items()))
    return 1 if result["failed"] else 0


@contextmanager
def nginx(web: int, folder: Path) -> Iterator[int]:
    """The shipped configuration with the ports of this run; yields the port it listens on."""
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if program is None:
        raise click.ClickException("nginx is not installed (apt-get install nginx-light)")
    port = free_port()
    text = (ROOT / "webapp" / "proxy.conf").read_text("utf-8").replace("127.0.0.1:5000", f"127.0.0.1:{web}")
    (folder / "proxy.conf").write_text(text.replace("127.0.0.1:8080", f"127.0.0.1:{port}"), "utf-8")
    command = [program, "-p", str(folder), "-c", "proxy.conf", "-g", "daemon off;"]
    with start(command, lambda: listens(port)):
        yield port


def visits(port: int) -> list[float]:
    """Seconds of each visit that was answered as it should."""
    seconds = []
    for _ in range(VISITS):
        began = time.perf_counter()
        with suppress(httpx.HTTPError):
            answer = httpx.get(f"http://127.0.0.1:{port}/accounts/login/", timeout=LONGEST, trust_env=False)
            if answer.status_code == 200:
                seconds.append(time.perf_counter() - began)
    return seconds


def _begin(port: int, beginning: bytes) -> socket.socket:
    opened = connect(("127.0.0.1", port), timeout=LONGEST, source="127.0.0.2")
    opened.sendall(beginning)
    return opened


def _is_open(one: socket.socket) -> bool:
    one.setblocking(False)
    try:
        return one.recv(1) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


main = main_of(command, "trickle")
