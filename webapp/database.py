"""The database: one engine per application, a reading session per request, short writing transactions.

SQLite takes a write lock only when told so up front: a transaction that reads first and writes later fails with
"database is locked" as soon as another one committed in between. Hence two ways in, the same on PostgreSQL:

    db.session            the request's session, for reading; closed when the request ends
    with db.read_rows()   a connection for one look at rows, without objects: a fraction of its processor time
    with db.write() as s: a transaction of its own that locks at once, commits at the end, rolls back on an error
    with db.write_rows()  the same for plain statements
"""

import fcntl
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, cast

from flask import Flask, current_app, g
from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, InvalidatePoolError, OperationalError, SQLAlchemyError
from sqlalchemy.orm import Session
from sqlalchemy.pool import ConnectionPoolEntry

from clinical.errors import BefundError, SettingError, cause_of

WAIT_S = 10  # a writing transaction takes milliseconds; a page whose answer takes longer is reloaded, and waits anew
LOOK_EVERY_S = 0.0005, 0.005  # at another process's lock: first and longest pause; a transaction takes about 1 ms
POOL_SIZE = 20
PING_AFTER_S = 1.0

log = logging.getLogger(__name__)


class DatabaseBusy(BefundError):
    """Another process held the database's lock for longer than a writer waits; nothing was written."""


class Database:
    """Extension object; the engine lives on the application, so several applications share one process."""

    def init_app(self, app: Flask) -> None:
        """Make the engine of `app` from its settings; nothing is connected yet."""
        given = app.config["BEFUND"]
        app.extensions["befund_engine"] = make_engine(given.database_url, given.database_wait)
        keep_private(app.extensions["befund_engine"])
        app.extensions["befund_write_turn"] = _write_turn(app.extensions["befund_engine"], given.database_wait)
        app.teardown_appcontext(self._close)

    @property
    def engine(self) -> Engine:
        """The current application's engine."""
        return cast(Engine, current_app.extensions["befund_engine"])

    @property
    def session(self) -> Session:
        """The reading session of the current application context."""
        if "db_session" not in g:
            g.db_session = Session(self.engine, expire_on_commit=False, autoflush=False)
        return cast(Session, g.db_session)

    def read_rows(self) -> Connection:
        """A connection for `with`, given back at its end: its reads see one snapshot."""
        return self.engine.connect()

    @contextmanager
    def write(self) -> Iterator[Session]:
        """A short writing transaction. Objects loaded in it stay readable after it; `db.session` then reads anew."""
        with self._turn(), Session(self.engine, expire_on_commit=False) as session, session.begin():
            session.connection(execution_options={"befund_write": True})
            yield session

    @staticmethod
    @contextmanager
    def sent_together(session: Session) -> Iterator[None]:
        """The end of a writing transaction: statements that return nothing, sent without waiting for each other, and
        the commit with them, so that others wait for one round trip (libpq's pipeline mode; SQLite has no trips)."""
        connection = session.connection()
        driver = connection.connection.driver_connection
        if connection.dialect.name != "postgresql" or driver is None:
            yield
            return
        with driver.pipeline():
            yield
            driver.commit()

    @contextmanager
    def write_rows(self) -> Iterator[Connection]:
        """The same for statements alone, without objects: at a sign-in half the processor time of `write`."""
        with self._turn(), self.engine.connect() as connection:
            connection.execution_options(befund_write=True)
            with connection.begin():
                yield connection

    @contextmanager
    def _turn(self) -> Iterator[None]:
        self.release()  # one request never waits for itself
        with current_app.extensions["befund_write_turn"]:
            yield
        if "db_session" in g:
            g.db_session.expire_all()

    def well(self) -> bool:
        """Return True when the database answers and has tables; raises the driver's error when it does not."""
        self.session.execute(text("SELECT 1 FROM organization LIMIT 1"))
        return True

    def release(self) -> None:
        """Give the reading session's connection back before a long wait; what was loaded stays readable."""
        if "db_session" in g:
            g.db_session.commit()

    @staticmethod
    def _close(_: BaseException | None) -> None:
        """The answer is made and needs the database no more: that it has gone away since is no error of the request."""
        session = g.pop("db_session", None)
        if session is None:
            return
        try:
            session.close()
        except SQLAlchemyError as error:
            session.invalidate()
            log.warning("the database went away behind an answer: %s", cause_of(error))


def _write_turn(engine: Engine, wait: float) -> AbstractContextManager[Any]:
    """SQLite has one writer at a time and makes the others sleep and try again, for up to a tenth of a second. Threads
    rather take turns here, woken when theirs comes, and processes look again soon; PostgreSQL needs no turns."""
    name = engine.url.database if engine.dialect.name == "sqlite" else None
    if name is None:
        return nullcontext()
    return threading.Lock() if name == ":memory:" else Turn(Path(f"{name}-turn"), wait)


