"""A real uvicorn around the application, in a thread, on a free port of 127.0.0.1."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from socketserver import BaseServer
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from evals.load.servers import answers, free_port

__all__ = ["answers", "connect", "free_port", "interruptible", "served", "serving", "wait_until"]

START_SECONDS = 30


def connect(address: tuple[str, int], *, timeout: float = 10, source: str | None = None) -> socket.socket:
    """A connection that sends at once what it is given; `source` is the address of ours that it comes from."""
    connection = socket.create_connection(address, timeout=timeout, source_address=(source, 0) if source else None)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


@contextmanager
def serving(server: BaseServer) -> Iterator[None]:
    """The server answers in a thread of its own while the block runs, and is closed behind it."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join(START_SECONDS)


class _Server(uvicorn.Server):
    """uvicorn that hears at once when it shall end; its own looks ten times a second, and pauses before it ends."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()

    async def main_loop(self) -> None:
        self._loop, self._told = asyncio.get_running_loop(), asyncio.Event()
        await self.on_tick(0)
        self.ready.set()
        await self._told.wait()
        await asyncio.sleep(0.005)  # the last clients have left, which is heard now

    def end(self) -> None:
        """Callable from any thread."""
        self._loop.call_soon_threadsafe(self._told.set)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self.server_state.connections or self.server_state.tasks:
            return await super().shutdown(sockets)
        for each in (*self.servers, *(sockets or ())):
            each.close()
        await self.lifespan.shutdown()
        return None


@contextmanager
def served(app: ASGIApp, **options: Any) -> Iterator[str]:
    """Serve `app` and yield its base URL once it is ready to answer."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(128)
        config = uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=2, **options)
        server = _Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        base = f"http://127.0.0.1:{listener.getsockname()[1]}"
        try:
            assert server.ready.wait(START_SECONDS), "uvicorn did not start"
            yield base
        finally:
            server.end()
            thread.join(10)
            assert not thread.is_alive(), "uvicorn did not stop"


def wait_until(condition, message: str, seconds: float = START_SECONDS) -> None:
    """Poll `condition`; AssertionError with `message` when it does not come true in time."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, message
        time.sleep(0.02)


def interruptible() -> None:
    """For `preexec_fn`: SIGINT ends the child. A suite that a shell runs in its background (`make test &`) has SIGINT
    ignored, and children inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
