"""What `fhir-speed` measures on: a database of its own, filled by SQL, and the webapp under gunicorn in front of it.

The webapp is driven as an operator would drive it, by its commands and over HTTP; only the rows are written directly,
since a million imports would take longer than everything that is measured.
"""

import os
import secrets
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import psycopg

from evals.postgresql import PostgresServer
from evals.speed.servers import answers, environment_with, flask, free_port
from evals.speed.servers import running as start
from evals.wire import request_bytes

EMAIL = "messung@example.org"
OF_A_PATIENT, DAYS = 100, 365
WORKERS = 2
DAY = 86_400_000_000
NEWEST = 1_772_668_800_000_000 + DAY  # 2026-03-06T00:00:00Z in microseconds: the end of the stored year


HITS = 38_000  # documents that share one identifier value, and one type
OTHERS = 2  # organizations beside the measured one, each with a twentieth of its documents
VALUE, SYSTEM, KIND = "0000", "urn:oid:1.2.276.0.76.", "http://dvmd.de/fhir/CodeSystem/kdl|AD010103"
DETAILS = '{"type":{"coding":[{"system":"http://dvmd.de/fhir/CodeSystem/kdl","code":"AD010103"}]}}'
# Documents spread evenly over a year. What organizations have and an even fill has not: an identifier value that
# thousands share under several systems (test patients, "unknown"), identifiers of their own on a quarter of the rest,
# a type that thousands have, and neighbours with the same identifiers.
_FILL = (
    """INSERT INTO document (id, organization_id, patient_id, entered_in_error, content_type, title, size, sha256,
                             stored_at, external_system, external_value, details)
        SELECT gen_random_uuid(), %(place)s, (%(patients)s::uuid[])[1 + i %% %(people)s], i %% 100 = 99,
               CASE WHEN i %% 10 = 0 THEN 'image/jpeg' ELSE 'application/pdf' END, 'Befund ' || i || '.pdf',
               100000 + i, sha256(i::text::bytea), %(newest)s::bigint - (%(last)s - i) * %(step)s::bigint,
               CASE WHEN i %% %(every)s = 0 OR i %% 4 = 1 THEN %(system)s || (i %% 3) END,
               CASE WHEN i %% %(every)s = 0 THEN %(value)s WHEN i %% 4 = 1 THEN i::text END,
               CASE WHEN i %% greatest(%(every)s, 26) = 0 THEN %(details)s END
        FROM generate_series(0, %(last)s) AS i""",
    """INSERT INTO document_term (organization_id, kind, term, stored_at, document_id)
       SELECT organization_id, 'type', %(kind)s, stored_at, id FROM document
       WHERE organization_id = %(place)s AND external_value = %(value)s""",
    """INSERT INTO document_change (document_id, version, organization_id, at, number, entered_in_error, deleted)
       SELECT id, 1, organization_id, stored_at, row_number() OVER (ORDER BY stored_at, id), entered_in_error, false
       FROM document WHERE organization_id = %(place)s""",
    """INSERT INTO storage_clock (organization_id, last, changes)
       SELECT %(place)s, max(stored_at), count(*) FROM document WHERE organization_id = %(place)s""",
)
_NEIGHBOUR = (
    "INSERT INTO organization (id, name, created_at) VALUES (%(other)s, %(name)s, now())",
    """INSERT INTO document (id, organization_id, external_system, external_value, entered_in_error, content_type,
                             title, size, sha256, stored_at)
       SELECT gen_random_uuid(), %(other)s, external_system, external_value, entered_in_error, content_type,
              title, size, sha256, stored_at
       FROM document WHERE organization_id = %(place)s AND size %% 20 = 7""",
)


@dataclass(frozen=True, slots=True)
class Rig:
    """A running webapp over `documents` documents; `patients` are some ids with 100 documents each."""

    base: str
    address: tuple[str, int]
    token: str
    documents: int
    patients: tuple[str, ...]
    server: int  # process id
    database: int | None  # process id of PostgreSQL
    organization: str
    environment: dict[str, str]

    def request(self, path: str) -> bytes:
        """A GET below the base, with the token, as it goes over the wire."""
        return request_bytes(f"{self.base}/{path}", {"Authorization": f"Bearer {self.token}"})

    def flask(self, *arguments: str) -> str:
        """Run a command of the webapp; its output."""
        return flask(self.environment, *arguments)


