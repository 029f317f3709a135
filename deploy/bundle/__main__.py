"""python -m deploy.bundle --catalog DIR --site DIR: everything an installation without internet needs, in one folder.

Wheels for linux x86-64 and the Python this runs on, with their hashes; the Bentos; a catalog; the documentation; the
files of deploy/; checksums and install.sh. `--vllm` adds the wheels of the language model's own environment, which are
many gigabytes, `--images` the images of both servers where buildah or podman is. `make bundle` calls it, `make
test-bundle` installs the result with the network off.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import click

from clinical.command_line import PATH, entry, paragraphs
from deploy.bundle.assembly import bundle
from deploy.bundle.wheels import EXTRAS


@click.command(help=paragraphs(__doc__))
@click.option("--catalog", type=PATH, required=True, help="the artifact that goes with it")
@click.option("--site", type=PATH, required=True, help="the documentation, built by `make docs`")
@click.option("--out", type=PATH, default=Path("dist"), help="the folder in which the bundle is made")
@click.option("--extras", default=",".join(EXTRAS), help="what of pyproject.toml is installed, with commas between")
@click.option("--vllm", is_flag=True, help="also the wheels of vLLM: many gigabytes")
@click.option("--images", help="also the images; its words are options of `buildah build`, '' for none")
def command(catalog: Path, site: Path, out: Path, extras: str, vllm: bool, images: str | None) -> None:
    """Make the bundle and say where it is."""
    options = None if images is None else tuple(shlex.split(images))
    made = bundle(out, catalog, site, extras.split(","), vllm, options)
    size = sum(file.stat().st_size for file in made.rglob("*") if file.is_file()) / 1e6
    click.echo(f"{made}: {size:,.0f} MB; as one file: {made}.tar")


main = entry(command, "python -m deploy.bundle")

if __name__ == "__main__":
    sys.exit(main(None))
