"""Papers that belong beside a bundle, and the step of `make test` that provides system parts."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from deploy.bundle.wheels import BundleError, requirements, wheels
from deploy.release.licences import exceptions, installed, licensed, page
from deploy.release.materials import materials, with_hashes
from deploy.release.upgrading import Changes, changes, note, section_of
from tests.conftest import ROOT
from tests.system.test_bundle import packed

CLICK = {"Name": "click", "Version": "8", "License": "BSD-3-Clause", "URL": "https://example.org"}
SILENT = {"Name": "Silent_One", "Version": "1", "License": "UNKNOWN", "URL": "UNKNOWN"}


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> tuple[Path, str]:
    """The Python of an environment with two packages, and the requirements that they came from."""
    folder = tmp_path_factory.mktemp("small")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "env"], check=True, timeout=60)
    (site,) = (folder / "env" / "lib").glob("python*/site-packages")
    for name in ("click", "python-dotenv"):
        packed(name, folder)
    for wheel in folder.glob("*.whl"):
        with ZipFile(wheel) as archive:
            archive.extractall(site)
    return folder / "env" / "bin" / "python", requirements(wheels(folder))


def test_the_bill_of_materials_names_every_package_with_version_licence_and_hash(small):
    python, pinned = small
    bill = materials(python, pinned)
    assert bill["bomFormat"] == "CycloneDX"
    assert bill["specVersion"] == "1.6"
    assert bill["metadata"]["component"]["name"] == "befund"
    named = {component["name"]: component for component in bill["components"]}
    assert set(named) == {"click", "python-dotenv"}
    for component in named.values():
        assert component["purl"] == f"pkg:pypi/{component['name']}@{component['version']}"
        assert component["licenses"]
        assert f"--hash=sha256:{component['hashes'][0]['content']}" in pinned


def test_what_was_not_in_the_bundle_is_no_material_of_it():
    bill = {"components": [{"name": "smuggled", "version": "1"}]}
    with pytest.raises(BundleError, match="installed and not in the bundle: smuggled 1"):
        with_hashes(bill, "click==8 --hash=sha256:" + "0" * 64)


def test_every_licence_is_known_or_named_with_a_reason(small):
    python, _ = small
    report = licensed(installed(python), {})
    assert {package.name: package.licence for package in report} == {
        "click": "BSD-3-Clause",
        "python-dotenv": "BSD-3-Clause",
    }
    with pytest.raises(BundleError, match="no licence is known of silent-one"):
        licensed([CLICK, SILENT], {})
    known = {"silent-one": {"licence": "MIT", "reason": "its LICENSE file"}}
    text = page(licensed([CLICK, SILENT], known))
    assert "| Silent_One | 1 | MIT | its LICENSE file |" in text
    assert "| click | 8 | BSD-3-Clause | its metadata |" in text
    with pytest.raises(BundleError, match="names silent-one without need"):
        licensed([CLICK], known)


def test_exceptions_have_a_licence_and_a_reason():
    assert exceptions()
    for name, said in exceptions().items():
        assert set(said) == {"licence", "reason"}, name
        assert all(said.values()), name


def test_the_upgrade_note_says_what_to_do_by_hand_and_which_tables_change():
    found = changes()
    text = note(found)
    names = [path.stem for path in sorted((ROOT / "webapp/migrations/versions").glob("0*.py"))]
    assert [name for name, _ in found.migrations] == names
    assert all(said for _, said in found.migrations)
    by_hand = text.partition("done by hand:")[2].partition("## The update")[0]
    for sentence in re.findall(r"\*\*(.+?)\*\*", found.section):
        assert sentence in by_hand
    assert "webapp backup" in text
    assert found.section in text


def test_the_note_since_a_version_holds_what_came_after_it():
    text = note(Changes("- **Do this.**", [("0002_b", "More")], ["NEW_NAME"], ["OLD_NAME"], "v1"))
    assert "from v1" in text
    assert "- Do this." in text
    assert "- new: `NEW_NAME`" in text
    assert "refused from now on: `OLD_NAME`" in text
    head = changes("HEAD")
    before = subprocess.run(["git", "show", "HEAD:.env.example"], cwd=ROOT, capture_output=True, text=True, check=True)
    there = (ROOT / ".env.example").read_text("utf-8")
    assert bool(head.settings or head.gone) <= (before.stdout != there)
    with pytest.raises(BundleError, match="a commit or tag"):
        changes("no-such-tag")


def test_a_version_has_its_section_and_else_what_is_not_released():
    log = "# Changelog\n\n## Unreleased\n\nnew\n\n## 1.0.0 - 2026-01-01\n\nold\n"
    assert section_of(log, "1.0.0") == "old"
    assert section_of(log, "1.1.0") == "new"
    with pytest.raises(BundleError, match="no section"):
        section_of("# Changelog\n", "1.0.0")


INSTALL = Path(__file__).with_name("install")


@pytest.fixture
def run(tmp_path):
    """The script with an empty PATH: no apt-get, no program to be found."""

    def run(**environment):
        clean = {name: value for name, value in os.environ.items() if name != "CI"}
        clean |= {"PATH": str(tmp_path), **environment}
        command = [sys.executable, str(INSTALL)]
        return subprocess.run(command, env=clean, capture_output=True, text=True, timeout=30, check=False)

    return run


def test_where_nothing_may_be_installed_the_line_to_run_is_said_and_the_suite_goes_on(run):
    done = run()
    assert done.returncode == 0, done.stderr
    assert "sudo apt-get install" in done.stdout
    assert "redis-server" in done.stdout
    assert "limits shared by workers" in done.stdout


def test_in_ci_nothing_may_stay_out(run):
    assert run(CI="true").returncode == 1
