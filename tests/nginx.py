"""A shipped nginx configuration in front of servers of the tests: only its ports are replaced."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from evals.load.servers import free_port, listens, running
from tests.conftest import stay_out

ROOT = Path(__file__).resolve().parents[1]
LISTENS = {"bentos": 3000, "webapp": 8080}
"""The port of each shipped configuration, `proxy.conf` of the package."""


def program() -> str:
    """The path of nginx; the test stays out where there is none."""
    found = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if found is None:
        stay_out("nginx is not installed (apt-get install nginx-light)")
    return str(found)


@contextmanager
def in_front_of(package: str, servers: Mapping[int, Sequence[int]], folder: Path, port: int = 0) -> Iterator[str]:
    """nginx with a package's configuration before one or several servers for each port that it names; its address.

    All it writes lies under `folder`, its log in nginx.log.
    """
    port = port or free_port()
    text = (ROOT / package / "proxy.conf").read_text("utf-8")
    text = text.replace(f"listen 127.0.0.1:{LISTENS[package]}", f"listen 127.0.0.1:{port}")
    for shipped, own in servers.items():
        line = f"server 127.0.0.1:{shipped} max_fails=0;"
        assert line in text
        text = text.replace(line, " ".join(line.replace(str(shipped), str(one)) for one in own))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "proxy.conf").write_text(text, "utf-8")
    command = [program(), "-p", str(folder), "-c", "proxy.conf", "-g", "daemon off;"]
    with running(command, lambda: listens(port), log=folder / "nginx.log"):
        yield f"http://127.0.0.1:{port}"
