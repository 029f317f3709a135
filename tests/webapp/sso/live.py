"""Real parts in processes of their own: the webapp under gunicorn, oidc-provider as the vendor. Each has a bounded life
and is stopped by its process id."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import requests

ROOT = Path(__file__).resolve().parents[3]
NODE = ROOT / "tests" / "node"
CALLBACK = "/accounts/vendor_oauth2/login/callback/"
LONGEST_S = "600"


def node_missing(package: str) -> str:
    """Why a part from npm cannot run; "" when it can."""
    if shutil.which("node") is None:
        return "Node.js is not installed (apt-get install nodejs npm)"
    if not (NODE / "node_modules" / package).is_dir():
        return f"{package} is not installed (npm ci --prefix tests/node)"
    return ""


def chromium() -> str:
    """Path of the system's Chromium; "" when there is none."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome") or ""


@contextmanager
def running(command: Sequence[str], ready_url: str, log: Path, environ: dict[str, str] | None = None) -> Iterator[None]:
    """The command as a process, from its first answer at `ready_url` to the end of the block; output goes to `log`."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            ["timeout", LONGEST_S, *command], cwd=ROOT, stdout=output, stderr=subprocess.STDOUT,
            env={**os.environ, **(environ or {})},
        )  # fmt: skip
        try:
            _wait(ready_url, process, log)
            yield
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(10)


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


def _wait(url: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            requests.get(url, timeout=2)
            return
        except (requests.ConnectionError, requests.Timeout):
            if process.poll() is not None:
                break
            time.sleep(0.1)
    raise RuntimeError(f"no answer at {url}: {log.read_text(errors='replace')[-2000:]}")
