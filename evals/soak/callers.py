"""The clients of the text API: streams to their end, streams that are left, letters, drafts, refusals, health."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine
from typing import Any

import httpx

from evals.soak import judged
from evals.soak.rig import SoakRig
from evals.soak.tally import Route, SoakTally

PAUSE = 0.15
"""Seconds of thought after each answer: the load is mixed, not the most that the machine can bear."""
LONGEST = 130.0
NOTES = (
    "Arterielle Hypertonie, Diabetes mellitus Typ 2, Hypothyreose",
    "V. a. Pneumonie rechts. Kein Anhalt für eine Lungenembolie.",
    "Z. n. Hinterwandinfarkt 2019. Jetzt Vorhofflimmern und Husten.",
    "Gonarthrose links; Mutter mit Mammakarzinom.",
    "akute Bronchitis, Fieber seit drei Tagen",
    "Schenkelhalsfraktur rechts nach Sturz",
)
LETTER = """Arztbrief vom 3. März 2026
Klinikum am Beispielplatz, Innere Medizin
Patientin: Erika Musterfrau, geb. 12.08.1957, Lindenweg 3, 12345 Beispielstadt
Aufenthalt: stationär
Diagnosen:
- Arterielle Hypertonie
- V. a. Pneumonie rechts
Medikation:
- Ramipril 5 mg 1-0-0
"""
STREAM = Route("text API", "POST", "/api/deep-research")
EXTRACT = Route("text API", "POST", "/api/documents/extract")
GENERATE = Route("text API", "POST", "/api/llm/generate")
HEALTH = Route("text API", "GET", "/api/health")
MODEL_HEALTH = Route("text API", "GET", "/api/llm/health")
Work = Callable[[httpx.AsyncClient], Coroutine[Any, Any, None]]


def client_of(base: str, **headers: str) -> httpx.AsyncClient:
    """A client whose every request has a connection of its own: a kept one that a server closes while it is idle would
    look like one that broke."""
    limits = httpx.Limits(max_keepalive_connections=0)
    return httpx.AsyncClient(base_url=base, headers=headers, timeout=LONGEST, limits=limits, trust_env=False)


class Callers:
    """Programs that call the text API until they are told to end."""

    def __init__(self, rig: SoakRig, tally: SoakTally, over: asyncio.Event) -> None:
        self.rig, self.tally, self.over = rig, tally, over
        self.chance = random.Random(2026)  # noqa: S311 - reproducible, not secret

    def all(self) -> list[Coroutine[Any, Any, None]]:
        """Each client as a coroutine."""
        works = (self.stream, self.stream, self.leave, self.extract, self.draft, self.refused, self.look)
        return [self._again(work) for work in works]

    async def _again(self, work: Work) -> None:
        async with client_of(self.rig.api.base, Authorization=f"Bearer {self.rig.key}") as client:
            while not self.over.is_set():
                await work(client)
                await asyncio.sleep(PAUSE * (0.5 + self.chance.random()))

    async def stream(self, client: httpx.AsyncClient) -> None:
        """A stream to its end."""
        note = {"query": self.chance.choice(NOTES), "details": self.chance.random() < 0.5}
        response = await self.tally.ask(client, STREAM, STREAM.pattern, judged.stream, json=note)
        if response is not None and response.status_code == 200:
            self.tally.streams += 1
            self.tally.results += judged.ended_with_result(response)

    async def leave(self, client: httpx.AsyncClient) -> None:
        """A stream that its client leaves after the first bytes."""
        try:
            async with client.stream("POST", STREAM.pattern, json={"query": self.chance.choice(NOTES)}) as response:
                self.tally.answered[STREAM, response.status_code] += 1
                if response.status_code != 200:
                    await response.aread()
                    if why := judged.problem(response, 503):
                        self.tally.outside.append(f"POST {STREAM.pattern}: {why}")
                    return
                self.tally.left += 1
                async for _ in response.aiter_bytes():
                    break
        except httpx.TransportError as error:
            self.tally.broke(STREAM, type(error).__name__)

    async def extract(self, client: httpx.AsyncClient) -> None:
        """A letter to fields."""
        body = {"document_type": "arztbrief", "text": LETTER, "evidence": True}
        await self.tally.ask(client, EXTRACT, EXTRACT.pattern, judged.extraction, json=body)

    async def draft(self, client: httpx.AsyncClient) -> None:
        """Free text."""
        body = {"prompt": "Fasse zusammen.", "text": LETTER}
        await self.tally.ask(client, GENERATE, GENERATE.pattern, judged.draft, json=body)

    async def refused(self, client: httpx.AsyncClient) -> None:
        """What must be refused, in turn: another key, no query."""
        if self.chance.random() < 0.5:
            headers = {"Authorization": f"Bearer bfd_00000000_{'x' * 43}"}
            body = {"query": "Husten"}
            await self.tally.ask(client, STREAM, STREAM.pattern, judged.unauthorized, json=body, headers=headers)
        else:
            await self.tally.ask(client, STREAM, STREAM.pattern, judged.unreadable, json={"query": ""})

    async def look(self, client: httpx.AsyncClient) -> None:
        """Both health endpoints."""
        await self.tally.ask(client, HEALTH, HEALTH.pattern, judged.health)
        await self.tally.ask(client, MODEL_HEALTH, MODEL_HEALTH.pattern, judged.model_health)
