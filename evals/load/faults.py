"""Two text APIs and two webapps behind the nginx that is shipped, under load while they fail and come back.

Nine callers judge every answer. A GET is right or lost. A POST is right, refused (502, 503 or 504 in its caller's
form), broken off (the connection ended before the answer did, which a client sees) or wrong: anything else, above all
an answer that looks right and is not. Every document is posted once; one that was acknowledged must be found once, any
other at most once.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx2
import psutil

from bentos.keys import KeyLimits, Keys, open_database
from clinical.settings import ROOT
from evals.load import rigs
from evals.load.servers import NotStarted, answers, awaited, environment_with, free_port, over_family, resident_mb
from evals.measures.results import Row, row

API, WEB = "api.befund.example", "befund.example"
START_SECONDS: Final = 600.0
"""For a machine that others keep busy."""
PAUSE_SECONDS: Final = 0.02
EACH: Final = 4
"""Calls of each caller between two steps, so that every fault has load before and behind it."""
STOPPED_SECONDS: Final = 3.0
PROBLEM, OUTCOME = "application/problem+json", "application/fhir+json"
REFUSED: Final = (502, 503, 504)
SYSTEM: Final = "urn:oid:1.2.3.4"
TRIES_BEFORE: Final = "map $status $issue"
TRIES: Final = """log_format tries '$msec $host $status $request_time tried $upstream_addr: $upstream_status, '
        'connected $upstream_connect_time, answered $upstream_header_time, over $upstream_response_time';
    access_log tries.log tries;"""
"""Added to nginx's configuration here: which server was tried when, to see why a call was lost."""
RIGHT, BROKEN_OFF, REFUSAL = "right", "broken off", "refused"
LETTER = (
    "Arztbrief vom 3. März 2026\n\nPatientin: Erika Muster, geb. 12.08.1957\n\nDiagnosen:\n- Arterielle Hypertonie\n"
)


@dataclass
class Journal:
    """Times at which each server was killed, started and ready, and each call that was not answered as it must be;
    nothing of what was asked. Times are seconds since the journal began."""

    began: float = field(default_factory=time.time)
    events: list[tuple[float, str]] = field(default_factory=list)
    calls: list[tuple[float, float, str, str]] = field(default_factory=list)
    """Begin, seconds it took, name of the caller, verdict."""

    def note(self, what: str) -> None:
        """Something happened to a server now."""
        self.events.append((time.time() - self.began, what))

    def call(self, took: float, name: str, verdict: str) -> None:
        """A call ended now."""
        self.calls.append((time.time() - self.began - took, took, name, verdict))

    def lines(self) -> Iterator[str]:
        """Each of these calls, with what was done last before it began, and all that was done while it was open."""
        for began, took, name, verdict in sorted(self.calls):
            before = [one for one in self.events if one[0] <= began][-1:]
            during = [one for one in self.events if began < one[0] <= began + took]
            around = "; ".join(f"{what} at {when - began:+.2f} s" for when, what in (*before, *during))
            yield f"{began:8.2f} s, {name}: {verdict} after {took:.2f} s; {around or 'nothing was done before'}"

    def keep(self, folder: Path) -> None:
        """Print these calls, and copy the logs of all servers out of `folder`, where there are any."""
        if not self.calls:
            return
        kept = Path(tempfile.mkdtemp(prefix="befund-lost-"))
        for log in (*folder.glob("*/log"), *folder.glob("*.log"), *folder.glob("nginx.out")):
            shutil.copy(log, kept / "-".join(log.relative_to(folder).parts))
        calls = list(self.lines())
        events = [f"{when:8.2f} s, {what}" for when, what in self.events]
        began = f"0 is {self.began:.3f} of the clock."
        (kept / "events").write_text("\n".join((began, *events, "", *calls, "")), "utf-8")
        print(*calls, f"The logs of all servers are in {kept}.", sep="\n", file=sys.stderr)


