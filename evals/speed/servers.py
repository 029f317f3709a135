"""Servers of a measurement or a test: free ports, an environment of their own, processes that are awaited and ended."""

from __future__ import annotations

import itertools
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx

from clinical.errors import BefundError
from clinical.settings import PREFIX, ROOT

START_SECONDS = 120.0
STOP_SECONDS = 30.0
PAUSE_SECONDS = 0.1
FLASK_SECONDS = 900.0
"""For the longest command of a measurement: counting a million documents anew."""
SHOWN = 2_000
"""Characters of a log that an error shows."""
_FIRST, _LAST = 20_000, 32_000  # below the ports that the system gives to outgoing connections
_PORTS = itertools.cycle(range(_FIRST, _LAST))
for _ in range(os.getpid() * 97 % (_LAST - _FIRST)):  # processes side by side begin at different ports
    next(_PORTS)


class NotStarted(BefundError):
    """A server ended or did not become ready in time."""


def free_port() -> int:
    """A TCP port free on loopback, for a server that starts a while later.

    A port that the system chooses for `bind(0)` may be an outgoing connection's by then: the suite runs two processes
    side by side, and each makes thousands.
    """
    for port in itertools.islice(_PORTS, _LAST - _FIRST):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise NotStarted(f"no free port from {_FIRST} to {_LAST}")


def listens(port: int) -> bool:
    """Whether something accepts connections there."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def answers(url: str) -> bool:
    """Whether `url` answers with status 200 now."""
    try:
        return httpx.get(url, timeout=5, trust_env=False).status_code == 200
    except httpx.HTTPError:
        return False


def environment_with(settings: Mapping[str, object]) -> dict[str, str]:
    """This process's environment without its settings, and with these (by name, without the prefix)."""
    rest = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return rest | {"PYTHONPATH": path} | {f"{PREFIX}{name}": str(value) for name, value in settings.items()}


def flask(environment: Mapping[str, str], *arguments: str) -> str:
    """Run a command of the webapp; its output. Raises NotStarted with what it said."""
    command = [sys.executable, "-m", "flask", "--app", "webapp", *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=FLASK_SECONDS, check=False
    )
    if done.returncode:
        raise NotStarted(f"flask {' '.join(arguments)} failed: {done.stderr[-SHOWN:]}")
    return done.stdout


@contextmanager
def running(
    command: Sequence[str],
    ready: Callable[[], bool],
    *,
    environment: Mapping[str, str] | None = None,
    folder: Path = ROOT,
    log: Path | None = None,
    within: float = START_SECONDS,
) -> Iterator[subprocess.Popen[bytes]]:
    """The command as a process in `folder`, from when `ready()` holds to the end of the block.

    What it prints goes to `log`. Raises NotStarted with the end of that when it ends or is not ready `within` seconds.
    """
    with tempfile.NamedTemporaryFile(prefix="befund-server-") as temporary:
        said = log or Path(temporary.name)
        with said.open("wb") as output:
            process = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT)
        try:
            _await(process, ready, said, within)
            yield process
        finally:
            _end(process)


def _await(process: subprocess.Popen[bytes], ready: Callable[[], bool], log: Path, within: float) -> None:
    until = time.monotonic() + within
    while not ready():
        if process.poll() is not None or time.monotonic() > until:
            why = "ended" if process.poll() is not None else f"is not ready after {within:.0f} s"
            raise NotStarted(f"the server {why}: {log.read_text('utf-8', 'replace')[-SHOWN:]}")
        time.sleep(PAUSE_SECONDS)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(STOP_SECONDS)