@contextmanager
def postgres() -> Iterator[str]:
    """URL of a database in a server of its own, with the durability and memory settings of a fresh installation."""
    folder = Path(tempfile.mkdtemp(prefix="befund-speed-"))
    server = PostgresServer(folder, "-c listen_addresses= -c max_connections=100")
    try:
        server.start()
        # Over a Unix socket, as on one machine it should be: a quarter of the cost of loopback TCP.
        yield f"postgresql://postgres@/postgres?host={folder}&port={server.port}"
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def plain_flask() -> Iterator[tuple[str, int]]:
    """A Flask application that answers 40 KB of fixed JSON without auth or database: what this machine has to give."""
    program = "import flask\napp = flask.Flask('plain')\nbody = b'[' + b'1,' * 20_000 + b'1]'\n"
    program += "app.get('/')(lambda: flask.Response(body, content_type='application/fhir+json'))\n"
    with tempfile.TemporaryDirectory(prefix="befund-speed-") as folder:
        (Path(folder) / "plain.py").write_text(program)
        port = free_port()
        environment = environment_with({"ENV": "development"})
        environment["PYTHONPATH"] = os.pathsep.join((folder, environment["PYTHONPATH"]))
        with _gunicorn(environment, port, "plain:app", f"http://127.0.0.1:{port}/"):
            yield "127.0.0.1", port


@contextmanager
def running(database: str, documents: int) -> Iterator[Rig]:
    """The webapp on `database` (a URL, migrated and filled here)."""
    with tempfile.TemporaryDirectory(prefix="befund-speed-") as folder:
        settings = {"ENV": "development", "DATABASE_URL": database, "VAR": folder, "SECRET_KEY": secrets.token_hex(24)}
        environment = environment_with(settings)
        organization = str(uuid.uuid4())
        flask(environment, "db", "upgrade")
        token, patients = _fill(database, organization, documents)
        flask(environment, "documents", "recount", "--org", organization)
        server_of_database = _settle(database)
        port = free_port()
        base = f"http://127.0.0.1:{port}/{organization}/fhir/r4"
        with _gunicorn(environment, port, "webapp:create_app()", f"{base}/metadata") as server:
            yield Rig(
                base, ("127.0.0.1", port), token, documents, patients, server.pid, server_of_database, organization,
                environment,
            )  # fmt: skip


def _gunicorn(
    environment: dict[str, str], port: int, application: str, ready_url: str
) -> AbstractContextManager[subprocess.Popen[bytes]]:
    """gunicorn as it is shipped, but with two workers wherever it runs."""
    command = [sys.executable, "-m", "gunicorn", "-c", "python:webapp.gunicorn_conf", "--workers", str(WORKERS)]
    command += ["--bind", f"127.0.0.1:{port}", "--log-level", "warning", application]
    return start(command, lambda: answers(ready_url), environment=environment)


def _settle(database: str) -> int | None:
    """Do now what PostgreSQL would do in the background within minutes of a load, beside what is measured:
    statistics (which change plans), visibility (index-only scans) and a checkpoint. Process id of its server."""
    if not database.startswith("postgresql"):
        return None
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("VACUUM (ANALYZE, FREEZE)")
        connection.execute("CHECKPOINT")
        return int(psutil.Process(connection.info.backend_pid).ppid())