@dataclass
class Server:
    """One of the four: started in `environment` on `port`, killed with all its processes."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    port: int
    log: Path
    journal: Journal
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it without waiting."""
        self.journal.note(f"{self.name} started")
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command, cwd=self.log.parent, env=self.environment, stdout=log, stderr=log
            )

    def ready(self) -> bool:
        """Return True when it says so."""
        return answers(f"http://127.0.0.1:{self.port}/internal/readyz")

    def wait(self) -> None:
        """Until it is ready. Raises NotStarted."""
        if self.process is None:
            raise NotStarted(f"{self.name} was not started")
        awaited(self.process, self.ready, self.log, START_SECONDS)
        self.journal.note(f"{self.name} ready")

    @property
    def pid(self) -> int | None:
        """Its first process."""
        return self.process.pid if self.process else None

    def kill(self) -> None:
        """End all its processes without a farewell."""
        self.journal.note(f"{self.name} killed")
        if self.process:
            with suppress(psutil.NoSuchProcess):
                over_family(psutil.Process.kill, self.process.pid)
            self.process.wait(30)


@dataclass
class Deployed:
    """The four servers, nginx before them, what callers need, and what they saw."""

    servers: Sequence[Server]
    port: int
    trust: ssl.SSLContext
    key: str
    secret: str
    documents: str
    environment: Mapping[str, str]
    journal: Journal
    gets_may_be_refused: bool
    verdicts: dict[str, Counter[str]] = field(default_factory=dict)
    stored: set[str] = field(default_factory=set)
    newest: str = ""

    def is_wrong(self, name: str, verdict: str) -> bool:
        """Return True for a verdict that must not be. Who posts may be refused or broken off, and sees it."""
        if name.startswith("GET"):
            return verdict not in ({RIGHT, REFUSAL} if self.gets_may_be_refused else {RIGHT})
        return verdict not in {RIGHT, REFUSAL, BROKEN_OFF}

    def client(self, host: str, authorization: str = "") -> httpx2.Client:
        """A client of one of the two names."""
        headers = {"Host": host} | ({"Authorization": f"Bearer {authorization}"} if authorization else {})
        base = f"https://127.0.0.1:{self.port}"

        def named(request: httpx2.Request) -> None:  # in the handshake too: nginx knows its two names alone
            request.extensions["sni_hostname"] = host

        hooks: Any = {"request": [named]}
        return httpx2.Client(
            base_url=base, headers=headers, verify=self.trust, timeout=90, trust_env=False, event_hooks=hooks
        )

    def reached(self) -> bool:
        """Return True when nginx hands a call on."""
        with self.client(API) as client, suppress(httpx2.TransportError):
            return client.get("/api/health").status_code == 200
        return False


@contextmanager
def deployed(catalog: Path, *, gets_may_be_refused: bool) -> Iterator[Deployed]:
    """All of it on this machine, on ports of its own; ended by process at the end. Where a call was answered as it must
    not be, its time among what was done to the servers is printed, and their logs stay in a folder that is named."""
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if program is None:
        raise NotStarted("nginx is not installed", "it", "on Debian: apt-get install nginx-light")
    with rigs.filled(1_000) as there, tempfile.TemporaryDirectory(prefix="befund-faults-") as name, ExitStack() as end:
        folder, url, journal = Path(name), there.environment["BEFUND_DATABASE_URL"], Journal()
        end.callback(journal.keep, folder)
        key = Keys(open_database(url)).create("load", KeyLimits(0, 0))
        servers = [_text_api(folder, number, catalog, url, journal) for number in (1, 2)]
        servers += [_webapp(folder, number, there.environment, journal) for number in (1, 2)]
        for server in servers:
            end.callback(server.kill)
            server.start()
        for server in servers:
            server.wait()
        port = free_port()
        _certificate(folder)
        (folder / "nginx.conf").write_text(_configuration(folder, port, servers), "utf-8")
        with (folder / "nginx.out").open("wb") as out:
            command = [program, "-p", str(folder), "-c", "nginx.conf", "-g", "daemon off;"]
            nginx = subprocess.Popen(command, stdout=out, stderr=out)
        end.callback(nginx.wait, 30)
        end.callback(nginx.terminate)
        trust = ssl.create_default_context(cafile=str(folder / "certificate"))
        given = (key, rigs.service_account(there), f"/{there.organization}/fhir/r4/DocumentReference")
        found = Deployed(servers, port, trust, *given, there.environment, journal, gets_may_be_refused)
        awaited(nginx, found.reached, folder / "nginx.out", 30)
        yield found


