"""The notebooks as tests: nbval runs each, on the starter catalog built once for the run."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
STARTER = ROOT / "catalog_build" / "starter"
BUILT = pytest.StashKey[tempfile.TemporaryDirectory]()


@pytest.hookimpl(tryfirst=True)  # before nbval starts a kernel, which inherits the environment
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Build the starter catalog before the first cell; a stored output counts as run (nbstripout takes the number)."""
    cell = getattr(item, "cell", None)
    if cell is not None and cell.get("outputs"):
        cell["execution_count"] = 1
    if BUILT in item.config.stash:
        return
    from catalog_build.build import build_artifact
    from catalog_build.options import BuildOptions

    folder = item.config.stash[BUILT] = tempfile.TemporaryDirectory(prefix="befund-notebooks-")
    build_artifact(STARTER, Path(folder.name) / "starter", BuildOptions())
    for name in [name for name in os.environ if name.startswith("BEFUND_NOTEBOOK_")]:
        del os.environ[name]
    os.environ |= {
        "BEFUND_NOTEBOOK_CATALOG": str(Path(folder.name) / "starter"),
        "GX_ANALYTICS_ENABLED": "false",
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
        "TQDM_DISABLE": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
    }


def pytest_unconfigure(config: pytest.Config) -> None:
    """Nothing stays behind."""
    if BUILT in config.stash:
        config.stash[BUILT].cleanup()
