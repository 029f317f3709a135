"""The workbench's stage: the webapp under gunicorn, before it a browser, behind it the real text API or a stand-in that
is slow, breaks off, is at its quota or dead."""

import asyncio
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from playwright.sync_api import Browser, Page, expect, sync_playwright
from sqlalchemy import create_engine, select, text

from bentos.api.app import create_app
from bentos.keys import KeyLimits, Keys
from bentos.keys.database import open_database
from clinical.contract import Arztbrief, Evidence, ExtractResponse, FieldState, ReviewNote, Usage
from clinical.reading.index import SearchIndex
from clinical.settings import Settings
from tests.serving import free_port, served, wait_until
from tests.webapp.browser import FLAGS, Visitor
from tests.webapp.conftest import SECRET, command, make_app, new_session
from tests.webapp.sso import live
from webapp.extensions import db as database
from webapp.models import User
from webapp.sessions import SESSION_COOKIE

TIER_1 = {
    "type": "partial", "layer": 1, "summary": "",
    "codes": [
        {"code": "I10.90", "description": "Essentielle Hypertonie", "confidence": "high", "reasoning": "", "score": 0,
         "evidence": {"start": 0, "end": 10}, "assertion": "present", "terminal": True, "pair": None,
         "probability": 0.97, "notes": [], "certainty": "G", "side": None, "missing": []},
    ],
    "mentions": [{"span": {"start": 0, "end": 10}, "claim": "present", "certainty": "G", "side": None,
                  "codes": ["I10.90"], "reason": None}],
}  # fmt: skip

NO_CODE = {"claim": "suspected", "certainty": "V", "side": None, "codes": [], "reason": "no-code-found"}

LETTER = "Patient: Max Muster\nMedikation: Ramipril 5 mg"
READ = ExtractResponse(
    document_type="arztbrief",
    data=Arztbrief(patient={"nachname": "Muster", "vorname": "Max"}, medikation=("Ramipril 5 mg",)),
    removed_by_grounding=("patient.ort: Hamburg", "medikation: 1"),
    model="stand-in", usage=Usage(tokens_in=1, tokens_out=1), processing_time_ms=1,
    evidence=(
        Evidence(path="patient.vorname", start=9, end=12, match="exact", support="label"),
        Evidence(path="patient.nachname", start=13, end=19, match="exact", support="label"),
        Evidence(path="medikation[0]", start=32, end=45, match="exact", support="block"),
    ),
    states=(
        FieldState(path="patient.ort", state="removed", value="Hamburg", words=("Hamburg",)),
        FieldState(path="medikation", state="removed", value="Ibuprofen 400 mg", words=("Ibuprofen", "400")),
        FieldState(path="diagnosen", state="denied"),
    ),
    review=(ReviewNote(path="patient.nachname", reason="Der Name steht auch in der Unterschrift."),),
    remarks=("Von zwei Listen wurde die letzte genommen.",),
).model_dump()  # fmt: skip

CODING_ONLY = ("paired", "listed", "over", "unsure")
"""Modes that concern the codes of a text; all else is the real API's."""


