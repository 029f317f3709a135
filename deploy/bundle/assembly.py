"""Assembles a bundle: its contents, and the steps in order."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

import yaml
from packaging.requirements import Requirement

from clinical import __version__
from deploy.bundle.wheels import (
    ROOT,
    BundleError,
    Wheel,
    checkout,
    gather,
    gather_language_server,
    needed,
    output_of,
    requirements,
    sha256,
    wheels,
)

HERE = Path(__file__).parent
BENTOS = {"bentofile.yaml": "wheels", "bentos/vllm.bentofile.yaml": "wheels-vllm"}
"""The text API in one, and the language model of the GPU host, with the folder in which the wheels of each lie."""
FILES_OF_DEPLOY = ("compose.yaml", "grafana", "images", "kustomize", "nginx", "prometheus", "systemd")
CHECKSUMS = "SHA256SUMS"
BUILDERS = ("buildah", "podman")
RECIPES = {"befund-api": "api.Dockerfile", "befund-webapp": "webapp.Dockerfile"}
DIGESTS = "digests"


def bundle(
    out: Path, catalog: Path, site: Path, extras: Sequence[str], vllm: bool, images: Sequence[str] | None
) -> Path:
    """Make the bundle in `out` and a tar of it beside; an earlier one of this version is replaced. Gives its folder.

    It holds an artifact, a built site, these extras of pyproject.toml, with `vllm` vLLM's wheels, and the images built
    with the options `images` (None: no images). Raises BundleError.
    """
    for what, file in ((catalog, "manifest.json"), (site, "index.html")):
        if not (what / file).is_file():
            raise BundleError(f"no {file} in {what}", "a finished catalog and a built site", "run make bundle")
    folder = place_of(out)
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "wheels").mkdir(parents=True)
    gather(extras, folder / "wheels")
    if vllm:
        (own,) = (folder / "wheels").glob("befund-*.whl")
        gather_language_server(folder / "wheels-vllm", own, packages_of("bentos/vllm.bentofile.yaml"))
    shutil.copytree(catalog, folder / "catalog")
    shutil.copytree(site, folder / "docs")
    copy_files(folder)
    export_bentos(folder, catalog)
    if images is not None:
        add_images(folder / "images", images)
    seal(folder, [Requirement(f"befund[{','.join(extras)}]")])
    with tarfile.open(f"{folder}.tar", "w") as archive:
        archive.add(folder, folder.name)
    return folder


def place_of(out: Path) -> Path:
    """The bundle's folder in `out`, absolute: BentoML works from another folder, and takes a relative place for one
    at the root of the machine."""
    return out.resolve() / f"befund-{__version__}-linux-x86_64"


def packages_of(bentofile: str) -> list[str]:
    """The packages that a Bento installs, with their versions."""
    packages: list[str] = yaml.safe_load((ROOT / bentofile).read_text("utf-8"))["python"]["packages"]
    return packages


def copy_files(folder: Path) -> None:
    """Copy what is neither wheel, catalog, Bento nor site: files of deployments, the list of changes, the settings."""
    for name in FILES_OF_DEPLOY:
        source, target = ROOT / "deploy" / name, folder / "deploy" / name
        target.parent.mkdir(exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copy2(source, target)
    for name in ("CHANGELOG.md", ".env.example", "constraints.txt"):
        shutil.copy2(ROOT / name, folder / name.lstrip("."))


def export_bentos(folder: Path, catalog: Path) -> None:
    """Build each Bento from a copy of the checkout with this catalog, in a store of its own, as a file in `bentos`.

    Each pins all its packages by the wheels of the bundle; that of the language model only where its wheels are there.
    """
    (folder / "bentos").mkdir()
    with tempfile.TemporaryDirectory(prefix="befund-bentos-") as name:
        source = checkout(Path(name) / "source")
        subprocess.run([sys.executable, str(source / "clinical" / "search" / "native" / "library.py")], check=True)
        shutil.copytree(catalog, source / "var" / "catalog")
        environment = {**os.environ, "BENTOML_HOME": str(Path(name) / "store"), "BENTOML_DO_NOT_TRACK": "True"}
        for bentofile, kept in BENTOS.items():
            tag = _bentoml(source, environment, "build", "-f", bentofile, "--version", __version__, "-o", "tag")
            tag = tag.strip().rpartition(":")[0].removeprefix("__tag__:") + f":{__version__}"
            built = _bentoml(source, environment, "get", tag, "-o", "path").strip().splitlines()[-1]
            if (folder / kept).is_dir():
                pin(Path(built), wheels(folder / kept), packages_of(bentofile))
            target = folder / "bentos" / f"{tag.replace(':', '-')}.bento"
            _bentoml(source, environment, "export", tag, str(target))


def pin(bento: Path, there: Sequence[Wheel], packages: Sequence[str]) -> None:
    """Write the file that BentoML installs by in place of its own where it is there: every package, also those that the
    named ones need, by version and SHA-256. pip and uv then take no other file. Raises BundleError."""
    lines = requirements(needed(there, [Requirement(package) for package in packages]))
    (bento / "env" / "python" / "requirements.lock.txt").write_text(lines, "utf-8")


def _bentoml(source: Path, environment: dict[str, str], *arguments: str) -> str:
    command = [sys.executable, "-m", "bentoml", *arguments]
    return output_of(command, f"bentoml {arguments[0]} failed", source, environment)


def add_images(
    folder: Path, options: Sequence[str] = (), context: Path = ROOT, recipes: Path = ROOT / "deploy" / "images"
) -> None:
    """Build both images from `context` into `folder`, without a daemon, each an OCI archive; `options` are further ones
    of the builder's `build`, such as `--build-arg PYTHON=python@sha256:...`. Raises BundleError.

    `digests` there has the SHA-256 of each manifest, by which a registry and a cluster name it: `skopeo copy
    oci-archive:befund-api.tar docker://REGISTRY/befund-api`, or `podman load`.
    """
    found = next(filter(None, map(shutil.which, BUILDERS)), None)
    if found is None:
        remedy = "on Debian: apt-get install buildah; or make the bundle without images"
        raise BundleError("no program is here that builds images", " or ".join(BUILDERS), remedy)
    folder.mkdir()
    lines = []
    for name, recipe in RECIPES.items():
        image, digest = f"localhost/{name}:{__version__}", folder / f"{name}.digest"
        build = [found, "build", "--isolation", "chroot", "--file", str(recipes / recipe), "--tag", image, *options]
        output_of([*build, str(context)], f"{found} build failed")
        archive = f"oci-archive:{folder / name}.tar:{name}:{__version__}"
        output_of([found, "push", "--digestfile", str(digest), image, archive], f"{found} push failed")
        lines.append(f"{digest.read_text('utf-8').strip()}  {name}.tar\n")
        digest.unlink()
    (folder / DIGESTS).write_text("".join(lines), "utf-8")


def seal(folder: Path, asked: list[Requirement]) -> None:
    """Write what installing goes by: requirements with hashes, what this machine has to be, install.sh, checksums.

    Raises BundleError when a wheel is missing that another one needs.
    """
    there = wheels(folder / "wheels")
    needed(there, asked)
    (folder / "requirements.txt").write_text(requirements(there), "utf-8")
    glibc = max((wheel.glibc for wheel in there), default=(0, 0))
    if (vllm := folder / "wheels-vllm").is_dir():
        of_vllm = wheels(vllm)
        (folder / "requirements-vllm.txt").write_text(requirements(of_vllm), "utf-8")
        glibc = max(glibc, *(wheel.glibc for wheel in of_vllm))
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    said = {"VERSION": __version__, "NEEDS_PYTHON": python, "NEEDS_GLIBC": "{}.{}".format(*glibc)}
    (folder / "bundle.env").write_text("".join(f"{name}={value}\n" for name, value in said.items()), "utf-8")
    shutil.copy2(HERE / "install.sh", folder / "install.sh")
    (folder / "install.sh").chmod(0o755)
    listed = sorted(file for file in folder.rglob("*") if file.is_file() and file.name != CHECKSUMS)
    sums = "".join(f"{sha256(file)}  {file.relative_to(folder)}\n" for file in listed)
    (folder / CHECKSUMS).write_text(sums, "utf-8")
