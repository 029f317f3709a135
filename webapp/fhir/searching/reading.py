"""Reading fast: a statement composed once with SQLAlchemy Core, compiled once per database, then only given values.

Three things here SQLAlchemy or the driver would do too, and all stay because they were measured in turns (`python -m
evals load fhir --against CHECKOUT --only newest --only everything`, processor time of webapp and database, run by the
driver's own cursor = 1):

    composed once, run by `Connection.execute`, which looks it up in its cache of compiled statements: 1.20 and 1.14
    composed for every search, run in the same way: 1.93 and 2.60

The look-up walks the whole statement for its key each time, and every row becomes an object. So each shape of a search
keeps its compiled text. The pool and a new cursor for each statement then cost as much as the statement, and psycopg's
cursor as much again: it parses the text, looks for what it has prepared, and waits in Python for each packet. Here a
connection is taken from a list, and on PostgreSQL its statement goes to the driver's own binding of libpq, which
prepares it at its first use and waits outside of Python; values are still converted by the driver. Connections are in
autocommit mode, so that one statement is one round trip and one snapshot; sqlite3 keeps its statements compiled.
"""

import os
from collections import deque
from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import Engine, Executable, NullPool, create_engine, event
from sqlalchemy.sql.compiler import SQLCompiler

from webapp.database import parsed

POOL_SIZE = 20  # connections that rest; while more are needed there are more, one a thread at most
SQLITE_BUSY_S = 10
PREPARED = 500  # statements kept prepared on a connection; one is a few kilobytes


class Statement:
    """SQL text of a Core statement for one database, with the names of its parameters."""

    def __init__(self, composed: Executable, engine: Engine) -> None:
        compiled = composed.compile(dialect=engine.dialect)  # type: ignore[attr-defined]
        assert isinstance(compiled, SQLCompiler)  # noqa: S101 - a select compiles to nothing else
        self.sql = str(compiled)
        self._names = compiled.positiontup or ()
        self._defaults = compiled.params

    def values(self, given: Mapping[str, Any]) -> list[Any]:
        """The values in the order of the placeholders."""
        named = {**self._defaults, **given}
        return [named[name] for name in self._names]


def listed(values: Iterable[Any], sqlite: bool) -> Any:
    """A list as one value of a statement: an array in PostgreSQL, in SQLite a JSON text."""
    if not sqlite:
        return list(values)
    return orjson.dumps([value.hex if isinstance(value, UUID) else value for value in values]).decode()


class _Sqlite:
    """A connection, used by one thread at a time."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def rows(self, statement: Statement, values: list[Any]) -> list[tuple[Any, ...]]:
        """All rows."""
        found: list[tuple[Any, ...]] = self.driver.execute(statement.sql, values).fetchall()
        return found


class _Postgresql:
    """The same. What is prepared is known by its text and the types of its values, which the driver chooses by them."""

    def __init__(self, driver: Any) -> None:
        from psycopg import errors, pq
        from psycopg.adapt import PyFormat, Transformer

        self.driver, self._libpq, self._adapted = driver, driver.pgconn, Transformer(driver)
        self._errors, self._status, self._any = errors, pq.ExecStatus, PyFormat.AUTO
        self._prepared: dict[tuple[str, Any], bytes] = {}
        self._numbers = count()

    def rows(self, statement: Statement, values: list[Any]) -> list[tuple[Any, ...]]:
        """All rows. Raises the driver's errors."""
        adapted = self._adapted
        sent = adapted.dump_sequence(values, [self._any] * len(values))
        key = statement.sql, adapted.types
        try:
            name = self._prepared.get(key) or self._prepare(*key)
            result = self._libpq.exec_prepared(name, sent, adapted.formats, 1)  # 1: numbers and hashes not as text
        except MemoryError as error:  # the binding takes no result at all for that: libpq could not send
            raise self._errors.OperationalError("the connection is lost") from error
        if result.status != self._status.TUPLES_OK:
            self._prepared.pop(key, None)
            raise self._error(result)
        adapted.set_pgresult(result)
        found: list[tuple[Any, ...]] = adapted.load_rows(0, result.ntuples, tuple)
        return found

    def _prepare(self, sql: str, types: Any) -> bytes:
        if len(self._prepared) >= PREPARED:
            self._libpq.exec_(b"DEALLOCATE ALL")
            self._prepared.clear()
        name = b"befund_%d" % next(self._numbers)
        result = self._libpq.prepare(name, sql.encode(), types)
        if result.status != self._status.COMMAND_OK:
            raise self._error(result)
        self._prepared[sql, types] = name
        return name

    def _error(self, result: Any) -> Exception:
        found: Exception = self._errors.error_from_result(result)
        lost = self.driver.closed and not isinstance(found, self._errors.OperationalError)
        return self._errors.OperationalError(str(found)) if lost else found


class Reader:
    """Runs statements on connections of its own."""

    def __init__(self, url: str) -> None:
        self.engine = _engine(url)
        self.is_sqlite = self.engine.dialect.name == "sqlite"
        self._kind = _Sqlite if self.is_sqlite else _Postgresql
        self._idle: deque[_Sqlite | _Postgresql] = deque()
        self._process, self._inherited = os.getpid(), list[object]()

    def value(self, value: Any) -> Any:
        """A value as the driver takes it: that of SQLite knows neither UUIDs nor lists."""
        if self.is_sqlite and isinstance(value, UUID):
            return value.hex
        return listed(value, self.is_sqlite) if isinstance(value, tuple) else value

    def rows(self, statement: Statement, given: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """All rows. A connection the server has closed meanwhile is replaced, once."""
        values = statement.values(given)
        for last_try in (False, True):
            connection, dead = self._taken(), False
            try:
                return connection.rows(statement, values)
            except self.engine.dialect.loaded_dbapi.Error as error:
                dead = self.engine.dialect.is_disconnect(error, connection.driver, None)
                if last_try or not dead:
                    raise
                self.close()  # the others that rest are as dead: the next try takes a new one
            finally:
                if dead or len(self._idle) >= POOL_SIZE:
                    connection.driver.close()
                else:
                    self._idle.append(connection)
        raise AssertionError("unreachable")

    def close(self) -> None:
        """End the connections that rest."""
        while self._idle:
            self._idle.pop().driver.close()

    def _taken(self) -> _Sqlite | _Postgresql:
        """The connection that was given back last, else a new one."""
        if self._process != (process := os.getpid()):  # those of the process that forked stay its own, and open
            self._inherited.append(self._idle)
            self._idle, self._process = deque(), process
        try:
            return self._idle.pop()
        except IndexError:
            made = self.engine.raw_connection()
            driver = made.driver_connection
            made.detach()
            return self._kind(driver)


def _engine(url: str) -> Engine:
    """Composes for the database and makes connections, which `Reader` keeps. PostgreSQL counts its placeholders."""
    address = parsed(url)
    sqlite = address.get_backend_name() == "sqlite"
    options = " ".join(f"-c {name}={value}" for name, value in _SETTINGS.items())
    given: dict[str, Any] = {"timeout": SQLITE_BUSY_S, "check_same_thread": False} if sqlite else {"options": options}
    style = {} if sqlite else {"paramstyle": "numeric_dollar"}
    engine = create_engine(address, poolclass=NullPool, pool_reset_on_return=None, connect_args=given, **style)
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