@dataclass
class Behind:
    """The text API behind the workbench: the real application, or misbehaviour by name."""

    real: Any
    mode: str = "real"
    answer: str = ""
    """The answer of the mode `given`."""
    open: int = 0
    begun: int = 0
    paths: list[str] = field(default_factory=list)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """ASGI: the start and the stop always concern the real one."""
        if scope["type"] == "lifespan":
            return await self.real(scope, receive, send)
        self.begun, self.open = self.begun + 1, self.open + 1
        try:
            other = scope["path"] != "/api/deep-research" and self.mode in CODING_ONLY
            real = self.mode == "real" or other
            await (self.real(scope, receive, send) if real else getattr(self, self.mode)(receive, send))
        finally:
            self.open -= 1
        return None

    async def slow(self, receive: Any, send: Any) -> None:
        """Tier 1 at once, then nothing until the client leaves."""
        await _begin(send)
        await _send(send, TIER_1)
        await _left(receive)

    async def silent(self, receive: Any, send: Any) -> None:
        """The stream begins, and nothing comes until the client leaves."""
        await _begin(send)
        await send({"type": "http.response.body", "body": b": ping\n\n", "more_body": True})
        await _left(receive)

    async def paired(self, receive: Any, send: Any) -> None:
        """Tier 1 with a dagger code and the asterisk code that belongs to it, then nothing until the client leaves."""
        await _begin(send)
        await _send(
            send, {**TIER_1, "codes": [{**TIER_1["codes"][0], "code": "E11.20", "pair": "N08.3"}], "mentions": []}
        )
        await _left(receive)

    async def listed(self, receive: Any, send: Any) -> None:
        """Tier 1 with both codes of a pair among its codes, as the rules of the classification order them."""
        both = [("E11.20", "N08.3"), ("N08.3", "E11.20")]
        await _begin(send)
        codes = [{**TIER_1["codes"][0], "code": code, "pair": pair} for code, pair in both]
        await _send(send, {**TIER_1, "codes": codes, "mentions": []})
        await _left(receive)

    async def over(self, receive: Any, send: Any) -> None:
        """Tier 1 with one code, and two above the limit: one with an entry of its own, one in the ledger alone."""
        above = {"claim": "suspected", "certainty": "V", "side": None, "reason": "über der Grenze von zehn Kodes"}
        mentions = [
            *TIER_1["mentions"],
            {**above, "span": {"start": 12, "end": 17}, "codes": ["M10.90"]},
            {**above, "span": {"start": 19, "end": 25}, "codes": ["J45.99"]},
        ]
        entry = {**TIER_1["codes"][0], "code": "M10.90", "description": "Gicht", "evidence": {"start": 12, "end": 17}}
        await _begin(send)
        await _send(send, {**TIER_1, "mentions": mentions, "beyond": [{**entry, "certainty": "V"}]})
        await _left(receive)

    async def unsure(self, receive: Any, send: Any) -> None:
        """Tier 1 with one code, and two mentions for which none was sure enough."""
        mentions = [
            *TIER_1["mentions"],
            {**NO_CODE, "span": {"start": 12, "end": 17}},
            {**NO_CODE, "span": {"start": 19, "end": 25}},
        ]
        await _begin(send)
        await _send(send, {**TIER_1, "mentions": mentions})
        await _left(receive)

    async def broken(self, receive: Any, send: Any) -> None:
        """Tier 1, then the stream ends as if the process had died."""
        await _begin(send)
        await _send(send, TIER_1)
        await send({"type": "http.response.body", "body": b'data: {"ty', "more_body": False})

    async def quota(self, receive: Any, send: Any) -> None:
        """429 with the time after which to try again."""
        await _begin(send, 429, (b"retry-after", b"17"))
        await send({"type": "http.response.body", "body": b'{"title": "geheim"}'})

    async def lying(self, receive: Any, send: Any) -> None:
        """A letter read by a model that invents: a value removed, one that may belong elsewhere."""
        await _begin(send)
        await send({"type": "http.response.body", "body": json.dumps(READ).encode()})

    async def given(self, receive: Any, send: Any) -> None:
        """The answer of a text API of another version."""
        await _begin(send)
        await send({"type": "http.response.body", "body": self.answer.encode()})

    async def unusable(self, receive: Any, send: Any) -> None:
        """502: the model gave nothing usable."""
        await _begin(send, 502)
        await send({"type": "http.response.body", "body": b"{}"})

    async def dead(self, receive: Any, send: Any) -> None:
        """The connection is cut before any answer."""
        raise ConnectionResetError


async def _begin(send: Any, status: int = 200, *headers: tuple[bytes, bytes]) -> None:
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [(b"content-type", b"text/event-stream"), *headers],
        }
    )


async def _send(send: Any, event: dict[str, Any]) -> None:
    await send({"type": "http.response.body", "body": f"data: {json.dumps(event)}\n\n".encode(), "more_body": True})


async def _left(receive: Any) -> None:
    async with asyncio.timeout(60):
        while (await receive())["type"] != "http.disconnect":
            pass


@dataclass
class Bench:
    """The webapp's URL, its application for preparing data, its folder with the log, and the API behind it."""

    base: str
    app: Flask
    folder: Path
    behind: Behind

    @property
    def log(self) -> str:
        """Everything the webapp has logged, at debug."""
        return (self.folder / "webapp.log").read_text("utf-8", "replace")


@contextmanager
def text_api(index: SearchIndex, folder: Path) -> Iterator[tuple[str, str, Behind]]:
    """URL, key and switch of a text API around the starter catalog that answers by rules."""
    settings = Settings(_env_file=None, llm="rules", api_database_url=f"sqlite:///{folder / 'api.sqlite'}")
    key = Keys(open_database(settings.api_database_url)).create("workbench", KeyLimits(0, 0))
    real = create_app(settings, index)
    behind = Behind(real)
    with served(behind) as url:
        wait_until(lambda: real.state.keys is not None, "the key store did not open")
        yield url, key, behind


