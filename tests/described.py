"""Calls made from the text API's OpenAPI document, by schemathesis, against the running server: is all described?

    python -m tests.described --catalog var/catalog --calls 5000

prints the number of calls, of answers 5xx, and of those that the document does not describe. Fixed rules stand in for a
language model. Not judged is whether a body that fits its schema is accepted: no schema says that a file is readable,
that a year is loaded, or that the caller asked to be strict.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import httpx2
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bentos.api.app import create_app
from bentos.keys import KeyLimits, Keys, open_database
from clinical.reading import SearchIndex
from clinical.settings import Settings
from tests.serving import served, wait_until

CHECKS = (
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance",
    "response_schema_conformance", "negative_data_rejection", "missing_required_header", "unsupported_method",
    "ignored_auth",
)  # fmt: skip
ROOT = Path(__file__).resolve().parents[1]
LONGEST_S = 900


class Answered(NamedTuple):
    """Calls made, answers 5xx among them, and what schemathesis says; `fine` is its verdict."""

    calls: int
    server_errors: int
    fine: bool
    said: str


class Counting:
    """An application, and how often it answered with each status."""

    def __init__(self, app: ASGIApp) -> None:
        self.app, self.statuses = app, Counter[int]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the call on."""

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.statuses[message["status"]] += 1
            await send(message)

        await self.app(scope, receive, sent)


def described(index: SearchIndex, folder: Path, calls: int, seed: int = 1) -> Answered:
    """At least `calls` calls, of every operation and kind; `folder`: for the keys and what schemathesis writes."""
    settings = Settings(_env_file=None, api_database_url=f"sqlite:///{folder / 'api.sqlite'}", llm="rules")
    key = Keys(open_database(settings.api_database_url)).create("schemathesis", KeyLimits(0, 0))
    app = create_app(settings, index)
    counting = Counting(app)
    said, fine = "", True
    with served(counting) as base:
        wait_until(lambda: app.state.keys is not None, "the key store did not open")
        most = max(1, calls // 40)
        while fine and counting.statuses.total() < calls:
            done = _run(base, key, folder, most, seed)
            said, fine, seed = done.stdout + done.stderr, done.returncode == 0, seed + 1
        httpx2.get(f"{base}/api/health", trust_env=False).raise_for_status()
    errors = sum(number for status, number in counting.statuses.items() if status >= 500)
    return Answered(counting.statuses.total(), errors, fine, said)


def _run(base: str, key: str, folder: Path, most: int, seed: int) -> subprocess.CompletedProcess[str]:
    program = str(Path(sys.executable).with_name("schemathesis"))
    command = [program, "run", f"{base}/openapi.json", "--header", f"Authorization: Bearer {key}"]
    command += ["--checks", ",".join(CHECKS), "--phases", "coverage,fuzzing", "--max-examples", str(most)]
    command += ["--seed", str(seed), "--request-timeout", "60", "--suppress-health-check", "all", "--warnings", "off"]
    command += ["--continue-on-failure", "--generation-database", "none", "--no-color"]
    environment = {
        **os.environ,
        "SCHEMATHESIS_HOOKS": "tests.described_lines",
        "PYTHONPATH": str(ROOT),
        "NO_PROXY": "*",
    }
    return subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, timeout=LONGEST_S, check=False
    )


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.described")
    parser.add_argument("--catalog", type=Path, required=True)
    parser.add_argument("--calls", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = described(SearchIndex.load(given.catalog), Path(folder), given.calls, given.seed)
    undocumented = len(re.findall(r"^- ST\d+ ", found.said, re.MULTILINE))
    if not found.fine:
        print(found.said)
    print(f"calls {found.calls}, 5xx {found.server_errors}, undocumented answers {undocumented}, fine {found.fine}")
    sys.exit(not found.fine)


if __name__ == "__main__":
    main()
