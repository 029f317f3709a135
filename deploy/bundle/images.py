"""Images of the servers, built from `deploy/images` without a daemon (buildah or podman), each a file with its digest.

An image is an OCI archive, `images/befund-api.tar`; `images/digests` has the SHA-256 of each manifest, by which a
registry and a cluster name it: `skopeo copy oci-archive:befund-api.tar docker://REGISTRY/befund-api`, or `podman load`.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from clinical import __version__
from deploy.bundle.wheels import ROOT, BundleError

BUILDERS: Final = ("buildah", "podman")
RECIPES: Final = {"befund-api": "api.Dockerfile", "befund-webapp": "webapp.Dockerfile"}
DIGESTS: Final = "digests"


def add_images(
    folder: Path, options: Sequence[str] = (), context: Path = ROOT, recipes: Path = ROOT / "deploy" / "images"
) -> None:
    """Build both images from `context` into `folder`; `options` are further ones of the builder's `build`, such as
    `--build-arg PYTHON=python@sha256:...`. Raises BundleError."""
    found = next(filter(None, map(shutil.which, BUILDERS)), None)
    if found is None:
        remedy = "on Debian: apt-get install buildah; or make the bundle without images"
        raise BundleError("no program is here that builds images", " or ".join(BUILDERS), remedy)
    folder.mkdir()
    lines = []
    for name, recipe in RECIPES.items():
        image, digest = f"localhost/{name}:{__version__}", folder / f"{name}.digest"
        build = ("build", "--isolation", "chroot", "--file", str(recipes / recipe), "--tag", image, *options)
        _call(found, *build, str(context))
        archive = f"oci-archive:{folder / name}.tar:{name}:{__version__}"
        _call(found, "push", "--digestfile", str(digest), image, archive)
        lines.append(f"{digest.read_text('utf-8').strip()}  {name}.tar\n")
        digest.unlink()
    (folder / DIGESTS).write_text("".join(lines), "utf-8")


def _call(program: str, *arguments: str) -> None:
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise BundleError(f"{program} {arguments[0]} failed: {(done.stdout + done.stderr).strip()[-2_000:]}")
