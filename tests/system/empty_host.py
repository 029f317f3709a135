"""A Debian host of its own: a copy-on-write view of this system under a real systemd, with no network but loopback.

Namespaces make it: whatever is installed, started, written or enabled there is gone with it, and nothing of this
machine is changed. It wants root, overlayfs and cgroup v2; `missing` says what of that is not there.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.conftest import ROOT

SYSTEMD = Path("/lib/systemd/systemd")
ALONE = ("unshare", "--mount", "--pid", "--net", "--uts", "--ipc", "--cgroup", "--fork", "--kill-child")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
START_SECONDS, STEP_SECONDS = 60.0, 600.0
BOOT = """
set -eu
place=$1 medium=$2 hidden=$3
mount -t tmpfs -o mode=755 befund "$place"
mkdir "$place/upper" "$place/work" "$place/root"
mount -t overlay befund -o "lowerdir=/,upperdir=$place/upper,workdir=$place/work" "$place/root"
cd "$place/root"
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
for folder in run tmp "${hidden#/}"; do mount -t tmpfs -o mode=1777 befund "$folder"; done
mount -t tmpfs -o mode=755 befund dev
for device in null zero full random urandom tty; do touch dev/$device; mount --bind /dev/$device dev/$device; done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
mount -t tmpfs -o mode=1777 befund dev/shm
ln -s pts/ptmx dev/ptmx
for pair in fd:fd stdin:fd/0 stdout:fd/1 stderr:fd/2; do ln -s "/proc/self/${pair#*:}" "dev/${pair%:*}"; done
mkdir -p media/befund opt
mount --bind "$medium/bundle" media/befund
mount --bind "$medium/opt" opt
# As after the installation of the packages, whatever was done with them on this machine.
rm -rf etc/befund var/lib/befund var/backups/befund var/log/befund usr/local/bin/befund
rm -rf etc/postgresql var/lib/postgresql var/lib/apt/lists/*
rm -rf etc/systemd/system/befund* etc/systemd/system/*.wants etc/logrotate.d/befund
mkdir .before
pivot_root . .before
umount -l .before
rmdir .before
userdel befund 2>/dev/null || true
install -d -o postgres -g postgres /etc/postgresql /var/lib/postgresql
LC_ALL=C.UTF-8 pg_createcluster "$(ls /usr/lib/postgresql | sort -n | tail -1)" main >/dev/null
hostname befund-host
exec env -i container=befund "PATH=$PATH" /lib/systemd/systemd --system --unit=basic.target --log-target=null </dev/null
"""


def missing() -> str:
    """The reason that no such host can be made here; empty when it can."""
    if os.geteuid() != 0:
        return "a host of its own is made by root"
    if not SYSTEMD.is_file() or shutil.which("unshare") is None or shutil.which("nsenter") is None:
        return "systemd and util-linux are not installed"
    if _cgroups() is None:
        return "there is no cgroup v2 that may be written"
    with tempfile.TemporaryDirectory() as folder:
        tried = f"mount -t tmpfs t {folder} && mkdir {folder}/u {folder}/w {folder}/m && mount -t overlay o -o"
        tried += f" lowerdir=/,upperdir={folder}/u,workdir={folder}/w {folder}/m"
        done = subprocess.run([*ALONE, "sh", "-c", tried], capture_output=True, text=True, check=False)
    return f"no namespace with an overlay may be made here: {done.stderr.strip()}" if done.returncode else ""


def _cgroups() -> Path | None:
    """This process's own place in cgroup v2, where it may make others below it."""
    mounts = [line.split() for line in Path("/proc/mounts").read_text("utf-8").splitlines()]
    mounted = next((Path(fields[1]) for fields in mounts if fields[2] == "cgroup2"), None)
    lines = Path("/proc/self/cgroup").read_text("utf-8").splitlines()
    own = next((line.removeprefix("0::/") for line in lines if line.startswith("0::/")), None)
    if mounted is None or own is None or not (place := mounted / own).is_dir() or not os.access(place, os.W_OK):
        return None
    return place


class Host:
    """The host that runs; `first` is the process id of its systemd as seen from here."""

    def __init__(self, first: int, environment: Mapping[str, str]) -> None:
        self.first = first
        self._environment = {"PATH": PATH, "HOME": "/root", "LANG": "C.UTF-8", "TERM": "dumb", **environment}

    def shell(self, commands: str, seconds: float = STEP_SECONDS) -> subprocess.CompletedProcess[str]:
        """The commands in a root shell that ends at the first one that fails; what they print is in `stdout`."""
        enter = ["nsenter", "--target", str(self.first), "--mount", "--pid", "--net", "--uts", "--ipc", "--cgroup"]
        given = [f"{name}={value}" for name, value in self._environment.items()]
        command = [*enter, "env", "-i", *given, "bash", "-euo", "pipefail", "-c", f"cd /root\n{commands}"]
        return subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=seconds, check=False,
        )  # fmt: skip

    def settled(self) -> bool:
        """Return True when systemd has started all that belongs to `basic.target`."""
        return self.shell("systemctl is-active basic.target", 30).stdout.strip() == "active"


@contextmanager
def empty_host(bundle: Path, folder: Path, environment: Mapping[str, str] | None = None) -> Iterator[Host]:
    """A host with the bundle at /media/befund; `folder` is there already and holds what is installed into /opt."""
    medium, place = folder / "medium", folder / "place"
    for name in (medium / "bundle", medium / "opt", place):
        name.mkdir(parents=True)
    subprocess.run(["cp", "-al", f"{bundle}/.", str(medium / "bundle")], check=True)
    above = _cgroups()
    assert above is not None
    group = above / f"befund-host-{os.getpid()}"
    group.mkdir()
    boot = f"echo 0 > {group}/cgroup.procs\nexec {' '.join(ALONE)} sh -c '{BOOT}' boot \"$@\""
    with (folder / "boot.log").open("wb") as log:
        command = ["sh", "-c", boot, "boot", str(place), str(medium), str(ROOT)]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        host = Host(_first(process, folder / "boot.log"), environment or {})
        until = time.monotonic() + START_SECONDS
        while not host.settled():
            if process.poll() is not None or time.monotonic() > until:
                raise AssertionError(f"systemd did not start: {(folder / 'boot.log').read_text('utf-8', 'replace')}")
            time.sleep(0.1)
        yield host
    finally:
        for child in _children(process.pid):  # the first process of the namespace: all others end with it
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        process.kill()
        process.wait(30)
        _removed(group)


def _children(pid: int) -> list[int]:
    with suppress(OSError):
        return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text("utf-8").split()]
    return []


def _first(process: subprocess.Popen[bytes], log: Path) -> int:
    """The process id of systemd, as soon as it is one."""
    until = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < until:
        for child in _children(process.pid):
            with suppress(OSError):
                if Path(f"/proc/{child}/comm").read_text("utf-8").strip() == "systemd":
                    return child
        time.sleep(0.05)
    raise AssertionError(f"the host did not start: {log.read_text('utf-8', 'replace')}")


def _removed(group: Path) -> None:
    """Remove a cgroup and those below it, once their processes are gone."""
    until = time.monotonic() + 30
    while group.exists() and time.monotonic() < until:
        for inner in sorted(group.rglob("*"), key=lambda path: -len(path.parts)):
            if inner.is_dir():
                with suppress(OSError):
                    inner.rmdir()
        with suppress(OSError):
            group.rmdir()
        time.sleep(0.05)
