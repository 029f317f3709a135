"""Locate the official files: found by name pattern in a folder or a zip, opened with limits.

BfArM's zips differ a little by year, so nothing here depends on the name of a zip or on where inside it a file
lies: only the file's own name counts. Nothing is ever unpacked to disk.
"""

from __future__ import annotations

import hashlib
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Final

from clinical.errors import SourceError

FILE_MAX: Final = 64 * 2**20  # bytes; the largest official file (ClaML) has 14 MB
ENTRIES_MAX: Final = 20_000  # files in a folder or zip; the official zips have some dozens
_LONG: Final = 1_000  # lines; a file of this length without an end of its last line is cut off, not hand-made

# Not taken: the readmes beside the tables.
_NO_README: Final = r"(?!.*(?:liesmich|lesemich|readme))"
_PATTERNS: Final = {
    "kodes": r"icd10gm(\d{4})syst_?kodes.*\.txt",
    "gruppen": r"icd10gm(\d{4})syst_?gruppen.*\.txt",
    "kapitel": r"icd10gm(\d{4})syst_?kapitel.*\.txt",
    "alphaid": r"icd10gm(\d{4}).*alpha_?id.*edvtxt.*\.txt",
    "alphabet": r"icd10gm(\d{4})_?alpha_edvtxt.*\.txt",
    "claml": r"icd10gm(\d{4})syst_?claml.*\.xml",
    "umsteiger": r"icd10gm(\d{4})syst_?umsteiger.*\.txt",
}
_ROLES: Final = {role: re.compile(_NO_README + pattern, re.IGNORECASE) for role, pattern in _PATTERNS.items()}


@dataclass(frozen=True)
class SourceFile:
    """One official file: its role, its own name, the year in that name, where it lies, and how to open it."""

    role: str
    name: str
    year: int
    location: str
    open: Callable[[], IO[bytes]]


def find_files(source: Path) -> dict[str, SourceFile]:
    """The official files under `source` (a folder, searched at any depth, or a zip), by role.

    Raises SourceError for an unreadable zip, two different files of one role, or files of two years.
    """
    if not source.exists():
        raise SourceError(str(source), None, "there is no such file or folder", "a zip or a folder", "check the path")
    found: dict[str, SourceFile] = {}
    for file in _walk(source):
        known, first = found.setdefault(file.role, file), next(iter(found.values()))
        if file.year != first.year:
            said = f"is of {file.year}, but {first.location} is of {first.year}"
            raise SourceError(file.location, None, said, "files of one year", "name the folder of one year")
        if known is not file and checksum(known) != checksum(file):  # a zip beside its unpacked folder is fine
            said = f"differs from {known.location}, which is of the same kind"
            raise SourceError(file.location, None, said, "one file of a kind", "keep the newer one only")
    return found


def read_bytes(file: SourceFile) -> bytes:
    """The whole file, at most FILE_MAX bytes."""
    with readable(file) as stream:
        data = stream.read(FILE_MAX + 1)
    if len(data) > FILE_MAX:
        raise SourceError(
            file.location, None, f"more than {FILE_MAX >> 20} MiB", "an official file", "download it again"
        )
    return data


def read_rows(file: SourceFile, separator: str, fields: int) -> Iterator[tuple[int, list[str]]]:
    """Line number (from 1) and fields of every line; BOM, CRLF and empty lines are tolerated.

    Raises SourceError for a wrong number of fields, naming the line, and for anything but UTF-8.
    """
    data = read_bytes(file).removeprefix(b"\xef\xbb\xbf")
    try:
        lines = data.decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        location = data.count(b"\n", 0, error.start) + 1
        raise SourceError(
            file.location, location, "not UTF-8", "UTF-8 text", "use the file as BfArM published it"
        ) from None
    if len(lines) > _LONG and lines[-1]:
        raise SourceError(file.location, len(lines), "the last line does not end", "a whole file", "download it again")
    last = max((number for number, line in enumerate(lines, 1) if line.strip()), default=0)
    if last == 0:
        raise SourceError(file.location, None, "the file is empty", f"lines of {fields} fields", "download it again")
    for number, line in enumerate(lines[:last], 1):
        row = line.rstrip("\r").split(separator)
        if len(row) == fields:
            yield number, row
        elif line.strip():
            _wrong_count(file, number, (len(row), fields), number == last)


def checksum(file: SourceFile) -> str:
    """SHA-256 of the file as it lies there, hexadecimal."""
    return hashlib.sha256(read_bytes(file)).hexdigest()


def _wrong_count(file: SourceFile, line: int, counts: tuple[int, int], last: bool) -> None:
    found, expected = counts
    remedy = "the file seems cut off: download it again" if last else "use the file as BfArM published it"
    raise SourceError(file.location, line, f"{found} fields", f"{expected} fields", remedy)


def _walk(source: Path) -> Iterator[SourceFile]:
    if source.is_file():
        yield from _in_zip(source)
        return
    for count, path in enumerate(_files_below(source)):
        if count >= ENTRIES_MAX:
            raise SourceError(str(source), None, f"more than {ENTRIES_MAX} files", "one year", "name its own folder")
        if path.suffix.lower() == ".zip":
            yield from _in_zip(path)
        elif (known := _role(path.name)) is not None:
            yield SourceFile(known[0], path.name, known[1], str(path.relative_to(source)), partial(_open_path, path))


def _files_below(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        folders.sort()
        yield from (Path(parent) / name for name in sorted(names))


def _role(name: str) -> tuple[str, int] | None:
    for role, pattern in _ROLES.items():
        if match := pattern.fullmatch(name):
            return role, int(match.group(1))
    return None


def _in_zip(path: Path) -> Iterator[SourceFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, OSError, NotImplementedError):
        remedy = "download it again, or unpack it and name the folder"
        raise SourceError(path.name, None, "not a readable zip", "a zip as published by BfArM", remedy) from None
    if len(members) > ENTRIES_MAX:
        raise SourceError(path.name, None, f"{len(members)} entries", "a zip as published by BfArM", "do not use it")
    for member in members:
        inside = PurePosixPath(member.filename.replace("\\", "/"))
        if inside.is_absolute() or ".." in inside.parts or ":" in inside.parts[0]:
            found = "an entry whose path leads out of the zip"
            raise SourceError(path.name, None, found, "a zip as published by BfArM", "do not use this file")
        if (known := _role(inside.name)) is None or member.is_dir():
            continue
        location = f"{path.name}: {inside}"
        if member.file_size > FILE_MAX:
            found = f"{member.file_size >> 20} MiB unpacked"
            raise SourceError(location, None, found, f"at most {FILE_MAX >> 20} MiB", "do not use this file")
        yield SourceFile(known[0], inside.name, known[1], location, partial(_open_member, path, member))


def _open_path(path: Path) -> IO[bytes]:
    return path.open("rb")


def _open_member(path: Path, member: zipfile.ZipInfo) -> IO[bytes]:
    return zipfile.ZipFile(path).open(member)


@contextmanager
def readable(file: SourceFile) -> Iterator[IO[bytes]]:
    """The open file; whatever a damaged zip or disk says becomes one SourceError."""
    try:
        with file.open() as stream:
            yield stream
    except (zipfile.BadZipFile, EOFError, OSError, RuntimeError, NotImplementedError, zlib.error):
        raise SourceError(
            file.location, None, "cannot be read", "a whole, unencrypted file", "download it again"
        ) from None
