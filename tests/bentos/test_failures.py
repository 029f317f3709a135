"""Each way in which a part fails: one line in the log that says why, one metric that moves, nothing of the content."""

from __future__ import annotations

import asyncio
import logging
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest
from prometheus_client import REGISTRY
from sqlalchemy import event

from bentos.api.coding import stream
from bentos.api.startup import _until_done
from bentos.keys.database import open_database
from bentos.keys.keys import Keys, KeysUnavailable
from bentos.language_model import Endpoint, OpenAIModel
from clinical.errors import LanguageModelError
from clinical.llm import Limits, Message
from tests.bentos.conftest import UNLIMITED, admit, running
from tests.openai_server import completion, model_server
from tests.serving import free_port

CANARY = "Kanarienvogel-Mustermann-4711"
LETTER = {"text": f"{CANARY} hustet.", "prompt": "Fasse zusammen."}


@dataclass
class Place:
    """Things that an injection needs: a folder, the index, and how settings are made."""

    folder: Path
    index: Any
    make_settings: Callable[..., Any]
    key: str

    @property
    def url(self) -> str:
        return f"sqlite:///{self.folder / 'api.sqlite'}"

    def api(self, **settings: object) -> running:
        return running(self.make_settings(**settings), self.index, self.key)


@dataclass(frozen=True)
class Kind:
    """A fault that is injected, the line it leaves, and the metric that counts it."""

    inject: Callable[[Place], object]
    line: str
    metric: str
    labels: dict[str, str] = field(default_factory=dict)


def _calls(outcome: str) -> dict[str, Any]:
    return {"metric": "befund_model_calls_total", "labels": {"outcome": outcome}}


def _part(part: str) -> dict[str, Any]:
    return {"metric": "befund_failures_total", "labels": {"part": part}}


def _refused(error: str) -> dict[str, Any]:
    return {"metric": "befund_refused_total", "labels": {"error": error}}


def _unusable(outcome: str) -> dict[str, Any]:
    return {"metric": "befund_model_unusable_total", "labels": {"outcome": outcome}}


def _letter(**wishes: Any) -> Callable[[Place], object]:
    """A letter with a model server whose answer is of another form."""

    def inject(place: Place) -> None:
        with model_server(**wishes) as server, place.api(llm_base_url=server.base_url) as client:
            body = {"document_type": "arztbrief", "text": CANARY}
            assert client.post("/api/documents/extract", json=body).status_code == 502

    return inject


def _draft(**wishes: Any) -> Callable[[Place], object]:
    """A draft with a model server that fails."""

    def inject(place: Place) -> None:
        with model_server(**wishes) as server, place.api(llm_base_url=server.base_url) as client:
            assert client.post("/api/llm/generate", json=LETTER).status_code == 502

    return inject


def _nobody(place: Place) -> None:
    with place.api(llm_base_url=f"http://127.0.0.1:{free_port()}/v1") as client:
        assert client.post("/api/llm/generate", json=LETTER).status_code == 502


def _small(place: Place) -> None:
    with model_server() as server, place.api(llm_base_url=server.base_url, llm_context=2_048) as client:
        assert client.post("/api/llm/generate", json={**LETTER, "text": CANARY * 500}).status_code == 502


def _too_late(place: Place) -> None:
    async def call(url: str) -> None:
        model = OpenAIModel(Endpoint(url, model="test/model-1b"))
        with pytest.raises(LanguageModelError):
            await model.complete([Message("user", CANARY)], schema=None, limits=Limits(10, timeout_s=0.2))
        await model.close()

    with model_server(mode="stall") as server:
        asyncio.run(call(server.base_url))


def _queue_full(place: Place) -> None:
    class Full:
        name, busy = "voll", True

    with running(place.make_settings(), place.index, place.key, Full()) as client:
        assert client.post("/api/llm/generate", json=LETTER).status_code == 503


def _probe(**wishes: Any) -> Callable[[Place], object]:
    def inject(place: Place) -> None:
        with model_server(**wishes) as server, place.api(llm_base_url=server.base_url) as client:
            assert client.get("/api/llm/health").json()["status"] == "down"

    return inject


def _no_model(place: Place) -> None:
    with place.api() as client:
        assert client.post("/api/llm/generate", json=LETTER).status_code == 503


def _limits_gone(place: Place) -> None:
    keys = Keys(open_database(place.url))
    limited = keys.create("limited")
    settings = place.make_settings(limits_url=f"redis://127.0.0.1:{free_port()}")
    with running(settings, place.index, limited) as client:
        assert client.post("/api/deep-research", json={"query": CANARY}).status_code == 503
        _not_ready(client, "Zähler der Limits (BEFUND_LIMITS_URL)")


