"""Writers of SQLite wait for each other for a bounded time, whoever holds the lock and whatever became of him."""

import fcntl
import logging
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from clinical.fhir import MEDIA_TYPE
from tests.webapp.conftest import add_user, login
from tests.webapp.fhir.conftest import WRITES, make_place
from tests.webapp.fhir.conftest import document as new_document
from webapp.database import DatabaseBusy, Turn
from webapp.extensions import db as database

HOLDING = """
import fcntl, sys
file = open(sys.argv[1], "a")
fcntl.flock(file, fcntl.LOCK_EX)
print(1, flush=True)
input()
"""


@pytest.fixture
def database_url(sqlite_url):
    """SQLite alone: PostgreSQL has no such lock."""
    return sqlite_url


@pytest.fixture
def app_settings():
    return {"database_wait": 1}


@contextmanager
def held_by_another(file):
    """A process that holds the lock on `file` and is stopped, as by Ctrl+Z or a debugger."""
    with subprocess.Popen([sys.executable, "-c", HOLDING, str(file)], stdin=-1, stdout=-1) as holder:
        assert holder.stdout.readline() == b"1\n"
        holder.send_signal(signal.SIGSTOP)
        try:
            yield holder.pid
        finally:
            holder.kill()


def signed_in(app):
    """A browser that is signed in, and its CSRF token."""
    client = app.test_client()
    login(client, add_user(app))
    found = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', client.get("/accounts/").get_data(as_text=True))
    return client, {"csrf_token": found[1]}


def test_a_stopped_process_stops_nobody_for_good_and_is_named(app, tmp_path, caplog):
    client, form = signed_in(app)
    with held_by_another(tmp_path / "webapp.sqlite3-turn") as holder, caplog.at_level(logging.ERROR):
        began = time.monotonic()
        page = client.post("/accounts/logout/", data=form)
        assert time.monotonic() - began >= 1
        assert page.status_code == 503
        assert page.headers["Retry-After"] == "10"
        assert "von einem anderen Vorgang belegt" in page.get_data(as_text=True)
        assert client.get("/accounts/").status_code == 200, "reading goes on"
    assert f"webapp.sqlite3-turn is locked by process {holder}; expected every change to end within 1 s" in caplog.text
    assert "Traceback" not in caplog.text
    assert client.post("/accounts/logout/", data=form).status_code == 302, "the lock went with its holder"


def test_a_session_that_cannot_be_saved_is_the_same_answer(app, tmp_path):
    client = app.test_client()
    login(client, add_user(app))
    with held_by_another(tmp_path / "webapp.sqlite3-turn"):
        page = client.get("/accounts/", headers={"Accept-Language": "en"})  # it makes the session's CSRF token
    assert page.status_code == 503
    assert page.headers["Retry-After"] == "10"
    assert "Nothing was changed" in page.get_data(as_text=True)
    assert page.headers["X-Frame-Options"] == "DENY"


def test_sqlites_own_lock_is_the_same_answer(app, tmp_path):
    client, form = signed_in(app)
    other = sqlite3.connect(tmp_path / "webapp.sqlite3", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert client.post("/accounts/logout/", data=form).status_code == 503
    other.execute("ROLLBACK")
    other.close()
    assert client.post("/accounts/logout/", data=form).status_code == 302


@pytest.mark.parametrize("lock", ["turn", "database"])
def test_fhir_says_it_as_an_operation_outcome_writes_nothing_and_searches_on(app, tmp_path, lock):
    place = make_place(app)
    document = place.add_document()
    program = place.program(WRITES)
    assert program.get("DocumentReference").status_code == 200, "its first use, which is written down"
    sent = {"json": new_document(), "headers": {"Content-Type": MEDIA_TYPE}}
    with held(tmp_path, lock):
        for answer in (
            program.open("POST", "DocumentReference", **sent),
            program.get(f"Binary/{document}"),  # who read which document could not be written down
        ):
            assert (answer.status_code, answer.content_type) == (503, MEDIA_TYPE)
            assert answer.headers["Retry-After"] == "10"
            (issue,) = answer.get_json(force=True)["issue"]
            assert (issue["severity"], issue["code"]) == ("error", "transient")
        assert program.bundle("DocumentReference")["total"] == 1, "a search writes nothing"
    assert program.open("POST", "DocumentReference", **sent).status_code == 201
    assert program.bundle("DocumentReference")["total"] == 2


@contextmanager
def held(folder, lock):
    """Another process, or another connection to the database itself, holds the lock."""
    if lock == "turn":
        with held_by_another(folder / "webapp.sqlite3-turn"):
            yield
        return
    other = sqlite3.connect(folder / "webapp.sqlite3", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    yield
    other.close()


def test_commands_say_it_in_one_sentence(app, tmp_path):
    with held_by_another(tmp_path / "webapp.sqlite3-turn") as holder:
        said = app.test_cli_runner().invoke(args=["orgs", "add", "Praxis am Beispielplatz"])
    assert said.exit_code == 1
    assert said.stderr.startswith("befund: ")
    assert f"process {holder}" in said.stderr
    assert "Traceback" not in said.stderr


def test_threads_that_wait_get_it_as_soon_as_the_lock_is_free(tmp_path):
    turn = Turn(tmp_path / "turn", wait=30)
    with held_by_another(tmp_path / "turn") as holder:
        file = os.open(tmp_path / "turn", os.O_RDWR)
        with pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(file)
        os.kill(holder, signal.SIGKILL)
        with turn:
            pass
    with turn, pytest.raises(DatabaseBusy, match=f"locked by process {os.getpid()}"), Turn(tmp_path / "turn", wait=0.1):
        raise AssertionError("two had the lock")


def test_a_failed_wait_leaves_nothing_locked(app, tmp_path):
    with held_by_another(tmp_path / "webapp.sqlite3-turn"), app.app_context():
        for _ in range(2):
            with pytest.raises(DatabaseBusy), database.write():
                raise AssertionError("not reached")
    with app.app_context(), database.write_rows() as rows:
        assert rows.exec_driver_sql("SELECT 1").scalar_one() == 1
