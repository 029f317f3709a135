"""Users for locust: callers of the text API, and programs and people at the webapp; every answer is judged.

`python -m evals load ...` starts locust with this file and tells it by BEFUND_LOAD (JSON) the addresses, keys and
texts. An answer of another status or media type than the contract's counts as a failure, as does a stream without an
end, an invented code, a document that was acknowledged and is not found once by polling, and the account page of
somebody else.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import os
import random
import re
import time
from collections import Counter
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

from locust import FastHttpUser, HttpUser, constant, task

from evals.load.vendor import make_code

GIVEN: dict[str, Any] = json.loads(os.environ["BEFUND_LOAD"])
STREAM, FHIR = "text/event-stream", "application/fhir+json"
CODES = re.compile(rb'"code":"([^"]*)"')
CODE = re.compile(rb"[A-Z][0-9]{2}(\.[0-9]{1,2})?[!*+]?")
BYTES = 2_000
SYSTEM = "urn:oid:1.2.3"


def fault(answer: Any, kind: str, *statuses: int) -> str:
    """The reason why an answer is none of the contract's; empty for one that is. 503 is one where it says how long."""
    status, media = answer.status_code, str(answer.headers.get("content-type", "")).partition(";")[0].strip()
    if status == 503 and str(answer.headers.get("retry-after", "")).isdigit():
        return ""
    if status not in statuses:
        return f"status {status}"
    return "" if media == kind else f"media type {media}"


def settled(answer: Any, why: str) -> bool:
    """Tell locust how an answer is judged; its being right."""
    if why:
        answer.failure(why)
    else:
        answer.success()
    return not why


class Streams(HttpUser):
    """A caller of the text API that reads each stream to its end, or leaves after the first codes."""

    host, wait_time = GIVEN.get("api"), constant(0)
    leaves = False

    @task
    def stream(self) -> None:
        """One text; the time of its first codes is an entry of its own."""
        began, seen, first = time.perf_counter(), bytearray(), False
        headers, body = {"Authorization": f"Bearer {GIVEN['key']}"}, {"query": random.choice(GIVEN["texts"])}  # noqa: S311
        sent: Any = {"json": body, "headers": headers, "stream": True, "catch_response": True, "name": "stream"}
        with self.client.post("/api/deep-research", **sent) as answer:
            if why := fault(answer, STREAM, 200):
                return answer.failure(why)
            for piece in answer.iter_content(None):
                seen += piece
                if not first and b'"type":"partial"' in seen:
                    first = True
                    self._tell("first codes", began, len(seen))
                    if self.leaves:
                        return answer.close()
            ended = b'"type":"result"' in seen or b'"status":"error"' in seen
            wrong = [code for code in CODES.findall(bytes(seen)) if not CODE.fullmatch(code)]
            settled(answer, "a stream without an end" * (not ended) or "invented codes" * bool(wrong))

    def _tell(self, name: str, began: float, length: int) -> None:
        took = 1_000 * (time.perf_counter() - began)
        event = {"request_type": "SSE", "name": name, "response_time": took, "response_length": length}
        self.environment.events.request.fire(exception=None, context={}, **event)


class Leaving(Streams):
    """A caller that leaves each stream after its first codes."""

    leaves = True


class Searching(FastHttpUser):
    """A program that asks the same kind of FHIR search again and again (GIVEN: paths, token)."""

    host, wait_time = GIVEN.get("web"), constant(0)
    turn = itertools.count()

    @task
    def search(self) -> None:
        """The next path in turn."""
        paths, headers = GIVEN["paths"], {"Authorization": f"Bearer {GIVEN['token']}"}
        path = paths[next(self.turn) % len(paths)]
        with self.client.get(path, headers=headers, catch_response=True, name="search") as answer:
            settled(answer, fault(answer, FHIR, 200))


# --- documents: stored, polled, fetched ------------------------------------------------------------------------------

ACKNOWLEDGED: set[str] = set()
FOUND: dict[str, str] = {}
LINKS: dict[str, str] = {}
NUMBERS = itertools.count()
SINCE = [""]


def content(title: str) -> bytes:
    """The file of the document of that title."""
    return (f"{title}. " * BYTES)[:BYTES].encode()


def document(title: str) -> dict[str, Any]:
    """A DocumentReference with its file inline and an identifier of its own."""
    attachment = {"contentType": "text/plain", "title": title, "data": base64.b64encode(content(title)).decode()}
    return {
        "resourceType": "DocumentReference",
        "status": "current",
        "identifier": [{"system": SYSTEM, "value": title}],
        "content": [{"attachment": attachment}],
    }


class Program(FastHttpUser):
    """Base of the programs: the service account and the address of the documents."""

    abstract = True
    host, wait_time = GIVEN.get("web"), constant(0)
    headers: ClassVar = {"Authorization": f"Bearer {GIVEN.get('secret', '')}", "Content-Type": FHIR}


