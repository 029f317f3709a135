"""Backups of the databases of both servers and of the stored files: one folder, made while the servers run.

It holds each database once, every stored file under its hash, and a manifest that is written last. The databases come
first: a file is in the storage before the row that names it is committed, so whatever the kept rows name is there when
the files are copied after them. What is not kept: the settings and their secrets, without which sealed secrets of
vendors cannot be read again, and the catalog, which is built anew.

Databases are consistent while others write: SQLite's online backup, pg_dump and pg_restore. Restoring only ever fills
what is empty: a database that holds tables is refused, so that a wrong setting destroys nothing. A password is given to
PostgreSQL's programs in their environment, never on a command line.
"""

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any, cast

from sqlalchemy import URL, create_engine, inspect

from clinical.errors import BefundError
from clinical.listed import open_listed
from webapp.config import Settings
from webapp.database import parsed
from webapp.storage import FileMissing, FolderFiles, open_files

MANIFEST = "manifest.json"
FORMAT = 1
SQLITE, POSTGRESQL = "sqlite", "postgresql"
BUSY_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class BackedUp:
    """The contents of a backup: names of databases, number of files, hashes of files that were damaged and left out."""

    databases: tuple[str, ...]
    files: int
    damaged: tuple[str, ...] = ()


def back_up(settings: Settings, folder: Path) -> BackedUp:
    """Write a backup into `folder`, which must not be there yet; the servers may run. Raises BefundError."""
    if folder.exists():
        raise BefundError(f"{folder} is there", "a new folder for every backup", "name another")
    unfinished = folder.with_name(f"{folder.name}.unfinished")
    unfinished.mkdir(mode=0o700, parents=True)
    try:
        kept = _write(settings, unfinished)
        os.rename(unfinished, folder)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    return kept


def restore(settings: Settings, folder: Path) -> BackedUp:
    """Fill the empty databases and the storage of the settings from `folder`. The databases are checked first and
    written last, so that a backup that is damaged leaves them empty. Raises BefundError."""
    said, urls = _manifest(folder), _databases(settings)
    for name, row in said["databases"].items():
        _require_fit(folder, name, row, urls.get(name))
    source = FolderFiles(folder / "files")
    there = list(source.digests())
    if len(there) != said["files"]:
        raise BefundError(f"{folder} has {len(there)} files", f"{said['files']}, as its manifest says")
    target = open_files(settings.storage)
    for digest in there:
        with _kept(folder, f"files/{digest.hex()[:2]}/{digest.hex()[2:4]}/{digest.hex()}") as file:
            put = target.put(file)
        if put.digest != digest:
            raise BefundError(f"the file {digest.hex()} is damaged", "its own hash", "take an earlier backup")
    for name in said["databases"]:
        _load(urls[name], folder / name)
    return BackedUp(tuple(said["databases"]), len(there), tuple(said["damaged"]))


def _write(settings: Settings, folder: Path) -> BackedUp:
    kept = {name: url for name, url in _databases(settings).items() if _is_there(url)}
    for name, url in kept.items():
        _dump(url, folder / name)
    files, damaged = _copy_files(settings, folder)
    rows = {name: {"kind": _kind(url), "sha256": _digest(folder / name)} for name, url in kept.items()}
    said = {"format": FORMAT, "databases": rows, "files": files, "damaged": damaged}
    (folder / MANIFEST).write_text(json.dumps(said, indent=1), "utf-8")
    return BackedUp(tuple(kept), files, tuple(damaged))


def _databases(settings: Settings) -> dict[str, str]:
    """The databases by the name of their file in a backup; one that both servers share is kept once."""
    both = {"webapp.database": settings.database_url, "api.database": settings.api_database_url}
    return both if len(set(both.values())) > 1 else {"webapp.database": settings.database_url}


def _copy_files(settings: Settings, folder: Path) -> tuple[int, list[str]]:
    """Copy the stored files; return how many, and the hashes of those whose contents no longer match."""
    source, target = open_files(settings.storage), FolderFiles(folder / "files")
    count, damaged = 0, []
    for digest in source.digests():
        try:
            chunks = source.read(digest)
            stored = target.put(cast(IO[bytes], SimpleNamespace(read=lambda _size, chunks=chunks: next(chunks, b""))))
        except FileMissing:
            continue  # a document was purged meanwhile
        if stored.digest == digest:
            count += 1
        else:
            target.remove(stored.digest)
            damaged.append(digest.hex())
    return count, damaged


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        said: dict[str, Any] = json.loads((folder / MANIFEST).read_text("utf-8"))
    except (OSError, ValueError):
        raise BefundError(f"{folder} is no finished backup", f"a folder with {MANIFEST}") from None
    if said.get("format") != FORMAT:
        raise BefundError(f"{folder} is of format {said.get('format')}", str(FORMAT), "use the version that made it")
    return said


