"""Servers to put load on, as an operator starts them: the text API, and the webapp over a filled PostgreSQL.

The webapp is driven by its commands and over HTTP; only the rows are written directly, since a million imports would
take longer than everything that is measured.
"""

from __future__ import annotations

import hashlib
import secrets
import shutil
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx2
import psutil
import psycopg

from bentos.keys import KeyLimits, Keys, open_database
from clinical.settings import ROOT
from evals.load.servers import (
    PostgresServer,
    answers,
    environment_with,
    flask,
    free_port,
    listens,
    processor_seconds,
    resident_mb,
    running,
)

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
PROVIDERS: Final = {
    "alpha": ["--auth-method", "post"],
    "beta": ["--auth-method", "basic", "--own-callback"],
    "gamma": ["--no-pkce", "--own-callback"],
}
SCOPES: Final = "system/DocumentReference.crs system/Binary.r"
PARTIAL: Final = b'"type":"partial"'


@dataclass(frozen=True)
class ServedUnderLoad:
    """A server under load: its base URL, its first process, and a key or token for it."""

    base: str
    key: str
    process: int

    def cpu_seconds(self) -> float:
        """Processor time of all its processes so far."""
        return processor_seconds(self.process)

    def resident_mb(self) -> list[float]:
        """Resident memory of each of its processes, largest first."""
        return resident_mb(self.process)


@contextmanager
def text_api(catalog: Path, workers: int, settings: Mapping[str, str] | None = None) -> Iterator[ServedUnderLoad]:
    """`python -m bentos serve` with its own key database in a temporary folder; stopped at the end.

    `settings` are further ones, by name without the prefix.
    """
    with tempfile.TemporaryDirectory(prefix="befund-load-") as folder:
        database = f"sqlite:///{folder}/api.sqlite"
        key = Keys(open_database(database)).create("load", KeyLimits(0, 0))
        port, log = free_port(), Path(folder) / "log"
        given = {"ENV": "development", "CATALOG": catalog, "WORKERS": workers, "API_PORT": port}
        environment = environment_with({**given, "API_DATABASE_URL": database, **(settings or {})})

        def ready() -> bool:
            started = log.read_bytes().count(b"befund ready") >= workers
            return started and answers(f"http://127.0.0.1:{port}/api/health")

        command = [sys.executable, "-m", "bentos", "serve"]
        # The folder is the working folder too, so that no .env of the repository is read.
        with running(command, ready, environment=environment, folder=Path(folder), log=log) as process:
            yield ServedUnderLoad(f"http://127.0.0.1:{port}", key, process.pid)


def first_codes_ms(api: ServedUnderLoad, texts: Sequence[str]) -> list[float]:
    """Milliseconds from each request to its first `partial`, one after the other over one kept connection."""
    took = []
    with httpx2.Client(
        base_url=api.base, headers={"Authorization": f"Bearer {api.key}"}, timeout=60, trust_env=False
    ) as client:
        for text in texts:
            began, seen = time.perf_counter(), b""
            with client.stream("POST", "/api/deep-research", json={"query": text}) as answer:
                for piece in answer.raise_for_status().iter_raw():
                    if PARTIAL not in seen and PARTIAL in (seen := seen + piece):
                        took.append(1_000 * (time.perf_counter() - began))
    return took


@contextmanager
def model_server(seconds: float) -> Iterator[str]:
    """The stand-in of a language model (`evals.load.model`) in a process of its own; its base URL. It reads texts to
    answer: with a thread for each core of the matrices of a short text it takes a hundred times the processor time, and
    from the servers that are measured."""
    port = free_port()
    command = [sys.executable, "-m", "evals.load.model", str(port), str(seconds)]
    environment = environment_with({}) | {"OMP_NUM_THREADS": "1"}
    with running(command, lambda: answers(f"http://127.0.0.1:{port}/running"), environment=environment):
        yield f"http://127.0.0.1:{port}"


# --- the webapp -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Filled:
    """A PostgreSQL of its own with an organization's documents; `patients` are some ids with 100 documents each."""

    environment: dict[str, str]
    organization: str
    token: str
    patients: tuple[str, ...]
    database: int
    """Process id of PostgreSQL."""
    documents: int


