"""One database into one file and back, consistent while others write: SQLite's online backup, pg_dump and pg_restore.

Restoring only ever fills what is empty: a database that holds tables is refused, so that a wrong setting destroys
nothing. A password is given to PostgreSQL's programs in their environment, never on a command line.
"""

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from sqlalchemy import URL, create_engine, inspect

from clinical.errors import BefundError
from webapp.database import parsed

SQLITE, POSTGRESQL = "sqlite", "postgresql"
BUSY_SECONDS = 30.0


def kind(url: str) -> str:
    """`sqlite` or `postgresql`."""
    return parsed(url).get_backend_name()


def is_there(url: str) -> bool:
    """Return True when there is a database to back up: False for an SQLite file that is not made yet."""
    return kind(url) == POSTGRESQL or _file(url).is_file()


def dump(url: str, target: Path) -> None:
    """Write the database as it is at one moment. Raises BefundError."""
    if kind(url) == SQLITE:
        _copied(_file(url), target)
    else:
        _run("pg_dump", url, "--format=custom", "--no-owner", "--no-privileges", f"--file={target}")


def require_empty(url: str) -> None:
    """Raises BefundError when something lies where a restored database would."""
    if kind(url) == SQLITE:
        found = f"there is a database at {_file(url)}" if _file(url).exists() else ""
    else:
        engine = create_engine(parsed(url))
        tables = len(inspect(engine).get_table_names())
        engine.dispose()
        found = f"the database {parsed(url).database} has {tables} tables" if tables else ""
    if found:
        raise BefundError(found, "an empty place", "stop the servers and move it away, or name another in the settings")


def load(url: str, source: Path) -> None:
    """Fill an empty database from what `dump` wrote; all of it or nothing. Raises BefundError."""
    require_empty(url)
    if kind(url) == SQLITE:
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
