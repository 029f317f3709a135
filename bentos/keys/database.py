"""The tables of the text API, keys and counters, on SQLite or PostgreSQL.

Every statement commits by itself: the one that counts is a single upsert, atomic on both databases, so that workers
need no lock of ours (SQLite "UPSERT" and PostgreSQL `INSERT ... ON CONFLICT ... DO UPDATE ... WHERE ... RETURNING`).
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Dialect,
    Engine,
    Executable,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    bindparam,
    create_engine,
    delete,
    event,
    insert,
    inspect,
    select,
)
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.schema import CreateTable
from sqlalchemy.sql.dml import ReturningInsert

from clinical.errors import SettingError

BUSY_MS = 1_000
"""Milliseconds that a statement waits for another writer of the same SQLite file before it gives up."""

PAUSE_S = 0.005
"""Between two tries of what SQLite does not wait for; it takes others about a millisecond."""

POSTGRESQL_OPTIONS = f"-c statement_timeout={2 * BUSY_MS} -c lock_timeout={BUSY_MS} -c synchronous_commit=off"
"""A count does not wait for the disk: all requests of a key count in one row, each held until its commit is written, so
that a disk that takes a fifth of a second makes a handful of callers wait beyond `lock_timeout`. A database host that
loses its power forgets the counts of its last second, as SQLite's "synchronous=NORMAL" does; keys: see `changing`."""

NAME_MAX = 200
"""Characters of a key's name."""

_metadata = MetaData()

keys = Table(
    "api_keys",
    _metadata,
    Column("id", String(8), primary_key=True),
    Column("name", String(NAME_MAX), nullable=False),
    Column("secret_sha256", LargeBinary(32), nullable=False),
    Column("per_minute", Integer, nullable=False),
    Column("per_day", Integer, nullable=False),
    Column("created_at", String(32), nullable=False),
    Column("revoked_at", String(32)),
    Column("expires_at", String(32)),
    Column("previous_sha256", LargeBinary(32)),
    Column("previous_until", String(32)),
)
"""Times are ISO 8601 in UTC, so that they compare as text. `previous_sha256`: of the secret before the last rotation,
which is good until `previous_until`."""

usage = Table(
    "api_usage",
    _metadata,
    Column("key_id", String(8), primary_key=True),
    Column("day", String(10), primary_key=True),
    Column("requests", Integer, nullable=False),
)


schema = Table("api_schema", _metadata, Column("version", Integer, primary_key=True, autoincrement=False))

STEPS: tuple[tuple[str, ...], ...] = (
    (
        "ALTER TABLE api_keys ADD COLUMN expires_at VARCHAR(32)",
        "ALTER TABLE api_keys ADD COLUMN previous_sha256 BYTEA",
        "ALTER TABLE api_keys ADD COLUMN previous_until VARCHAR(32)",
    ),
)
"""Statements, the same on SQLite and PostgreSQL, that take the tables of version 1, 2, ... to the next one. A change of
a table above needs a step here; a step is never changed once it was shipped."""


def count_request(dialect: str, limited: bool) -> ReturningInsert[Any]:
    """The upsert that counts `:n` requests of `:key_id` on `:day`; no row comes back where `:quota` has not as many
    left. The first of a day are counted whatever the quota is."""
    dialects = import_module(f"sqlalchemy.dialects.{dialect}")  # not both: that of PostgreSQL takes 27 ms to load
    values: dict[str, Any] = {"key_id": bindparam("key_id"), "day": bindparam("day"), "requests": bindparam("n")}
    counted: ReturningInsert[Any] = (
        dialects.insert(usage)
        .values(values)
        .on_conflict_do_update(
            index_elements=[usage.c.key_id, usage.c.day],
            set_={"requests": usage.c.requests + bindparam("n")},
            where=usage.c.requests + bindparam("n") <= bindparam("quota") if limited else None,
        )
        .returning(usage.c.requests)
    )
    return counted


class Prepared:
    """A statement as text, made once for a dialect and run by the cursor of its driver."""

    def __init__(self, statement: Executable, dialect: Dialect) -> None:
        compiled = statement.compile(dialect=dialect)  # type: ignore[attr-defined]
        self._text: str = str(compiled)
        self._order: list[str] | None = compiled.positiontup if compiled.positional else None

    def __call__(self, cursor: Any, **values: object) -> list[Any]:
        """All rows. Raises the driver's errors."""
        cursor.execute(self._text, values if self._order is None else [values[name] for name in self._order])
        rows: list[Any] = cursor.fetchall()
        return rows


