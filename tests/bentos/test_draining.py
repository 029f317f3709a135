"""SIGTERM with open streams: each ends in words, nothing new is let in, and the server is gone in time."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx2
import psutil
import pytest

from bentos.keys.database import open_database
from bentos.keys.keys import KeyLimits, Keys
from clinical.contract import PartialEvent, StatusEvent
from clinical.sse import Decoder
from evals.load.servers import listens
from tests.bentos.conftest import ROOT
from tests.nginx import in_front_of
from tests.openai_server import model_server
from tests.serving import answers, free_port, wait_until

WAYS = {
    "python -m bentos serve": (["bentos", "serve"], 1),
    "python -m bentos up": (["bentos", "up", "api"], 1),
    "bentoml serve": (["bentoml", "serve", "bentos.service:Befund"], 2),
    "in a container": (["bentos", "serve"], 1),
}
STREAMS = {"python -m bentos serve": 200, "python -m bentos up": 20, "bentoml serve": 20, "in a container": 20}
DRAIN_SECONDS = 5


@contextmanager
def _serving(
    way: str, folder: Path, artifact: Path, wait: bool = True, **more: object
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A server started in one of the ways; its address and its process."""
    words, workers = WAYS[way]
    port = int(str(more.pop("port", 0))) or free_port()
    settings = {
        "CATALOG": artifact,
        "API_DATABASE_URL": f"sqlite:///{folder / 'api.sqlite'}",
        "API_PORT": port,
        "ENV": "development",
        "VAR": folder / "var",
        "WORKERS": workers,
        "DRAIN_SECONDS": DRAIN_SECONDS,
        **more,
    }
    environment = {**os.environ, **{f"BEFUND_{name}": str(value) for name, value in settings.items()}}
    command = [sys.executable, "-m", *words]
    if words[0] == "bentoml":
        command += ["--timeout-graceful-shutdown", str(DRAIN_SECONDS)]
    if way == "in a container":
        command = [*_as_first_process(), *command]
    with open(folder / "log", "ab") as log:
        server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT)
    base = f"http://127.0.0.1:{port}"
    try:
        if wait:
            _wait_until_ready(base, server)
        yield base, server
    finally:
        server.terminate()
        server.wait(30)


def _as_first_process() -> list[str]:
    """Words that make a command the first process of a PID namespace, as in containers: signals that it does not handle
    do not reach it there, orphans become its children, and all others end with it."""
    rights = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    command = ["unshare", *rights, "--pid", "--fork", "--kill-child", "--mount-proc"]
    if shutil.which("unshare") is None or subprocess.run([*command, "true"], capture_output=True).returncode:
        pytest.skip("no PID namespace may be made here (unshare, util-linux)")
    return command


def _end(server: subprocess.Popen[bytes]) -> None:
    """SIGTERM, to the first process of its namespace where it has one, as `docker stop` does."""
    started = psutil.Process(server.pid)
    target = started.children()[0] if started.name() == "unshare" else started
    target.send_signal(signal.SIGTERM)


def _wait_until_ready(base: str, server: subprocess.Popen[bytes]) -> None:
    def all_ready() -> bool:  # each worker: every connection is new and goes to any of them
        return all(answers(f"{base}/internal/readyz") for _ in range(10))

    wait_until(lambda: server.poll() is not None or all_ready(), "it did not become ready", 200)


def _key(folder: Path) -> str:
    return Keys(open_database(f"sqlite:///{folder / 'api.sqlite'}")).create("test", KeyLimits(0, 0))


@pytest.mark.parametrize("way", WAYS)
def test_a_start_refuses_until_it_can_answer_and_open_streams_end_in_words_at_sigterm(way, tmp_path, starter_artifact):
    """A server that took connections before would keep a caller waiting whom the next server could have answered."""
    key = _key(tmp_path)
    with (
        model_server(mode="stall") as model,
        _serving(way, tmp_path, starter_artifact, wait=False, LLM_BASE_URL=model.base_url) as (base, server),
    ):
        port = int(base.rpartition(":")[2])
        wait_until(lambda: server.poll() is not None or listens(port), "nobody listens", 200)
        assert "Service Befund initialized" in (tmp_path / "log").read_text("utf-8")
        assert httpx2.get(f"{base}/internal/livez", timeout=60, trust_env=False).text == "ok\n"
        _wait_until_ready(base, server)
        endings = asyncio.run(_stopped(base, key, server, STREAMS[way]))
        server.wait(30)
    assert [ending for ending in endings if ending != "error"] == []
    log = (tmp_path / "log").read_text("utf-8")
    assert log.count("a stream was ended: the server stops") > 0
    assert "Traceback" not in log


