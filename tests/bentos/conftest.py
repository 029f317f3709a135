"""The text API around the starter catalog, with a key database of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest

from bentos.api.app import create_app
from bentos.keys.database import open_database
from bentos.keys.keys import KeyInfo, KeyLimits, Keys
from clinical.contract import Event
from clinical.errors import BefundError
from clinical.reading.index import SearchIndex
from clinical.settings import Settings
from clinical.sse import Decoder
from tests.openai_server import ModelServer, model_server
from tests.serving import served, wait_until

ROOT = Path(__file__).resolve().parents[2]
UNLIMITED = KeyLimits(0, 0)
CLOSED = (
    "/",
    "/docs",
    "/docs.json",
    "/schema.json",
    "/metrics",
    "/healthz",
    "/livez",
    "/static_content/x",
    "/api/health/",
)
"""Paths that the server around the application would answer by itself."""


def admit(keys: Keys, token: str | None) -> KeyInfo:
    """The key of one request, which is counted. Raises Unauthorized, LimitReached or KeysUnavailable."""
    (answer,) = keys.admit_all((token,))
    if isinstance(answer, BefundError):
        raise answer
    return answer


@pytest.fixture
def make_settings(tmp_path: Path) -> Callable[..., Settings]:
    """Settings over a fresh database; nothing is read from the environment's `.env`."""

    def make(**values: object) -> Settings:
        values.setdefault("api_database_url", f"sqlite:///{tmp_path / 'api.sqlite'}")
        return Settings(_env_file=None, **values)

    return make


@pytest.fixture
def settings(make_settings: Callable[..., Settings]) -> Settings:
    return make_settings()


@pytest.fixture
def keys(settings: Settings) -> Keys:
    return Keys(open_database(settings.api_database_url))


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A model server that answers, until it is told to misbehave."""
    with model_server() as started:
        yield started


@pytest.fixture
def key(request: pytest.FixtureRequest) -> str:
    """A good key; in a module with ONE_API that of its application."""
    if hasattr(request.module, "ONE_API"):
        return str(request.getfixturevalue("api").headers["Authorization"].removeprefix("Bearer "))
    return str(request.getfixturevalue("keys").create("test", UNLIMITED))


@pytest.fixture
def api(request: pytest.FixtureRequest, index: SearchIndex) -> Iterator[httpx2.Client]:
    """A client with a good key on the running application: one for all tests of a module with ONE_API, which keep no
    state there; else one of the test's own, over its `settings`."""
    if hasattr(request.module, "ONE_API"):
        yield request.getfixturevalue("one_api")
        return
    with running(request.getfixturevalue("settings"), index, request.getfixturevalue("key")) as client:
        yield client


@pytest.fixture(scope="module")
def one_api(index: SearchIndex, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    given = Settings(_env_file=None, api_database_url=f"sqlite:///{tmp_path_factory.mktemp('api')}/api.sqlite")
    key = Keys(open_database(given.api_database_url)).create("test", UNLIMITED)
    with running(given, index, key) as client:
        yield client


class running:  # noqa: N801 - a context manager
    """The application under uvicorn, and a client that carries `key`."""

    def __init__(self, settings: Settings, index: object | None, key: str = "", model: object | None = None) -> None:
        self.app = create_app(settings, index, model)
        self._served = served(self.app)
        self._key = key

    def __enter__(self) -> httpx2.Client:
        base = self._served.__enter__()
        wait_until(lambda: self.app.state.keys is not None, "the key store did not open")
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        self.client = httpx2.Client(base_url=base, headers=headers, trust_env=False, verify=False, timeout=20)
        return self.client

    def __exit__(self, *failure: object) -> None:
        self.client.close()
        self._served.__exit__(None, None, None)


def ask(client: httpx2.Client, query: str, **more: object) -> list[Event]:
    """All events of one deep-research request."""
    answer = client.post("/api/deep-research", json={"query": query, **more})
    assert answer.status_code == 200, answer.text
    return list(Decoder().feed(answer.content))
