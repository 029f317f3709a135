"""python -m deploy.bundle.trial BUNDLE: install a bundle in an empty environment with the network off, and use it.

The bundle is installed by its own install.sh into an empty folder, by a process of a network namespace of its own in
which there is nothing but loopback; where a namespace is not allowed, pip is pointed at a closed port instead, and the
output says so. Then the text API starts from what was installed and codes a text with the bundle's catalog, and the
webapp starts and answers. Prints the seconds of each; nothing is left behind.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import click
import httpx2

from clinical.command_line import PATH, entry, paragraphs
from deploy.bundle.wheels import BundleError
from evals.load.servers import answers, free_port, running

INSIDE = "_BEFUND_TRIAL_INSIDE"
TEXT, CODE = "Arterielle Hypertonie", "I10"
CLOSED = "http://127.0.0.1:9"
IFF_UP, SIOCGIFFLAGS, SIOCSIFFLAGS = 0x1, 0x8913, 0x8914
"""Linux, netdevice(7)."""


@click.command(help=paragraphs(__doc__))
@click.argument("folder", metavar="BUNDLE", type=PATH)
def command(folder: Path) -> int:
    """Try the bundle; 0 when all of it worked."""
    if INSIDE not in os.environ:
        return _inside(folder.resolve())
    off = os.environ[INSIDE] == "off"
    if off:
        _loopback_up()
        _require_no_network()
    click.echo("network: " + ("off" if off else "no namespace of its own is allowed, so the index is a closed port"))
    with tempfile.TemporaryDirectory(prefix="befund-trial-") as name:
        _try(folder, Path(name))
    return 0


def _inside(folder: Path) -> int:
    """This command again, where there is no network."""
    again = [sys.executable, "-m", "deploy.bundle.trial", str(folder)]
    unshare = shutil.which("unshare")
    options = ["--net"] if os.geteuid() == 0 else ["--map-root-user", "--net"]
    allowed = unshare and subprocess.run([unshare, *options, "true"], capture_output=True, check=False).returncode == 0
    command = [str(unshare), *options, *again] if allowed else again
    environment = {**os.environ, INSIDE: "off" if allowed else "closed"}
    return subprocess.run(command, env=environment, check=False).returncode


def _loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        wanted = struct.pack("16sH14s", b"lo", 0, b"")
        flags = struct.unpack("16sH14s", fcntl.ioctl(any_socket, SIOCGIFFLAGS, wanted))[1]
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14s", b"lo", flags | IFF_UP, b""))


def _require_no_network() -> None:
    names = {name for _, name in socket.if_nameindex()}
    with suppress(OSError), socket.create_connection(("192.0.2.1", 443), timeout=1):  # TEST-NET-1, RFC 5737
        names.add("a way out")
    if names != {"lo"}:
        raise BundleError(f"the network is not off: {', '.join(sorted(names))}", "loopback alone")


def _environment(home: Path) -> dict[str, str]:
    """As an empty machine has it, and an index that cannot be reached."""
    kept = {name: os.environ[name] for name in ("LANG", "PATH", "TMPDIR") if name in os.environ}
    shut = {"http_proxy": CLOSED, "https_proxy": CLOSED, "no_proxy": "127.0.0.1", "PIP_INDEX_URL": CLOSED}
    return {**kept, **shut, "HOME": str(home), "BEFUND_VAR": str(home / "var"), "BEFUND_ENV": "development"}


def _try(folder: Path, home: Path) -> None:
    target, environment = home / "befund", _environment(home)
    began = time.perf_counter()
    _run([str(folder / "install.sh"), str(target)], home, environment | {"PYTHON": sys.executable})
    installed = time.perf_counter() - began
    python, api, web = str(target / ".venv" / "bin" / "python"), free_port(), free_port()
    environment |= {"BEFUND_CATALOG": str(target / "catalog"), "BEFUND_API_PORT": str(api)}
    environment |= {"BEFUND_WEB_PORT": str(web)}
    key = _run([python, "-m", "bentos", "keys", "create", "--name", "trial"], home, environment).split()[-1]
    serve = partial(running, environment=environment, folder=home, log=home / "server.log")
    with serve([python, "-m", "bentos", "serve"], lambda: answers(f"http://127.0.0.1:{api}/internal/readyz")):
        answer = _coded(api, key)
        coded = time.perf_counter() - began
    if CODE not in answer:
        raise BundleError(f"the text API gave no {CODE} for {TEXT!r}", "the code", answer[-500:])
    _run([python, "-m", "flask", "--app", "webapp", "db", "upgrade"], home, environment)
    with serve([python, "-m", "webapp", "serve"], lambda: answers(f"http://127.0.0.1:{web}/accounts/login/")):
        click.echo(f"installed after {installed:.1f} s, first text coded after {coded:.1f} s; the webapp answers")


def _run(command: list[str], home: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BundleError(f"{' '.join(command[-4:])} ended with {done.returncode}: {done.stderr.strip()[-2_000:]}")
    return done.stdout


def _coded(port: int, key: str) -> str:
    """The stream of events for the text, whole."""
    url, headers = f"http://127.0.0.1:{port}/api/deep-research", {"Authorization": f"Bearer {key}"}
    return httpx2.post(url, json={"query": TEXT}, headers=headers, timeout=30, trust_env=False).raise_for_status().text


main = entry(command, "python -m deploy.bundle.trial")

if __name__ == "__main__":
    sys.exit(main(None))
