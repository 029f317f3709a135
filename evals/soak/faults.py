"""What fails in the soak, how long, and how soon both servers are ready afterwards."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import psutil

from evals.soak.rig import WORKERS, LoadedServer, SoakRig, until_ready
from evals.soak.tally import SoakTally

LONGEST_HOLD, LEAST_HOLD = 6.0, 0.4
"""Seconds that a fault lasts: a hundredth of the run, between these."""


@dataclass(frozen=True, slots=True)
class Outage:
    """Something that fails until it is made good; `kills` a worker, whose connections break."""

    name: str
    begin: Callable[[], None]
    end: Callable[[], None] = lambda: None
    kills: LoadedServer | None = None


@dataclass
class Recovery:
    """How often a fault was there, and the longest time until both servers were ready after it."""

    times: int = 0
    recovered_s: float = 0.0


@dataclass
class Faults:
    """The schedule: every fault in turn, again and again."""

    rig: SoakRig
    tally: SoakTally
    hold: float
    seen: dict[str, Recovery] = field(default_factory=dict)

    def all(self) -> list[Outage]:
        """Those of one round."""
        rig, model = self.rig, self.rig.model
        web = rig.web.family
        return [
            Outage("model killed", model.kill, model.start),
            Outage("model slow", lambda: model.mode("slow"), lambda: model.mode("answer")),
            Outage("model lies", lambda: model.mode("lies"), lambda: model.mode("answer")),
            Outage("model breaks", lambda: model.mode("breaks"), lambda: model.mode("answer")),
            Outage("Redis gone", rig.redis.kill, rig.redis.start),
            Outage("PostgreSQL restarted", lambda: rig.postgres.restart("fast")),
            Outage("PostgreSQL crashed", lambda: rig.postgres.restart("immediate")),
            Outage("disk full", lambda: rig.disk.fill(web()), lambda: rig.disk.free(web())),
            *(Outage(f"worker of the {one.name} killed", _killer(one), kills=one) for one in rig.servers),
        ]

    async def round(self, killing: bool) -> None:
        """Every fault once; those that kill a worker only where that is wanted."""
        for fault in self.all():
            if killing or fault.kills is None:
                await self._one(fault)
                await asyncio.sleep(self.hold)

    async def _one(self, fault: Outage) -> None:
        if fault.kills is not None:
            self.tally.kills[fault.kills.name] += 1
            self.tally.killed[fault.kills.name] = time.monotonic()
        await asyncio.to_thread(fault.begin)
        await asyncio.sleep(self.hold)
        await asyncio.to_thread(fault.end)
        took = await asyncio.to_thread(until_ready, self.rig, also=self._whole)
        if fault.kills is not None:
            self.tally.killed[fault.kills.name] = time.monotonic()
        known = self.seen.setdefault(fault.name, Recovery())
        known.times, known.recovered_s = known.times + 1, max(known.recovered_s, took)

    def _whole(self) -> bool:
        return all(len(server.workers()) >= WORKERS for server in self.rig.servers)


def hold_of(minutes: float) -> float:
    """How long a fault lasts in a run of so many minutes."""
    return min(LONGEST_HOLD, max(LEAST_HOLD, 60 * minutes / 100))


def _killer(server: LoadedServer) -> Callable[[], None]:
    def kill() -> None:
        workers: list[psutil.Process] = server.workers()
        workers[0].kill()

    return kill
