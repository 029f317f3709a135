"""Servers of a measurement or a test: free ports, own environments, processes awaited and ended, PostgreSQL."""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import httpx2
import psutil

from clinical.errors import BefundError
from clinical.settings import PREFIX, ROOT

Got = TypeVar("Got")
START_SECONDS = 120.0
STOP_SECONDS = 30.0
PAUSE_SECONDS = 0.1
FLASK_SECONDS = 3600.0
"""For the longest command of a measurement: counting ten million documents anew."""
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
    """Return True when something accepts connections on this port of 127.0.0.1."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def answers(url: str) -> bool:
    """Return True when `url` answers with status 200 now."""
    try:
        # no certificates are read for it: asked again and again, that would be most of the work
        return httpx2.get(url, timeout=5, trust_env=False, verify=False).status_code == 200
    except httpx2.HTTPError:
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
            awaited(process, ready, said, within)
            yield process
        finally:
            _end(process)


def awaited(process: subprocess.Popen[bytes], ready: Callable[[], bool], log: Path, within: float) -> None:
    """Until `ready()` holds. Raises NotStarted with the end of the log where the process ends, or takes longer."""
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


def over_family(value: Callable[[psutil.Process], Got], pid: int | None = None) -> list[Got]:
    """Values of a process (None: this one) and of each that it has started, but for those that ended in between."""
    first, found = psutil.Process(pid), list[Got]()
    for process in (first, *first.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            found.append(value(process))
    return found


def processor_seconds(pid: int | None = None) -> float:
    """User and system time so far of a process and all that it has started."""
    return sum(over_family(lambda process: sum(process.cpu_times()[:2]), pid))


def resident_mb(pid: int | None = None) -> list[float]:
    """Resident memory of a process and of each that it has started, largest first."""
    return sorted(over_family(lambda process: process.memory_info().rss / 1e6, pid), reverse=True)


# --- PostgreSQL -------------------------------------------------------------------------------------------------------


POSTGRES_SECONDS = 120.0
"""Seconds that one command of PostgreSQL may take."""
BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
FAST = "-c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=200"
"""Settings of a server that nobody mourns: it loses what it has when the machine does."""


def postgres_missing() -> str:
    """The reason that no PostgreSQL server can be started here; empty when it can."""
    if not BINARIES:
        return "PostgreSQL is not installed (apt-get install postgresql)"
    if os.getuid() == 0 and shutil.which("runuser") is None:
        return "PostgreSQL refuses to run as root and there is no runuser"
    return ""


class PostgresServer:
    """Its data and socket lie in `folder`, which is there already; `options` are passed to the server."""

    def __init__(self, folder: Path, options: str = FAST) -> None:
        if why := postgres_missing():
            raise NotStarted(why)
        self.folder, self.port = folder, free_port()
        self._options = f"-p {self.port} -k {folder} {options}"
        if os.getuid() == 0:
            shutil.chown(folder, "postgres")

    def start(self) -> None:
        """Make it and start it; returns when it answers."""
        locale = ("-E", "UTF8", "--locale=C", "--no-sync")
        self.call("initdb", "-D", f"{self.folder}/data", "-U", "postgres", "-A", "trust", *locale)
        self._control("start")

    def restart(self, how: str) -> None:
        """`fast` as an administrator would, `immediate` as after a crash."""
        self._control("restart", "-m", how)

    def stop(self) -> None:
        """End it for good."""
        self.call("pg_ctl", "-D", f"{self.folder}/data", "-m", "immediate", "-w", "stop")

    def url(self, database: str) -> str:
        """Of one of its databases, over TCP."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def call(self, program: str, *arguments: str) -> None:
        """Run one of its programs, as its own user where this is root. Raises NotStarted with what it said."""
        command = [str(BINARIES[-1] / program), *arguments]
        if os.getuid() == 0 and pwd.getpwnam("postgres"):
            command = ["runuser", "-u", "postgres", "--", *command]
        # Not into a pipe: a server that inherits one would keep it open, and the call would never end.
        said = self.folder.with_suffix(".out")
        with open(said, "w+b") as output:
            done = subprocess.run(command, cwd="/", stdout=output, stderr=output, timeout=POSTGRES_SECONDS, check=False)
            output.seek(0)
            words = output.read().decode("utf-8", "replace")
        said.unlink(missing_ok=True)
        if done.returncode:
            raise NotStarted(f"{program} failed: {words[-2_000:]}")

    def _control(self, what: str, *how: str) -> None:
        place = ("-D", f"{self.folder}/data", "-l", f"{self.folder}/log", "-o", self._options)
        self.call("pg_ctl", *place, *how, "-w", what)
