"""What the servers of the soak rest on, each of which can fail and come back: database, counters, model, disk."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import sys
import time
from pathlib import Path

import httpx
import psutil

from evals.speed.servers import NotStarted, free_port, listens

START_SECONDS = 60.0
DISK_MB = 48
"""Of the small file system: what is stored in ten minutes takes a quarter of it."""
SMALL_FILE = 1_024
"""Bytes that a file may have while the disk is called full without one of its own."""


class Program:
    """A process on a port of its own that is killed and started again."""

    def __init__(self, *command: str, port: int) -> None:
        self.port, self._command = port, command
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it; returns when it listens."""
        nowhere = subprocess.DEVNULL
        self._process = subprocess.Popen(self._command, stdout=nowhere, stderr=nowhere)
        until = time.monotonic() + START_SECONDS
        while not listens(self.port):
            if time.monotonic() > until or self._process.poll() is not None:
                raise NotStarted(f"{self._command[0]} does not listen")
            time.sleep(0.02)

    def kill(self) -> None:
        """As a machine that loses its power."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(START_SECONDS)
            self._process = None


def redis() -> Program:
    """The counters of limits, which keep nothing."""
    port = free_port()
    quiet = ("--save", "", "--appendonly", "no", "--bind", "127.0.0.1", "--port", str(port))
    return Program("redis-server", *quiet, port=port)


class Model(Program):
    """The language model (`evals.soak.model`)."""

    def __init__(self) -> None:
        port = free_port()
        super().__init__(sys.executable, "-m", "evals.soak.model", str(port), port=port)

    def mode(self, name: str) -> None:
        """Answer so from now on."""
        httpx.get(f"http://127.0.0.1:{self.port}/mode/{name}", timeout=10, trust_env=False).raise_for_status()


class Postgres:
    """A PostgreSQL server of the system's package in a folder of its own, with one database for each of our servers."""

    def __init__(self, folder: Path) -> None:
        self._folder, self.port = folder / "postgres", free_port()
        binaries = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
        if not binaries:
            raise NotStarted("PostgreSQL is not installed", "a server of 14 or newer", "apt-get install postgresql")
        self._binaries = binaries[-1]
        self._folder.mkdir()
        if os.getuid() == 0:
            folder.chmod(0o755)
            shutil.chown(self._folder, "postgres")

    def start(self) -> None:
        """Make the server and its databases."""
        place = ("-D", f"{self._folder}/data")
        self._call("initdb", *place, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        self._call("pg_ctl", *place, "-o", self._options(), "-l", f"{self._folder}/log", "-w", "start")
        for name in ("api", "web"):
            self._call("createdb", "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", name)

    def restart(self, how: str) -> None:
        """`fast` as an administrator would, `immediate` as after a crash."""
        place = ("-D", f"{self._folder}/data", "-l", f"{self._folder}/log", "-o", self._options())
        self._call("pg_ctl", *place, "-m", how, "-w", "restart")

    def stop(self) -> None:
        """End it for good."""
        self._call("pg_ctl", "-D", f"{self._folder}/data", "-m", "immediate", "-w", "stop")

    def url(self, name: str) -> str:
        """Of the database of one of the servers."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{name}"

    def _options(self) -> str:
        return f"-p {self.port} -k {self._folder} -c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=200"

    def _call(self, program: str, *arguments: str) -> None:
        command = [str(self._binaries / program), *arguments]
        if os.getuid() == 0 and pwd.getpwnam("postgres"):
            command = ["runuser", "-u", "postgres", "--", *command]
        # Not into a pipe: a server that inherits one would keep it open.
        with open(self._folder.with_suffix(".out"), "w+b") as output:
            done = subprocess.run(command, cwd="/", stdout=output, stderr=output, timeout=120, check=False)
            output.seek(0)
            if done.returncode:
                raise NotStarted(f"{program} failed: {output.read()[-2_000:].decode('utf-8', 'replace')}")


class Disk:
    """The place of the stored files: a small file system of its own that can be filled, or, where none may be mounted,
    a folder whose writers may not write files beyond SMALL_FILE bytes (RLIMIT_FSIZE; they get EFBIG for ENOSPC)."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "files"
        self.folder.mkdir()
        self._mounted = False

    @property
    def how(self) -> str:
        """In which of the two ways it is full."""
        return f"a file system of {DISK_MB} MB, filled" if self._mounted else "RLIMIT_FSIZE of the webapp's processes"

    def start(self) -> None:
        """Mount it, where that is allowed."""
        command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs", str(self.folder)]
        with contextlib.suppress(OSError):
            self._mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0

    def fill(self, writers: list[psutil.Process]) -> None:
        """No room for another document."""
        if not self._mounted:
            _may_write(writers, SMALL_FILE)
            return
        with contextlib.suppress(OSError), open(self.folder / "filler", "wb", buffering=0) as filler:
            while True:
                filler.write(bytes(65_536))

    def free(self, writers: list[psutil.Process]) -> None:
        """There is room again."""
        if not self._mounted:
            _may_write(writers, psutil.RLIM_INFINITY)
        (self.folder / "filler").unlink(missing_ok=True)

    def stop(self) -> None:
        """Take it away."""
        if self._mounted:
            subprocess.run(["umount", "-l", str(self.folder)], capture_output=True, check=False)


def _may_write(writers: list[psutil.Process], size: int) -> None:
    for writer in writers:
        with contextlib.suppress(psutil.NoSuchProcess):
            writer.rlimit(psutil.RLIMIT_FSIZE, (size, psutil.RLIM_INFINITY))
