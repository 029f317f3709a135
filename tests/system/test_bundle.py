"""A bundle is installed by its own script with nothing to be reached, and says in a sentence why it is not.

The mechanism with the project's own wheel and a few real ones; `make test-bundle` does it with a whole bundle.
"""

from __future__ import annotations

import ast
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from importlib.metadata import packages_distributions
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from clinical.errors import BefundError
from deploy.bundle import assembly, wheels
from tests.conftest import ROOT
from tests.system.packed import needed as needed_with
from tests.system.packed import own_wheel, packed

SETTINGS = (
    *("pydantic", "pydantic-core", "pydantic-settings", "python-dotenv", "annotated-types", "typing-extensions"),
    *("typing-inspection", "click", "pip"),
)
"""Packages that reading the settings needs, and the installer of each."""
OPTIONAL = {"batch/ray.py", "catalog_build/training/"}
"""Modules that want an extra of their own (ray, train), and say so in a sentence."""
CLOSED = "http://127.0.0.1:9"


@pytest.fixture(scope="module")
def bundle(tmp_path_factory) -> Path:
    """A small bundle: our own wheel, built here without a network, and what the settings need."""
    folder = tmp_path_factory.mktemp("bundle")
    (folder / "wheels").mkdir()
    own_wheel(tmp_path_factory.mktemp("source"), folder / "wheels")
    for name in SETTINGS:
        packed(name, folder / "wheels")
    (folder / "catalog").mkdir()
    (folder / "catalog" / "manifest.json").write_text("{}", "utf-8")
    assembly.seal(folder, [Requirement("pydantic-settings")])
    return folder


def _install(bundle: Path, target: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """By install.sh, in a network of its own with nothing in it where that is allowed, else with a closed index."""
    clean = {"PATH": os.environ["PATH"], "HOME": str(target.parent), "PYTHON": sys.executable}
    clean |= {"http_proxy": CLOSED, "https_proxy": CLOSED, "PIP_INDEX_URL": CLOSED, "PIP_FIND_LINKS": "", **environment}
    command = [str(bundle / "install.sh"), str(target)]
    alone = ["unshare", "--map-root-user", "--net"]
    if shutil.which("unshare") and subprocess.run([*alone, "true"], capture_output=True, check=False).returncode == 0:
        command = [*alone, *command]
    return subprocess.run(command, env=clean, capture_output=True, text=True, timeout=200, check=False)


def _inside(target: Path, code: str) -> str:
    command = [str(target / ".venv" / "bin" / "python"), "-I", "-c", code]  # nothing of this checkout
    done = subprocess.run(command, cwd=target, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_it_installs_without_a_network_and_again_over_itself(bundle, tmp_path):
    target = tmp_path / "befund"
    done = _install(bundle, target)
    assert done.returncode == 0, done.stderr
    where = _inside(target, "import clinical.settings as s; print(s.Settings.read(env='development').api_port, s.ROOT)")
    port, _, root = where.partition(" ")
    assert port == "3000"
    assert Path(root).is_relative_to(target.resolve())
    for file in ("bentos/proxy.conf", "catalog_build/weights/encoder.safetensors", "webapp/static/befund.css"):
        assert (Path(root) / file).is_file()
    assert list((Path(root) / "catalog_build" / "starter").glob("*.txt"))

    (target / "catalog" / "ours").write_text("an operator's own", "utf-8")
    first = (target / ".venv").resolve()
    again = _install(bundle, target)
    assert again.returncode == 0, again.stderr
    assert (target / ".venv").resolve() == first
    assert (target / "catalog" / "ours").is_file(), "a catalog that is there is never replaced"


@pytest.fixture
def changed(bundle, tmp_path) -> Path:
    """A copy of the bundle, to be damaged."""
    return Path(shutil.copytree(bundle, tmp_path / "changed", copy_function=os.link))


def _damage(bundle: Path, name: str, content: bytes | None) -> None:
    file = bundle / name
    file.unlink()
    if content is not None:
        file.write_bytes(content)


def _summed_anew(bundle: Path) -> None:
    """Checksums that agree with what lies there now, as whoever exchanged a file would write them."""
    listed = [file for file in bundle.rglob("*") if file.is_file() and file.name != assembly.CHECKSUMS]
    lines = "".join(f"{wheels.sha256(file)}  {file.relative_to(bundle)}\n" for file in listed)
    _damage(bundle, assembly.CHECKSUMS, lines.encode())


def _refusal(bundle: Path, target: Path, **environment: str) -> str:
    done = _install(bundle, target, **environment)
    assert done.returncode == 1, done.stdout
    assert not (target / ".venv").exists()
    return done.stderr.strip().splitlines()[-1]


def test_a_damaged_or_missing_file_is_refused_before_anything_is_written(changed, tmp_path):
    (wheel,) = changed.glob("wheels/click-*.whl")
    target = tmp_path / "befund"
    for content in (b"something else", None):
        _damage(changed, str(wheel.relative_to(changed)), content)
        assert "copy the bundle again" in _refusal(changed, target)
        wheel.touch()
    assert not target.exists()


def test_a_wheel_whose_hash_nobody_wrote_down_is_not_installed(changed, tmp_path):
    (wheel,) = changed.glob("wheels/click-*.whl")
    with ZipFile(wheel) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    wheel.unlink()
    with ZipFile(wheel, "w") as archive:
        for name, content in held.items():
            archive.writestr(name, content)
        archive.writestr("click/more.py", "")
    _summed_anew(changed)
    assert "pip could not install" in _refusal(changed, tmp_path / "befund")


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("NEEDS_PYTHON", "3.99", "the wheels are for 3.99"),
        ("NEEDS_GLIBC", "9.9", "the wheels need 9.9 or newer"),
    ],
)
def test_what_this_machine_lacks_is_one_sentence(changed, tmp_path, name, value, said):
    text = re.sub(rf"{name}=.*", f"{name}={value}", (changed / "bundle.env").read_text("utf-8"))
    _damage(changed, "bundle.env", text.encode())
    _summed_anew(changed)
    refusal = _refusal(changed, tmp_path / "befund")
    assert refusal.startswith("befund: ")
    assert said in refusal


