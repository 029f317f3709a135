"""Real parts in processes of their own: the webapp under gunicorn, oidc-provider as the vendor. Each has a bounded life
and is stopped by its process id."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import psutil

from evals.load import servers
from tests.conftest import stay_out

ROOT = Path(__file__).resolve().parents[3]
NODE = ROOT / "tests" / "node"
CALLBACK = "/accounts/vendor_oauth2/login/callback/"
LONGEST_S = "5400"
"""As long as the longest run of the suite: parts that the session shares live from their first test to its end."""


def node_missing(package: str) -> str:
    """The reason that a part from npm cannot run; "" when it can."""
    if shutil.which("node") is None:
        return "Node.js is not installed (apt-get install nodejs npm)"
    if not (NODE / "node_modules" / package).is_dir():
        return f"{package} is not installed (npm ci --prefix tests/node)"
    return ""


def node(package: str, *arguments: str, seconds: int = 120) -> Any:
    """The JSON that the script of FHIR clients prints; the test stays out where the package is not installed."""
    if why := node_missing(package):
        stay_out(why)
    command = ["node", str(NODE / "fhir_clients.mjs"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    assert done.returncode == 0, done.stderr[-3_000:]
    return json.loads(done.stdout)


def chromium() -> str:
    """Path of the system's Chromium; "" when there is none."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome") or ""


@contextmanager
def running(command: Sequence[str], ready_url: str, log: Path, environ: dict[str, str] | None = None) -> Iterator[None]:
    """The command as a process, from its first answer at `ready_url` to the end of the block; output goes to `log`."""
    bounded = ["timeout", LONGEST_S, *command]
    with servers.running(bounded, lambda: _answers(ready_url), environment={**os.environ, **(environ or {})}, log=log):
        yield


def gunicorn(port: int) -> psutil.Process:
    """gunicorn's first process at a port, the only one with children that holds it; they are the ones that serve."""
    parents = (one for one in psutil.Process().children(recursive=True) if one.children())
    # the first: a worker behind it may have ended since
    return next(one for one in parents if any(held.laddr.port == port for held in one.net_connections(kind="tcp4")))


@contextmanager
def webapp(port: int, database_url: str, folder: Path, **environ: str) -> Iterator[str]:
    """The webapp in development mode on `port`; yields its base URL. Everything it logs, at DEBUG, is in webapp.log."""
    base = f"http://127.0.0.1:{port}"
    given = {
        "BEFUND_ENV": "development",
        "BEFUND_WEB_PORT": str(port),
        "BEFUND_DATABASE_URL": database_url,
        "BEFUND_VAR": str(folder),
        "WEB_CONCURRENCY": "2",
        "GUNICORN_CMD_ARGS": "--log-level debug --access-logfile -",
        **environ,
    }
    command = [sys.executable, "-m", "webapp", "serve"]
    with running(command, f"{base}/accounts/login/", folder / "webapp.log", given):
        yield base


@contextmanager
def oidc_provider(port: int, folder: Path, *webapps: str) -> Iterator[str]:
    """oidc-provider on `port`, with the callbacks of the webapps allowed; yields its issuer URL."""
    base = f"http://127.0.0.1:{port}"
    command = ["node", str(NODE / "vendor.mjs"), str(port), *(f"{webapp}{CALLBACK}" for webapp in webapps)]
    with running(command, f"{base}/.well-known/openid-configuration", folder / "vendor.log"):
        yield base


def _answers(url: str) -> bool:
    """Return True when there is any answer at all."""
    try:
        httpx2.get(url, timeout=2, verify=False)
    except httpx2.TransportError:
        return False
    return True
