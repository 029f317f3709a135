"""The text API asked about a stored file: the fields of the letter and the codes of its diagnoses, by one deadline.

It goes the workbench's way: its address, key and free places, and the call ends when the client leaves. Nothing of a
letter is kept or logged; what the API says on a refusal is one of its own fixed sentences.
"""

import base64
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from flask import request

from clinical.contract import QUERY_MAX
from webapp.config import settings
from webapp.extracting.codes import FoundCode, codes_of
from webapp.workbench.calls import BUSY_WAIT_S, api_key, api_url, slots
from webapp.workbench.failures import FAILURES
from webapp.workbench.relay import ApiCall, browser_left, event_fields, relayed

DEADLINE_S: Final = 110.0
"""Seconds for reading and coding together: less than a proxy waits (deploy/nginx)."""
PAGE_S: Final = 50.0
"""Seconds for coding what a page shows: a proxy waits less there, and the first tier is there long before."""
_ANSWERS: Final = {"key": 502, "model": 502, "dead": 502, "broken": 502, "not_ready": 503, "quota": 503, "slow": 504}
_KINDS = {kind: {"type": "failure", "kind": kind} for kind in FAILURES}


class NotRead(Exception):
    """The text API gave no answer to use: the failure's kind in `FAILURES`, the status that a client gets, a sentence
    of the API's own, and seconds until it may be tried again."""

    def __init__(self, kind: str, status: int, said: str = "", wait: int | None = None) -> None:
        self.kind, self.status, self.said, self.wait = kind, status, said, wait
        super().__init__(kind)


class Asking:
    """One client's calls of the text API."""

    def __init__(self, seconds: float) -> None:
        given = settings()
        self._base, self._key, self._until = api_url(given), api_key(given), time.monotonic() + seconds
        self._left = browser_left(request.environ)

    def letter(self, document_type: str, data: bytes) -> dict[str, Any]:
        """The answer of /api/documents/extract with its evidence. Raises NotRead."""
        content = {"data": base64.b64encode(data).decode("ascii")}
        body = {"document_type": document_type, "content": content, "evidence": True}
        for event in self._events("/api/documents/extract", body, streams=False):
            if event.get("type") == "answer" and isinstance(event.get("answer"), dict):
                answer: dict[str, Any] = event["answer"]
                return answer
            raise _not_read(event)
        raise NotRead("slow", 504)

    def codes(self, diagnoses: Sequence[str]) -> list[FoundCode]:
        """The codes of some diagnoses: those of the last tier that came in time. Raises NotRead where none did."""
        found: list[FoundCode] = []
        for first, lines in _queries(diagnoses):
            body = {"query": "\n".join(lines), "rerank": False, "details": True}
            tiers = []
            for event in self._events("/api/deep-research", body, streams=True):
                if event.get("type") in ("partial", "result"):
                    tiers.append(event)
                elif event.get("type") == "failure" and not tiers:
                    raise _not_read(event)
            if not tiers:
                raise NotRead("slow", 504)
            found += codes_of(tiers, lines, first)
        return found

    def _events(self, path: str, body: dict[str, Any], *, streams: bool) -> list[dict[str, Any]]:
        call = ApiCall(self._base + path, self._key, body, streams)
        blocks = b"".join(relayed(call, _KINDS, self._gone)).split(b"\n\n")  # to its end, which closes the connection
        return list(filter(None, map(event_fields, blocks)))

    def _gone(self) -> bool:
        return self._left() or time.monotonic() > self._until


def _not_read(event: dict[str, Any]) -> NotRead:
    """The error that a failure of the workbench's calls stands for."""
    kind, said = str(event.get("kind", "broken")), str(event.get("said") or "")
    status = event["status"] if kind in ("file", "refused") else _ANSWERS.get(kind, 502)
    return NotRead(kind, status, said, event.get("retry_after"))


@contextmanager
def place(caller: str) -> Iterator[None]:
    """Hold one of the free places for calls that the workbench's pages use too. Raises NotRead where none is left."""
    held, key = slots(), uuid.uuid5(uuid.NAMESPACE_OID, caller)
    if not held.take(key):
        raise NotRead("busy", 503, wait=BUSY_WAIT_S)
    try:
        yield
    finally:
        held.free(key)


def _queries(diagnoses: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Diagnoses as lines of queries that the API takes: the number of the first, and the lines."""
    lines: list[str] = []
    first = 0
    for number, diagnosis in enumerate(diagnoses):
        line = " ".join(diagnosis[:QUERY_MAX].splitlines())
        if lines and len("\n".join([*lines, line])) > QUERY_MAX:
            yield first, lines
            lines, first = [], number
        lines.append(line)
    if any(line.strip() for line in lines):
        yield first, lines
