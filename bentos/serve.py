"""`python -m bentos serve`: the checks an operator wants before a start, then BentoML's own server."""

from __future__ import annotations

import os
import socket
import sys

from bentos.keys import open_keys
from clinical.errors import ArtifactMissing, SettingError
from clinical.room import take_files
from clinical.settings import ROOT, Settings
from clinical.tracing import check_export


def serve(settings: Settings) -> int:
    """Check port, artifact and key database, then become the server. Returns only by raising."""
    require_free_port(settings.api_host, settings.api_port, "BEFUND_API_PORT")
    require_artifact(settings)
    open_keys(settings)
    check_export(settings.traces_url)
    environment = {"BENTOML_DO_NOT_TRACK": "True", **os.environ}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-m", "bentoml", "serve", "bentos.service:Befund"]
    command += ["--host", settings.api_host, "--port", str(settings.api_port)]
    command += ["--timeout-graceful-shutdown", str(settings.drain_seconds)]
    take_files()
    sys.stdout.flush()
    os.execve(sys.executable, command, environment)  # noqa: S606 - no shell, fixed arguments


def require_free_port(host: str, port: int, setting: str) -> None:
    """Raise SettingError when something already listens there, or the address is not ours."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise SettingError(
                f"{host}:{port} cannot be used ({reason})", "a free port", f"stop what listens there or set {setting}"
            ) from None


def require_artifact(settings: Settings) -> None:
    """Raise ArtifactMissing while there is no finished artifact; whether it is sound is checked when it is loaded."""
    if not (settings.catalog / "manifest.json").is_file():
        raise ArtifactMissing(
            f"no catalog in {settings.catalog}", "a folder with manifest.json", "run make up or make catalog SOURCE=dir"
        )