class Turn:
    """One writer at a time among all threads of all processes that use the same database file: a lock for the threads,
    and a lock on a file beside the database (`flock`, which the kernel gives back when its process ends). A folder that
    takes no file leaves the processes to SQLite's own way of waiting. A process that is stopped while it holds the lock
    stops nobody else for longer than `wait` seconds: whoever waited that long, for either lock, gets DatabaseBusy."""

    def __init__(self, file: Path, wait: float = WAIT_S) -> None:
        self._file, self._wait, self._threads, self._held = file, wait, threading.Lock(), -1

    def __enter__(self) -> None:
        until = time.monotonic() + self._wait
        if not self._threads.acquire(timeout=self._wait):
            raise self._busy()
        try:
            self._held = self._opened()
            if self._held >= 0 and not _locked(self._held, until):
                raise self._busy()
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_: object) -> None:
        held, self._held = self._held, -1
        if held >= 0:
            os.close(held)
        self._threads.release()

    def _opened(self) -> int:
        try:
            return os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            return -1

    def _busy(self) -> DatabaseBusy:
        return _busy(f"{self._file} is locked by {_holder(self._file)}", self._wait)


def _locked(file: int, until: float) -> bool:
    """Take the lock on an open file; False when it is not free before `until` (`flock` itself has no timeout)."""
    pause, longest = LOOK_EVERY_S
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                return False
            time.sleep(pause)
            pause = min(2 * pause, longest)
        else:
            return True


def _holder(file: Path) -> str:
    """The holder of a lock on `file` ("process 4711" or "another process"), as in /proc/locks (proc(5))."""
    with suppress(OSError):
        inode = str(file.stat().st_ino)
        for line in Path("/proc/locks").read_text("ascii").splitlines():
            cells = line.split()
            if cells[1] == "FLOCK" and cells[5].rpartition(":")[2] == inode:
                return f"process {cells[4]}"
    return "another process"


def _busy(found: str, wait: float) -> DatabaseBusy:
    expected = f"every change to end within {wait:g} s (BEFUND_DATABASE_WAIT)"
    return DatabaseBusy(found, expected, "nothing was written; let a stopped process run on, or end it: its lock goes")


def parsed(url: str) -> URL:
    """SQLite's URL, or PostgreSQL's with the installed driver, psycopg 3. Raises SettingError for anything else."""
    expected = "sqlite:///path or postgresql://user:password@host/name"
    try:
        read = make_url(url.replace("postgres://", "postgresql://", 1))
    except (ArgumentError, ValueError):
        raise SettingError("BEFUND_DATABASE_URL cannot be read", expected) from None
    if read.get_backend_name() not in ("sqlite", "postgresql"):
        raise SettingError("BEFUND_DATABASE_URL names no database of a known kind", expected)
    return read if read.get_backend_name() == "sqlite" else read.set(drivername="postgresql+psycopg")


def make_engine(url: str, wait: float = WAIT_S) -> Engine:
    """An engine for SQLite (WAL, foreign keys on; waits that many seconds for SQLite's own lock) or PostgreSQL (UTC).
    Its errors do not quote the values of a row."""
    address = parsed(url)
    if address.get_backend_name() != "sqlite":
        utc = {"options": "-c timezone=utc"}
        engine = create_engine(address, pool_size=POOL_SIZE, connect_args=utc, hide_parameters=True)
        _ping_after_rest(engine)
        return engine
    waiting = {"timeout": wait}
    engine = create_engine(address, pool_size=POOL_SIZE, connect_args=waiting, hide_parameters=True)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", lambda connection: _begin_sqlite(connection, wait))
    return engine


def keep_private(engine: Engine, make: bool = False) -> None:
    """An SQLite file is its owner's alone (0600), as are the log and index that SQLite makes beside it; `make` makes an
    empty one. Nothing happens for PostgreSQL."""
    name = engine.url.database if engine.dialect.name == "sqlite" else None
    if not name or name == ":memory:":
        return
    if make:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(name, os.O_CREAT | os.O_RDWR, 0o600))
    for file in (name, f"{name}-wal", f"{name}-shm"):
        with suppress(OSError):  # not there, or another's
            os.chmod(file, 0o600)


def advisory_lock(session: Session, key: int) -> None:
    """Hold others with the same `key` (63 bits) off until this writing transaction ends.

    PostgreSQL: `pg_advisory_xact_lock`. SQLite needs nothing: its writing transactions already exclude each other.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": key})


def one_or_all(rows: list[dict[str, Any]]) -> Any:
    """Rows as `execute` takes them fastest: one by itself, several as a list."""
    return rows[0] if len(rows) == 1 else rows


def _ping_after_rest(engine: Engine) -> None:
    """Try a connection that rested before it is used. The pool's own ping comes before every transaction, a round trip
    each; a server that went away within the last second ends the transactions of that second anyway."""

    def note_use(_: Any, record: ConnectionPoolEntry) -> None:
        record.info["used"] = time.monotonic()

    def ping(connection: Any, record: ConnectionPoolEntry, _: Any) -> None:
        used = record.info.get("used")  # none on a new connection
        if used is not None and time.monotonic() - used > PING_AFTER_S:
            try:
                engine.dialect.do_ping(connection)
            except engine.dialect.loaded_dbapi.Error as error:
                raise InvalidatePoolError from error  # all that rest are as dead; the pool makes a new one

    event.listen(engine, "checkin", note_use)
    event.listen(engine, "checkout", ping)


def _prepare_sqlite(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # the driver's own implicit BEGIN is deferred; `_begin_sqlite` decides instead
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Any, wait: float) -> None:
    write = connection.get_execution_options().get("befund_write")
    try:
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")
    except OperationalError as error:
        if getattr(error.orig, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY:  # the primary result code
            raise
        raise _busy(f"{connection.engine.url.database} is locked by another process", wait) from None
