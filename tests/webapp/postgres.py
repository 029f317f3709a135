"""A PostgreSQL server of the system's package for one test run: own folder, own port, stopped at the end."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.serving import free_port

BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))


def missing() -> str:
    """Why no server can be started here; empty when it can."""
    if not BINARIES:
        return "PostgreSQL is not installed (apt-get install postgresql)"
    if os.getuid() == 0 and shutil.which("runuser") is None:
        return "PostgreSQL refuses to run as root and there is no runuser"
    return ""


@contextmanager
def running_postgres() -> Iterator[str]:
    """Yields the URL of the server, without a database name: `postgresql://postgres@127.0.0.1:PORT`."""
    folder = Path(tempfile.mkdtemp(prefix="befund-pg-"))
    port = free_port()
    if os.getuid() == 0:
        shutil.chown(folder, "postgres")
    try:
        _call(folder, "initdb", "-D", str(folder / "data"), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C")
        options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=200"
        _call(folder, "pg_ctl", "-D", str(folder / "data"), "-l", str(folder / "log"), "-o", options, "-w", "start")
        yield f"postgresql://postgres@127.0.0.1:{port}"
    finally:
        _call(folder, "pg_ctl", "-D", str(folder / "data"), "-m", "immediate", "-w", "stop", check=False)
        shutil.rmtree(folder, ignore_errors=True)


def _call(folder: Path, program: str, *arguments: str, check: bool = True) -> None:
    command = [str(BINARIES[-1] / program), *arguments]
    if os.getuid() == 0 and pwd.getpwnam("postgres"):
        command = ["runuser", "-u", "postgres", "--", *command]
    # Output goes to a file: a server that inherits a pipe would keep it open and the call would never end.
    with open(folder.with_suffix(".out"), "w+") as output:
        done = subprocess.run(command, cwd="/", stdout=output, stderr=subprocess.STDOUT, timeout=120, check=False)
        output.seek(0)
        said = output.read()
    folder.with_suffix(".out").unlink(missing_ok=True)
    if check and done.returncode:
        raise RuntimeError(f"{program} failed: {said[-2000:]}")
