"""`python -m bentos up` and `serve` as processes: they start, say what is wrong, and end."""

import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from bentos.keys.database import open_database
from bentos.keys.keys import Keys
from bentos.up import demo_key
from clinical.sse import Decoder
from tests.serving import free_port, wait_until

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def environment(tmp_path, starter_artifact):
    """Ports and folders of its own; what the machine has set is not seen."""
    return {
        **os.environ,
        "BEFUND_ENV": "development",
        "BEFUND_VAR": str(tmp_path / "var"),
        "BEFUND_CATALOG": str(starter_artifact),
        "BEFUND_API_PORT": str(free_port()),
        "BEFUND_WEB_PORT": str(free_port()),
    }


def _start(environment, tmp_path, *arguments):
    log = open(tmp_path / "log", "wb")  # noqa: SIM115 - the process writes to it as long as it lives
    command = [sys.executable, "-m", "bentos", *arguments]
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT)


def _said(tmp_path) -> str:
    return (tmp_path / "log").read_text("utf-8")


def test_up_greets_with_a_curl_that_works_and_ctrl_c_ends_everything(environment, tmp_path):
    process = _start(environment, tmp_path, "up", "api")
    try:
        wait_until(lambda: "Befund is up." in _said(tmp_path) or process.poll() is not None, "no greeting", 90)
        url, key = re.search(r"curl -N (\S+) -H 'Authorization: Bearer (\S+)'", _said(tmp_path)).groups()
        kept = tmp_path / "var" / "demo-key"
        assert kept.read_text().strip() == key
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        with httpx.stream(
            "POST", url, json={"query": "Zuckerkrankheit"}, headers={"Authorization": f"Bearer {key}"}
        ) as a:
            first = next(a.iter_bytes())
            assert next(Decoder().feed(first)).status == "searching"
            begun = time.monotonic()
            process.send_signal(signal.SIGINT)
            assert process.wait(15) == 0
        assert time.monotonic() - begun < 10
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", int(environment["BEFUND_API_PORT"])))
    finally:
        process.kill()


@pytest.mark.parametrize("command", [("serve",), ("up", "api")])
def test_a_taken_port_is_one_clear_sentence(environment, tmp_path, command):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", int(environment["BEFUND_API_PORT"])))
        taken.listen()
        assert _start(environment, tmp_path, *command).wait(30) == 1
    said = _said(tmp_path)
    assert said.count("\n") == 1
    assert f"127.0.0.1:{environment['BEFUND_API_PORT']}" in said
    assert "BEFUND_API_PORT" in said


@pytest.mark.parametrize("command", [("serve",), ("up",)])
def test_a_missing_catalog_is_one_clear_sentence(environment, tmp_path, command):
    environment["BEFUND_CATALOG"] = str(tmp_path / "none")
    assert _start(environment, tmp_path, *command).wait(30) == 1
    assert "no catalog in" in _said(tmp_path)
    assert "make catalog SOURCE=dir" in _said(tmp_path)
    assert "Traceback" not in _said(tmp_path)


def test_a_bad_setting_is_one_clear_sentence(environment, tmp_path):
    environment["BEFUND_WORKERS"] = "many"
    assert _start(environment, tmp_path, "serve").wait(30) == 1
    assert _said(tmp_path).startswith("befund: BEFUND_WORKERS")


def test_the_demo_key_is_kept_while_it_is_good_and_replaced_when_not(tmp_path):
    keys = Keys(open_database(f"sqlite:///{tmp_path / 'api.sqlite'}"))
    path = tmp_path / "demo-key"
    first = demo_key(keys, path)
    assert demo_key(keys, path) == first
    keys.revoke(first.split("_")[1])
    second = demo_key(keys, path)
    assert second != first
    assert keys.check(second).limits.per_minute == 600
