"""Measures the time that others wait for their writes while one program does harm (`python -m evals load hostile`).

One connection posts bodies of about a megabyte without pause, each kind in turn: those that are refused, and the
largest that are taken. Meanwhile two others store an ordinary document at a time in the same organization. On
PostgreSQL and on SQLite, where writers of all organizations wait for each other.
"""

from __future__ import annotations

import base64
import json
import secrets
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import httpx2

from evals.load import rigs
from evals.load.servers import environment_with, flask
from evals.measures.results import Row, percentiles, row

SCOPES = "system/DocumentReference.cs system/Patient.cs"
OTHERS = 2
SYSTEM = "urn:oid:1.2.3.4"
Body = tuple[str, bytes]  # path below the base, JSON
Resource = dict[str, Any]
_FILE = base64.b64encode(b"Befund: ohne Besonderheiten.").decode()


def identifiers(number: int) -> Body:
    """One patient of 25,000 identifiers."""
    listed = [{"system": SYSTEM, "value": f"{number}-{one}"} for one in range(25_000)]
    return "/Patient", _bytes({"resourceType": "Patient", "identifier": listed})


def names(_: int) -> Body:
    """One patient of 200,000 given names."""
    return "/Patient", _bytes({"resourceType": "Patient", "name": [{"given": ["a"] * 200_000}]})


def lists(_: int) -> Body:
    """A megabyte of empty lists."""
    return "/Patient", b'{"resourceType": "Patient", "extension": [' + b"[]," * 330_000 + b"[]]}"


def values(number: int) -> Body:
    """A transaction of patients that are as costly to validate as they may be."""
    contacts = [{"name": {"family": "a"}}] * 1_000
    return "", _bundle([{"resourceType": "Patient", "contact": contacts, "id": str(number)}] * 20)


def patients(number: int) -> Body:
    """A transaction of patients with as many identifiers as they and it may have."""
    name = {"family": "a", "given": [f"Vorname {one}" for one in range(5)]}
    return "", _bundle([
        {"resourceType": "Patient", "name": [name],
         "identifier": [{"system": SYSTEM + ".5" * 20, "value": f"{number}-{each}-{one}"} for one in range(100)],
         "text": {"status": "generated", "div": "<div>" + "a" * 20_000 + "</div>"}}
        for each in range(31)
    ])  # fmt: skip


def documents(number: int) -> Body:
    """A transaction of documents with as many words to be found by as it may have."""
    return "", _bundle([
        {"resourceType": "DocumentReference", "status": "current",
         "identifier": [{"system": SYSTEM + ".5" * 90, "value": f"{number}-{each}-{one}"} for one in range(6)],
         "text": {"status": "generated", "div": "<div>" + "a" * 2_000 + "</div>"},
         "subject": {"identifier": {"system": SYSTEM, "value": f"{number}-{each}"}},
         "content": [{"attachment": {"contentType": "text/plain", "data": _FILE}}]}
        for each in range(200)
    ])  # fmt: skip


KINDS: tuple[Callable[[int], Body], ...] = (identifiers, names, lists, values, patients, documents)


def measured(seconds: float) -> Iterator[Row]:
    """By database and kind of hostile body, and without any: milliseconds of the others' writes, and of the longest
    hostile one; the answers to hostile ones by status."""
    for database in ("postgresql", "sqlite"):
        with ExitStack() as stack:
            if database == "postgresql":
                there = stack.enter_context(rigs.filled(1_000))
                environment, organization = there.environment, there.organization
            else:
                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="befund-load-"))
                given = {"ENV": "development", "DATABASE_URL": f"sqlite:///{folder}/web.sqlite3", "VAR": folder}
                environment = environment_with({**given, "SECRET_KEY": secrets.token_hex(24)})
                flask(environment, "db", "upgrade")
                organization = flask(environment, "orgs", "add", "Messung").split()[0]
            account = flask(environment, "services", "add", "Messung", "--org", organization, "--scopes", SCOPES)
            secret = flask(environment, "services", "add-secret", account.strip()).strip()
            web = stack.enter_context(rigs.webapp(environment, secret))
            for kind in (None, *KINDS):
                name = f"{database}, beside {kind.__name__ if kind else 'none'}"
                yield from _beside(f"{web.base}/{organization}/fhir/r4", secret, kind, seconds, name)


def _beside(base: str, secret: str, kind: Callable[[int], Body] | None, seconds: float, name: str) -> Iterator[Row]:
    over, answers, longest = threading.Event(), Counter[int](), [0.0]
    headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/fhir+json"}

    def attack() -> None:
        with httpx2.Client(headers=headers, timeout=120, trust_env=False) as client:
            while kind is not None and not over.is_set():
                path, body = kind(time.time_ns())
                began = time.perf_counter()
                answers[client.post(base + path, content=body).status_code] += 1
                longest[0] = max(longest[0], time.perf_counter() - began)

    def write(number: int) -> list[float]:
        took, end = [], time.perf_counter() + seconds
        with httpx2.Client(headers=headers, timeout=120, trust_env=False) as client:
            while time.perf_counter() < end:
                title = f"{number}-{time.time_ns()}.txt"
                attachment = {"contentType": "text/plain", "title": title, "data": _FILE}
                resource = {"resourceType": "DocumentReference", "status": "current"}
                body = _bytes(resource | {"content": [{"attachment": attachment}]})
                began = time.perf_counter()
                client.post(f"{base}/DocumentReference", content=body).raise_for_status()
                took.append(1_000 * (time.perf_counter() - began))
        return took

    attacker = threading.Thread(target=attack)
    attacker.start()
    try:
        with ThreadPoolExecutor(OTHERS) as pool:
            took = [one for own in pool.map(write, range(OTHERS)) for one in own]
    finally:
        over.set()
        attacker.join()
    yield from percentiles("p{}_ms", name, took)
    if kind is not None:
        yield from row("hostile_longest_ms", name, answers.total(), 1_000 * longest[0])
        for status, count in sorted(answers.items()):
            yield from row(f"hostile_answered_{status}", name, answers.total(), float(count))


def _bundle(found: list[Resource]) -> bytes:
    entries = [
        {"fullUrl": f"urn:uuid:{number}", "resource": one, "request": {"method": "POST", "url": one["resourceType"]}}
        for number, one in enumerate(found)
    ]
    return _bytes({"resourceType": "Bundle", "type": "transaction", "entry": entries})


def _bytes(resource: Resource) -> bytes:
    return json.dumps(resource).encode()
