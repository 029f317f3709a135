"""Start and stop: the key store first, then the catalog, each tried again until it is there."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from sqlalchemy.exc import SQLAlchemyError
from starlette.datastructures import State

from bentos.api.admission import Admissions
from bentos.api.edge import where
from bentos.api.extraction import load_letters
from bentos.api.health import ModelProbe, StoresProbe
from bentos.keys import open_keys
from bentos.metrics import FAILURES, RESTARTS
from bentos.server_folder import forget_the_dead
from bentos.terminology import Systems, Year
from clinical.errors import ArtifactError, BefundError, NoRoom, cause_of
from clinical.loaded import loading
from clinical.room import require_files, take_files
from clinical.settings import Settings
from clinical.tracing import end_export, export_to

log = logging.getLogger("befund")

RETRY_SECONDS = 5.0
FIRST_SECONDS = 30.0
"""Longer than a catalog takes to load on a busy machine; a key store that does not even refuse is not waited for."""
SQLITE_THREADS, SERVER_THREADS = 1, 4
"""Threads that talk to the key store. SQLite has one writer at a time, and threads of one process that compete for it
only sleep; towards a database server several keep one slow statement from stopping the others."""


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Open everything; no connection is taken until that is done or has failed once, for FIRST_SECONDS at the longest.

    From then on it is tried in the background: health says `starting` and requests are answered 503. Workers share one
    port: one that took connections while it loads would refuse what its neighbour, ready already, could answer.
    """
    # The server's own access log holds paths and query strings; ours (edge.py) does not.
    logging.getLogger("uvicorn.access").disabled = True
    RESTARTS.inc(forget_the_dead())
    export_to(app.state.settings.traces_url, "befund-api")
    app.state.probe, app.state.stores = ModelProbe(), StoresProbe()
    threads = SQLITE_THREADS if app.state.settings.api_database_url.startswith("sqlite") else SERVER_THREADS
    app.state.pool = ThreadPoolExecutor(threads, thread_name_prefix="keys")
    app.state.admissions = Admissions(app.state.pool, threads)
    take_files()
    tried = asyncio.Event()
    starting, watching = asyncio.create_task(_start(app, tried)), asyncio.create_task(_watch_connections())
    try:
        with suppress(TimeoutError):
            await asyncio.wait_for(tried.wait(), FIRST_SECONDS)
        async with app.state.agents.running():
            with app.state.draining.on_sigterm():
                yield
    finally:
        for task in (starting, watching):
            task.cancel()
        await asyncio.gather(starting, watching, return_exceptions=True)
        app.state.pool.shutdown(wait=False, cancel_futures=True)
        await asyncio.to_thread(app.state.files.close)
        await asyncio.to_thread(end_export)


async def _watch_connections(pause: float = RETRY_SECONDS) -> None:
    """Say that hardly a further connection can be taken: at the limit nobody could ask any more."""
    said = False
    while True:
        try:
            require_files()
            said = False
        except NoRoom as error:
            FAILURES.labels("connections").inc()
            if not said:
                log.error("connections: %s", error)
            said = True
        await asyncio.sleep(pause)


async def _start(app: FastAPI, tried: asyncio.Event) -> None:
    """Open keys and catalog, then the letters; `tried` is set when requests can be answered or a first try failed."""
    settings: Settings = app.state.settings
    serves_alone = app.state.index is None  # else the process is another's, which outlives the application
    app.state.keys = await _until_done(lambda: open_keys(settings), tried)
    if "coding" not in app.state.parts:
        log.info("ready: %s", ", ".join(app.state.parts))
    else:
        if serves_alone:
            take(app.state, await _until_done(lambda: _kept(load_indexes, folders_of(settings)), tried))
        log.info("ready: %s, ICD-10-GM %s", settings.catalog.name, ", ".join(map(str, sorted(app.state.indexes))))
    tried.set()
    if "extraction" in app.state.parts:
        await _until_done(lambda: _kept(load_letters) if serves_alone else load_letters(), tried)


def _kept(load: Callable[..., Any], *given: Any) -> Any:
    """Give what `load` gives, which stays as long as the process."""
    with loading(keep=True):
        return load(*given)


async def _until_done(step: Callable[[], Any], tried: asyncio.Event, pause: float = RETRY_SECONDS) -> Any:
    """Run `step` in a thread until it succeeds, whatever it fails of; say once why it does not, and set `tried`."""
    said = ""
    while True:
        try:
            return await asyncio.to_thread(step)
        except Exception as error:  # noqa: BLE001 - the edge of the server: a start that gave up would live on dead
            part, sentence = _cause(error)
            FAILURES.labels(part).inc()
            if sentence != said:
                log.error("not ready: %s", sentence)
                said = sentence
            tried.set()
            await asyncio.sleep(pause)


def _cause(error: Exception) -> tuple[str, str]:
    """The part that fails, and why: a driver's text may hold its URL with the password; ours is for operators."""
    if isinstance(error, ArtifactError):
        return "catalog", str(error)
    if isinstance(error, SQLAlchemyError):
        return "keys", f"key database: {cause_of(error)}"
    return "start", str(error) if isinstance(error, BefundError) else where(error)


def folders_of(settings: Settings) -> list[Path]:
    """The artifact folders that the settings name, the catalog's first."""
    return [settings.catalog, *(folder for folder in settings.other_catalogs if folder != settings.catalog)]


def load_indexes(folders: Sequence[Path]) -> list[Any]:
    """The search indexes of artifact folders; those of the same encoder share it. Raises ArtifactError."""
    from clinical.reading import SearchIndex

    loaded: list[Any] = []
    for folder in folders:
        loaded.append(SearchIndex.load(folder, beside=loaded))
    return loaded


def take(state: State, loaded: Sequence[Any]) -> None:
    """Serve these catalogs: each by its year, the newest where none is asked for."""
    state.indexes = {int(index.catalog.version): index for index in loaded}
    state.systems = Systems([Year.of(index) for index in state.indexes.values()])
    state.index = state.indexes[max(state.indexes)]  # last: who sees it sees the others
