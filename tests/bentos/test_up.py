"""`python -m bentos up` and `serve` as processes: they start, say what is wrong, and end."""

import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time

import httpx2
import pytest

from bentos.keys.database import open_database
from bentos.keys.keys import Keys
from bentos.up import addresses_of, demo_key
from clinical.settings import Settings, address
from clinical.sse import Decoder
from evals.load.servers import running
from tests.bentos.conftest import ROOT
from tests.serving import answers, free_port, interruptible, wait_until


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
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT, preexec_fn=interruptible
    )


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
        with httpx2.stream(
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


def test_the_demo_key_is_kept_while_it_is_good_and_replaced_when_not(tmp_path):
    keys = Keys(open_database(f"sqlite:///{tmp_path / 'api.sqlite'}"))
    path = tmp_path / "demo-key"
    first = demo_key(keys, path)
    assert demo_key(keys, path) == first
    keys.revoke(first.split("_")[1])
    second = demo_key(keys, path)
    assert second != first
    assert keys.check(second).limits.per_minute == 600


# --- the second terminal --------------------------------------------------------------------------------------------

SECOND_TERMINAL = (
    ("bentos", "keys", "create", "--name", "Praxis"),
    ("flask", "--app", "webapp", "demo"),
    ("flask", "--app", "webapp", "providers", "test", "demo"),
    ("flask", "--app", "webapp", "db", "current"),
)
"""Of each command that the documentation says to type beside a running `make up`, a subcommand or two."""


def _in_an_empty_environment(folder, *command, **settings):
    environment = {"PATH": os.defpath, "PYTHONPATH": str(ROOT), **settings}
    return subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, env=environment, capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def beside(tmp_path_factory, starter_artifact):
    """The working folder of a running `make up` that was started with settings in its environment and in `.env`."""
    folder = tmp_path_factory.mktemp("beside")
    web = free_port()
    (folder / ".env").write_text(f"BEFUND_VAR={folder / 'var'}\nBEFUND_CATALOG={starter_artifact}\n")
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "BEFUND_API_PORT": str(free_port()),
        "BEFUND_WEB_PORT": str(web),
        "BEFUND_SECRET_KEY": "by-hand-by-hand-by-hand-by-hand-by-hand",
        "WEB_CONCURRENCY": "1",
    }
    page = f"http://127.0.0.1:{web}/accounts/login/"

    def is_up() -> bool:
        return answers(page) and "Befund is up." in _said(folder)

    command = [sys.executable, "-m", "bentos", "up"]
    with running(command, is_up, environment=environment, folder=folder, log=folder / "log"):
        yield folder


@pytest.mark.parametrize("command", SECOND_TERMINAL, ids=lambda command: " ".join(command))
def test_every_documented_command_works_in_a_second_terminal(beside, command):
    done = _in_an_empty_environment(beside, *command)
    assert "Traceback" not in done.stderr
    assert done.returncode == 0, done.stderr


def test_a_secret_set_by_hand_in_the_second_terminal_is_refused_before_it_encrypts_anything(beside):
    secret = "another-another-another-another-another"
    done = _in_an_empty_environment(beside, "flask", "--app", "webapp", "demo", BEFUND_SECRET_KEY=secret)
    assert done.returncode == 1
    assert done.stderr.startswith("befund: BEFUND_SECRET_KEY is not the one of the running `make up`")
    assert done.stderr.count("\n") == 1


PORT, TYPO = ("BEFUND_WEB_PORT", "many"), ("BEFUND_" + "WEPPORT", "1")
WRONG = (
    (PORT, "flask", "--app", "webapp", "demo"),
    (PORT, "bentos", "keys", "list"),
    (TYPO, "bentos", "up"),
)
"""The starts of the servers are in `tests/system/test_wrong_settings.py`."""


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: " ".join(wrong[1:]))
def test_a_wrong_setting_is_one_sentence_in_every_command(tmp_path, wrong):
    (name, value), *command = wrong
    done = _in_an_empty_environment(tmp_path, *command, BEFUND_VAR=str(tmp_path), **{name: value})
    assert done.returncode == 1
    assert done.stderr.startswith(f"befund: {name}"), done.stderr
    assert done.stderr.count("\n") == 1


def test_without_a_running_make_up_production_says_what_is_missing(tmp_path):
    done = _in_an_empty_environment(tmp_path, "flask", "--app", "webapp", "demo", BEFUND_VAR=str(tmp_path))
    assert done.returncode == 1
    assert done.stderr.startswith("befund: BEFUND_SECRET_KEY is not set")
    assert done.stderr.count("\n") == 1


def test_each_server_is_checked_and_shown_at_the_address_it_binds():
    settings = Settings(api_host="0.0.0.0", web_host="127.0.0.1", api_port=1, web_port=2)
    assert addresses_of(settings) == {
        "api": ("0.0.0.0", 1, "BEFUND_API_PORT"),
        "web": ("127.0.0.1", 2, "BEFUND_WEB_PORT"),
    }
    assert (address("::1", 1), address("127.0.0.1", 2)) == ("[::1]:1", "127.0.0.1:2")


def test_a_taken_port_of_the_webapp_is_found_on_its_own_host(environment, tmp_path):
    environment |= {"BEFUND_API_HOST": "0.0.0.0", "BEFUND_WEB_HOST": "127.0.0.1"}
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", int(environment["BEFUND_WEB_PORT"])))
        taken.listen()
        assert _start(environment, tmp_path, "up", "web").wait(30) == 1
    assert f"127.0.0.1:{environment['BEFUND_WEB_PORT']} cannot be used" in _said(tmp_path)
