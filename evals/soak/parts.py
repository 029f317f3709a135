"""What the servers of the soak rest on, each of which can fail and come back: database, counters, model, disk."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil

from evals.postgresql import PostgresServer
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


@contextlib.contextmanager
def postgres(folder: Path) -> Iterator[PostgresServer]:
    """A server below `folder` with one database for each of our servers, while the block runs."""
    place = folder / "postgres"
    place.mkdir()
    folder.chmod(0o755)  # its user must reach what lies below
    server = PostgresServer(place)
    server.start()
    try:
        for name in ("api", "web"):
            server.call("createdb", "-h", "127.0.0.1", "-p", str(server.port), "-U", "postgres", name)
        yield server
    finally:
        server.stop()


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
