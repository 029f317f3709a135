"""Reading fast: a statement composed once with SQLAlchemy Core, compiled once per database, then only given values.

Two things here SQLAlchemy would do too, and both stay because they were measured in turns (`python -m evals load fhir
--against CHECKOUT --only newest --only everything`, processor time of webapp and database, this code = 1):

    composed once, run by `Connection.execute`, which looks it up in its cache of compiled statements: 1.20 and 1.14
    composed for every search, run in the same way: 1.93 and 2.60

The look-up walks the whole statement for its key each time, and every row becomes an object. So each shape of a search
keeps its compiled text, and `Reader.rows` goes to the driver's own cursor. Connections are in autocommit mode, so that
one statement is one round trip and one snapshot; psycopg prepares a statement on the server after its fifth use,
sqlite3 keeps it compiled.
"""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import Engine, Executable, create_engine, event
from sqlalchemy.sql.compiler import SQLCompiler

from webapp.database import parsed

POOL_SIZE = 20
SQLITE_BUSY_S = 10
PREPARED = 500  # statements kept prepared on a connection; one is a few kilobytes


class Statement:
    """SQL text of a Core statement for one database, with the names of its parameters."""

    def __init__(self, composed: Executable, engine: Engine) -> None:
        compiled = composed.compile(dialect=engine.dialect)  # type: ignore[attr-defined]
        assert isinstance(compiled, SQLCompiler)  # noqa: S101 - a select compiles to nothing else
        self.sql = str(compiled)
        self.defaults = compiled.params
        self._positions = compiled.positiontup

    def values(self, given: Mapping[str, Any]) -> Any:
        """Parameters as the driver's `execute` takes them: named values, or a list in the order of the placeholders."""
        named = {**self.defaults, **given}
        return [named[name] for name in self._positions] if self._positions is not None else named


def listed(values: Iterable[Any], sqlite: bool) -> Any:
    """A list as one value of a statement: an array in PostgreSQL, in SQLite a JSON text."""
    if not sqlite:
        return list(values)
    return orjson.dumps([value.hex if isinstance(value, UUID) else value for value in values]).decode()


class Reader:
    """Runs statements on connections of its own."""

    def __init__(self, url: str) -> None:
        self.engine = _engine(url)
        self.is_sqlite = self.engine.dialect.name == "sqlite"
        self._as_is: dict[str, bool] = {} if self.is_sqlite else {"binary": True}  # numbers and hashes not as text

    def value(self, value: Any) -> Any:
        """A value as the driver takes it: that of SQLite knows neither UUIDs nor lists."""
        if self.is_sqlite and isinstance(value, UUID):
            return value.hex
        return listed(value, self.is_sqlite) if isinstance(value, tuple) else value

    def rows(self, statement: Statement, given: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """All rows. A connection the server has closed meanwhile is replaced, once."""
        for last_try in (False, True):
            connection = self.engine.raw_connection()
            try:
                cursor = connection.cursor(**self._as_is)
                cursor.execute(statement.sql, statement.values(given))
                return list(cursor.fetchall())
            except self.engine.dialect.loaded_dbapi.OperationalError as error:
                dead = self.engine.dialect.is_disconnect(error, connection.driver_connection, None)
                if not dead:
                    raise
                connection.invalidate(error)
                self.engine.dispose()  # the others in the pool are as dead: the next try takes a new one
                if last_try:
                    raise
            finally:
                connection.close()
        raise AssertionError("unreachable")


def _engine(url: str) -> Engine:
    address = parsed(url)
    sqlite = address.get_backend_name() == "sqlite"
    options = " ".join(f"-c {name}={value}" for name, value in _SETTINGS.items())
    given: dict[str, Any] = {"timeout": SQLITE_BUSY_S} if sqlite else {"options": options}
    # autocommit leaves nothing to roll back
    engine = create_engine(address, pool_size=POOL_SIZE, pool_reset_on_return=None, connect_args=given)
    event.listen(engine, "connect", _prepare_sqlite if sqlite else _prepare_postgresql)
    return engine


# A plan is made once per prepared statement: every shape of a search has an index made for it, whatever the values, and
# planning a statement anew costs more than running it (0.12 to 0.26 ms against 0.08 to 0.12).
_SETTINGS = {"timezone": "utc", "default_transaction_read_only": "on", "plan_cache_mode": "force_generic_plan"}


def _prepare_sqlite(connection: Any, _: Any) -> None:
    connection.isolation_level = None
    connection.execute("PRAGMA query_only=ON")
    connection.execute("PRAGMA mmap_size=268435456")  # pages are read from the file's memory map, not copied


def _prepare_postgresql(connection: Any, _: Any) -> None:
    connection.autocommit = True
    connection.prepared_max = PREPARED
