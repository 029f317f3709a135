"""The step of `make test` that provides system parts, where nothing may be installed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

INSTALL = Path(__file__).with_name("install")


@pytest.fixture
def run(tmp_path):
    """The script with an empty PATH: no apt-get, no program to be found."""

    def run(**environment):
        clean = {name: value for name, value in os.environ.items() if name != "CI"}
        clean |= {"PATH": str(tmp_path), **environment}
        command = [sys.executable, str(INSTALL)]
        return subprocess.run(command, env=clean, capture_output=True, text=True, timeout=30, check=False)

    return run


def test_where_nothing_may_be_installed_the_line_to_run_is_said_and_the_suite_goes_on(run):
    done = run()
    assert done.returncode == 0, done.stderr
    assert "sudo apt-get install" in done.stdout
    assert "redis-server" in done.stdout
    assert "limits shared by workers" in done.stdout


def test_in_ci_nothing_may_stay_out(run):
    assert run(CI="true").returncode == 1
