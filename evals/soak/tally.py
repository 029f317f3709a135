"""What the clients of the soak have seen, and whether the servers counted the same."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
from prometheus_client.parser import text_string_to_metric_families

Judge = Callable[[httpx.Response], str]
Samples = Mapping[tuple[str, frozenset[tuple[str, str]]], float]
REQUESTS = {"text API": "befund_requests_total", "webapp": "befund_web_requests_total"}
STORED = "befund_web_documents_stored_total"
"""Counted after the commit: what was found and never acknowledged may be uncounted (its worker was killed in between,
or the database went before it said that the commit was done). What was acknowledged had been counted."""
SIGN_INS = "befund_web_sign_ins_total"
"""Counted when the account is known: an outage right after it answers 503, and nobody is signed in."""
KILL_SECONDS = 15.0
"""After the end of a worker, connections that it had accepted may break for so long: until its last client notices."""


@dataclass(frozen=True, slots=True)
class Route:
    """A server's route, as its metrics name it."""

    server: str
    method: str
    pattern: str


@dataclass
class SoakTally:
    """Counts of one run. `outside` says of each answer that is none of the contract's what was wrong with it."""

    answered: Counter[tuple[Route, int]] = field(default_factory=Counter)
    broken: Counter[Route] = field(default_factory=Counter)
    outside: list[str] = field(default_factory=list)
    acknowledged: set[str] = field(default_factory=set)
    """Titles of documents that a client was told are stored."""
    found: dict[str, str] = field(default_factory=dict)
    """Id -> title of the documents that polling has found."""
    streams: int = 0
    results: int = 0
    left: int = 0
    compared: int = 0
    signed_in: int = 0
    killed: dict[str, float] = field(default_factory=dict)
    """LoadedServer -> when one of its workers was last killed."""
    kills: Counter[str] = field(default_factory=Counter)
    """LoadedServer -> how many of its workers were killed. Each may have answered one request that it had not counted
    yet: a request counts behind its last byte."""

    async def ask(
        self, client: httpx.AsyncClient, route: Route, target: str, judge: Judge, **given: Any
    ) -> httpx.Response | None:
        """Send a request and judge its answer; None when there was no whole one."""
        try:
            response = await client.request(route.method, target, **given)
        except httpx.TransportError as error:
            self.broke(route, type(error).__name__)
            return None
        self.answered[route, response.status_code] += 1
        if why := judge(response):
            self.outside.append(f"{route.method} {route.pattern}: {why}")
        return response

    def broke(self, route: Route, how: str) -> None:
        """A connection ended without a whole answer: only the end of a worker excuses that."""
        self.broken[route] += 1
        if time.monotonic() - self.killed.get(route.server, float("-inf")) > KILL_SECONDS:
            self.outside.append(f"{route.method} {route.pattern}: {how}, and no worker was killed")


def samples(text: str) -> Samples:
    """All values of an exposition by name and labels."""
    families = text_string_to_metric_families(text)
    return {(s.name, frozenset(s.labels.items())): s.value for family in families for s in family.samples}


def total(of: Samples, name: str, **labels: str) -> float:
    """The sum of a counter over all labels that are not named."""
    wanted = set(labels.items())
    return sum(value for (known, said), value in of.items() if known == name and wanted <= said)


def miscounted(tally: SoakTally, before: Mapping[str, Samples], after: Mapping[str, Samples]) -> list[str]:
    """Where the servers' counts are not the clients': sentences. What broke may have been counted or not."""
    return [*_of_routes(tally, before, after), *_of_outcomes(tally, before, after)]


def _grown(name: str, server: str, before: Mapping[str, Samples], after: Mapping[str, Samples], **labels: str) -> int:
    return round(total(after[server], name, **labels) - total(before[server], name, **labels))


def _of_routes(tally: SoakTally, before: Mapping[str, Samples], after: Mapping[str, Samples]) -> Iterable[str]:
    for route in {route for route, _ in tally.answered}:
        labels = {"route": route.pattern, "method": route.method}
        name, slack, fewer = REQUESTS[route.server], tally.broken[route], tally.kills[route.server]
        for status in {status for known, status in tally.answered if known == route}:
            theirs = _grown(name, route.server, before, after, **labels, status=str(status))
            ours = tally.answered[route, status]
            if not ours - fewer <= theirs <= ours + slack:
                yield f"{route.method} {route.pattern} {status}: counted {theirs}, seen {ours} (and {slack} broken)"
        theirs = _grown(name, route.server, before, after, **labels)
        ours = sum(count for (known, _), count in tally.answered.items() if known == route)
        if not ours - fewer <= theirs <= ours + slack:
            yield f"{route.method} {route.pattern}: counted {theirs}, seen {ours} (and {slack} broken)"


def _of_outcomes(tally: SoakTally, before: Mapping[str, Samples], after: Mapping[str, Samples]) -> Iterable[str]:
    broken = Counter[str]()
    for route, count in tally.broken.items():
        broken[route.server] += count
    outages = sum(n for (route, status), n in tally.answered.items() if (route.server, status) == ("webapp", 503))
    rows: tuple[tuple[str, str, dict[str, str], int], ...] = (
        ("befund_streams_total", "text API", {}, tally.streams + tally.left),
        ("befund_streams_total", "text API", {"outcome": "result"}, tally.results),
        (SIGN_INS, "webapp", {"outcome": "signed_in"}, tally.signed_in),
        (STORED, "webapp", {}, len(tally.found)),
        ("befund_web_documents_served_total", "webapp", {}, tally.compared),
    )
    for name, server, labels, ours in rows:
        theirs = _grown(name, server, before, after, **labels)
        least = len(tally.acknowledged) if name == STORED else ours - tally.kills[server]
        slack = broken[server] + (tally.left if labels == {"outcome": "result"} else 0)
        slack += outages if name == SIGN_INS else 0
        if not least <= theirs <= ours + slack:
            yield f"{name} {labels or ''}: counted {theirs}, seen {ours} (and {broken[server]} broken)"
    for name, server in (("befund_streams_open", "text API"), ("befund_web_requests_open", "webapp")):
        if still := total(after[server], name):
            yield f"{name}: {still:.0f} at rest"