def open_database(url: str) -> Engine:
    """An engine on `url` with the tables in place. Raises SettingError for a URL of another kind."""
    parsed = _parse(url)
    if parsed.get_backend_name() == "sqlite":
        engine = _open_sqlite(parsed)
    else:
        engine = create_engine(
            parsed.set(drivername="postgresql+psycopg"),
            connect_args={"connect_timeout": 2, "options": POSTGRESQL_OPTIONS},
            pool_pre_ping=True,
            pool_timeout=2,
            isolation_level="AUTOCOMMIT",
        )
    bring_up_to_date(engine)
    return engine


def _parse(url: str) -> URL:
    expected = "BEFUND_API_DATABASE_URL as sqlite:///path or postgresql://user@host/name"
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):  # its words would quote the URL, with the password
        raise SettingError("a database URL that cannot be read", expected) from None
    if parsed.get_backend_name() not in {"sqlite", "postgresql"}:
        raise SettingError(f"a database of kind {parsed.get_backend_name()}", expected)
    return parsed


def _open_sqlite(url: URL) -> Engine:
    """Readers and one writer at a time side by side (write-ahead log); the file is its owner's only."""
    path = Path(url.database or "")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    except OSError as error:
        found = f"the key database cannot be made in {path.parent} ({error.strerror or type(error).__name__})"
        raise SettingError(found, "a folder to write to", "see BEFUND_API_DATABASE_URL, or BEFUND_VAR") from None
    engine = create_engine(url, connect_args={"timeout": BUSY_MS / 1_000}, isolation_level="AUTOCOMMIT")

    @event.listens_for(engine, "connect")
    def _pragmas(connection: Any, _record: object) -> None:
        _use_write_ahead_log(connection)
        connection.execute("PRAGMA synchronous=NORMAL")

    return engine


def open_at_once(engine: Engine) -> sqlite3.Connection | None:
    """A connection to the same SQLite file that waits for nobody: another's lock is an error at once, and what the
    log holds is written back, with its wait for the disk, by the engine's own. None for other databases."""
    if engine.dialect.name != "sqlite":
        return None
    place, options = engine.dialect.create_connect_args(engine.url)
    given: Any = {**options, "timeout": 0, "isolation_level": None, "check_same_thread": False}
    connection: sqlite3.Connection = sqlite3.connect(place[0], **given)
    for pragma in ("synchronous=NORMAL", "wal_autocheckpoint=0"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _use_write_ahead_log(connection: Any) -> None:
    """Turning a new file takes a lock that SQLite does not wait for, whatever the connection's `timeout` says: of eight
    workers that opened one together, one met "database is locked" in every tenth try. So it is tried again."""
    until = time.monotonic() + BUSY_MS / 1_000
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() >= until:
                raise
            time.sleep(PAUSE_S)
        else:
            return


@contextmanager
def changing(engine: Engine) -> Iterator[Connection]:
    """A connection whose commits are on the disk when they are answered: a key that was revoked stays so."""
    with engine.connect() as connection:
        if engine.dialect.name == "postgresql":
            connection.exec_driver_sql("SET synchronous_commit = on")
        yield connection


def bring_up_to_date(engine: Engine, steps: Sequence[Sequence[str]] = STEPS) -> None:
    """Make the tables, or take those of an earlier version step by step to this one; several workers may try at once.

    Raises SettingError for tables of a later version, which this one must not write to.
    """
    wanted = 1 + len(steps)
    with engine.connect() as connection:
        for statement in _LOCKS[engine.dialect.name]:
            connection.exec_driver_sql(statement)
        try:
            version = _version(connection)
            if version is None:
                for table in _metadata.sorted_tables:
                    connection.execute(CreateTable(table, if_not_exists=True))
            for step in steps[version - 1 :] if version else ():
                for statement in step:
                    connection.exec_driver_sql(statement)
            if version is not None and version > wanted:
                raise SettingError(
                    f"the key database is of version {version}", f"{wanted} at most", "run the version that wrote it"
                )
            connection.execute(CreateTable(schema, if_not_exists=True))
            connection.execute(delete(schema))
            connection.execute(insert(schema).values(version=wanted))
        except BaseException:
            connection.exec_driver_sql("ROLLBACK")
            raise
        connection.exec_driver_sql("COMMIT")


_LOCKS = {
    "sqlite": ("BEGIN IMMEDIATE",),
    "postgresql": (
        "BEGIN",
        "SET LOCAL synchronous_commit = on",
        f"SELECT pg_advisory_xact_lock({int.from_bytes(b'befund')})",
    ),
}
"""A transaction that others wait for: both databases take back changes of tables, too."""


def _version(connection: Connection) -> int | None:
    """The version of the tables; 1 of those from before versions were written down, None where there are none."""
    there = inspect(connection)
    if not there.has_table(keys.name):
        return None
    if not there.has_table(schema.name):
        return 1
    return int(connection.execute(select(schema.c.version)).scalar_one())
