"""Finds damaged files: each is read and compared with the hash it is named by and the size its document says."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from webapp.storage import FileMissing, Files, FolderFiles


@dataclass(frozen=True, slots=True)
class Report:
    """`faults`: hash and what is wrong; `unused`: files that no document points to (of imports that were killed)."""

    sound: int
    faults: tuple[tuple[bytes, str], ...]
    unused: int
    swept: int


def verify(files: Files, expected: Mapping[bytes, int], *, sweep: bool = False) -> Report:
    """Check the files of `expected` (hash to size in bytes)."""
    faults = [(digest, fault) for digest, size in expected.items() if (fault := _fault(files, digest, size))]
    unused = sum(1 for digest in files.digests() if digest not in expected)
    swept = files.sweep() if sweep and isinstance(files, FolderFiles) else 0
    return Report(len(expected) - len(faults), tuple(faults), unused, swept)


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
