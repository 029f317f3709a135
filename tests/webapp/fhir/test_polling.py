"""docs/examples/poll.py against a real server: killed and restarted at random while writers work, documents are marked
and restored and come in with old times, files are missing for a while, and the server, its database and its clock go
away.

`BEFUND_POLLER_KILLS` (10 here; 200 for the figure in docs/measured.md) is how often it is killed.
"""

import io
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text, update
from werkzeug.serving import make_server

from tests.webapp.conftest import make_app
from webapp.extensions import db as database
from webapp.fhir.models import Status, StorageClock
from webapp.fhir.service import service

POLL = Path(__file__).parents[3] / "docs" / "examples" / "poll.py"
KILLS = int(os.environ.get("BEFUND_POLLER_KILLS", "10"))
WRITERS, EACH = 4, 2 * KILLS  # documents of each: they store until about the last kill
ENDED = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE datname = current_database() AND pid <> pg_backend_pid()"""
PAUSE = 0.05
PATIENCE = 120 + KILLS  # seconds, on a busy machine


class Server:
    """The webapp on one port; it can be stopped and started again."""

    def __init__(self, app):
        self.app, self.port = app, 0
        self.start()

    def start(self):
        self.running = make_server("127.0.0.1", self.port, self.app, threaded=True)
        self.port = self.running.server_port
        threading.Thread(target=self.running.serve_forever, daemon=True).start()

    def stop(self):
        self.running.shutdown()
        self.running.server_close()


@pytest.fixture
def server(place):
    running = Server(place.app)
    yield running
    running.stop()


def poller(server, place, target):
    command = [sys.executable, str(POLL), f"http://127.0.0.1:{server.port}{place.path}", place.token, str(target)]
    return subprocess.Popen([*command, str(PAUSE)], stderr=subprocess.PIPE)


def filed(target):
    """Content by id of what the poller holds; of a marked document None."""
    if not target.exists():
        return {}
    with sqlite3.connect(target, timeout=30) as database_file:
        known = database_file.execute("SELECT 1 FROM sqlite_master WHERE name = 'cursor'").fetchone()
        return dict(database_file.execute("SELECT id, content FROM document")) if known else {}


def stepped_forward(place, microseconds):
    """The clock ran ahead and was set back: what was stamped last lies in the time to come."""
    with place.app.app_context(), database.write() as session:
        session.execute(update(StorageClock).values(last=StorageClock.last + microseconds))


def file_of(place, body):
    with place.app.app_context():
        files = service().files
        return Path(files.path(files.put(io.BytesIO(body)).digest))


class Writers:
    """Threads that store documents, some with an old time, mark some and take some marks back; what must be filed.

    They have an application of their own beside the server's, and a lock each that is free between two transactions."""

    def __init__(self, place):
        self.place, self.written, self.marked = place, {}, set()
        self.locks = [threading.Lock() for _ in range(WRITERS)]
        self.threads = [threading.Thread(target=self._write, args=(number,)) for number in range(WRITERS)]
        for thread in self.threads:
            thread.start()

    def _write(self, number):
        chance = random.Random(number)
        for index in range(EACH):
            body = f"{number}/{index}".encode()
            at = f"2020-01-0{1 + number}T00:{index // 60:02}:{index % 60:02}+00:00"
            original = {"at": at} if chance.random() < 0.2 else {}
            with self.locks[number]:
                document = self.place.add_document(body, **original)
            self.written[str(document)] = body
            if chance.random() < 0.3:
                self._mark(number, document, chance)
            threading.Event().wait(chance.random() * 0.3)

    def _mark(self, number, document, chance):
        with self.locks[number]:
            self.place.mark(document)
        self.marked.add(str(document))
        if chance.random() < 0.5:
            threading.Event().wait(chance.random() * 0.3)
            with self.locks[number]:
                self.place.mark(document, Status.CURRENT)
            self.marked.discard(str(document))

    def without_connections(self):
        """PostgreSQL ends all connections, as when it is started anew, while no writer has a transaction: what becomes
        of one that is cut off is nothing that a poller could be asked. SQLite has no server to start anew."""
        engine = self.place.app.extensions["befund_engine"]
        if engine.dialect.name != "postgresql":
            return
        with ExitStack() as held:
            for lock in self.locks:
                held.enter_context(lock)
            with engine.connect() as connection:
                connection.execute(text(ENDED))
            engine.dispose()  # the writers' alone: the server has to find out by itself

    def wanted(self):
        for thread in self.threads:
            thread.join()
        assert len(self.written) == WRITERS * EACH, "a writer ended early"
        return {ident: None if ident in self.marked else body for ident, body in self.written.items()}


def ended(process):
    """The poller's words when it ended otherwise than by our signal."""
    process.send_signal(signal.SIGKILL)
    said = process.stderr.read().decode()
    process.stderr.close()
    return [said] if process.wait(10) != -signal.SIGKILL else []


@pytest.mark.timeout(900)
def test_nothing_is_lost_and_nothing_filed_twice(place, server, database_url, tmp_path):
    """Filing twice would break the table's primary key and end the poller by itself."""
    chance, target, failures = random.Random(11), tmp_path / "filed.sqlite3", []
    missing = file_of(place, b"0/3")
    writers = Writers(replace(place, app=make_app(database_url, tmp_path)))
    for kill in range(KILLS):
        process = poller(server, place, target)
        threading.Event().wait(0.3 + chance.random() * 0.5)
        if kill % 8 == 3:
            server.stop()
            threading.Event().wait(0.2)
            server.start()
        if kill % 8 == 7:
            writers.without_connections()
        if kill == 5:
            stepped_forward(place, 3_600_000_000)
        if kill == 6:
            missing.rename(tmp_path / "away")
        failures += ended(process)
    wanted = writers.wanted()
    writers.place.app.extensions["befund_engine"].dispose()
    (tmp_path / "away").replace(missing)
    process = poller(server, place, target)
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and filed(target) != wanted and process.poll() is None:
        threading.Event().wait(0.1)
    assert failures + ended(process) == []
    assert filed(target) == wanted


def test_a_document_without_its_file_is_gone_past_and_fetched_when_it_is_back(place, server, tmp_path):
    first, second = place.add_document(b"fehlt"), place.add_document(b"ist da")
    file, target = file_of(place, b"fehlt"), tmp_path / "filed.sqlite3"
    file.rename(tmp_path / "away")
    process = poller(server, place, target)
    deadline = time.monotonic() + PATIENCE
    try:
        while time.monotonic() < deadline and filed(target) != {str(first): None, str(second): b"ist da"}:
            threading.Event().wait(0.05)
        assert filed(target) == {str(first): None, str(second): b"ist da"}
        (tmp_path / "away").rename(file)
        while time.monotonic() < deadline and filed(target)[str(first)] != b"fehlt":
            threading.Event().wait(0.05)
        assert filed(target)[str(first)] == b"fehlt"
        assert process.poll() is None
    finally:
        process.kill()
        process.wait(10)
        process.stderr.close()
