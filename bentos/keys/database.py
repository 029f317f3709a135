"""The tables of the text API, keys and counters, on SQLite or PostgreSQL.

Every statement commits by itself: the one that counts is a single upsert, atomic on both databases, so that workers
need no lock of ours (SQLite "UPSERT" and PostgreSQL `INSERT ... ON CONFLICT ... DO UPDATE ... WHERE ... RETURNING`).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Engine, Integer, LargeBinary, MetaData, String, Table, bindparam, create_engine, event
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, IntegrityError, ProgrammingError
from sqlalchemy.schema import CreateTable
from sqlalchemy.sql.dml import ReturningInsert

from clinical.errors import SettingError

BUSY_MS = 1_000
"""How long a statement waits for another writer of the same SQLite file before it gives up."""

POSTGRESQL_OPTIONS = f"-c statement_timeout={2 * BUSY_MS} -c lock_timeout={BUSY_MS}"

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
)

usage = Table(
    "api_usage",
    _metadata,
    Column("key_id", String(8), primary_key=True),
    Column("day", String(10), primary_key=True),
    Column("requests", Integer, nullable=False),
)


def count_request(dialect: str, limited: bool) -> ReturningInsert[Any]:
    """The upsert that counts one request of `:key_id` on `:day`; no row comes back once `:quota` is reached."""
    insert = postgresql.insert(usage) if dialect == "postgresql" else sqlite.insert(usage)
    values = {"key_id": bindparam("key_id"), "day": bindparam("day"), "requests": 1}
    return (
        insert.values(values)
        .on_conflict_do_update(
            index_elements=[usage.c.key_id, usage.c.day],
            set_={"requests": usage.c.requests + 1},
            where=usage.c.requests < bindparam("quota") if limited else None,
        )
        .returning(usage.c.requests)
    )


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
    _create_tables(engine)
    return engine


def _parse(url: str) -> URL:
    expected = "BEFUND_API_DATABASE_URL as sqlite:///path or postgresql://user@host/name"
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise SettingError("a database URL that cannot be read", expected) from None
    if parsed.get_backend_name() not in {"sqlite", "postgresql"}:
        raise SettingError(f"a database of kind {parsed.get_backend_name()}", expected)
    return parsed


def _open_sqlite(url: URL) -> Engine:
    """Readers and one writer at a time side by side (write-ahead log); the file is its owner's only."""
    path = Path(url.database or "")
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    engine = create_engine(url, connect_args={"timeout": BUSY_MS / 1_000}, isolation_level="AUTOCOMMIT")

    @event.listens_for(engine, "connect")
    def _pragmas(connection: Any, _record: object) -> None:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")

    return engine


def _create_tables(engine: Engine) -> None:
    """Workers start together: on PostgreSQL two `IF NOT EXISTS` can still collide, the second try then finds it."""
    for table in _metadata.sorted_tables:
        for last in (False, True):
            try:
                with engine.connect() as connection:
                    connection.execute(CreateTable(table, if_not_exists=True))
                break
            except (IntegrityError, ProgrammingError):
                if last:
                    raise
