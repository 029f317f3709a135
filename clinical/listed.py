"""Opens files that a list names: a manifest, a backup, an artifact, a table of texts.

Who writes a list need not be who runs the command, so a name on it is a name below the list's own folder and nothing
else. Every folder on the way is opened by its own name from within the one above it (`openat`, POSIX.1-2008), and no
symbolic link is followed in any of them: what was checked is what is read, whoever changes the folder meanwhile.
"""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path, PurePosixPath

ELSEWHERE = "the name leads out of the list's folder, or over a symbolic link"
NO_FILE = "the name is of no plain file"

_ANY = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER, _FILE = _ANY | os.O_DIRECTORY, _ANY | os.O_NONBLOCK  # a pipe that nobody writes to is not waited for


def open_listed(folder: Path, name: str) -> BufferedReader:
    """The plain file `name` below `folder`, open for reading. Raises OSError: the system's own, or, with our words,
    PermissionError for a name with `..`, one that begins elsewhere, a link, a pipe or a device."""
    *folders, last = _steps(folder, name)
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)  # the folder itself may well be a link
    try:
        for step in folders:
            inner = _opened(step, _FOLDER, at)
            os.close(at)
            at = inner
        file = _opened(last, _FILE, at)
    finally:
        os.close(at)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise PermissionError(errno.EPERM, NO_FILE)
    return os.fdopen(file, "rb")


def _steps(folder: Path, name: str) -> tuple[str, ...]:
    """The names on the way, from the folder down. An absolute name is one of them where it begins with the folder."""
    given = PurePosixPath(name)
    if given.is_absolute():
        if not given.is_relative_to(folder):
            raise PermissionError(errno.EPERM, ELSEWHERE)
        given = given.relative_to(folder)
    if ".." in given.parts or "\0" in name:
        raise PermissionError(errno.EPERM, ELSEWHERE)
    if not given.parts:
        raise PermissionError(errno.EPERM, NO_FILE)
    return given.parts


def _opened(step: str, flags: int, within: int) -> int:
    try:
        return os.open(step, flags, dir_fd=within)
    except OSError as error:
        if error.errno == errno.ELOOP or (error.errno == errno.ENOTDIR and _is_link(step, within)):
            raise PermissionError(errno.EPERM, ELSEWHERE) from None
        if error.errno == errno.ENXIO:  # a socket, or a device that is not there
            raise PermissionError(errno.EPERM, NO_FILE) from None
        raise


def _is_link(step: str, within: int) -> bool:
    """Linux says of a link that it is no folder; this is for the words of the error only."""
    try:
        return stat.S_ISLNK(os.stat(step, dir_fd=within, follow_symlinks=False).st_mode)
    except OSError:
        return False


def read_listed(folder: Path, name: str) -> str:
    """The text (UTF-8) of a listed file, its line ends as they are. Raises OSError as `open_listed`."""
    with open_listed(folder, name) as file:
        return file.read().decode("utf-8")
