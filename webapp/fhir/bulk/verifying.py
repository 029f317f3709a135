"""Finds damaged files: each is read and compared with the hash it is named by and the size its document says.

A store that was rolled back or killed leaves files that no document points to; they are removed once they are a day
old, so that none is taken from under a transaction that is about to point to it (putting a file again renews its time).
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from webapp.storage import STALE, FileMissing, Files, FolderFiles


@dataclass(frozen=True, slots=True)
class StorageReport:
    """`faults`: hash and what is wrong; `unused`: files that no document points to; `removed`: those of them that were
    old enough and are gone; `swept`: temporary files of processes that died."""

    sound: int
    faults: tuple[tuple[bytes, str], ...]
    unused: int
    removed: int
    swept: int


def verify(files: Files, expected: Mapping[bytes, int], remove: Callable[[bytes], bool] | None = None) -> StorageReport:
    """Check the files of `expected` (hash to size in bytes). `remove` sweeps: it removes a file that no document points
    to at that moment and says whether it did."""
    faults = [(digest, fault) for digest, size in expected.items() if (fault := _fault(files, digest, size))]
    unused = sum(1 for digest in files.digests() if digest not in expected)
    removed = sum(map(remove, _settled(files, expected))) if remove else 0
    swept = files.sweep() if remove and isinstance(files, FolderFiles) else 0
    return StorageReport(len(expected) - len(faults), tuple(faults), unused, removed, swept)


def _settled(files: Files, expected: Mapping[bytes, int]) -> list[bytes]:
    return [digest for digest in files.settled(STALE) if digest not in expected]


def _fault(files: Files, digest: bytes, size: int) -> str:
    found, length = hashlib.sha256(), 0
    try:
        for chunk in files.read(digest):
            found.update(chunk)
            length += len(chunk)
    except FileMissing:
        return "missing"
    if length != size:
        return f"{length} bytes instead of {size}"
    return "" if found.digest() == digest else "changed"
