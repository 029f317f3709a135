"""Workers are killed with SIGKILL while programs post documents: what was answered 201 is there once, with its content.

A real gunicorn with two workers and SQLite. Four programs post, each the next document as soon as the last one is
answered; who gets no answer tries again, half of them with `If-None-Exist`, as the contract of writing advises.
"""

import base64
import io
import os
import threading
import time
from pathlib import Path

import httpx2
import pytest
from sqlalchemy import select

from tests.serving import free_port
from tests.webapp.conftest import SECRET, command
from tests.webapp.fhir.conftest import SYSTEM, Caller, document, make_place
from tests.webapp.sso import live
from webapp.extensions import db as database
from webapp.fhir.models import Document
from webapp.fhir.service import service
from webapp.storage import STALE

PROGRAMS, KILLS, BETWEEN = 4, 3, 4  # documents that are stored between two ends of a worker
PATIENCE = 90  # seconds, on a busy machine
SCOPES = "system/DocumentReference.crs"


@pytest.fixture
def database_url(sqlite_url):
    return sqlite_url


class Program(threading.Thread):
    """Posts numbered documents, with a condition or without, until it is told to end."""

    def __init__(self, base, secret, name, conditional):
        super().__init__(name=name, daemon=True)
        self.base, self.conditional, self.over = base, conditional, threading.Event()
        self.headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/fhir+json"}
        self.stored = {}  # document id by name, as it was answered

    def run(self):
        number = 0
        while not self.over.is_set():
            name = f"{self.name}-{number}"
            answer = self.post(name)
            if answer is not None and answer.status_code in (200, 201):
                self.stored[name] = answer.headers["Location"].partition("/_history")[0].rpartition("/")[2]
            if name in self.stored or not self.conditional:
                number += 1

    def post(self, name):
        """The answer, or none where the worker ended before it."""
        given = {"If-None-Exist": f"identifier={SYSTEM}|{name}"} if self.conditional else {}
        try:
            return httpx2.post(
                f"{self.base}/DocumentReference", json=numbered(name), headers=self.headers | given, timeout=PATIENCE
            )
        except (httpx2.NetworkError, httpx2.ProtocolError):
            return None


def numbered(name):
    data = base64.b64encode(body(name)).decode()
    return document(identifier=[{"system": SYSTEM, "value": name}], attachment={"data": data})


def body(name):
    return f"Befund {name}: unauffällig.".encode()


def reached(programs, number):
    """Until that many documents are answered; the programs are alive and so is the server."""
    pause, until = threading.Event(), time.monotonic() + PATIENCE
    while sum(len(program.stored) for program in programs) < number:
        assert time.monotonic() < until, "nothing more is stored"
        assert all(program.is_alive() for program in programs)
        pause.wait(0.005)


def test_what_was_answered_is_there_once_however_often_a_worker_is_killed(app, database_url, tmp_path):
    place, port = make_place(app), free_port()
    secrets = [place.machine("--scopes", SCOPES)[1] for _ in range(PROGRAMS)]
    with live.webapp(port, database_url, tmp_path, BEFUND_SECRET_KEY=SECRET) as server:
        programs = [
            Program(f"{server}{place.path}", secret, f"Programm{number}", conditional=number % 2 == 0)
            for number, secret in enumerate(secrets)
        ]
        for program in programs:
            program.start()
        for kill in range(1, KILLS + 1):
            reached(programs, kill * BETWEEN)
            live.gunicorn(port).children()[kill % 2 - 1].kill()
        reached(programs, (KILLS + 1) * BETWEEN)
        for program in programs:
            program.over.set()
        for program in programs:
            program.join(PATIENCE)
            assert not program.is_alive()
    told = {name: ident for program in programs for name, ident in program.stored.items()}
    assert_kept(place, told)
    assert_swept(place)


def assert_kept(place, told):
    """Each document that was answered is there under its id, once and whole, and nothing is there twice."""
    caller = Caller(place)
    ids = {one["id"]: one["identifier"][0]["value"] for one in caller.all("DocumentReference")}
    assert {ident: name for name, ident in told.items()}.items() <= ids.items()
    assert len(set(ids.values())) == len(ids) == caller.bundle("DocumentReference?_summary=count")["total"]
    for ident, name in ids.items():
        assert caller.get(f"Binary/{ident}").data == body(name)


def assert_swept(place):
    """The remains of killed processes go by the cleaning command once it is a day old, and nothing else does."""
    with place.app.app_context():
        files = service().files
        left = files.put(io.BytesIO(b"a file whose transaction never ended")).digest
        (files.folder / ".incoming-cut").write_bytes(b"half a fi")
        for path in filter(Path.is_file, files.folder.rglob("*")):
            os.utime(path, (time.time() - 2 * STALE,) * 2)
    assert " 0 faulty" in command(place.app, "documents", "verify", "--sweep")
    with place.app.app_context():
        rows = {bytes(digest).hex() for digest in database.session.scalars(select(Document.sha256))}
    assert left.hex() not in rows
    assert {path.name for path in files.folder.rglob("*") if path.is_file()} == rows