def test_a_folder_that_cannot_be_written_and_a_bundle_without_vllm_are_said(bundle, tmp_path):
    (tmp_path / "file").touch()
    assert "cannot be written" in _refusal(bundle, tmp_path / "file" / "befund")
    done = subprocess.run([bundle / "install.sh", "--vllm"], capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 1
    assert "make bundle WITH_VLLM=1" in done.stderr


def test_a_wheel_that_another_one_needs_is_missed_when_the_bundle_is_made(bundle):
    there = wheels.wheels(bundle / "wheels")
    assert wheels.followed(there, [Requirement("pydantic-settings")])[1] == []
    without = [wheel for wheel in there if wheel.name != "python-dotenv"]
    (said,) = wheels.followed(without, [Requirement("pydantic-settings")])[1]
    assert re.match(r"pydantic-settings needs python-dotenv.*nothing is there", said)
    (said,) = wheels.followed(there, [Requirement("click>=99")])[1]
    assert said.startswith("the bundle needs click>=99, 8.")
    lacking = wheels.followed(there, [Requirement("befund[serve]")])[1]
    assert any("bentoml" in line for line in lacking)
    assert not any("flask" in line for line in lacking)


def test_a_bento_is_installed_by_the_hashes_of_the_bundle_alone(bundle, tmp_path):
    (tmp_path / "env" / "python").mkdir(parents=True)
    assembly.pin(tmp_path, wheels.wheels(bundle / "wheels"), ["pydantic-settings"])
    lock = tmp_path / "env" / "python" / "requirements.lock.txt"
    pinned = {line.partition("==")[0] for line in lock.read_text("utf-8").splitlines()}
    assert pinned == {name for name in SETTINGS if name not in ("click", "pip")}
    install = [sys.executable, "-m", "pip", "--isolated", "install", "--no-index", "--find-links"]
    install += [str(bundle / "wheels"), "--require-hashes", "--dry-run", "--ignore-installed", "-r", str(lock)]
    done = subprocess.run(install, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    lock.write_text(lock.read_text("utf-8").replace("sha256:", "sha256:0", 1)[:-1], "utf-8")
    done = subprocess.run(install, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode != 0
    with pytest.raises(wheels.BundleError, match="bentoml"):
        assembly.pin(tmp_path, wheels.wheels(bundle / "wheels"), ["bentoml==1.4.39"])


def test_what_only_an_earlier_release_of_this_python_needs_is_missed_too(tmp_path):
    first = f"{sys.version_info.major}.{sys.version_info.minor}.1"
    with ZipFile(tmp_path / "a-1-py3-none-any.whl", "w") as archive:
        wanted = f'Requires-Dist: b; python_full_version < "{first}"\nRequires-Dist: c; python_version < "3"\n'
        archive.writestr("a-1.dist-info/METADATA", f"Name: a\n{wanted}")
    said = wheels.followed(wheels.wheels(tmp_path), [Requirement("a")])[1]
    assert [line.partition(";")[0] for line in said] == ["a needs b"]


def test_a_wheel_without_the_compiled_loops_of_the_search_is_no_wheel_of_ours(bundle, tmp_path):
    wheels.require_loops(bundle / "wheels")
    with ZipFile(tmp_path / "befund-1-py3-none-any.whl", "w") as archive:
        archive.writestr("clinical/search/native/loops.c", "")
    with pytest.raises(wheels.BundleError, match="C compiler"):
        wheels.require_loops(tmp_path)


def test_the_oldest_c_library_of_a_wheel_counts(tmp_path):
    names = {
        "a-1-py3-none-any.whl": (0, 0),
        "b-1-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_34_x86_64.whl": (2, 27),
        "c-1-cp311-cp311-manylinux2014_x86_64.whl": (2, 17),
    }
    for name, needed in names.items():
        with ZipFile(tmp_path / name, "w") as archive:
            archive.writestr("x.dist-info/METADATA", "Name: x\n")
        assert wheels.Wheel.read(tmp_path / name).glibc == needed
    with pytest.raises(wheels.BundleError, match="is no wheel"):
        wheels.Wheel.read(tmp_path / "d.whl")


def test_the_bundle_is_made_where_the_command_was_called(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert assembly.place_of(Path("dist")).parent == tmp_path / "dist"


def test_the_bundle_is_for_what_is_served_and_made_by_the_targets():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert re.search(r"^bundle:.*\n\t.*-m deploy\.bundle ", makefile, re.MULTILINE)
    assert re.search(r"^test-bundle: bundle\n\t.*-m deploy\.bundle\.trial ", makefile, re.MULTILINE)
    assert not {"test", "notebooks", "train"} & set(wheels.EXTRAS)
    assert assembly.packages_of("bentos/vllm.bentofile.yaml") == ["bentoml==1.4.39", "vllm==0.32.0"]
    assert sysconfig.get_platform() == "linux-x86_64", "bundles are made for the machine they are made on"


def test_each_image_is_a_file_with_the_digest_that_a_registry_names_it_by(tmp_path, monkeypatch):
    """Two recipes that need no other image, built in a store of their own."""
    if not any(map(shutil.which, assembly.BUILDERS)):
        pytest.skip("no program is here that builds images (apt-get install buildah)")
    store = tmp_path / "store"
    (tmp_path / "storage.conf").write_text(
        f'[storage]\ndriver = "vfs"\ngraphroot = "{store}/root"\nrunroot = "{store}/run"\n', "utf-8"
    )
    monkeypatch.setenv("CONTAINERS_STORAGE_CONF", str(tmp_path / "storage.conf"))
    recipes = tmp_path / "recipes"
    recipes.mkdir()
    for recipe in assembly.RECIPES.values():
        (recipes / recipe).write_text(f"ARG WORD\nFROM scratch\nARG WORD\nLABEL word=$WORD\nCOPY {recipe} /\n", "utf-8")
    assembly.add_images(tmp_path / "images", ("--build-arg", "WORD=befund"), recipes, recipes)
    lines = (tmp_path / "images" / assembly.DIGESTS).read_text("utf-8").splitlines()
    assert [line.partition("  ")[2] for line in lines] == [f"{name}.tar" for name in assembly.RECIPES]
    for line in lines:
        digest, _, file = line.partition("  ")
        with tarfile.open(tmp_path / "images" / file) as archive:

            def blob(of: str, archive: tarfile.TarFile = archive) -> bytes:
                found = archive.extractfile(f"blobs/{of.replace(':', '/')}")
                assert found is not None
                return found.read()

            [listed] = json.load(archive.extractfile("index.json"))["manifests"]
            assert digest == f"sha256:{hashlib.sha256(blob(digest)).hexdigest()}"
            manifest = json.loads(blob(digest))
            config = json.loads(blob(manifest["config"]["digest"]))
            [layer] = manifest["layers"]
            with tarfile.open(fileobj=io.BytesIO(blob(layer["digest"]))) as files:
                copied = files.getnames()
        assert listed["digest"] == digest
        assert config["config"]["Labels"]["word"] == "befund"
        assert copied == [assembly.RECIPES[file.removesuffix(".tar")]]
    (recipes / assembly.RECIPES["befund-api"]).write_text("FROM scratch\nCOPY none /\n", "utf-8")
    with pytest.raises(BefundError, match=r"(?s)build failed: .*none"):
        assembly.add_images(tmp_path / "other", (), recipes, recipes)


def test_without_a_builder_of_images_the_way_on_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BefundError, match="buildah or podman"):
        assembly.add_images(tmp_path / "images")


def test_a_bundle_has_what_each_shipped_package_imports():
    """At the top of a module, also a conditional one: batch coding went out without pyarrow."""
    there = needed_with(wheels.EXTRAS)
    owners = packages_distributions()
    lacking = set()
    for package in ("batch", "bentos", "catalog_build", "clinical", "webapp"):
        for file in (ROOT / package).rglob("*.py"):
            for node in ast.parse(file.read_text("utf-8")).body:
                names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
                names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
                for name in (each.partition(".")[0] for each in names):
                    if name in owners and not {canonicalize_name(each) for each in owners[name]} & (there | {"befund"}):
                        lacking.add(f"{file.relative_to(ROOT)}: {name}")
    assert {each for each in lacking if not each.startswith(tuple(OPTIONAL))} == set()
