"""Both servers with all they rest on, as an operator starts them: two processes each, PostgreSQL, Redis, a model."""

from __future__ import annotations

import re
import secrets
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil

from bentos.keys import KeyLimits, Keys, open_database
from evals.postgresql import PostgresServer
from evals.soak.parts import Disk, Model, Program, postgres, redis
from evals.speed.servers import NotStarted, environment_with, free_port, listens, running

WORKERS = 2
METRICS_KEY = "nur-fuer-die-messung"
SCOPES = "system/DocumentReference.crs system/Binary.r"
UNFORESEEN = re.compile("unexpected |unforeseen |Traceback|Exception")
PLACE_LINES = 60
RATE = KeyLimits(per_minute=1_000_000, per_day=0)
"""Never reached, and counted in Redis all the same; 0 would count nothing."""
PROVIDER = "alpha"


@dataclass(frozen=True, slots=True)
class LoadedServer:
    """One of the two servers: where it answers, and its first process."""

    name: str
    base: str
    process: psutil.Process
    marks: tuple[str, ...]
    """What stands in the command line of its workers."""
    log: Path

    def workers(self) -> list[psutil.Process]:
        """The processes that answer requests, of which there are WORKERS."""
        family = self.process.children(recursive=True)
        return [one for one in family if _is_worker(one, self.marks)]

    def family(self) -> list[psutil.Process]:
        """All its processes."""
        return [self.process, *self.process.children(recursive=True)]

    def unforeseen(self) -> list[str]:
        """What it logged of errors that nobody foresaw, with the place of each: its logs hold no content."""
        lines = self.log.read_text("utf-8", "replace").splitlines()
        begin = [number for number, line in enumerate(lines) if UNFORESEEN.search(line)]
        return ["\n    ".join(lines[number : number + PLACE_LINES]) for number in begin]

    def metrics(self) -> str:
        """The text of its metrics."""
        said = httpx.get(
            f"{self.base}/internal/metrics",
            headers={"Authorization": f"Bearer {METRICS_KEY}"},
            timeout=30,
            trust_env=False,
        )
        return said.raise_for_status().text

    def ready(self) -> bool:
        """Whether it says that it can answer."""
        try:
            return httpx.get(f"{self.base}/internal/readyz", timeout=5, trust_env=False).status_code == 200
        except httpx.HTTPError:
            return False


def _is_worker(process: psutil.Process, marks: tuple[str, ...]) -> bool:
    try:
        line = " ".join(process.cmdline())
    except psutil.Error:
        return False
    return all(mark in line for mark in marks)


@dataclass(frozen=True, slots=True)
class SoakRig:
    """Everything that runs, and what a client must know."""

    api: LoadedServer
    web: LoadedServer
    postgres: PostgresServer
    redis: Program
    model: Model
    disk: Disk
    key: str
    organization: str
    secret: str

    @property
    def servers(self) -> tuple[LoadedServer, LoadedServer]:
        """Both."""
        return self.api, self.web


@contextmanager
def standing(catalog: Path) -> Iterator[SoakRig]:
    """All of it, from when both servers are ready; taken down in the end."""
    with tempfile.TemporaryDirectory(prefix="befund-soak-") as name, ExitStack() as ends:
        folder = Path(name)
        database, disk = ends.enter_context(postgres(folder)), Disk(folder)
        counters, model, vendor_port = redis(), Model(), free_port()
        for start, end in (
            (disk.start, disk.stop),
            (counters.start, counters.kill),
            (model.start, model.kill),
        ):
            start()
            ends.callback(end)
        vendor = [sys.executable, "-m", "evals.speed.sign_in_vendor", str(vendor_port)]
        ends.enter_context(running(vendor, lambda: listens(vendor_port)))
        settings = {"INTERNAL_KEY": METRICS_KEY, "LIMITS_URL": f"redis://127.0.0.1:{counters.port}/0", "VAR": folder}
        given = {**settings, "ENV": "development", "DATABASE_URL": database.url("web"), "WEB_PORT": free_port()}
        given |= {"STORAGE": f"file://{disk.folder}", "SECRET_KEY": secrets.token_hex(24)}
        organization, secret = prepared(given, vendor_port)
        web = _served("webapp", ["-m", "webapp", "serve"], given, ("gunicorn",), ends)
        given = {**settings, "ENV": "production", "API_DATABASE_URL": database.url("api"), "WORKERS": WORKERS}
        given |= {"CATALOG": catalog, "API_PORT": free_port(), "LLM_BASE_URL": f"http://127.0.0.1:{model.port}/v1"}
        key = Keys(open_database(database.url("api"))).create("soak", RATE)
        api = _served("text API", ["-m", "bentos", "serve"], given, ("_bentoml_impl.worker.service",), ends)
        rig = SoakRig(api, web, database, counters, model, disk, key, organization, secret)
        until_ready(rig)
        yield rig


def _served(
    name: str, command: list[str], given: dict[str, object], marks: tuple[str, ...], ends: ExitStack
) -> LoadedServer:
    port = given["WEB_PORT"] if name == "webapp" else given["API_PORT"]
    environment = {**environment_with(given), "WEB_CONCURRENCY": str(WORKERS)}
    log = Path(str(given["VAR"])) / f"{name.replace(' ', '-')}.log"
    process = running([sys.executable, *command], lambda: listens(int(str(port))), environment=environment, log=log)
    pid = ends.enter_context(process).pid
    return LoadedServer(name, f"http://127.0.0.1:{port}", psutil.Process(pid), marks, log)


def prepared(given: dict[str, object], vendor_port: int) -> tuple[str, str]:
    """Tables, a vendor, an organization and a service account: the organization's id and the account's secret."""
    from webapp import create_app
    from webapp.cli import upgrade_schema

    app = create_app({name.lower(): str(value) for name, value in given.items() if name != "INTERNAL_KEY"})
    with app.app_context():
        upgrade_schema()

    def do(*arguments: str) -> str:
        done = app.test_cli_runner().invoke(args=list(arguments))
        if done.exit_code:
            raise NotStarted(f"flask {' '.join(arguments[:2])} failed: {done.output}")
        return done.stdout.strip()

    base = f"http://127.0.0.1:{vendor_port}"
    urls = [f"--{kind}-url={base}/{kind}" for kind in ("authorization", "token", "userinfo")]
    do("providers", "add", PROVIDER, "--name", PROVIDER, "--client-id", "soak", "--client-secret", "soak-soak", *urls)
    organization = do("orgs", "add", "Praxis am Beispielplatz").split()[0]
    account = do("services", "add", "Dauerlauf", "--org", organization, "--scopes", SCOPES)
    secret = do("services", "add-secret", account)
    app.extensions["befund_engine"].dispose()
    return organization, secret


def until_ready(rig: SoakRig, seconds: float = 120.0, also: Callable[[], bool] = lambda: True) -> float:
    """Wait until both servers are ready; how many seconds that took. Raises NotStarted after `seconds`."""
    began = time.monotonic()
    while not (all(server.ready() for server in rig.servers) and also()):
        if time.monotonic() - began > seconds:
            raise NotStarted("; ".join(f"{one.name} is not ready" for one in rig.servers if not one.ready()))
        time.sleep(0.1)
    return time.monotonic() - began
