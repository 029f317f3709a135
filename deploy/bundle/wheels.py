"""The wheels of a bundle: gathered, looked through for what is missing, and pinned by their hashes."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path
from zipfile import ZipFile

from packaging.requirements import Requirement
from packaging.tags import Tag
from packaging.utils import canonicalize_name, parse_wheel_filename
from packaging.version import Version

from clinical.errors import BefundError

ROOT = Path(__file__).resolve().parents[2]
EXTRAS = ("serve", "build", "webapp", "batch", "otel")
"""Extras that a bundle installs: both servers, the catalog builder, batch coding, traces. No notebooks, training or
tests."""
PIP = "pip==26.3"
"""The installer of the bundle, run from its wheel: the machine's own Python need not have pip."""
_GLIBC = re.compile(r"manylinux_(\d+)_(\d+)_")
_OLD_NAMES = {"manylinux2014": (2, 17), "manylinux2010": (2, 12), "manylinux1": (2, 5)}
"""glibc versions of the older platform tags (PEP 600)."""


class BundleError(BefundError):
    """A bundle cannot be made, or is not whole."""


def output_of(
    command: Sequence[str],
    failed: str,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    expected: str = "",
) -> str:
    """The output of a program. Raises BundleError, `failed` and its last lines, where it ends with another status."""
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BundleError(f"{failed}: {(done.stdout + done.stderr).strip()[-2_000:]}", expected)
    return done.stdout


@dataclass(frozen=True, slots=True)
class Wheel:
    """One wheel: its file, what it is, what it requires (PEP 508 lines) and where it runs."""

    file: Path
    name: str
    version: Version
    requires: tuple[Requirement, ...]
    tags: frozenset[Tag]

    @classmethod
    def read(cls, file: Path) -> Wheel:
        """From the file's name and its METADATA. Raises BundleError for a file that is no wheel."""
        try:
            name, version, _, tags = parse_wheel_filename(file.name)
            with ZipFile(file) as archive:
                inside = next(path for path in archive.namelist() if path.endswith(".dist-info/METADATA"))
                said = HeaderParser().parsestr(archive.read(inside).decode("utf-8"))
        except (ValueError, OSError, StopIteration) as error:
            raise BundleError(f"{file.name} is no wheel ({type(error).__name__})", "a wheel") from None
        requires = tuple(Requirement(line) for line in said.get_all("Requires-Dist") or ())
        return cls(file, name, version, requires, tags)

    @property
    def glibc(self) -> tuple[int, int]:
        """The C library it needs at least; (0, 0) where it has nothing compiled in it.

        Of several tags the oldest counts: each of them is a promise.
        """
        found = [bounds for tag in self.tags if (bounds := _glibc_of(tag.platform))]
        return min(found, default=(0, 0))


def _glibc_of(platform: str) -> tuple[int, int] | None:
    if match := _GLIBC.match(platform):
        return int(match[1]), int(match[2])
    return next((bounds for name, bounds in _OLD_NAMES.items() if platform.startswith(name)), None)


def gather(extras: Sequence[str], folder: Path) -> None:
    """Fill `folder` with the wheels of the project and of all it needs, at the versions of constraints.txt.

    The project's own is built from a copy of the checkout, so that nothing of an earlier build comes in. Raises
    BundleError with the last lines of pip.
    """
    with tempfile.TemporaryDirectory(prefix="befund-source-") as name:
        source = checkout(Path(name))
        needed = f"{source}[{','.join(extras)}]"
        _pip("wheel", "--quiet", "-c", str(ROOT / "constraints.txt"), "-w", str(folder), needed, PIP)
    require_loops(folder)


def require_loops(folder: Path) -> None:
    """Raises BundleError when the project's wheel was made without the compiled loops of the search."""
    for wheel in folder.glob("befund-*.whl"):
        with ZipFile(wheel) as archive:
            if not any(Path(name).name.startswith("_loops-") for name in archive.namelist()):
                raise BundleError(
                    f"{wheel.name} has no compiled loops", "a C compiler", "on Debian: apt-get install gcc libc6-dev"
                )


def gather_language_server(folder: Path, own: Path, packages: Sequence[str]) -> None:
    """The wheels of vLLM's own environment, many gigabytes, and the project's wheel beside them."""
    _pip("download", "--quiet", "--only-binary", ":all:", "-d", str(folder), *packages)
    shutil.copy2(own, folder)


def checkout(folder: Path) -> Path:
    """A copy of what is under version control, and of new files that git does not ignore, without what was built."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target)
    return folder


def _pip(*arguments: str) -> None:
    output_of([sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments], f"pip {arguments[0]} failed")


def wheels(folder: Path) -> list[Wheel]:
    """The wheels of a folder, by name."""
    return sorted((Wheel.read(file) for file in folder.glob("*.whl")), key=lambda wheel: wheel.name)


def needed(there: Sequence[Wheel], asked: Sequence[Requirement]) -> list[Wheel]:
    """The wheels that these requirements need, and those that they need in turn. Raises BundleError without one."""
    found, lacking = followed(there, asked)
    if lacking:
        raise BundleError(f"the bundle is not whole: {'; '.join(lacking)}")
    return [wheel for wheel in there if wheel.name in found]


def followed(there: Sequence[Wheel], asked: Sequence[Requirement]) -> tuple[set[str], list[str]]:
    """The names of the wheels that are needed, and a sentence for each requirement, asked for or of a wheel in the
    bundle, that none satisfies.

    pip installs a bundle without looking for dependencies (each file is named), so it is looked here. Extras that are
    asked of a package are followed; what is only needed on other systems is not. What the first release of this Python
    needs counts too: a bundle is for every 3.11, and redis asks for async-timeout before 3.11.3.
    """
    by_name = {canonicalize_name(wheel.name): wheel for wheel in there}
    open_ends = [("the bundle", requirement) for requirement in asked]
    seen: set[tuple[str, str]] = set()
    found, lacking = set(), []
    while open_ends:
        who, requirement = open_ends.pop()
        name = canonicalize_name(requirement.name)
        wheel = by_name.get(name)
        if wheel is None or not requirement.specifier.contains(wheel.version, prereleases=True):
            have = f"{wheel.version} is there" if wheel else "nothing is there"
            lacking.append(f"{who} needs {requirement}, {have}")
            continue
        found.add(wheel.name)
        for extra in ("", *requirement.extras):
            if (name, extra) not in seen:
                seen.add((name, extra))
                open_ends += [(wheel.name, need) for need in wheel.requires if _holds(need, extra)]
    return found, sorted(set(lacking))


def _holds(requirement: Requirement, extra: str) -> bool:
    """Return True when a requirement counts with this extra, for this Python or for the first release of it."""
    first = f"{sys.version_info.major}.{sys.version_info.minor}.0"
    return requirement.marker is None or any(
        requirement.marker.evaluate({"extra": extra, **version}) for version in ({}, {"python_full_version": first})
    )


def requirements(there: Sequence[Wheel]) -> str:
    """The lines of a requirements file in which each wheel is pinned by version and SHA-256."""
    return "".join(f"{wheel.name}=={wheel.version} --hash=sha256:{sha256(wheel.file)}\n" for wheel in there)


def sha256(file: Path) -> str:
    """Of the whole file, in hexadecimal."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