def _not_ready(client: httpx2.Client, part: str) -> None:
    answer = client.get("/internal/readyz")
    assert (answer.status_code, answer.json()["detail"]) == (503, f"Der Dienst wartet auf: {part}.")


def _keys_gone(place: Place) -> None:
    with place.api() as client:
        with sqlite3.connect(place.folder / "api.sqlite") as database:
            database.execute("DROP TABLE api_keys")
        assert client.post("/api/deep-research", json={"query": CANARY}).status_code == 503
        _not_ready(client, "Schlüsseldatenbank (BEFUND_API_DATABASE_URL)")


@contextmanager
def _locked(place: Place) -> Iterator[None]:
    database = sqlite3.connect(place.folder / "api.sqlite", isolation_level=None)
    database.execute("BEGIN EXCLUSIVE")
    try:
        yield
    finally:
        database.close()


def _keys_locked(place: Place) -> None:
    with place.api() as client, _locked(place):
        assert client.post("/api/deep-research", json={"query": CANARY}).status_code == 503


def _disk_full(place: Place) -> None:
    """No page may be added to the database: SQLite's own answer to a full disk."""
    made = [Keys(open_database(place.url)).create(CANARY, UNLIMITED)]
    row = sqlite3.connect(place.folder / "api.sqlite", isolation_level=None)
    secret = row.execute("SELECT secret_sha256 FROM api_keys WHERE id = ?", [made[0].split("_")[1]]).fetchone()
    others = [(f"{number:08x}", CANARY, secret[0], 0, 0, "") for number in range(300)]
    columns = "id, name, secret_sha256, per_minute, per_day, created_at"
    row.executemany(f"INSERT INTO api_keys ({columns}) VALUES (?, ?, ?, ?, ?, ?)", others)
    engine = open_database(place.url)

    @event.listens_for(engine, "connect")
    def no_more_pages(connection: Any, _record: object) -> None:
        connection.execute("PRAGMA max_page_count = 1")  # at least as many as there are

    engine.dispose()
    keys = Keys(engine)
    tokens = [f"bfd_{key_id}_{made[0].split('_', 2)[2]}" for key_id, *_ in others]
    with pytest.raises(KeysUnavailable):
        [admit(keys, token) for token in tokens]  # a new counter each, until a page is full


def _start(error: Callable[[Place], dict[str, Any]]) -> Callable[[Place], object]:
    """A server that starts with something missing goes on trying and is not ready."""

    def inject(place: Place) -> None:
        from bentos.api.app import create_app
        from tests.serving import served

        app = create_app(place.make_settings(**error(place)))
        with served(app) as base:
            assert httpx2.get(f"{base}/internal/readyz", trust_env=False).status_code == 503
            assert httpx2.get(f"{base}/internal/livez", trust_env=False).status_code == 200

    return inject


def _no_catalog(place: Place) -> dict[str, Any]:
    return {"catalog": place.folder / "none"}


def _damaged(place: Place) -> dict[str, Any]:
    (place.folder / "damaged").mkdir()
    (place.folder / "damaged" / "manifest.json").write_text("{")
    return {"catalog": place.folder / "damaged"}


def _database_gone(place: Place) -> dict[str, Any]:
    return {"api_database_url": f"postgresql://nobody@127.0.0.1:{free_port()}/none"}


def _no_folder(place: Place) -> dict[str, Any]:
    (place.folder / "file").touch()
    return {"api_database_url": f"sqlite:///{place.folder / 'file' / 'api.sqlite'}"}


def _unforeseen(place: Place) -> None:
    served = place.api()
    with served as client:
        served.app.state.index = object()
        assert client.get(f"/api/health?{CANARY}").status_code == 500


def _stream_fails(place: Place) -> None:
    async def events():
        raise RuntimeError(CANARY)
        yield

    async def read() -> None:
        async for _ in stream(events()):
            pass

    asyncio.run(read())


