"""The library of the compiled loops is made where it is missing, never in a request, and takes arrays as they are.

That its figures are those of plain loops: `test_features.py`.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from clinical.errors import SettingError
from clinical.search.native.compiled import added, load
from clinical.search.native.library import LIBRARY, is_current


def test_the_library_that_was_loaded_is_that_of_the_source_here():
    assert is_current(LIBRARY)


def test_a_library_of_another_source_is_made_again(tmp_path):
    old = tmp_path / LIBRARY.name
    old.write_bytes(b"befund loops 00000000")
    assert not is_current(old)
    assert load(old).rank
    assert is_current(old)


def test_where_the_folder_cannot_be_written_the_library_is_made_for_the_process_alone():
    assert load(Path("/proc/self", LIBRARY.name)).rank


def test_without_a_compiler_a_library_that_is_there_is_taken_and_a_missing_one_is_one_sentence(tmp_path):
    code = """
import sys
from pathlib import Path
from clinical.errors import SettingError
from clinical.search.native.compiled import LIBRARY, load
load(LIBRARY)
try:
    load(Path(sys.argv[1], LIBRARY.name))
except SettingError as error:
    print(error)
"""
    environment = {**os.environ, "CC": "no-such-compiler"}
    order = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(order, capture_output=True, text=True, timeout=60, env=environment, check=True)
    assert "there is no C compiler" in done.stdout
    assert "apt-get install gcc" in done.stdout


def test_what_the_compiler_says_is_said(tmp_path, monkeypatch):
    failing = tmp_path / "cc"
    failing.write_text("#!/bin/sh\necho 'stdint.h: No such file' >&2\nexit 1\n")
    failing.chmod(0o755)
    monkeypatch.setenv("CC", str(failing))
    with pytest.raises(SettingError, match="No such file"):
        load(tmp_path / LIBRARY.name)
    assert sorted(tmp_path.iterdir()) == [failing], "a draft is left behind"


def test_a_mapped_array_that_cannot_be_written_is_read_and_one_of_another_kind_is_refused():
    rows, numbers, start = np.eye(2, dtype=np.float32), np.array([0, 1]), np.array([0, 2])
    rows.flags.writeable = False
    assert added(rows, None, numbers, start).tolist() == [[1, 1]]
    with pytest.raises(TypeError, match="float64"):
        added(np.eye(2), None, numbers, start)
    with pytest.raises(TypeError, match="without gaps"):
        added(np.zeros((2, 8), dtype=np.float32)[:, ::2], None, numbers, start)
