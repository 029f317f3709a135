"""Files that a running `make up` leaves in its folder: the settings it runs with, and the secret made there once.

The file with the settings counts only while the process that wrote it holds a lock on it, so nothing that a killed
process left behind is ever believed. Both files are readable by their owner only.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

RUNNING = "up.env"
SECRET = "secret_key"  # noqa: S105 - the file's name
SECRET_BYTES = 48
FEWEST_CHARACTERS = 9
TRIES, PAUSE_SECONDS = 50, 0.01
"""Readers hold the lock for microseconds; whoever holds it longer is another `make up`, whose file then counts."""


def is_held(file: Path) -> bool:
    """True if a living process wrote `file` with `leave`."""
    try:
        descriptor = os.open(file, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


@contextmanager
def leave(file: Path, values: Mapping[str, str]) -> Iterator[None]:
    """Inside the block, `file` says `values` (name -> value) to the commands of a second terminal."""
    file.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not _lock(descriptor):
            yield
            return
        os.ftruncate(descriptor, 0)
        os.write(descriptor, "".join(f"{name}={_quoted(value)}\n" for name, value in values.items()).encode())
        try:
            yield
        finally:
            file.unlink(missing_ok=True)
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    for _ in range(TRIES):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(PAUSE_SECONDS)
        else:
            return True
    return False


def _quoted(value: str) -> str:
    """As python-dotenv reads it back."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def secret_made_once(folder: Path) -> str:
    """The secret kept in `folder`, made at the first call: restarts in development keep sessions and secrets."""
    file = folder / SECRET
    folder.mkdir(parents=True, exist_ok=True)
    if not file.exists():
        descriptor, new = tempfile.mkstemp(prefix=f".{SECRET}-", dir=folder)  # its owner's only
        with os.fdopen(descriptor, "w", encoding="ascii") as text:
            text.write(secrets.token_urlsafe(SECRET_BYTES))
        with suppress(FileExistsError):  # another process was faster: its secret is the one
            os.link(new, file)
        os.unlink(new)
    return file.read_text("ascii").strip()


def is_made_up(secret: str) -> bool:
    """True if a secret is long and yet easily guessed: few different characters, or one piece over and over."""
    repeats = any(
        all(secret[at] == secret[at % size] for at in range(len(secret))) for size in range(1, len(secret) // 2 + 1)
    )
    return repeats or len(set(secret)) < FEWEST_CHARACTERS
