"""Fixtures that the whole suite shares: system parts as real servers, the shared data, an environment of its own."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from evals.load.servers import listens, running
from tests.serving import free_port

if TYPE_CHECKING:
    from catalog_build.official.source import Source
    from clinical.reading.index import SearchIndex

ROOT = Path(__file__).resolve().parents[1]

OURS = {"BEFUND_POLLER_KILLS", "BEFUND_SHARED_DATA", "BEFUND_VLLM_VENV"}
for name in [name for name in os.environ if name.startswith("BEFUND_") and name not in OURS]:
    del os.environ[name]
os.environ |= {
    "BENTOML_DO_NOT_TRACK": "True",
    "GX_ANALYTICS_ENABLED": "false",
    "HF_HUB_OFFLINE": "1",
    "OMP_NUM_THREADS": "1",
    "OTEL_SDK_DISABLED": "true",
}


IN_MEMORY = Path("/dev/shm")
ROOM = 6 << 30
"""Bytes that the files of a whole run take at most."""


def _room_in_memory() -> bool:
    """Return True where temporary files fit into memory and may be run there."""
    if not IN_MEMORY.is_dir() or not os.access(IN_MEMORY, os.W_OK):
        return False
    shared = os.statvfs(IN_MEMORY)
    free = min(shared.f_bavail * shared.f_frsize, os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return free > ROOM and not shared.f_flag & os.ST_NOEXEC


if "TMPDIR" not in os.environ and _room_in_memory():
    # Databases and stored files are synced to the disk again and again: a third of the run was waiting for it.
    os.environ["TMPDIR"] = tempfile.tempdir = str(IN_MEMORY)

settings.register_profile("patient", deadline=None)  # no example fails because a machine is busy
settings.register_profile("ci", deadline=None, derandomize=True)  # and the same in every run: CI judges no luck
settings.load_profile("ci" if os.environ.get("CI") == "true" else "patient")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Files that hold a test of a longer time limit begin first, then those with most tests.

    `make test` hands out whole files in this order: a long file that began last would be waited for alone.
    """
    if not hasattr(config, "workerinput"):
        return
    longest, number = dict[Path, float](), Counter[Path]()
    for item in items:
        limit = item.get_closest_marker("timeout")
        longest[item.path] = max(longest.get(item.path, 0), limit.args[0] if limit else 0)
        number[item.path] += 1
    items.sort(key=lambda item: (-longest[item.path], -number[item.path], item.path))


def stay_out(reason: str) -> None:
    """Skip with the reason printed; in CI nothing may stay out."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"must not stay out in CI: {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The data for building and testing that is not part of the project; absent outside its makers' machines."""
    folder = Path(os.environ.get("BEFUND_SHARED_DATA") or ROOT.parent / "shared" / "data").resolve()
    if not folder.is_dir():
        pytest.skip("the full ICD-10-GM files are not here: set BEFUND_SHARED_DATA to their folder")
    return folder


@pytest.fixture(scope="session")
def official(shared_data: Path) -> Source:
    """BfArM's files of 2026, read once."""
    from catalog_build.official.source import read_source

    return read_source(shared_data / "icd10gm" / "2026-reconstructed")


@pytest.fixture(scope="session")
def terminal(official: Source) -> set[str]:
    """The codes that can be coded."""
    return {code.code for code in official.catalog if code.terminal}


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    """A PostgreSQL server of this run: `postgresql://postgres@127.0.0.1:PORT`."""
    from tests.webapp import postgres

    if postgres.missing():
        stay_out(postgres.missing())
    with postgres.running_postgres() as server:
        yield server


@pytest.fixture
def postgresql_url(postgresql_server: str) -> str:
    """An empty database of its own."""
    import psycopg

    with psycopg.connect(f"{postgresql_server}/postgres", autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS keys WITH (FORCE)")
        connection.execute("CREATE DATABASE keys")
    return f"{postgresql_server}/keys"


@pytest.fixture(scope="session")
def redis_server() -> Iterator[str]:
    """A Redis server of this run: `redis://127.0.0.1:PORT`."""
    program = shutil.which("redis-server")
    if program is None:
        stay_out("Redis is not installed (apt-get install redis-server)")
    port = free_port()
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--daemonize", "no"]
    with running(command, lambda: listens(port), folder=Path("/")):
        yield f"redis://127.0.0.1:{port}"


@pytest.fixture
def redis_url(redis_server: str) -> str:
    """The empty database 0 of the Redis server."""
    import redis

    redis.Redis.from_url(redis_server).flushall()
    return f"{redis_server}/0"


def built_once(config: pytest.Config, name: str, build: Callable[[Path], object]) -> Path:
    """A folder that the first process of a run that asks builds, for all of them."""
    own = config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
    shared: Path = own.parent if hasattr(config, "workerinput") else own
    with open(shared / f"{name}-turn", "w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        if not (shared / name).exists():
            build(shared / f"{name}-begun")
            (shared / f"{name}-begun").rename(shared / name)
    return shared / name


def starter_of(config: pytest.Config) -> Path:
    """The starter catalog with the shipped weights, an artifact folder, for the tests and the notebooks of a run."""
    from catalog_build.build import BuildOptions, build_artifact

    return built_once(
        config, "starter", lambda place: build_artifact(ROOT / "catalog_build" / "starter", place, BuildOptions())
    )


@pytest.fixture(scope="session")
def starter_artifact(pytestconfig: pytest.Config) -> Path:
    """The starter catalog built once with the shipped weights: an artifact folder."""
    return starter_of(pytestconfig)


@pytest.fixture(scope="session")
def small_build(pytestconfig: pytest.Config) -> Path:
    """A source of eight codes and what is built of it with the shipped weights, in `source` and `out`: for what does
    not depend on a catalog's size."""
    from catalog_build.build import BuildOptions, build_artifact
    from tests.catalog_build.official_files import folder, release

    return built_once(
        pytestconfig,
        "small",
        lambda place: build_artifact(folder(place / "source", release()), place / "out", BuildOptions()),
    )


@pytest.fixture(scope="session")
def index(starter_artifact: Path) -> SearchIndex:
    """The search index of the starter catalog, loaded once."""
    from clinical.reading.index import SearchIndex

    return SearchIndex.load(starter_artifact)
