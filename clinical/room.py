"""Room on the disks that a server writes to.

A full disk, a used-up quota and a file system that went read-only all still answer `stat` and hand out what they hold;
and what is said to be free is not what this user may have. So room is asked for: a piece of it is reserved in a file
without a name (`posix_fallocate`, POSIX.1-2001), which is gone at once, whatever becomes of the process.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from clinical.errors import NoRoom

LEAST: Final = 1024 * 1024
"""Bytes: a transaction, a mail, a letter. Long before, the operator's alert on free space has fired."""


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
