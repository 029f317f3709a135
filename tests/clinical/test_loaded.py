"""Loaded objects are left alone by the garbage collector."""

import subprocess
import sys

from clinical.loaded import MANY

SAID = """
import gc
from clinical.loaded import keep_loaded
keep_loaded()
print(gc.get_freeze_count() > len(gc.get_objects()), gc.get_threshold()[0])
"""


def test_what_is_loaded_is_gone_through_no_more() -> None:
    said = subprocess.run([sys.executable, "-c", SAID], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["True", str(MANY)]
