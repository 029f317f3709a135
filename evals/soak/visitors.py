"""The clients of the webapp: programs that store, poll and fetch documents, people who sign in and look at pages."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import itertools
import random
from collections.abc import Coroutine
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx

from evals.soak import judged
from evals.soak.callers import PAUSE, client_of
from evals.soak.rig import PROVIDER, SoakRig
from evals.soak.tally import Route, SoakTally
from evals.speed.sign_in_vendor import make_code

BYTES = 2_000
SYSTEM = "urn:oid:1.2.3"
PAGE = 50
DOCUMENTS, FILES = "/<organization>/fhir/r4/DocumentReference", "/<organization>/files/<document_id>"
STORE = Route("webapp", "POST", DOCUMENTS)
SEARCH = Route("webapp", "GET", DOCUMENTS)
FETCH = Route("webapp", "GET", FILES)
LEAVE = Route("webapp", "GET", "/accounts/vendor_oauth2/login/")
RETURN = Route("webapp", "GET", "/accounts/vendor_oauth2/login/callback/")
ACCOUNT = Route("webapp", "GET", "/accounts/")
LOGIN = Route("webapp", "GET", "/accounts/login/")


def content(title: str) -> bytes:
    """The file of the document of that title."""
    return (f"{title}. " * BYTES)[:BYTES].encode()


class Visitors:
    """Programs and people until they are told to end; a document that was begun is stored all the same."""

    def __init__(self, rig: SoakRig, tally: SoakTally, over: asyncio.Event) -> None:
        self.rig, self.tally, self.over = rig, tally, over
        self.path = f"/{rig.organization}/fhir/r4/DocumentReference"
        self.numbers, self.since = itertools.count(), ""
        self.links: dict[str, str] = {}
        self.chance = random.Random(2027)  # noqa: S311 - reproducible, not secret

    def all(self) -> list[Coroutine[Any, Any, None]]:
        """Each client as a coroutine."""
        return [
            self._storing(),
            self._posting(),
            self._posting(),
            self._polling(),
            self._fetching(),
            self._person(1),
            self._person(2),
        ]

    def _program(self) -> httpx.AsyncClient:
        return client_of(self.rig.web.base, Authorization=f"Bearer {self.rig.secret}")

    async def _think(self) -> None:
        await asyncio.sleep(PAUSE * (0.5 + self.chance.random()))

    async def _storing(self) -> None:
        """One document after the other, each sent until it is acknowledged, by its own identifier."""
        async with self._program() as client:
            while not self.over.is_set():
                title = f"Befund {next(self.numbers)}.txt"
                while not await self._stored(client, title):
                    await self._think()
                self.tally.acknowledged.add(title)
                await self._think()

    async def _posting(self) -> None:
        """The same without a condition, as those that share a transaction: sent once, since nobody knows of one that
        failed whether it is stored."""
        async with self._program() as client:
            while not self.over.is_set():
                title = f"Befund {next(self.numbers)}.txt"
                if await self._stored(client, title, conditional=False):
                    self.tally.acknowledged.add(title)
                await self._think()

    async def _stored(self, client: httpx.AsyncClient, title: str, conditional: bool = True) -> bool:
        attachment = {"contentType": "text/plain", "title": title, "data": base64.b64encode(content(title)).decode()}
        body = {
            "resourceType": "DocumentReference",
            "status": "current",
            "identifier": [{"system": SYSTEM, "value": title}],
            "content": [{"attachment": attachment}],
        }
        headers = {"Content-Type": "application/fhir+json"}
        headers |= {"If-None-Exist": f"identifier={SYSTEM}|{title}"} if conditional else {}
        response = await self.tally.ask(client, STORE, self.path, judged.stored, json=body, headers=headers)
        return response is not None and response.status_code in (200, 201)

    async def _polling(self) -> None:
        async with self._program() as client:
            while not self.over.is_set():
                await self.poll(client)
                await self._think()

    async def poll_once_more(self) -> None:
        """After everything is over: from the cursor on, until it is whole."""
        async with self._program() as client:
            while not await self.poll(client):
                await self._think()

    async def poll(self, client: httpx.AsyncClient) -> bool:
        """As the contract says: from the cursor on, every page, then the cursor moves. Whether it came to the end."""
        target, latest = f"{self.path}?_count={PAGE}", self.since
        target += f"&date=ge{self.since}" if self.since else ""
        while target:
            response = await self.tally.ask(client, SEARCH, target, judged.bundle)
            if response is None or response.status_code != 200:
                return False
            said = response.json()
            for entry in said.get("entry", ()):
                resource = entry["resource"]
                attachment = resource["content"][0]["attachment"]
                self.tally.found[resource["id"]] = attachment["title"]
                self.links[resource["id"]] = attachment["url"]
                latest = max(latest, resource["meta"]["lastUpdated"])
            target = next((link["url"] for link in said.get("link", ()) if link["relation"] == "next"), "")
        self.since = latest
        return True

    async def _fetching(self) -> None:
        """Files by their presigned links, each compared with what was stored; a refusal without a token in between."""
        async with client_of(self.rig.web.base) as client:
            while not self.over.is_set():
                await self._think()
                if self.chance.random() < 0.1 or not self.links:
                    await self.tally.ask(client, SEARCH, self.path, judged.no_token)
                    continue
                ident = self.chance.choice(list(self.links))
                response = await self.tally.ask(client, FETCH, self.links[ident], judged.file)
                if response is not None and response.status_code == 200:
                    self.tally.compared += 1
                    if hashlib.sha256(response.content).digest() != self._hash_of(ident):
                        self.tally.outside.append(f"GET {FILES}: another file than was stored")

    def _hash_of(self, ident: str) -> bytes:
        return hashlib.sha256(content(self.tally.found[ident])).digest()

    async def _person(self, number: int) -> None:
        """Signs in, looks at the account, and begins anew."""
        email = f"person{number}@example.org"
        while not self.over.is_set():
            async with client_of(self.rig.web.base) as browser:
                await self.tally.ask(browser, LOGIN, LOGIN.pattern, _is_page)
                if await self._signed_in(browser, number, email):
                    page = await self.tally.ask(browser, ACCOUNT, ACCOUNT.pattern, _is_page)
                    if page is not None and page.status_code == 200 and f">{email}<" not in page.text:
                        self.tally.outside.append("GET /accounts/: the page of somebody else")
            await self._think()

    async def _signed_in(self, browser: httpx.AsyncClient, number: int, email: str) -> bool:
        left = await self.tally.ask(browser, LEAVE, f"{LEAVE.pattern}?provider_id={PROVIDER}", _leads_on)
        if left is None or left.status_code != 302:
            return False
        query = parse_qs(urlsplit(left.headers["location"]).query)
        claims = {"sub": f"soak-{number}", "email": email, "client": query["client_id"][0]}
        given = {"code": make_code(claims), "state": query["state"][0]}
        back = await self.tally.ask(browser, RETURN, RETURN.pattern, _leads_on, params=given)
        if back is None or back.status_code != 302:
            return False
        self.tally.signed_in += 1
        return True


def _is_page(response: httpx.Response) -> str:
    return judged.page(response, 200, 503)


def _leads_on(response: httpx.Response) -> str:
    return judged.page(response, 302, 503)
