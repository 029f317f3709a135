"""docs/production.md, gone through as it stands: its commands in their order, and what it says one sees.

On a host of its own (`tests.system.empty_host`) with real systemd, PostgreSQL, Redis and nginx with TLS, without a
network. The bundle is made of what is installed here, or is the one that BEFUND_BUNDLE names; `pytest -s` shows the
seconds of each step.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from deploy.bundle import assembly, wheels
from tests import docs
from tests.conftest import ROOT, stay_out
from tests.system import empty_host
from tests.system.packed import needed, own_wheel, packed

PAGE = ROOT / "docs" / "production.md"
PROGRAMS = ("nginx", "redis-server", "logrotate", "openssl", "curl", "pg_createcluster", "dpkg-query")
LETTER = "first coded letter"


def _bundle(folder: Path, catalog: Path) -> Path:
    """As `make bundle` makes it, but for the Bentos and the site, which this page does not need."""
    (folder / "wheels").mkdir(parents=True)
    own_wheel(folder.with_name("source"), folder / "wheels")
    for name in {*needed(wheels.EXTRAS), "pip"}:
        packed(name, folder / "wheels")
    shutil.copytree(catalog, folder / "catalog")
    assembly.copy_files(folder)
    assembly.seal(folder, [Requirement(f"befund[{','.join(wheels.EXTRAS)}]")])
    return folder


def _python() -> dict[str, str]:
    """Nothing where the host's own Python fits the wheels; else the one of these tests, when services can reach it."""
    wanted = f"python{sys.version_info.major}.{sys.version_info.minor}"
    if shutil.which(wanted, path=empty_host.PATH):
        return {}
    here = Path(sys.base_prefix) / "bin" / wanted
    if here.is_relative_to("/root") or here.is_relative_to("/home") or here.is_relative_to(ROOT):
        pytest.skip(f"there is no {wanted} outside the homes, which the units do not see")
    return {"PYTHON": str(here)}


@pytest.mark.timeout(1_500)
def test_the_page_leads_from_an_empty_host_to_coded_letters_and_through_the_rotation_of_keys(
    tmp_path: Path, starter_artifact: Path
) -> None:
    lacking = [name for name in PROGRAMS if not shutil.which(name, path=empty_host.PATH)]
    if lacking:
        stay_out(f"not installed: {', '.join(lacking)}")
    if why := empty_host.missing():
        pytest.skip(why)
    python = _python()
    named = os.environ.get("BEFUND_BUNDLE")
    bundle = Path(named).resolve() if named else _bundle(tmp_path / "bundle", starter_artifact)
    (tmp_path / "host").mkdir()
    with empty_host.empty_host(bundle, tmp_path / "host", python) as host:
        began = time.perf_counter()
        print(f"\n{'seconds':>8}  step")
        for step in docs.steps(PAGE):
            done = host.shell(step.commands)
            print(f"{time.perf_counter() - began:8.1f}  {step.heading}")
            if done.returncode:
                said = host.shell("journalctl --no-pager --lines 60").stdout
                pytest.fail(f"{step.heading} ended with {done.returncode}:\n{done.stdout}\n{said}", pytrace=False)
            unseen = step.unseen(done.stdout)
            assert not unseen, f"{step.heading} did not show {unseen!r}:\n{done.stdout}"


def test_the_page_is_ordered_and_a_line_that_is_not_seen_is_missed() -> None:
    steps = docs.steps(PAGE)
    numbers = [int(step.heading.partition(".")[0]) for step in steps]
    assert numbers == sorted(numbers)
    assert set(numbers) == set(range(1, 21))
    assert any(LETTER in step.heading for step in steps)
    step = docs.Step("1.", "", ("a: ... ok", "b"))
    assert step.unseen("a: is ok\nb") == ""
    assert step.unseen("b\na: is ok") == "b"
    assert step.unseen("a: is not\nok b") == "a: ... ok"
