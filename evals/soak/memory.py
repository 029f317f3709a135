"""Whether the servers' processes grow: the memory each has allocated, after a time to warm up, as a line through it.

What is measured is a process's anonymous memory (RssAnon of proc(5): what it allocated and holds). Pages that it still
shares with the parent it was forked from are in it from the start, so that a page which becomes its own, as soon as
somebody writes to it, is no growth; without that a server whose processes share much would seem to leak.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations

import psutil

from evals.soak.rig import SoakRig

EVERY_SECONDS = 4.0
POINTS = 6
"""Parts of the time after the warm-up, each with the median of its sizes: a single look meets a request at its
largest, and two points say nothing of whether growth goes on."""
MB = 1_000_000


@dataclass(frozen=True, slots=True)
class Growth:
    """A process that lived through all of it: the median of its megabytes in each part of the time, in order."""

    name: str
    points_mb: tuple[float, ...]

    @property
    def percent(self) -> float:
        """From the first to the last part by the line through all of them (Theil and Sen: the median of the slopes
        between any two), of what it had in the first."""
        pairs = combinations(enumerate(self.points_mb), 2)
        slope = statistics.median((later - earlier) / (b - a) for (a, earlier), (b, later) in pairs)
        return 100 * slope * (len(self.points_mb) - 1) / self.points_mb[0]


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
                    held = process.memory_info()
                except psutil.Error:
                    continue
                name = f"{server.name}, {'parent' if place == 0 else 'process'}"
                self._seen.setdefault((name, process.pid), []).append((now, (held.rss - held.shared) / MB))

    def growth(self, since: float, until: float) -> list[Growth]:
        """Of each process that was there from `since` to `until` (monotonic seconds)."""
        numbers, grown = Counter[str](), []
        for (name, _), sizes in self._seen.items():
            if points := medians(sizes, since, until):
                numbers[name] += 1
                numbered = name if name.endswith("parent") else f"{name} {numbers[name]}"
                grown.append(Growth(numbered, points))
        return grown


def medians(sizes: list[tuple[float, float]], since: float, until: float) -> tuple[float, ...]:
    """The median of each of POINTS parts of the time from `since` to `until`; none when one of them has no size."""
    length = (until - since) / POINTS
    parts = [[size for at, size in sizes if 0 <= at - since - n * length <= length] for n in range(POINTS)]
    return tuple(statistics.median(part) for part in parts) if all(parts) else ()
