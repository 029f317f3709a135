"""python -m evals sign-in [--json] [--sign-ins 300] [--seconds 10] [--limit 120] [--database URL]: sign-ins at once.

Two questions. Is anybody mixed up or lost when 24 people sign in at once over three vendors (`post`, `basic`, without
PKCE)? After every sign-in the account page must show the address of the person who signed in. And how many complete
sign-ins a second does our side manage: leaving, coming back, token, userinfo, account, session, audit trail?

The webapp runs under its own gunicorn settings; vendor and load generator share the machine with it. So the rate says
as much of the machine's other work as of ours; what does not is the processor's time of the webapp for one sign-in
(`cpu_ms`), and the rate that two cores would give with nothing else to do (`two_cores_give`). Each part ends after
`--limit` seconds with what it has, and says on standard error where it is.
"""

from __future__ import annotations

import asyncio
import json
import random
import secrets
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs, quote, urlsplit

import click
import psutil

from clinical.command_line import paragraphs
from evals.command import JSON, main_of
from evals.speed.servers import environment_with, flask, free_port, listens
from evals.speed.servers import running as start
from evals.speed.sign_in_vendor import make_code
from evals.wire import END_OF_HEAD, head_of, request_bytes

PROVIDERS = {
    "alpha": ["--auth-method", "post"],
    "beta": ["--auth-method", "basic", "--own-callback"],
    "gamma": ["--no-pkce", "--own-callback"],
}
WARM_UP = 48
SEED = 2026
CORES = 2


@dataclass(frozen=True, slots=True)
class Webapp:
    """The webapp under load: where it listens, and its first process."""

    port: int
    process: int

    def cpu_seconds(self) -> float:
        """Processor time of all its processes until now."""
        parent = psutil.Process(self.process)
        times = [one.cpu_times() for one in (parent, *parent.children(recursive=True))]
        return float(sum(spent.user + spent.system for spent in times))


@dataclass
class Tally:
    """What became of the sign-ins; `seconds` of each that succeeded."""

    lost: int = 0
    mixed_up: int = 0
    seconds: list[float] = field(default_factory=list)


class Browser:
    """One person: a kept-alive connection and a cookie jar."""

    def __init__(self, port: int, number: int) -> None:
        self.port, self.number = port, number
        self.cookies: dict[str, str] = {}
        self.reader: asyncio.StreamReader | None = None
        self.writer: asyncio.StreamWriter | None = None

    @property
    def email(self) -> str:
        """The address this person has at every vendor."""
        return f"person{self.number}@example.org"

    async def sign_in(self, provider: str) -> bool:
        """Leave, come back; whether it ended on the account page."""
        status, location, _ = await self.get(f"/accounts/vendor_oauth2/login/?provider_id={provider}")
        if status != 302:
            return False
        query = parse_qs(urlsplit(location).query)
        callback = urlsplit(query["redirect_uri"][0]).path
        claims = {"sub": f"{provider}-{self.number}", "email": self.email, "client": query["client_id"][0]}
        state = quote(query["state"][0])
        status, location, _ = await self.get(f"{callback}?code={make_code(claims)}&state={state}")
        return status == 302 and location == "/accounts/"

    async def shows_me(self) -> bool:
        """Whether the account page is this person's."""
        _, _, body = await self.get("/accounts/")
        return f">{self.email}<".encode() in body

    async def get(self, target: str) -> tuple[int, str, bytes]:
        """Status, Location and body. A connection the server closed while it was idle is opened again, once."""
        try:
            return await self._get(target)
        except (ConnectionError, asyncio.IncompleteReadError):
            self.writer = None
            return await self._get(target)

    async def _get(self, target: str) -> tuple[int, str, bytes]:
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        assert self.reader is not None  # noqa: S101 - opened together
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        self.writer.write(request_bytes(f"http://127.0.0.1:{self.port}{target}", {"Cookie": cookies}))
        head = head_of(await self.reader.readuntil(END_OF_HEAD))
        assert head is not None  # noqa: S101 - read to its end
        body = await self.reader.readexactly(int(head.get("content-length") or 0))
        for name, value in head.headers:
            if name == "set-cookie":
                self._keep(value)
        if head.get("connection").lower() == "close":
            self.writer.close()
            self.writer = None
        return head.status, head.get("location"), body

    def _keep(self, cookie: str) -> None:
        name, _, value = cookie.partition(";")[0].partition("=")
        if "Max-Age=0" in cookie:
            self.cookies.pop(name, None)
        else:
            self.cookies[name] = value