class Storing(Program):
    """A program that stores one document after the other, each sent until it is acknowledged."""

    @task
    def store(self) -> None:
        """By its own identifier, so that sending it again stores nothing twice."""
        title = f"Befund {next(NUMBERS)}.txt"
        given = {"If-None-Exist": f"identifier={SYSTEM}|{title}", "Prefer": "return=minimal"}
        while title not in ACKNOWLEDGED:
            sent: dict[str, Any] = {"headers": self.headers | given, "catch_response": True, "name": "store"}
            with self.client.post(GIVEN["documents"], json=document(title), **sent) as answer:
                why = "" if answer.status_code in (200, 201) else fault(answer, FHIR, 201)
                settled(answer, why)
                if answer.status_code in (200, 201):
                    ACKNOWLEDGED.add(title)


class Polling(Program):
    """A program that polls as the contract says and fetches files by their links, comparing each."""

    wait_time = constant(0.15)

    @task
    def poll(self) -> None:
        """From the cursor on, every page, then the cursor moves."""
        since = SINCE[0].replace("+00:00", "Z")  # a `+` in an address is a space
        target, latest = f"{GIVEN['documents']}?_count=50" + (f"&date=ge{since}" if since else ""), SINCE[0]
        while target:
            with self.client.get(target, headers=self.headers, catch_response=True, name="poll") as answer:
                if not settled(answer, fault(answer, FHIR, 200)) or answer.status_code != 200:
                    return
                page = answer.json()
            for entry in page.get("entry", ()):
                resource = entry["resource"]
                attachment = resource["content"][0]["attachment"]
                if attachment["title"].endswith(".txt"):  # of ours; those that were there before have no files
                    FOUND[resource["id"]], LINKS[resource["id"]] = attachment["title"], attachment["url"]
                latest = max(latest, resource["meta"]["lastUpdated"])
            target = next((link["url"] for link in page.get("link", ()) if link["relation"] == "next"), "")
        SINCE[0] = latest

    @task
    def fetch(self) -> None:
        """A file by its presigned link."""
        if not LINKS:
            return
        ident = random.choice(list(LINKS))  # noqa: S311 - which file, no secret
        with self.client.get(LINKS[ident], catch_response=True, name="fetch") as answer:
            same = hashlib.sha256(answer.content).digest() == hashlib.sha256(content(FOUND[ident])).digest()
            settled(
                answer, fault(answer, "text/plain", 200) or "another file" * (answer.status_code == 200 and not same)
            )

    def on_stop(self) -> None:
        """Poll a last time and report every acknowledged document that is not found exactly once."""
        time.sleep(1)
        self.poll()
        found = Counter(FOUND.values())
        for title in ACKNOWLEDGED:
            if found[title] != 1:
                event = {"request_type": "GET", "name": "lost or twice", "response_time": 0, "response_length": 0}
                self.environment.events.request.fire(exception=LookupError(title), context={}, **event)


# --- people ----------------------------------------------------------------------------------------------------------


class Person(HttpUser):
    """Signs in at a vendor drawn by lot, looks at the account page, and begins anew."""

    host, wait_time = GIVEN.get("web"), constant(0)
    people = itertools.count()

    def on_start(self) -> None:
        """Everybody has an address of their own."""
        self.number = next(self.people)
        self.email = f"person{self.number}@example.org"

    @task
    def sign_in(self) -> None:
        """Leave, come back, and be shown one's own page."""
        self.client.cookies.clear()
        provider = random.choice(GIVEN["providers"])  # noqa: S311 - which vendor, no secret
        given: dict[str, Any] = {"allow_redirects": False, "catch_response": True}
        began = time.perf_counter()
        path = f"/accounts/vendor_oauth2/login/?provider_id={provider}"
        with self.client.get(path, name="leave", **given) as answer:
            if answer.status_code != 302:
                return answer.failure(f"status {answer.status_code}")
            query = parse_qs(urlsplit(answer.headers["location"]).query)
        claims = {"sub": f"{provider}-{self.number}", "email": self.email, "client": query["client_id"][0]}
        back = {"code": make_code(claims), "state": query["state"][0]}
        callback = urlsplit(query["redirect_uri"][0]).path
        with self.client.get(callback, params=back, name="come back", **given) as answer:
            if answer.status_code != 302 or answer.headers["location"] != "/accounts/":
                return answer.failure(f"status {answer.status_code}")
        took = 1_000 * (time.perf_counter() - began)
        event = {"request_type": "GET", "name": "sign-in", "response_time": took, "response_length": 0}
        self.environment.events.request.fire(exception=None, context={}, **event)
        with self.client.get("/accounts/", catch_response=True) as answer:
            settled(answer, "" if f">{self.email}<" in answer.text else "the page of somebody else")