KINDS = {
    "model: nobody listens": Kind(_nobody, "broke or was refused", **_calls("unavailable")),
    "model: drops the connection": Kind(_draft(mode="drop"), "broke or was refused", **_calls("unavailable")),
    "model: 500": Kind(_draft(mode="echoing-500"), "answered 500", **_calls("unavailable")),
    "model: 400": Kind(_draft(mode="echoing-400"), "answered 400", **_calls("unavailable")),
    "model: 429": Kind(_draft(mode="429"), "answered 429", **_calls("unavailable")),
    "model: redirects": Kind(_draft(mode="redirect"), "answered 307", **_calls("unavailable")),
    "model: wrong key": Kind(_draft(key="x"), "401", **_calls("unavailable")),
    "model: no JSON": Kind(_draft(mode="not-json"), "malformed", **_calls("malformed")),
    "model: broken JSON": Kind(_draft(mode="broken-json"), "malformed", **_calls("malformed")),
    "model: no choices": Kind(_draft(mode="no-choices"), "malformed", **_calls("malformed")),
    "model: no text": Kind(_draft(mode="no-text"), "malformed", **_calls("malformed")),
    "model: empty twice": Kind(_draft(mode="empty"), "nothing twice", **_refused("ModelMalformed")),
    "model: empty twice, counted": Kind(_draft(mode="empty"), "nothing twice", **_unusable("given_up")),
    "model: wrong JSON": Kind(
        _letter(quirk=lambda body, number: completion('{"antwort": "ja"}')),
        "no usable ArztbriefDraft, also after a repair: no_known_key",
        **_unusable("given_up"),
    ),
    "model: wrong JSON, asked again": Kind(
        _letter(quirk=lambda body, number: completion('{"antwort": "ja"}')), "no usable", **_unusable("asked_again")
    ),
    "model: cut": Kind(
        _draft(quirk=lambda body, number: completion("Halb", "length")), "cut after 7 tokens", **_calls("truncated")
    ),
    "model: text too long": Kind(_small, "does not fit into the context", **_calls("too_long")),
    "model: too late": Kind(_too_late, "no answer within", **_calls("timeout")),
    "model: our queue is full": Kind(_queue_full, "answered 503: ModelBusy", **_refused("ModelBusy")),
    "model: none is set up": Kind(_no_model, "ModelNotConfigured", **_refused("ModelNotConfigured")),
    "model: its engine died": Kind(_probe(healthy=False), "not well: /health answers 503", **_part("model")),
    "model: its probe is refused": Kind(_probe(key="x"), "not well: .*401", **_part("model")),
    "model: its probe hangs": Kind(_probe(mode="stall"), "not well: ", **_part("model")),
    "limits: Redis is gone": Kind(
        _limits_gone,
        "limits does not answer: nothing listens at its address; see BEFUND_LIMITS_URL",
        **_part("limits"),
    ),
    "keys: the table is gone": Kind(_keys_gone, "keys does not answer: OperationalError", **_part("keys")),
    "keys: the database is locked": Kind(_keys_locked, "keys does not answer", **_part("keys")),
    "keys: the disk is full": Kind(_disk_full, "keys does not answer: its disk is full", **_part("keys")),
    "start: no key database": Kind(_start(_database_gone), "not ready: key database", **_part("keys")),
    "start: no folder for it": Kind(_start(_no_folder), "not ready: ", **_part("start")),
    "start: no catalog": Kind(_start(_no_catalog), "not ready: .*catalog|artifact", **_part("catalog")),
    "start: a damaged catalog": Kind(_start(_damaged), "not ready: ", **_part("catalog")),
    "request: unforeseen": Kind(_unforeseen, "unforeseen error: AttributeError", **_part("request")),
    "stream: unforeseen": Kind(_stream_fails, "deep-research failed: RuntimeError", **_part("stream")),
}


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Iterator[Callable[[], list[str]]]:
    """Lines logged under `befund`, also when a service that was imported keeps it from the root logger."""
    logger = logging.getLogger("befund")
    logger.addHandler(caplog.handler)
    caplog.set_level("WARNING", logger="befund")
    yield lambda: [record.getMessage() for record in caplog.records]
    logger.removeHandler(caplog.handler)


def _value(kind: Kind) -> float:
    return REGISTRY.get_sample_value(kind.metric, kind.labels) or 0.0


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_failure_leaves_a_line_with_its_cause_and_moves_its_metric(kind, lines, tmp_path, index, make_settings, key):
    place = Place(tmp_path, index, make_settings, key)
    before = _value(kind)
    kind.inject(place)
    assert _value(kind) > before
    said = lines()
    assert [line for line in said if re.search(kind.line, line)], said
    assert CANARY not in "\n".join(said)


def test_a_start_heals_when_its_cause_is_gone(tmp_path):
    """Whatever a step fails of, it is tried again; from its first failure on the server answers, if only 503."""
    tries, tried = [], asyncio.Event()

    def step() -> str:
        tries.append(len(tries))
        assert tried.is_set() == (len(tries) > 1)
        if len(tries) < 3:
            raise OSError("voll")
        return "there"

    assert asyncio.run(_until_done(step, tried, pause=0.0)) == "there"
