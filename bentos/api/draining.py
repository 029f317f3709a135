"""The end of a server: from SIGTERM on it is not ready, and every open stream ends in words before the deadline.

The server around the application (uvicorn, under BentoML too) stops accepting at the same signal, waits for open
requests until its own deadline and then cuts them; the streams are ended a little before that. Under BentoML the
listening socket belongs to a process above, which keeps it to the end: who connects meanwhile would hang there and be
cut. So it is closed for all as soon as all workers end.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

from bentos.server_folder import all_are_ending

SHARE = 0.6
"""Of BEFUND_DRAIN_SECONDS, streams have this much to end by themselves; the rest is for sending their last event."""


def _refuse_connections() -> None:
    """End listening on every listening socket of this process, for all processes that share it (Linux, shutdown(2))."""
    for link in Path("/proc/self/fd").glob("*"):
        with suppress(OSError):
            if not os.readlink(link).startswith("socket:"):
                continue
            shared = socket.socket(fileno=os.dup(int(link.name)))
            with shared:
                if shared.family in (socket.AF_INET, socket.AF_INET6) and shared.getsockopt(
                    socket.SOL_SOCKET, socket.SO_ACCEPTCONN
                ):
                    shared.shutdown(socket.SHUT_RDWR)


class Draining:
    """The shutdown state of the server, and the tasks to cancel when its time is over. One instance per event loop."""

    def __init__(self, seconds: float, workers: int = 1) -> None:
        self.begun = self.over = False
        self._workers = workers
        self._seconds = seconds
        self._work: set[asyncio.Task[Any]] = set()

    @contextmanager
    def tells(self, work: asyncio.Task[Any]) -> Iterator[None]:
        """While inside, `work` is cancelled when the time is over; it sees `over` and says its last word."""
        self._work.add(work)
        try:
            yield
        finally:
            self._work.discard(work)

    def begin(self) -> None:
        """Not ready from now on; the streams end by themselves or, when their time is over, by being told."""
        if not self.begun:
            self.begun = True
            if all_are_ending(self._workers):
                _refuse_connections()
            asyncio.get_running_loop().call_later(self._seconds * SHARE, self._end)

    def _end(self) -> None:
        self.over = True
        for work in self._work:
            work.cancel()

    @contextmanager
    def on_sigterm(self) -> Iterator[None]:
        """Begin at SIGTERM or SIGINT, then do what was done at it before. Outside of the main thread: nothing."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        loop = asyncio.get_running_loop()
        before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}

        def told(number: int, frame: FrameType | None) -> None:
            loop.call_soon_threadsafe(self.begin)
            if callable(earlier := before[signal.Signals(number)]):
                earlier(number, frame)

        for number in before:
            signal.signal(number, told)
        try:
            yield
        finally:
            for number, earlier in before.items():
                signal.signal(number, earlier)
