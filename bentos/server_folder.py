"""A folder for each running server: the counts that its workers share, and which of them are ending.

BentoML keeps the counts of every server of one user in one folder and empties it at each start, so that two servers on
a machine erase each other's. The process that starts the workers makes a folder here instead and names it in the
environment; the workers, which import the service next, put their counts there. Nothing but Python is imported: the
name must be set before the library of the metrics is loaded.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

NAMED = "_BENTOS_SERVER_FOLDER"
"""PID of the server and its folder; what another server left in the environment names another PID."""
METRICS = "PROMETHEUS_MULTIPROC_DIR"


def enter() -> bool:
    """In a worker: use the folder of its server. In the process that starts workers: make one. Whether this is a
    worker."""
    pid, _, folder = os.environ.get(NAMED, "").partition(":")
    if METRICS in os.environ and pid == str(os.getppid()):
        os.environ[METRICS] = folder
        return True
    folder = tempfile.mkdtemp(prefix="befund-server-")
    os.environ[NAMED] = f"{os.getpid()}:{folder}"
    atexit.register(_remove, folder, os.getpid())
    return False


def _remove(folder: str, maker: int) -> None:
    if os.getpid() == maker:
        shutil.rmtree(folder, ignore_errors=True)


def written() -> list[Path]:
    """The folder of this server, where it has one."""
    folder = os.environ.get(METRICS)
    return [Path(folder)] if folder else []


def forget_the_dead() -> int:
    """Removes killed workers' gauges from the shared metrics: their open work no longer counts. Returns the number of
    workers whose gauges these were."""
    folder, dead = os.environ.get(METRICS), set[str]()
    for file in Path(folder).glob("gauge_live*_*.db") if folder else ():
        pid = file.stem.rpartition("_")[2]
        if pid.isdecimal() and not Path(f"/proc/{pid}").exists() and Path("/proc/self").exists():
            with suppress(FileNotFoundError):  # another worker was faster
                file.unlink()
                dead.add(pid)
    return len(dead)


def all_are_ending(workers: int) -> bool:
    """Say that this worker ends; whether all workers of this server do, so that nobody is left to take a request."""
    folder = os.environ.get(METRICS)
    if workers == 1 or folder is None:
        return workers == 1
    Path(folder, f"ending-{os.getpid()}").touch()
    ending = [file.name.rpartition("-")[2] for file in Path(folder).glob("ending-*")]
    return sum(Path(f"/proc/{pid}").exists() for pid in ending) >= workers
