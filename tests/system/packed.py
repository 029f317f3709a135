"""A bundle made of what is installed here, without an index: each package is packed into the wheel it came from."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import distribution
from pathlib import Path
from zipfile import ZipFile

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from deploy.bundle import wheels
from tests.conftest import ROOT


def packed(name: str, folder: Path) -> None:
    """An installed package as the wheel it came from."""
    package = distribution(name)
    (tag,) = re.findall(r"^Tag: (\S+)$", package.read_text("WHEEL"), re.MULTILINE)[-1:]
    file = folder / f"{package.name.replace('-', '_')}-{package.version}-{tag}.whl"
    with ZipFile(file, "w") as archive:
        for inside in package.files:
            if ".." not in inside.parts and inside.suffix != ".pyc" and inside.name not in ("INSTALLER", "REQUESTED"):
                archive.write(inside.locate(), inside.as_posix())


def own_wheel(source: Path, folder: Path) -> None:
    """The project's own wheel, built here from a copy of the checkout in `source`, without a network."""
    wheels.checkout(source)
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*build, "-w", str(folder), str(source)], check=True, timeout=120)


def needed(extras: Iterable[str]) -> set[str]:
    """The names of all packages that the project needs with these extras, without itself."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lines = [*project["dependencies"], *(line for extra in extras for line in project["optional-dependencies"][extra])]
    asked, there = [Requirement(line) for line in lines], set()
    while asked:
        one = asked.pop()
        for extra in {"", *one.extras} if canonicalize_name(one.name) not in there or one.extras else ():
            needs = map(Requirement, distribution(one.name).requires or ())
            asked += [each for each in needs if not each.marker or each.marker.evaluate({"extra": extra})]
        there.add(canonicalize_name(one.name))
    return there