@contextmanager
def filled(documents: int) -> Iterator[Filled]:
    """The database with the durability and memory settings of a fresh installation, migrated and filled."""
    with tempfile.TemporaryDirectory(prefix="befund-load-") as files:
        folder = Path(tempfile.mkdtemp(prefix="befund-pg-"))
        server = PostgresServer(folder, "-c listen_addresses= -c max_connections=100")
        try:
            server.start()
            # Over a Unix socket, as on one machine it should be: a quarter of the cost of loopback TCP.
            url = f"postgresql://postgres@/postgres?host={folder}&port={server.port}"
            given = {"ENV": "development", "DATABASE_URL": url, "VAR": files, "SECRET_KEY": secrets.token_hex(24)}
            environment, organization = environment_with(given), str(uuid.uuid4())
            flask(environment, "db", "upgrade")
            token, patients = _fill(url, organization, documents)
            flask(environment, "documents", "recount", "--org", organization)
            yield Filled(environment, organization, token, patients, _settle(url), documents)
        finally:
            server.stop()
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def webapp(environment: Mapping[str, str], key: str = "", code: Path = ROOT) -> Iterator[ServedUnderLoad]:
    """gunicorn as it is shipped, but with two workers wherever it runs; `code`: the checkout that is served."""
    port = free_port()
    command = [sys.executable, "-m", "gunicorn", "-c", "python:webapp.gunicorn_conf", "--workers", str(WORKERS)]
    command += ["--bind", f"127.0.0.1:{port}", "--log-level", "warning", "webapp:create_app()"]
    base = f"http://127.0.0.1:{port}"
    served = {**environment, "PYTHONPATH": str(code)}
    with running(command, lambda: answers(f"{base}/accounts/login/"), environment=served, folder=code) as process:
        yield ServedUnderLoad(base, key, process.pid)


@contextmanager
def vendor(environment: Mapping[str, str]) -> Iterator[None]:
    """A vendor to sign in with (`evals.load.vendor`), registered three times: as `post`, `basic`, and without PKCE."""
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    urls = [f"--{kind}-url={base}/{kind}" for kind in ("authorization", "token", "userinfo")]
    for provider, extra in PROVIDERS.items():
        given = ["--name", provider, "--client-id", f"client-{provider}", "--client-secret", secrets.token_hex(8)]
        flask(environment, "providers", "add", provider, *given, *urls, *extra)
    with running([sys.executable, "-m", "evals.load.vendor", str(port)], lambda: listens(port)):
        yield


def service_account(there: Filled) -> str:
    """A program that may store, search and fetch; its secret."""
    account = flask(there.environment, "services", "add", "Messung", "--org", there.organization, "--scopes", SCOPES)
    return flask(there.environment, "services", "add-secret", account.strip()).strip()


# --- rows -----------------------------------------------------------------------------------------------------------


def _settle(database: str) -> int:
    """Do now what PostgreSQL would do in the background within minutes of a load, beside what is measured: statistics
    (which change plans), visibility (index-only scans) and a checkpoint. Process id of its server."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("VACUUM (ANALYZE, FREEZE)")
        connection.execute("CHECKPOINT")
        return int(psutil.Process(connection.info.backend_pid).ppid())


def _fill(database: str, organization: str, documents: int) -> tuple[str, tuple[str, ...]]:
    """An organization with a member, a token, patients and documents spread evenly over a year; the token's text, and
    some patients."""
    secret, token_id, user = secrets.token_urlsafe(32), secrets.token_hex(6), str(uuid.uuid4())
    patients = [str(uuid.uuid4()) for _ in range(max(1, documents // OF_A_PATIENT))]
    values = {"place": organization, "patients": patients, "people": len(patients), "newest": NEWEST - 1,
              "last": documents - 1, "step": DAYS * DAY // documents, "every": max(2, documents // HITS), "kind": KIND,
              "details": DETAILS, "system": SYSTEM, "value": VALUE}  # fmt: skip
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("SET synchronous_commit = off")
        for table, row in _people(organization, user, token_id, secret):
            marks = ", ".join(f"%({name})s" for name in row)
            connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", row)  # noqa: S608 - our names
        connection.execute(
            "INSERT INTO patient (id, organization_id, stored_at, resource)"
            " SELECT id, %s, 0, '{}' FROM unnest(%s::uuid[]) id",
            (organization, patients),
        )
        with _without_indexes(connection):
            for statement in _FILL:
                connection.execute(statement, values)
        for number in range(OTHERS):
            other = {"place": organization, "other": str(uuid.uuid4()), "name": f"Nachbar {number}"}
            for statement in _NEIGHBOUR:
                connection.execute(statement, other)
    return f"bfa_{token_id}_{secret}", tuple(patients[:50])


def _people(organization: str, user: str, token_id: str, secret: str) -> list[tuple[str, dict[str, object]]]:
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
