"""A folder on a disk without room: a small file system of its own where this user may mount one, else no file of this
process may grow."""

from __future__ import annotations

import contextlib
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SIZE_MB = 4


@contextmanager
def small_disk(folder: Path) -> Iterator[Disk]:
    """`folder` (made here) on a disk that can be filled."""
    folder.mkdir(parents=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE_MB}m", "tmpfs", str(folder)]
    mounted = False
    with contextlib.suppress(OSError):
        mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    disk = Disk(folder, mounted)
    try:
        yield disk
    finally:
        disk.free()
        if mounted:
            subprocess.run(["umount", "-l", str(folder)], capture_output=True, check=True)


class Disk:
    """A disk of SIZE_MB, or the process's limit on the size of files."""

    def __init__(self, folder: Path, mounted: bool) -> None:
        self.folder, self._mounted, self._limits = folder, mounted, resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill(self) -> None:
        """No room is left."""
        if not self._mounted:
            resource.setrlimit(resource.RLIMIT_FSIZE, (64 * 1024, self._limits[1]))
            return
        with contextlib.suppress(OSError), (self.folder / "filler").open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))

    def free(self) -> None:
        """There is room again."""
        resource.setrlimit(resource.RLIMIT_FSIZE, self._limits)
        (self.folder / "filler").unlink(missing_ok=True)
