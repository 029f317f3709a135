"""`python -m bentos serve`: the checks an operator wants before a start, then BentoML's own server."""

from __future__ import annotations

import os
import sys

from bentos.keys import open_keys
from clinical.errors import ArtifactMissing
from clinical.room import take_files
from clinical.settings import ROOT, Settings, require_free_port
from clinical.tracing import check_export


def serve(settings: Settings) -> int:
    """Check port, artifact and key database, then become the server. Returns only by raising."""
    require_free_port(settings.api_host, settings.api_port, "BEFUND_API_PORT")
    require_artifact(settings)
    open_keys(settings).require()
    check_export(settings.traces_url)
    environment = {"BENTOML_DO_NOT_TRACK": "True", **os.environ}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-m", "bentoml", "serve", "bentos.service:Befund"]
    command += ["--host", settings.api_host, "--port", str(settings.api_port)]
    command += ["--timeout-graceful-shutdown", str(settings.drain_seconds)]
    take_files()
    sys.stdout.flush()
    os.execve(sys.executable, command, environment)  # noqa: S606 - no shell, fixed arguments


def require_artifact(settings: Settings) -> None:
    """Raise ArtifactMissing while there is no finished artifact; whether it is sound is checked when it is loaded."""
    for folder in (settings.catalog, *settings.other_catalogs):
        if not (folder / "manifest.json").is_file():
            setting = "BEFUND_CATALOG" if folder == settings.catalog else "BEFUND_CATALOGS"
            remedy = f"run make up or make catalog SOURCE=dir, or correct {setting}"
            raise ArtifactMissing(f"no catalog in {folder}", "a folder with manifest.json", remedy)
