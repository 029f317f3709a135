"""A PostgreSQL server of the system's package in a folder of its own, for a measurement or a test run."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from pathlib import Path

from evals.speed.servers import NotStarted, free_port

PATIENCE = 120.0
"""Seconds that one command of PostgreSQL may take."""
BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
FAST = "-c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=200"
"""Settings of a server that nobody mourns: it loses what it has when the machine does."""


def missing() -> str:
    """Why no server can be started here; empty when it can."""
    if not BINARIES:
        return "PostgreSQL is not installed (apt-get install postgresql)"
    if os.getuid() == 0 and shutil.which("runuser") is None:
        return "PostgreSQL refuses to run as root and there is no runuser"
    return ""


class PostgresServer:
    """Its data and socket lie in `folder`, which is there already; `options` are passed to the server."""

    def __init__(self, folder: Path, options: str = FAST) -> None:
        if why := missing():
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
            done = subprocess.run(command, cwd="/", stdout=output, stderr=output, timeout=PATIENCE, check=False)
            output.seek(0)
            words = output.read().decode("utf-8", "replace")
        said.unlink(missing_ok=True)
        if done.returncode:
            raise NotStarted(f"{program} failed: {words[-2_000:]}")

    def _control(self, what: str, *how: str) -> None:
        place = ("-D", f"{self.folder}/data", "-l", f"{self.folder}/log", "-o", self._options)
        self.call("pg_ctl", *place, *how, "-w", what)
