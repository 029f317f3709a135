"""The shipped nginx configuration in front of a webapp of the tests: only its ports are replaced."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.serving import wait_until
from tests.webapp.sso import live

CONFIG = live.ROOT / "webapp" / "proxy.conf"


def program() -> str:
    """The path of nginx; the test is skipped where there is none."""
    found = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if not found:
        pytest.skip("nginx is not installed (apt-get install nginx-light)")
    return found


@contextmanager
def in_front_of(base: str, port: int, folder: Path, *more: str) -> Iterator[str]:
    """nginx on `port` before one or several servers, with all it writes under `folder`; its log is in nginx.log."""
    text, line = CONFIG.read_text("utf-8"), "server 127.0.0.1:5000 max_fails=0;"
    assert line in text
    addresses = [one.removeprefix("http://") for one in (base, *more)]
    text = text.replace(line, " ".join(line.replace("127.0.0.1:5000", address) for address in addresses))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "proxy.conf").write_text(text.replace("127.0.0.1:8080", f"127.0.0.1:{port}"), "utf-8")
    with (folder / "nginx.log").open("wb") as log:
        command = [program(), "-p", str(folder), "-c", "proxy.conf", "-g", "daemon off;"]
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            wait_until(lambda: (folder / "nginx.pid").exists() or process.poll() is not None, "nginx did not start")
            assert process.poll() is None, (folder / "nginx.log").read_text()
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(10)
