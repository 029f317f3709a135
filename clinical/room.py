"""Room on the disks that a server writes to, and among the files that it may have open.

A full disk, a used-up quota and a file system that went read-only all still answer `stat` and hand out what they hold;
and what is said to be free is not what this user may have. So room is asked for: a piece of it is reserved in a file
without a name (`posix_fallocate`, POSIX.1-2001), which is gone at once, whatever becomes of the process.
"""

from __future__ import annotations

import os
import resource
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from clinical.errors import NoRoom

LEAST: Final = 1024 * 1024
"""Bytes: a transaction, a mail, a letter. Long before, the operator's alert on free space has fired."""

OPEN_AT_MOST: Final = 0.9
"""Share of the files that a process may have open (RLIMIT_NOFILE); each connection is one. At the limit itself no
further connection can be taken, not even one that asks why."""
MOST_FILES: Final = 65_536
"""Enough for any number of connections here; some programs go through all numbers that they may have."""
OPEN: Final = Path("/proc/self/fd")


def take_files() -> int:
    """Take as many open files as this process may have, for itself and those it starts; returns how many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return max(soft, wanted)


def require_files() -> None:
    """Raises NoRoom where hardly a further file or connection can be opened; does nothing without Linux's list."""
    if not OPEN.is_dir():
        return
    most, now = resource.getrlimit(resource.RLIMIT_NOFILE)[0], len(os.listdir(OPEN))
    if now > OPEN_AT_MOST * most:
        remedy = "raise LimitNOFILE (ulimit -n), or end connections that say nothing"
        raise NoRoom(f"{now} of {most} files and connections are open", "room for more", remedy)


def require_room(folders: Iterable[Path]) -> None:
    """Raises NoRoom naming the first of the folders in which LEAST bytes cannot be had; for one that is yet to be made,
    the folder that it will be made in is asked."""
    for folder in dict.fromkeys(map(_there, folders)):
        try:
            with tempfile.TemporaryFile(dir=folder, prefix=".room-") as file:
                os.posix_fallocate(file.fileno(), 0, LEAST)
        except OSError as error:
            why = error.strerror or type(error).__name__
            raise NoRoom(f"nothing can be written into {folder} ({why})", f"{LEAST >> 20} MiB", "make room") from None


def _there(folder: Path) -> Path:
    """The folder, or the nearest one above it that is there."""
    return next((place for place in (folder, *folder.parents) if place.exists()), folder)
