"""python -m deploy.release BUNDLE [--since TAG]: what belongs beside a bundle that others are to install.

A bill of materials (CycloneDX), a report of licences without unknowns, an upgrade note from the changelog and the
migrations, and checksums of these and of the bundle, in BUNDLE-release. The bundle is installed into an empty folder
for it, by its own script, so that what is reported is what is installed. `make release` calls it.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

import click

from clinical.command_line import PATH, entry, paragraphs
from deploy.bundle.wheels import BundleError, output_of, sha256
from deploy.release.licences import exceptions, installed, licensed, page
from deploy.release.materials import materials
from deploy.release.upgrading import changes, note


@click.command(help=paragraphs(__doc__))
@click.argument("bundle", type=PATH)
@click.option("--since", default="", help="the commit or tag that is upgraded from")
def command(bundle: Path, since: str) -> None:
    """Make the release beside the bundle."""
    tar = Path(f"{bundle}.tar")
    if not tar.is_file():
        raise BundleError(f"no {tar}", "a bundle and its tar", "run make bundle")
    out = Path(f"{bundle}-release")
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    said = note(changes(since))
    with tempfile.TemporaryDirectory(prefix="befund-release-") as name:
        python = _installed(bundle, Path(name))
        report = licensed(installed(python), exceptions())
        bill = materials(python, (bundle / "requirements.txt").read_text("utf-8"))
    (out / "UPGRADE.md").write_text(said, "utf-8")
    (out / "LICENCES.md").write_text(page(report), "utf-8")
    (out / "sbom.cdx.json").write_text(json.dumps(bill, indent=1), "utf-8")
    shutil.copy2(tar, out)
    files = sorted(out.iterdir())
    (out / "SHA256SUMS").write_text("".join(f"{sha256(file)}  {file.name}\n" for file in files), "utf-8")
    click.echo(f"{out}: {len(bill['components'])} packages, {len(report)} licences, none unknown")


def _installed(bundle: Path, folder: Path) -> Path:
    command = [str(bundle.resolve() / "install.sh"), str(folder)]
    output_of(command, "the bundle cannot be installed", environment={**os.environ, "PYTHON": sys.executable})
    return folder / ".venv" / "bin" / "python"


main = entry(command, "python -m deploy.release")

if __name__ == "__main__":
    sys.exit(main(None))