async def _stopped(base: str, key: str, server: subprocess.Popen[bytes], count: int) -> list[str]:
    """The end of each stream, when the server is told to stop once all of them show their first tier."""
    limits = httpx2.Limits(max_connections=None)
    headers = {"Authorization": f"Bearer {key}"}

    async def one(client: httpx2.AsyncClient, shown: asyncio.Event) -> str:
        decoder, last, status = Decoder(), None, None
        try:
            async with client.stream("POST", f"{base}/api/deep-research", json={"query": "Husten"}) as answer:
                status = answer.status_code
                async for chunk in answer.aiter_bytes():
                    for last in decoder.feed(chunk):
                        if isinstance(last, PartialEvent):
                            shown.set()
        except httpx2.HTTPError as error:
            return f"{type(error).__name__} after {status}, {last}"
        return last.status if isinstance(last, StatusEvent) else f"cut after {status}, {last}"

    async with httpx2.AsyncClient(headers=headers, timeout=150, trust_env=False, limits=limits) as client:
        shown = [asyncio.Event() for _ in range(count)]
        streams = [asyncio.create_task(one(client, event)) for event in shown]
        begun = asyncio.gather(*(event.wait() for event in shown))
        await asyncio.wait([begun, *streams], timeout=150, return_when=asyncio.FIRST_COMPLETED)
        early = [stream.result() for stream in streams if stream.done()]
        assert not early, f"streams ended before the server was told to: {early}"
        assert begun.done(), f"{sum(not event.is_set() for event in shown)} of {count} streams show nothing"
        _end(server)
        assert await _refused(base), "a new connection was neither answered nor refused"
        return await asyncio.gather(*streams)


async def _refused(base: str) -> bool:
    """Return True when new connections are refused soon, and none hangs until then."""
    while True:
        async with httpx2.AsyncClient(timeout=5, trust_env=False, verify=False) as client:
            try:
                await client.get(f"{base}/internal/readyz")
            except httpx2.TimeoutException:
                return False
            except httpx2.ConnectError:
                return True
            except httpx2.TransportError:
                continue


# --- a rolling restart ----------------------------------------------------------------------------------------------


def test_a_rolling_restart_of_two_servers_behind_nginx_loses_no_stream(tmp_path, starter_artifact):
    key, ports = _key(tmp_path), (free_port(), free_port())
    way = "python -m bentos serve"
    begin, restarts = ExitStack(), []

    def start(port: int, wait: bool) -> tuple[str, subprocess.Popen[bytes]]:
        return begin.enter_context(_serving(way, tmp_path, starter_artifact, wait, port=port, LLM="rules"))

    with in_front_of("bentos", {3001: ports}, tmp_path) as base, begin:
        running = [start(port, wait=False) for port in ports]
        for server in running:
            _wait_until_ready(*server)
        load = Load(base, key)
        with load:
            for (_, old), port in zip(running, ports, strict=True):
                wait_until(lambda: load.ended() >= 20 * (1 + len(restarts)), "there is no load", 60)
                old.send_signal(signal.SIGTERM)
                assert old.wait(40) == 0
                restarts.append(start(port, wait=True))
    assert len(restarts) == 2
    assert len(load.endings) >= 40
    assert [ending for ending in load.endings if ending != "result"] == []


class Load:
    """Streams on several threads, each a moment behind the last, until the block ends."""

    def __init__(self, base: str, key: str, threads: int = 4) -> None:
        self.endings: list[str] = []
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(base, key)) for _ in range(threads)]

    def ended(self) -> int:
        return len(self.endings)

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join(60)

    def _run(self, base: str, key: str) -> None:
        headers = {"Authorization": f"Bearer {key}"}
        with httpx2.Client(base_url=base, headers=headers, timeout=60, trust_env=False) as client:
            while not self._over.wait(0.05):  # the processor is for the servers that start
                self.endings.append(_ending(client))


def _ending(client: httpx2.Client) -> str:
    try:
        answer = client.post("/api/deep-research", json={"query": "Husten und Fieber"})
        events = list(Decoder().feed(answer.content)) if answer.status_code == 200 else []
    except httpx2.HTTPError as error:
        return type(error).__name__
    return events[-1].type if events else str(answer.status_code)
