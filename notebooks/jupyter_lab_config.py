"""Settings with which `make lab` runs JupyterLab: on this machine alone, with a token, and asking nobody for news or updates."""

from pathlib import Path

c = get_config()  # noqa: F821 - given by traitlets

c.ServerApp.ip = "127.0.0.1"
c.ServerApp.root_dir = str(Path(__file__).resolve().parents[1])
c.LabApp.check_for_updates_class = "jupyterlab.NeverCheckForUpdate"
c.LabApp.news_url = None
c.LabApp.extension_manager = "readonly"