def _text_api(folder: Path, number: int, catalog: Path, url: str, journal: Journal) -> Server:
    place, port = folder / f"api{number}", free_port()
    place.mkdir()
    given = {"ENV": "development", "CATALOG": catalog, "API_PORT": port, "API_DATABASE_URL": url, "LLM": "rules"}
    environment = environment_with({**given, "VAR": place, "DRAIN_SECONDS": 10})
    command = [sys.executable, "-m", "bentos", "serve"]
    return Server(f"text API {number}", command, environment, port, place / "log", journal)


def _webapp(folder: Path, number: int, environment: Mapping[str, str], journal: Journal) -> Server:
    place, port = folder / f"web{number}", free_port()
    place.mkdir()
    given = {"BEFUND_WEB_PORT": str(port), "BEFUND_TRUSTED_PROXIES": "1", "WEB_CONCURRENCY": "2"}
    command = [sys.executable, "-m", "webapp", "serve"]
    return Server(f"webapp {number}", command, {**environment, **given}, port, place / "log", journal)


def _certificate(folder: Path) -> None:
    names = f"subjectAltName=DNS:{WEB},DNS:{API},IP:127.0.0.1"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc"]
    command += ["-days", "2", "-subj", f"/CN={WEB}", "-addext", names, "-keyout", "key", "-out", "certificate"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def _configuration(folder: Path, port: int, servers: Sequence[Server]) -> str:
    """deploy/nginx/befund.conf as a host has it, with ports and folders of this run and both servers of each kind."""
    nginx = ROOT / "deploy" / "nginx"
    text = subprocess.run(
        ["sed", "-f", str(nginx / "host.sed"), str(nginx / "befund.conf")], check=True, capture_output=True, text=True
    ).stdout
    user = "user root;" if os.geteuid() == 0 else ""  # its folder is this user's alone
    places = {"user www-data;": user, "/run/nginx.pid": "nginx.pid", "/var/lib/nginx/befund": "bodies"}
    places |= {
        "/etc/befund/tls/": f"{folder}/",
        "/var/log/befund/": "",
        "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
    }
    places |= {"listen 80 ": f"listen 127.0.0.1:{free_port()} ", TRIES_BEFORE: f"{TRIES}\n    {TRIES_BEFORE}"}
    for shipped, own in places.items():
        if shipped not in text:
            raise NotStarted(f"befund.conf has no {shipped!r}", "the lines that are replaced here")
        text = text.replace(shipped, own)
    for shipped, kind in (("127.0.0.1:3000", "text API"), ("127.0.0.1:5000", "webapp")):
        line = f"server {shipped} max_fails=0;"
        lines = [line.replace(shipped, f"127.0.0.1:{one.port}") for one in servers if one.name.startswith(kind)]
        text = text.replace(line, " ".join(lines))
    return text


# --- callers --------------------------------------------------------------------------------------------------------

NUMBERS = itertools.count()
REASONS: Counter[str] = Counter()
"""Status and sentence of what the text API, or nginx before it, refused: fixed words that hold nothing of a request."""


def _get(path: Callable[[], str], holds: str) -> Callable[[httpx2.Client], str]:
    """A GET whose answer is 200 and holds some words."""

    def call(client: httpx2.Client) -> str:
        answer = client.get(path())
        return RIGHT if answer.status_code == 200 and holds in answer.text else _otherwise(answer)

    return call


def _otherwise(answer: httpx2.Response) -> str:
    """The verdict of an answer that is not the right one: refused in its caller's form, or wrong."""
    form = answer.headers.get("content-type", "").partition(";")[0]
    if answer.status_code in REFUSED and form == PROBLEM:
        REASONS[f"{answer.status_code} {answer.json().get('detail')}"] += 1
    refused = answer.status_code in REFUSED and form in (PROBLEM, OUTCOME, "text/html")
    return REFUSAL if refused else f"status {answer.status_code}"


def _coded(client: httpx2.Client) -> str:
    """A text to its codes, read to the end of the stream."""
    answer = client.post("/api/deep-research", json={"query": "Arterielle Hypertonie"})
    if answer.status_code != 200:
        return _otherwise(answer)
    events = [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: ")]
    if not events or events[-1].get("type") not in ("result", "status"):
        return "a stream without an end"
    ends = events[-1].get("status") == "error" or any(code["code"] == "I10.90" for code in events[-1].get("codes", ()))
    return RIGHT if ends else "other codes"


def _extracted(client: httpx2.Client) -> str:
    """A letter to its fields."""
    answer = client.post("/api/documents/extract", json={"document_type": "arztbrief", "text": LETTER})
    if answer.status_code != 200:
        return _otherwise(answer)
    return RIGHT if answer.json()["data"]["diagnosen"] == ["Arterielle Hypertonie"] else "other fields"


def _store(there: Deployed) -> Callable[[httpx2.Client], str]:
    def call(client: httpx2.Client) -> str:
        title = f"Befund {next(NUMBERS)}"
        attachment = {"contentType": "text/plain", "title": title, "data": "QmVmdW5k"}
        body = {"resourceType": "DocumentReference", "status": "current", "content": [{"attachment": attachment}]}
        answer = client.post(there.documents, json=body, headers={"Content-Type": OUTCOME})
        if answer.status_code == 201:
            there.newest = answer.headers["location"].partition("/_history")[0].rpartition("/")[2]
            there.stored.add(title)
            return RIGHT
        return _otherwise(answer)

    return call


def _callers(there: Deployed) -> dict[str, tuple[str, str, Callable[[httpx2.Client], str]]]:
    """Name of the calls, with host, key and the call."""
    lookup = "/api/fhir/r4/CodeSystem/$lookup?system=http://fhir.de/CodeSystem/bfarm/icd-10-gm&code=I10.90"
    newest = lambda: f"{there.documents}/{there.newest}" if there.newest else f"{there.documents}?_count=1"  # noqa: E731
    return {
        "GET health": (API, "", _get(lambda: "/api/health", '"status"')),
        "GET a code": (API, there.key, _get(lambda: lookup, "I10.90")),
        "GET documents": (WEB, there.secret, _get(lambda: f"{there.documents}?_count=10", "searchset")),
        "GET the newest document": (WEB, there.secret, _get(newest, "DocumentReference")),
        "GET the sign-in page": (WEB, "", _get(lambda: "/accounts/login/", "<html")),
        "POST a text": (API, there.key, _coded),
        "POST another text": (API, there.key, _coded),
        "POST a letter": (API, there.key, _extracted),
        "POST a document": (WEB, there.secret, _store(there)),
    }


@contextmanager
def loaded(there: Deployed) -> Iterator[Callable[[], None]]:
    """The callers work while the block runs; its value waits until each has made some more calls."""
    over = threading.Event()

    def work(name: str, host: str, key: str, call: Callable[[httpx2.Client], str]) -> None:
        seen = there.verdicts[name]
        with there.client(host, key) as client:
            while not over.is_set():
                began = time.monotonic()
                try:
                    verdict = call(client)
                except httpx2.HTTPError as error:
                    verdict = BROKEN_OFF if name.startswith("POST") else type(error).__name__
                except (ValueError, KeyError) as error:
                    verdict = f"unreadable ({type(error).__name__})"
                seen[verdict] += 1
                if there.is_wrong(name, verdict):
                    there.journal.call(time.monotonic() - began, name, verdict)
                over.wait(PAUSE_SECONDS)

    there.verdicts |= {name: Counter() for name in _callers(there)}
    threads = [threading.Thread(target=work, args=(name, *how)) for name, how in _callers(there).items()]

    def further() -> None:
        aims = {name: seen.total() + EACH for name, seen in there.verdicts.items()}
        until = time.monotonic() + START_SECONDS
        while any(there.verdicts[name].total() < aim for name, aim in aims.items()) and time.monotonic() < until:
            time.sleep(0.05)

    for thread in threads:
        thread.start()
    try:
        yield further
    finally:
        over.set()
        for thread in threads:
            thread.join(120)


def _titles(there: Deployed) -> Counter[str]:
    """The number of times each document of this run is found, over all pages."""
    found: Counter[str] = Counter()
    with there.client(WEB, there.secret) as client:
        target = f"{there.documents}?_count=500"
        while target:
            page = client.get(target).raise_for_status().json()
            for entry in page.get("entry", ()):
                found[entry["resource"]["content"][0]["attachment"].get("title", "")] += 1
            target = next((link["url"] for link in page["link"] if link["relation"] == "next"), "")
            target = re.sub(r"^https?://[^/]+", "", target)
    return Counter({title: times for title, times in found.items() if re.fullmatch(r"Befund \d+", title)})


def _rows(there: Deployed) -> Iterator[Row]:
    """Calls, verdicts and documents; `failures` is what must not be."""
    failures = 0
    for name, seen in there.verdicts.items():
        wrong = sum(count for verdict, count in seen.items() if there.is_wrong(name, verdict))
        failures += wrong
        yield from row("calls", name, seen.total(), float(seen.total()))
        for verdict in seen.keys() - {RIGHT}:
            yield from row(verdict.replace(" ", "_"), name, seen.total(), float(seen[verdict]))
        yield from row("lost" if name.startswith("GET") else "answered_wrongly", name, seen.total(), float(wrong))
    for reason, count in REASONS.items():
        yield from row("refused_because", reason, count, float(count))
    titles = _titles(there)
    lost, twice = len(there.stored - titles.keys()), sum(times > 1 for times in titles.values())
    yield from row("lost", "documents", len(there.stored), float(lost)) + row("twice", "documents", len(titles), twice)
    yield from row("failures", "all", sum(seen.total() for seen in there.verdicts.values()), failures + lost + twice)


# --- measurements ---------------------------------------------------------------------------------------------------


def killed(catalog: Path, rounds: int, only: str | None) -> Iterator[Row]:
    """Each of the four servers (those whose name begins with `only`) is killed in turn and started again, so many
    rounds."""
    with deployed(catalog, gets_may_be_refused=False) as there:
        with loaded(there) as further:
            for _ in range(rounds):
                for server in (one for one in there.servers if one.name.startswith(only or "")):
                    further()
                    server.kill()
                    further()
                    server.start()
                    server.wait()
            further()
        yield from _rows(there)


def soaked(catalog: Path, minutes: float, every: float, warm_up: float) -> Iterator[Row]:
    """A fault every so many seconds, in turn: a server of each kind killed, one ended and one stopped for a while. The
    first of each kind is only ever stopped, so that its processes can be seen to grow: from their size after `warm_up`
    minutes of the same load and faults on, since a new process first loads what it needs."""
    with deployed(catalog, gets_may_be_refused=True) as there:
        steady = [server for server in there.servers if server.name.endswith("1")]
        failing = [server for server in there.servers if server.name.endswith("2")]
        faults = [(how, server) for how in (_killed, _ended) for server in failing]
        turns = itertools.cycle([*faults, *((_stopped, server) for server in steady)])
        done: Counter[str] = Counter()
        with loaded(there) as further:
            sizes: dict[str, list[float]] = {}
            for phase in (warm_up, minutes):
                further()
                sizes = {server.name: resident_mb(server.pid) for server in steady}
                until = time.monotonic() + 60 * phase
                while time.monotonic() < until:
                    began, (how, server) = time.monotonic(), next(turns)
                    how(server)
                    done[f"{how.__name__.strip('_')}: {server.name}"] += 1
                    time.sleep(max(0.0, min(every - (time.monotonic() - began), until - time.monotonic())))
            further()
            grown = {server.name: (sizes[server.name], resident_mb(server.pid)) for server in steady}
        for name, times in done.items():
            yield from row("faults", name, times, float(times))
        for name, (before, after) in grown.items():
            for number, (early, late) in enumerate(zip(before, after, strict=False), 1):
                yield from row("resident_mb", f"{name}, process {number}", 1, late)
                yield from row("grown_percent", f"{name}, process {number}", 1, 100 * (late / early - 1))
        yield from _rows(there)


def _killed(server: Server) -> None:
    server.kill()
    server.start()
    server.wait()


def _ended(server: Server) -> None:
    """As an operator restarts it."""
    server.journal.note(f"{server.name} ended")
    if server.process:
        server.process.terminate()
        server.process.wait(60)
    server.start()
    server.wait()


def _stopped(server: Server) -> None:
    """As a machine that stands still: all its processes, for some seconds."""
    server.journal.note(f"{server.name} stopped")
    over_family(psutil.Process.suspend, server.pid)
    time.sleep(STOPPED_SECONDS)
    over_family(psutil.Process.resume, server.pid)
    server.journal.note(f"{server.name} goes on")
