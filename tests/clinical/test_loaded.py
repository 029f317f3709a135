"""Loaded objects are left alone by the garbage collector, which works again once they are."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from clinical.loaded import MANY
from clinical.settings import ROOT

SAID = """
import gc
from clinical.loaded import keep_loaded
keep_loaded()
print(gc.get_freeze_count() > len(gc.get_objects()), gc.get_threshold()[0])
"""


def test_what_is_loaded_is_gone_through_no_more() -> None:
    said = subprocess.run([sys.executable, "-c", SAID], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["True", str(MANY)]


KEPT = """
import gc
from clinical.loaded import loading
with loading(keep=True):
    assert not gc.isenabled()
    many = [[] for _ in range(100_000)]
print(gc.isenabled(), gc.get_freeze_count() > len(many), gc.get_stats()[2]["collections"])
"""
WEBAPP = """
import gc
import webapp
print(gc.isenabled(), gc.get_freeze_count() > 50_000, gc.get_stats()[2]["collections"])
"""
WORKER = """
import asyncio, gc, os
folder = os.environ["PROMETHEUS_MULTIPROC_DIR"]
os.environ["_BENTOS_SERVER_FOLDER"] = f"{os.getppid()}:{folder}"
from bentos.service import GENERATION
assert not gc.isenabled()
async def run():
    async with GENERATION._alive(GENERATION):
        print(gc.isenabled(), gc.get_freeze_count() > 50_000, gc.get_stats()[2]["collections"] < 2)
asyncio.run(run())
"""


@pytest.mark.parametrize(("code", "looks"), [(KEPT, "0"), (WEBAPP, "0"), (WORKER, "True")])
def test_nothing_is_looked_for_while_a_server_loads_and_is_again_from_then_on(
    tmp_path: Path, code: str, looks: str
) -> None:
    given = {"BEFUND_ENV": "development", "BEFUND_VAR": str(tmp_path), "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    given |= {"BEFUND_SECRET_KEY": "x" * 40, "BEFUND_API_DATABASE_URL": f"sqlite:///{tmp_path}/api.sqlite"}
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **given}
    run = [sys.executable, "-c", code]
    done = subprocess.run(run, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["True", "True", looks], done.stderr
