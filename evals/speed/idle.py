"""python -m evals idle [--json] [--clone]: what `make up` takes, in seconds until it greets and in memory at rest.

Memory is the proportional set size of every process (shared pages divided by those who share them, smaps_rollup of
Linux), summed for the text API, the webapp and the parents that started them. With `--clone` the whole way of a
newcomer is measured: `git clone` of this repository into an empty folder and `make up` in it; what pip loads comes from
its cache when that is warm. Without it the servers are started from here, with the catalog of the settings.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click
import psutil

from clinical.command_line import paragraphs
from clinical.settings import ROOT
from evals.command import JSON, main_of
from evals.speed.servers import NotStarted, free_port

GREETING = "Befund is up."
LONGEST_SECONDS = 900.0
REST_SECONDS = 3.0
"""At rest: after as long without a request."""
STOP_SECONDS = 30.0
MB = 1_000_000
PARTS = {"text API": "bentos.service:Befund", "webapp": "gunicorn"}


def measure(clone: bool) -> dict[str, float]:
    """Seconds and megabytes by name."""
    with tempfile.TemporaryDirectory(prefix="befund-idle-") as name:
        folder = Path(name)
        began = time.perf_counter()
        if clone:
            subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder / "clone")], check=True)
        command = ["make", "up"] if clone else [sys.executable, "-m", "bentos", "up"]
        environment = {**os.environ, "BEFUND_API_PORT": str(free_port()), "BEFUND_WEB_PORT": str(free_port())}
        environment |= {"BEFUND_ENV": "development", "BEFUND_VAR": str(folder / "var")}
        environment |= {} if clone else {"BEFUND_CATALOG": os.environ.get("BEFUND_CATALOG", str(ROOT / "var/catalog"))}
        environment.pop("VIRTUAL_ENV", None)
        place = folder / "clone" if clone else ROOT
        if clone:
            environment["BEFUND_VAR"] = str(place / "var")
        with open(folder / "log", "wb") as log:
            server = subprocess.Popen(command, cwd=place, env=environment, stdout=log, stderr=subprocess.STDOUT)
        try:
            _await(server, folder / "log")
            seconds = time.perf_counter() - began
            time.sleep(REST_SECONDS)
            return {"seconds to the greeting": round(seconds, 1), **_memory(server.pid)}
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(STOP_SECONDS)


def _await(server: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + LONGEST_SECONDS
    while GREETING not in (said := log.read_text("utf-8", "replace")):
        if server.poll() is not None or time.monotonic() > until:
            raise NotStarted("make up gave no greeting", "one", said[-1_000:])
        time.sleep(0.1)


def _memory(pid: int) -> dict[str, float]:
    """Megabytes of each part; a process belongs to the part that its command line, or a parent's, names."""
    sizes = dict.fromkeys((*PARTS, "parents"), 0.0)
    family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    for process in family:
        line = " ".join(process.cmdline())
        part = next((part for part, mark in PARTS.items() if mark in line), "parents")
        sizes[part] += process.memory_full_info().pss / MB
    rounded = {f"{part}, MB": round(size) for part, size in sizes.items()}
    return {**rounded, "together, MB": round(sum(sizes.values()))}


@click.command(help=paragraphs(__doc__))
@JSON
@click.option("--clone", is_flag=True, help="from `git clone` on")
def command(as_json: bool, clone: bool) -> None:
    """Print the table."""
    found = measure(clone)
    click.echo(json.dumps(found) if as_json else "\n".join(f"{name:<26}{value:>8}" for name, value in found.items()))


main = main_of(command, "idle")
