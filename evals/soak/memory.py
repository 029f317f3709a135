"""Whether the servers' processes grow: the memory that is a process's own (USS), after a time to warm up."""

from __future__ import annotations

import asyncio
import statistics
import time
from dataclasses import dataclass, field

import psutil

from evals.soak.rig import SoakRig

EVERY_SECONDS = 4.0
SHARE = 0.2
"""The first and the last fifth of the time after the warm-up are compared, by their medians."""
MB = 1_000_000


@dataclass(frozen=True, slots=True)
class Growth:
    """A process that lived through all of it: megabytes of its own at the beginning and at the end."""

    name: str
    before_mb: float
    after_mb: float

    @property
    def percent(self) -> float:
        """Of what it had in the beginning."""
        return 100 * (self.after_mb / self.before_mb - 1)


@dataclass
class Memory:
    """Sizes of all processes of both servers over time."""

    rig: SoakRig
    _seen: dict[tuple[str, int], list[tuple[float, float]]] = field(default_factory=dict)

    async def watch(self, over: asyncio.Event) -> None:
        """Look until told to end."""
        while not over.is_set():
            await asyncio.to_thread(self._look)
            await asyncio.sleep(EVERY_SECONDS)

    def _look(self) -> None:
        now = time.monotonic()
        for server in self.rig.servers:
            for place, process in enumerate(server.family()):
                try:
                    size = process.memory_full_info().uss / MB
                except psutil.Error:
                    continue
                name = f"{server.name}, {'parent' if place == 0 else 'process'}"
                self._seen.setdefault((name, process.pid), []).append((now, size))

    def growth(self, since: float, until: float) -> list[Growth]:
        """Of each process that was there from `since` to `until` (monotonic seconds)."""
        part = SHARE * (until - since)
        grown = []
        for (name, _), sizes in self._seen.items():
            first = [size for at, size in sizes if since <= at <= since + part]
            last = [size for at, size in sizes if until - part <= at <= until]
            if first and last:
                grown.append(Growth(name, statistics.median(first), statistics.median(last)))
        return grown