@pytest.fixture(scope="session")
def bench_of_the_run(
    tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path, index: SearchIndex, starter_artifact: Path
) -> Iterator[Bench]:
    """One for all tests of the workbench. `CATALOG=folder` takes another artifact, to measure with the full catalog."""
    artifact = Path(os.environ.get("CATALOG") or starter_artifact)
    index = index if artifact == starter_artifact else SearchIndex.load(artifact)
    if not live.chromium():
        pytest.skip("Chromium is not installed (apt-get install chromium)")
    folder = tmp_path_factory.mktemp("bench")
    (folder / "webapp.sqlite3").write_bytes(sqlite_template.read_bytes())
    url, port = f"sqlite:///{folder / 'webapp.sqlite3'}", free_port()
    with text_api(index, folder) as (api, key, behind):
        app = make_app(url, folder, web_port=port)
        command(app, "demo")
        given = {
            "BEFUND_WORKBENCH_API_URL": api,
            "BEFUND_WORKBENCH_API_KEY": key,
            "BEFUND_CATALOG": str(artifact),
        }
        with live.webapp(port, url, folder, BEFUND_SECRET_KEY=SECRET, WEB_CONCURRENCY="1", **given) as base:
            yield Bench(base, app, folder, behind)
        app.extensions["befund_engine"].dispose()


@pytest.fixture
def bench(bench_of_the_run: Bench) -> Bench:
    """The bench with the real API behind it."""
    bench_of_the_run.behind.mode = "real"
    return bench_of_the_run


@pytest.fixture(scope="module")
def chromium(bench_of_the_run: Bench) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=live.chromium(), args=list(FLAGS))
        yield browser
        browser.close()


def member(chromium: Browser, bench: Bench, **options: Any) -> Visitor:
    """Erika, who is an operator there: signed in through the demo vendor the first time, with a session of her own from
    then on."""
    someone = Visitor(chromium, bench, **options)  # type: ignore[arg-type] # it has what a visitor needs of a stage
    with bench.app.app_context():
        erika = database.session.scalar(select(User.id).where(User.email_key == "erika@example.org"))
    if erika:
        value = new_session(bench.app, erika)
        someone.context.add_cookies([{"name": SESSION_COOKIE, "value": value, "url": bench.base}])
        return someone
    page = someone.open("/accounts/vendor_oauth2/login/?provider_id=demo")
    page.locator('button[value="erika"]').click()
    page.wait_for_url(f"{bench.base}/accounts/")
    return someone


@pytest.fixture
def erika(chromium: Browser, bench: Bench) -> Iterator[Visitor]:
    someone = member(chromium, bench, permissions=["clipboard-read", "clipboard-write"])
    yield someone
    someone.context.close()
    assert [words for words in someone.complaints if "Content Security Policy" in words] == []


def rows(url: str, table: str) -> list[str]:
    """Every row of a table as text, for the search for a canary."""
    engine = create_engine(url)
    with engine.connect() as connection:
        found = [str(tuple(row)) for row in connection.execute(text(f"SELECT * FROM {table}"))]
    engine.dispose()
    return found


def typed(page: Page, words: str) -> None:
    """Put words into the text box as a person who pastes."""
    page.locator("#text").fill(words)


def selected(page: Page, words: str) -> None:
    """Select words of the text, as a mouse does."""
    page.locator("#text").focus()
    page.evaluate(
        """words => { const box = document.getElementById("text"), at = box.value.indexOf(words);
                      box.setSelectionRange(at, at + words.length); }""",
        words,
    )
    page.locator("#text").dispatch_event("keyup")


@pytest.fixture
def page(erika: Visitor) -> Page:
    """The page "Kodieren" before Erika."""
    return erika.open("/coding/")


def finished(page: Page) -> None:
    """All tiers have answered."""
    expect(page.locator("#count")).to_contain_text("Stufe 3", timeout=20_000)


def coded(page: Page, words: str, *keys: str) -> None:
    """A text that is pasted over what was there, all its tiers, and keys pressed from the first code on."""
    typed(page, words)
    finished(page)
    page.keyboard.press("Control+Enter")
    for key in keys:
        page.keyboard.press(key)


def saved(page: Page, name: str) -> str:
    """The file that the button of that name downloads."""
    with page.expect_download() as caught:
        page.get_by_role("button", name=name, exact=True).click()
    return Path(caught.value.path()).read_text("utf-8")


def nothing_left(erika: Visitor, bench: Bench, page: Page, addresses: list[str], canary: str) -> None:
    """No store of the browser, address, log or row of the database holds the canary."""
    stored = page.evaluate(
        """async () => JSON.stringify([{...localStorage}, {...sessionStorage}, await indexedDB.databases(),
                                       await caches.keys(), document.cookie, history.state])"""
    )
    state, url = json.dumps(erika.context.storage_state()), bench.app.config["BEFUND"].database_url
    database = "".join(line for table in ("browser_session", "audit_event") for line in rows(url, table))
    assert len(addresses) > 0
    for where in (stored, state, page.url, *addresses, bench.log, database):
        assert canary not in where
