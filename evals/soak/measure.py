"""python -m evals soak --minutes N [--catalog DIR] [--json]: both servers under mixed load while parts of them fail.

Two processes of each server with PostgreSQL, Redis, a vendor and a language model, all on this machine. Clients code
and leave streams, read letters, draft, are refused, store, poll and fetch documents, sign in and look at pages. In turn
the model is killed, is slow, lies and breaks; Redis goes and comes back; PostgreSQL is restarted and crashes; the disk
of the stored files is full; a worker of each server is killed.

Every answer is judged: status, media type, shape, no invented code, value or file. What was acknowledged must be found
by polling, once. The servers' counters must say what the clients saw. After a warm-up of two fifths of the time, in
which every fault has been there and after which no worker is killed, no process may grow by more than 2 %; that is
judged from five minutes on. Status 1 when anything of this fails.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from clinical.command_line import PATH, paragraphs
from clinical.settings import settings
from evals.command import JSON, main_of
from evals.soak.callers import Callers
from evals.soak.faults import Faults, Recovery, hold_of
from evals.soak.memory import Growth, Memory
from evals.soak.rig import SoakRig, standing
from evals.soak.tally import SoakTally, miscounted, samples
from evals.soak.visitors import Visitors

WARM_UP = 0.4
JUDGED_FROM_MINUTES = 5.0
GROWTH_MAX = 2.0
"""Percent."""
SHOWN = 12
END_SECONDS = 150.0
"""For what is under way at the end: a client waits for at most 130 s."""


@dataclass(frozen=True, slots=True)
class Soaked:
    """What came of a run."""

    seconds: float
    tally: SoakTally
    wrong_counts: list[str]
    growth: list[Growth]
    faults: dict[str, Recovery]
    disk: str
    unforeseen: tuple[str, ...] = ()
    """What the servers logged of errors that nobody foresaw."""

    @property
    def lost(self) -> int:
        """Documents that were acknowledged and not found."""
        return len(self.tally.acknowledged - set(self.tally.found.values()))

    @property
    def twice(self) -> int:
        """Documents that were found under more than one id."""
        return sum(count - 1 for count in Counter(self.tally.found.values()).values())

    @property
    def growth_is_judged(self) -> bool:
        """Whether the run was long enough for it."""
        return self.seconds >= 60 * JUDGED_FROM_MINUTES

    @property
    def passed(self) -> bool:
        """Whether everything is as it must be."""
        grown = self.growth_is_judged and any(one.percent > GROWTH_MAX for one in self.growth)
        return not (self.tally.outside or self.wrong_counts or self.lost or self.twice or grown)


def soak(catalog: Path, minutes: float) -> Soaked:
    """Run for so many minutes, or for one round of all faults when that takes longer."""
    with standing(catalog) as rig:
        return asyncio.run(_soak(rig, minutes))


async def _soak(rig: SoakRig, minutes: float) -> Soaked:
    tally, over = SoakTally(), asyncio.Event()
    before = {server.name: samples(server.metrics()) for server in rig.servers}
    callers, visitors, memory = Callers(rig, tally, over), Visitors(rig, tally, over), Memory(rig)
    faults = Faults(rig, tally, hold_of(minutes))
    began = time.monotonic()
    tasks = [asyncio.create_task(work) for work in (*callers.all(), *visitors.all(), memory.watch(over))]
    try:
        await faults.round(killing=True)
        warm = await _calm_until(began + 60 * minutes * WARM_UP)
        while time.monotonic() < began + 60 * minutes:
            await faults.round(killing=False)
        ended = time.monotonic()
        over.set()
        await asyncio.wait_for(asyncio.gather(*tasks), END_SECONDS)
    finally:
        for task in tasks:
            task.cancel()
    await visitors.poll_once_more()
    await _at_rest(rig)
    after = {server.name: samples(server.metrics()) for server in rig.servers}
    wrong = sorted(miscounted(tally, before, after))
    said = tuple(f"{server.name}: {one}" for server in rig.servers for one in server.unforeseen())
    return Soaked(ended - began, tally, wrong, memory.growth(warm, ended), faults.seen, rig.disk.how, said)


async def _calm_until(moment: float) -> float:
    """Wait, if that is still to come; the time then."""
    await asyncio.sleep(max(0.0, moment - time.monotonic()))
    return time.monotonic()


async def _at_rest(rig: SoakRig, seconds: float = 20.0) -> None:
    """Until no stream is open that a client has left, or `seconds` are over; then the counters say which."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        text = await asyncio.to_thread(rig.api.metrics)
        if "\nbefund_streams_open 0.0" in text:
            return
        await asyncio.sleep(0.2)


def table(found: Soaked) -> str:
    """One line for each thing that is judged, and what was wrong below."""
    tally = found.tally
    answered = Counter[str]()
    for (route, _), count in tally.answered.items():
        answered[route.server] += count
    lines = [
        ("minutes; load of the machine", f"{found.seconds / 60:.1f}; {os.getloadavg()[0]:.1f}"),
        *((f"requests answered, {name}", str(count)) for name, count in sorted(answered.items())),
        ("outside the contract", str(len(tally.outside))),
        ("connections that a killed worker broke", str(sum(tally.broken.values()))),
        ("counters that differ", str(len(found.wrong_counts))),
        ("documents acknowledged / lost / twice", f"{len(tally.acknowledged)} / {found.lost} / {found.twice}"),
        ("files fetched and compared", str(tally.compared)),
        ("streams to the end / left by their client", f"{tally.streams} / {tally.left}"),
        ("sign-ins", str(tally.signed_in)),
        *((f"memory, {one.name}, MB", f"{_points(one)} ({one.percent:+.1f} %)") for one in found.growth),
        *((f"fault: {name}", f"{seen.times} times, ready after {seen.recovered_s:.1f} s at most")
          for name, seen in found.faults.items()),
        ("the disk was full by", found.disk),
    ]  # fmt: skip
    wrong = Counter([*tally.outside, *found.wrong_counts])
    below = [f"  {count} x {what}" for what, count in wrong.most_common(SHOWN)]
    below += [f"  {one}" for one in found.unforeseen[:SHOWN]]
    if not found.growth_is_judged:
        below.append(f"memory is judged from {JUDGED_FROM_MINUTES:.0f} minutes on")
    return "\n".join([*(f"{name:<44} {value}" for name, value in lines), *below])


def _points(one: Growth) -> str:
    return " ".join(f"{size:.1f}" for size in one.points_mb)


@click.command(help=paragraphs(__doc__))
@click.option("--minutes", type=click.FloatRange(min=0), default=10, show_default=True)
@click.option("--catalog", type=PATH, help="the artifact folder (default: that of the settings)")
@JSON
def command(minutes: float, catalog: Path | None, as_json: bool) -> int:
    """Run and print the table."""
    found = soak((catalog or settings().catalog).resolve(), minutes)
    click.echo(json.dumps(_plain(found)) if as_json else table(found))
    return int(not found.passed)


def _plain(found: Soaked) -> dict[str, object]:
    tally = found.tally
    return {
        "seconds": round(found.seconds, 1),
        "answered": sum(tally.answered.values()),
        "outside": tally.outside,
        "wrong_counts": found.wrong_counts,
        "acknowledged": len(tally.acknowledged),
        "lost": found.lost,
        "twice": found.twice,
        "growth": [{**asdict(one), "percent": round(one.percent, 2)} for one in found.growth],
        "faults": {name: asdict(seen) for name, seen in found.faults.items()},
    }


main = main_of(command, "soak")