@click.command(help=paragraphs(__doc__))
@JSON
@click.option("--sign-ins", type=int, default=300, show_default=True, help="in the test for mix-ups")
@click.option("--people", type=int, default=24, show_default=True, help="at once")
@click.option("--seconds", type=float, default=10, show_default=True, help="of the speed test")
@click.option("--limit", type=float, default=120, show_default=True, help="seconds the test for mix-ups may take")
@click.option("--database", default="", help="URL of an empty database (default: SQLite in a temporary folder)")
def command(as_json: bool, sign_ins: int, people: int, seconds: float, limit: float, database: str) -> int:
    """Measure and print, as a table or as JSON; status 1 when somebody was mixed up or lost."""
    _say("a database and three vendors")
    with running(database) as webapp:
        result = asyncio.run(measure(webapp, sign_ins, people, seconds, limit))
    print(json.dumps(result) if as_json else "\n".join(f"{name:<24}{value}" for name, value in result.items()))
    return 1 if result["mixed_up"] or result["lost"] else 0


main = main_of(command, "sign-in")


async def measure(
    webapp: Webapp, sign_ins: int, people: int, seconds: float, limit: float
) -> dict[str, float]:  # fmt: skip
    """All numbers; times in milliseconds."""
    browsers = [Browser(webapp.port, number) for number in range(people)]
    _say(f"warming up; then {sign_ins} sign-ins that are looked at, in {limit:.0f} s at most")
    began = time.perf_counter()
    await crowd(browsers, WARM_UP, check=False, until=began + limit / 2)
    checked = await crowd(browsers, sign_ins, check=True, until=began + limit)
    _say(f"{len(checked.seconds)} looked at in {time.perf_counter() - began:.0f} s; now for {seconds:.0f} s without")
    began, spent_before = time.perf_counter(), webapp.cpu_seconds()
    speed = await crowd(browsers, 10**9, check=False, until=began + seconds)
    took, cpu = time.perf_counter() - began, webapp.cpu_seconds() - spent_before
    spent = sorted(speed.seconds) or [float("inf")]
    cpu_ms = 1000 * cpu / len(spent)
    return {
        "sign_ins": len(checked.seconds),
        "people": people,
        "mixed_up": checked.mixed_up,
        "lost": checked.lost + speed.lost,
        "sign_ins_per_second": round(len(speed.seconds) / took, 1),
        "p50_ms": round(spent[len(spent) // 2] * 1000, 1),
        "p99_ms": round(spent[int(len(spent) * 0.99)] * 1000, 1),
        "cpu_ms": round(cpu_ms, 2),
        "two_cores_give": round(CORES * 1000 / cpu_ms, 1),
    }


async def crowd(browsers: Sequence[Browser], total: int, *, check: bool, until: float = float("inf")) -> Tally:
    """All browsers sign in again and again, each at a vendor drawn by lot, until `total` are done or time is over."""
    tally, left, lot = Tally(), iter(range(total)), random.Random(SEED)  # noqa: S311 - which vendor, no secret

    async def one(browser: Browser) -> None:
        for _ in left:
            began = time.perf_counter()
            if began >= until:
                return
            if not await browser.sign_in(lot.choice(list(PROVIDERS))):
                tally.lost += 1
                continue
            tally.seconds.append(time.perf_counter() - began)
            if check and not await browser.shows_me():
                tally.mixed_up += 1

    await asyncio.gather(*(one(browser) for browser in browsers))
    return tally


@contextmanager
def running(database: str) -> Iterator[Webapp]:
    """The webapp with three vendors."""
    with tempfile.TemporaryDirectory(prefix="befund-sign-in-") as folder:
        port, vendor_port = free_port(), free_port()
        settings = {"ENV": "development", "VAR": folder, "SECRET_KEY": secrets.token_hex(24), "WEB_PORT": port}
        environment = environment_with(settings | ({"DATABASE_URL": database} if database else {}))
        flask(environment, "db", "upgrade")
        for provider, extra in PROVIDERS.items():
            base = f"http://127.0.0.1:{vendor_port}"
            urls = [f"--{kind}-url={base}/{kind}" for kind in ("authorization", "token", "userinfo")]
            given = ["--name", provider, "--client-id", f"client-{provider}", "--client-secret", secrets.token_hex(8)]
            flask(environment, "providers", "add", provider, *given, *urls, *extra)
        python = [sys.executable, "-m"]
        with (
            start(
                [*python, "evals.speed.sign_in_vendor", str(vendor_port)],
                lambda: listens(vendor_port),
                environment=environment,
            ),
            start([*python, "webapp", "serve"], lambda: listens(port), environment=environment) as process,
        ):
            yield Webapp(port, process.pid)


def _say(what: str) -> None:
    click.echo(f"sign-in: {what}", err=True)