def _require_fit(folder: Path, name: str, row: dict[str, str], url: str | None) -> None:
    """Raises BefundError when the file `name` is not what was kept, or cannot go where `url` says."""
    if url is None:
        raise BefundError(f"{name} is kept apart, and the settings name one database for both", "two databases")
    if _kind(url) != row["kind"]:
        raise BefundError(f"{name} is of {row['kind']}, the settings name {_kind(url)}", "the same kind")
    with _kept(folder, name) as kept:
        found = hashlib.file_digest(kept, "sha256").hexdigest()
    if found != row["sha256"]:
        raise BefundError(f"{name} is damaged or missing", "what the manifest says", "take an earlier backup")
    _require_empty(url)


def _kept(folder: Path, name: str) -> BufferedReader:
    """A file of a backup, which anybody may have put together. Raises BefundError."""
    try:
        return open_listed(folder, name)
    except OSError as error:
        raise BefundError(
            f"{Path(name).name} in {folder} is damaged or missing ({error.strerror})",
            "the plain files that the manifest counts", "take an earlier backup",
        ) from None  # fmt: skip


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# --- one database -----------------------------------------------------------------------------------------------------


def _kind(url: str) -> str:
    """`sqlite` or `postgresql`."""
    return parsed(url).get_backend_name()


def _is_there(url: str) -> bool:
    """Return True when there is a database to back up: False for an SQLite file that is not made yet."""
    return _kind(url) == POSTGRESQL or _file(url).is_file()


def _dump(url: str, target: Path) -> None:
    """Write the database as it is at one moment. Raises BefundError."""
    if _kind(url) == SQLITE:
        _copied(_file(url), target)
    else:
        _run("pg_dump", url, "--format=custom", "--no-owner", "--no-privileges", f"--file={target}")


def _require_empty(url: str) -> None:
    """Raises BefundError when something lies where a restored database would."""
    if _kind(url) == SQLITE:
        found = f"there is a database at {_file(url)}" if _file(url).exists() else ""
    else:
        engine = create_engine(parsed(url))
        tables = len(inspect(engine).get_table_names())
        engine.dispose()
        found = f"the database {parsed(url).database} has {tables} tables" if tables else ""
    if found:
        raise BefundError(found, "an empty place", "stop the servers and move it away, or name another in the settings")


def _load(url: str, source: Path) -> None:
    """Fill an empty database from what `_dump` wrote; all of it or nothing. Raises BefundError."""
    _require_empty(url)
    if _kind(url) == SQLITE:
        place = _file(url)
        place.parent.mkdir(parents=True, exist_ok=True)
        unfinished = place.with_name(f"{place.name}.restoring")
        _copied(source, unfinished)
        os.replace(unfinished, place)
    else:
        _run("pg_restore", url, "--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges", str(source))


def _file(url: str) -> Path:
    return Path(parsed(url).database or "").resolve()


def _copied(source: Path, target: Path) -> None:
    """SQLite's online backup (https://www.sqlite.org/backup.html) into a file that is its owner's alone, then a look
    through all of it."""
    target.unlink(missing_ok=True)
    os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o600))
    try:
        with (
            closing(sqlite3.connect(source, timeout=BUSY_SECONDS)) as here,
            closing(sqlite3.connect(target)) as there,
        ):
            here.backup(there)
            there.execute("PRAGMA journal_mode=DELETE")  # one file, nothing beside it
            said = there.execute("PRAGMA integrity_check").fetchone()[0]
    except sqlite3.DatabaseError as error:
        raise BefundError(f"{source.name} cannot be copied ({error.sqlite_errorname})", "a sound database") from None
    if said != "ok":
        raise BefundError(f"{source.name} is damaged", "a sound database", "take an earlier backup")


def _run(program: str, url: str, *arguments: str) -> None:
    address = parsed(url)
    if shutil.which(program) is None:
        raise BefundError(f"there is no {program}", "PostgreSQL's own programs", "install postgresql-client")
    environment = {**os.environ, **({"PGPASSWORD": str(address.password)} if address.password else {})}
    command = [program, f"--dbname={_shown(address)}", "--no-password", *arguments]
    done = subprocess.run(
        command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise BefundError(f"{program} failed: {_cause(program, done.stderr.splitlines())}")


def _shown(address: URL) -> str:
    plain = URL.create(POSTGRESQL, address.username, None, address.host, address.port, address.database, address.query)
    return plain.render_as_string()


def _cause(program: str, said: Sequence[str]) -> str:
    """The first line that names an error: those after it may quote rows."""
    return next(
        (line.partition(": error: ")[2] for line in said if line.startswith(f"{program}: error: ")), "no reason"
    )
