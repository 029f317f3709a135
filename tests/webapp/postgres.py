"""A PostgreSQL server of the system's package for one test run: own folder, own port, stopped at the end."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from evals.load.servers import BINARIES, NotStarted, PostgresServer
from evals.load.servers import postgres_missing as missing

__all__ = ["BINARIES", "missing", "running_postgres"]


@contextmanager
def running_postgres() -> Iterator[str]:
    """Yields the URL of the server, without a database name: `postgresql://postgres@127.0.0.1:PORT`."""
    folder = Path(tempfile.mkdtemp(prefix="befund-pg-"))
    server = PostgresServer(folder)
    try:
        server.start()
        yield server.url("").rstrip("/")
    finally:
        with suppress(NotStarted):  # it was ended by the test, or never began
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)