def _fill(database: str, organization: str, documents: int) -> tuple[str, tuple[str, ...]]:
    """An organization with a member, a token, patients and documents spread evenly over a year; the token's text."""
    secret, token_id = secrets.token_urlsafe(32), secrets.token_hex(6)
    user = str(uuid.uuid4())
    patients = [str(uuid.uuid4()) for _ in range(documents // OF_A_PATIENT)]
    people = _people(organization, user, token_id, secret)
    if database.startswith("postgresql"):
        _fill_postgresql(database, organization, people, patients, documents)
    else:
        _fill_sqlite(database.removeprefix("sqlite:///"), organization, people, patients, documents)
    return f"bfa_{token_id}_{secret}", tuple(patients[:50])


def _people(organization: str, user: str, token_id: str, secret: str) -> list[tuple[str, dict[str, object]]]:
    import hashlib

    when = "2026-01-01 00:00:00+00:00"
    person = {"id": user, "email": EMAIL, "email_key": EMAIL, "given_name": "", "family_name": "", "picture": ""}
    return [
        ("organization", {"id": organization, "name": f"Messung {organization}", "created_at": when}),
        ("user_account", person | {"preferred_username": "", "active": True, "created_at": when}),
        ("membership", {"id": str(uuid.uuid4()), "user_id": user, "organization_id": organization, "role": "member",
                        "created_at": when}),
        ("access_token", {"id": token_id, "user_id": user, "name": "", "created_at": when,
                          "secret_sha256": hashlib.sha256(secret.encode()).digest(), "expires_at": 2**52}),
    ]  # fmt: skip


def _fill_postgresql(
    database: str, organization: str, people: list[tuple[str, dict[str, object]]], patients: list[str], documents: int
) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("SET synchronous_commit = off")
        for table, row in people:
            marks = ", ".join(f"%({name})s" for name in row)
            connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", row)  # noqa: S608 - our names
        connection.execute(
            "INSERT INTO patient (id, organization_id, stored_at, resource)"
            " SELECT id, %s, 0, '{}' FROM unnest(%s::uuid[]) id",
            (organization, patients),
        )
        last = documents - 1
        values = {"place": organization, "patients": patients, "people": len(patients), "newest": NEWEST - 1,
                  "last": last, "step": DAYS * DAY // documents, "every": max(2, documents // HITS), "kind": KIND,
                  "details": DETAILS, "system": SYSTEM, "value": VALUE}  # fmt: skip
        with _without_indexes(connection):
            for statement in _FILL:
                connection.execute(statement, values)
        for number in range(OTHERS):
            other = {"place": organization, "other": str(uuid.uuid4()), "name": f"Nachbar {number}"}
            for statement in _NEIGHBOUR:
                connection.execute(statement, other)


@contextmanager
def _without_indexes(connection: psycopg.Connection) -> Iterator[None]:
    """Fill first, index afterwards: at millions of rows a fraction of the time, and the same indexes but for their
    being without gaps. Foreign keys are not looked up row by row either: what is filled in refers to what is there."""
    connection.execute("SET session_replication_role = replica")
    found = connection.execute(
        "SELECT indexname, indexdef FROM pg_indexes WHERE tablename IN ('document', 'document_change', 'document_term')"
        " AND indexname NOT IN (SELECT conname FROM pg_constraint)"
    ).fetchall()
    for name, _ in found:
        connection.execute(f'DROP INDEX "{name}"')
    yield
    connection.execute("SET session_replication_role = origin")
    connection.execute("SET maintenance_work_mem = '1GB'")
    for _, definition in found:
        connection.execute(definition)


def _fill_sqlite(
    path: str, organization: str, people: list[tuple[str, dict[str, object]]], patients: list[str], documents: int
) -> None:
    step, place = DAYS * DAY // documents, organization.replace("-", "")
    with sqlite3.connect(path) as connection:
        for table, row in people:
            values = [_plain(name, value) for name, value in row.items()]
            marks = ", ".join("?" * len(row))
            connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", values)  # noqa: S608
        plain = [patient.replace("-", "") for patient in patients]
        connection.executemany("INSERT INTO patient VALUES (?, ?, 0, '{}')", [(patient, place) for patient in plain])
        connection.executemany(
            "INSERT INTO document (id, organization_id, patient_id, entered_in_error, content_type, title, size,"
            " sha256, stored_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (uuid.uuid4().hex, place, plain[i % len(plain)], i % 100 == 99,
                 "image/jpeg" if i % 10 == 0 else "application/pdf", f"Befund {i}.pdf", 100_000 + i,
                 secrets.token_bytes(32), NEWEST - 1 - (documents - 1 - i) * step)
                for i in range(documents)
            ),
        )  # fmt: skip
        connection.execute("ANALYZE")


def _plain(name: str, value: object) -> object:
    """SQLite holds UUIDs as 32 hex digits and instants as naive text."""
    if name == "id" or name.endswith("_id"):
        return str(value).replace("-", "")
    return str(value).removesuffix("+00:00") if name == "created_at" else value
