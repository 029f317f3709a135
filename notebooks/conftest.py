"""The notebooks as tests: nbval runs each, on the starter catalog built once for the run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import starter_of

ROOT = Path(__file__).resolve().parents[1]
READY = pytest.StashKey[bool]()


@pytest.hookimpl(tryfirst=True)  # before nbval starts a kernel, which inherits the environment
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Build the starter catalog before the first cell; a stored output counts as run (nbstripout takes the number)."""
    cell = getattr(item, "cell", None)
    if cell is not None and cell.get("outputs"):
        cell["execution_count"] = 1
    if READY in item.config.stash:
        return
    item.config.stash[READY] = True
    for name in [name for name in os.environ if name.startswith("BEFUND_NOTEBOOK_")]:
        del os.environ[name]
    os.environ |= {
        "BEFUND_NOTEBOOK_CATALOG": str(starter_of(item.config)),
        "GX_ANALYTICS_ENABLED": "false",
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
        "TQDM_DISABLE": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
    }
