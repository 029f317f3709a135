"""Refusals of production, facts that it keeps to itself, and the cores of its processes."""

import os
import stat
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest
from click.testing import CliRunner
from flask import Flask
from flask.cli import ScriptInfo
from flask.testing import FlaskClient
from sqlalchemy import select

from tests.serving import free_port, wait_until
from tests.webapp.conftest import SECRET, Outside, add_user, command, login, make_app
from tests.webapp.fhir.conftest import Caller, make_place
from tests.webapp.sso import live
from tests.webapp.sso.conftest import store_vendors
from webapp import create_app, gunicorn_conf
from webapp.cli import db_group, upgrade_schema
from webapp.models import BrowserSession
from webapp.sso.models import Provider
from webapp.sso.providers import ProviderFields
from webapp.wire import is_allowed

URLS = ("https://sso.example/authorize", "https://sso.example/token", "https://sso.example/userinfo")


def serve(folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """`python -m webapp serve` where nothing is yet, until it ends by itself."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("BEFUND_")}
    return subprocess.run(
        [sys.executable, "-m", "webapp", "serve"], cwd=live.ROOT, capture_output=True, text=True, timeout=60,
        env={**ours, "BEFUND_VAR": str(folder / "var"), **environ}, check=False,
    )  # fmt: skip


def test_a_first_start_in_production_ends_in_a_sentence(tmp_path: Path) -> None:
    """Wrong settings are in `tests/system/test_wrong_settings.py`."""
    done = serve(
        tmp_path, BEFUND_ENV="production", BEFUND_SECRET_KEY=SECRET, BEFUND_PUBLIC_URL="https://befund.example"
    )
    assert done.returncode == 1
    assert "db upgrade" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["providers", "add", "--help"], 0, "--client-id"),
        (["db", "upgrade"], 1, "BEFUND_SECRET_KEY is not set"),
    ],
)
def test_help_needs_no_secret_and_what_is_done_does(tmp_path: Path, words: list[str], status: int, said: str) -> None:
    ours = {name: value for name, value in os.environ.items() if not name.startswith("BEFUND_")}
    done = subprocess.run(
        [sys.executable, "-m", "flask", "--app", "webapp", *words], cwd=live.ROOT, capture_output=True, text=True,
        timeout=60, env={**ours, "BEFUND_VAR": str(tmp_path / "var"), "BEFUND_ENV": "production"}, check=False,
    )  # fmt: skip
    assert done.returncode == status
    assert said in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_a_help_that_is_the_value_of_an_option_does_nothing_without_a_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["flask", "db", "upgrade", "--help"])
    for name, value in {"BEFUND_ENV": "production", "BEFUND_VAR": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    info = ScriptInfo(create_app=lambda: create_app())
    done = CliRunner().invoke(db_group, ["upgrade"], obj=info)
    assert done.exit_code == 1
    assert "BEFUND_SECRET_KEY is not set" in done.output
    assert not list(tmp_path.iterdir())


def test_a_foreign_host_decides_nothing(tmp_path: Path, sqlite_url: str) -> None:
    app = make_app(sqlite_url, tmp_path, env="production", allowed_hosts="alias.example")
    store_vendors(app, ProviderFields("acme", "Acme", *URLS, "c", "s"))
    client = app.test_client()
    path = "/accounts/vendor_oauth2/login/?provider_id=acme"
    assert client.get(path, headers={"Host": "evil.example"}).status_code == 400
    for host in ("befund.example", "alias.example"):
        answer = client.get(path, headers={"Host": host})
        assert "redirect_uri=https%3A%2F%2Fbefund.example%2Faccounts" in answer.headers["Location"]
        assert answer.headers["Set-Cookie"].startswith("__Host-")


@pytest.mark.parametrize("proxies", ["0", "1"])
def test_forwarded_headers_from_loopback_count_only_when_configured(
    tmp_path: Path, sqlite_url: str, proxies: str
) -> None:
    """Under the real gunicorn, which by itself believes them from loopback, and SCRIPT_NAME too."""
    given = {"BEFUND_SECRET_KEY": SECRET, "BEFUND_TRUSTED_PROXIES": proxies, "WEB_CONCURRENCY": "1"}
    with live.webapp(free_port(), sqlite_url, tmp_path, **given) as base:
        said = {"X-Forwarded-Proto": "https", "Script-Name": "/evil", "SCRIPT_NAME": "/evil"}
        answer = httpx2.get(f"{base}/accounts/login/", headers=said, timeout=10)
    assert ("Strict-Transport-Security" in answer.headers) is (proxies == "1")
    assert "/evil/" not in answer.text


@pytest.mark.parametrize("before", [None, 0o644])
def test_the_sqlite_file_is_its_owners_alone(tmp_path: Path, before: int | None) -> None:
    file = tmp_path / "var" / "webapp.sqlite3"
    if before is not None:
        file.parent.mkdir()
        file.touch(before)
    app = make_app(f"sqlite:///{file}", tmp_path)
    with app.app_context():
        upgrade_schema()
        add_user(app)
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in file.parent.glob("webapp.sqlite3*")}
    assert set(modes.values()) == {0o600}, modes


@pytest.mark.parametrize(
    "path",
    ["/a%00b", "/accounts/%00/", "/tokens/%00/revoke/", "/operator/providers/a%00/",
     "/accounts/vendor_oauth2/login/callback/a%00/", "/%00/fhir/r4/Patient"],
)  # fmt: skip
def test_nul_in_a_path_is_not_found(app: Flask, client: FlaskClient, path: str) -> None:
    login(client, add_user(app))
    for method in ("GET", "POST"):
        assert client.open(path, method=method).status_code == 404
    place = make_place(app, "Andere", "andere@example.org")
    for inside in ("Patient/a%00", "DocumentReference/%00", "Binary/%00", "Patient/%00/$everything"):
        assert Caller(place).get(inside).status_code == 404


@pytest.mark.parametrize(
    ("given", "idle", "longest"),
    [
        ({}, timedelta(hours=12), timedelta(days=7)),
        ({"session_profile": "strict"}, timedelta(minutes=30), timedelta(hours=12)),
        ({"session_idle": 5}, timedelta(minutes=5), timedelta(days=7)),
        ({"session_profile": "strict", "session_idle": 15}, timedelta(minutes=15), timedelta(hours=12)),
    ],
)
def test_a_session_ends_when_its_profile_says(
    database_url: str, tmp_path: Path, given: dict[str, Any], idle: timedelta, longest: timedelta
) -> None:
    app = make_app(database_url, tmp_path, **given)
    outside, user = Outside(app), add_user(app)
    for column, limit in (("seen_at", idle), ("created_at", longest)):
        for late, status in ((-timedelta(minutes=1), 200), (timedelta(minutes=1), 302)):
            client = app.test_client()
            login(client, user)
            with outside.write() as session:
                row = session.scalars(select(BrowserSession).order_by(BrowserSession.created_at.desc())).first()
                assert row is not None
                setattr(row, column, getattr(row, column) - limit - late)
            assert client.get("/accounts/").status_code == status, (column, late)
            with outside.write() as session:
                for row in session.scalars(select(BrowserSession)):
                    session.delete(row)
    outside.close()


PRIVATE = (
    "127.0.0.1", "10.0.0.1", "192.168.1.1", "172.16.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "::1", "fe80::1",
    "fd00::1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::1", "224.0.0.1", "::", "198.18.0.1", "240.0.0.1",
)  # fmt: skip


@pytest.mark.parametrize("address", PRIVATE)
@pytest.mark.parametrize("allowed", ["refuse", "allow"])
def test_vendors_in_private_networks_are_refused_unless_allowed(
    tmp_path: Path, sqlite_template: Path, address: str, allowed: str
) -> None:
    app = make_app(f"sqlite:///{sqlite_template}", tmp_path, env="production", private_vendors=allowed)
    host = f"[{address}]" if ":" in address else address
    with app.app_context():
        from webapp.sso.providers import url_problem

        assert is_allowed(address) is (allowed == "allow")
        assert ("private network" in url_problem(f"https://{host}/token")) is (allowed == "refuse")
        assert is_allowed("93.184.215.14")
        assert is_allowed("2606:2800:21f:cb07:6820:80da:af6b:8b2c")


def test_a_name_that_leads_into_a_private_network_is_not_talked_to(tmp_path: Path, sqlite_template: Path) -> None:
    """`localhost` stands for any name whose address is private when it is connected to (DNS rebinding)."""
    import socket

    from webapp.wire import NoAnswer, deadline

    app = make_app(f"sqlite:///{sqlite_template}", tmp_path, env="production")
    with socket.create_server(("127.0.0.1", 0)) as inside, app.app_context():
        inside.settimeout(10)
        with deadline() as calls, pytest.raises(NoAnswer, match="PrivateAddress"):
            calls.ask("GET", f"http://localhost:{inside.getsockname()[1]}/token")
        opened, _ = inside.accept()
        opened.settimeout(10)
        assert opened.recv(1) == b"", "not one byte was sent"
        opened.close()


def test_a_secret_key_is_changed_without_entering_anything_anew(database_url: str, tmp_path: Path) -> None:
    old, new = SECRET, SECRET[::-1]
    former = make_app(database_url, tmp_path, secret_key=old)
    from webapp.extensions import db as database
    from webapp.sso.sealing import unseal

    store_vendors(former, ProviderFields("acme", "Acme", *URLS, "c", "the-secret-of-acme"))
    place = make_place(former)
    place.add_document(b"Befund")
    link = Caller(place).link()
    between = make_app(database_url, tmp_path, secret_key=new, secret_key_previous=old)
    assert between.test_client().get(link).data == b"Befund"
    assert command(between, "providers", "reseal") == "1 client secrets encrypted anew\n"
    after = make_app(database_url, tmp_path, secret_key=new)
    with after.app_context():
        row = database.session.get(Provider, "acme")
        assert row is not None
        assert unseal(row.client_secret_encrypted) == "the-secret-of-acme"
    assert after.test_client().get(link).status_code == 403
    assert command(between, "providers", "reseal").startswith("0 ")


def test_a_parameter_repeated_without_end_is_answered_and_kept_small(app: Flask) -> None:
    place = make_place(app)
    place.add_document(external_system="kis", external_value="1")
    caller = Caller(place)
    for number in (1, 8, 9, 300, 3000):
        wanted = "&".join(f"patient=kis|{value}" for value in range(number))
        assert caller.bundle(f"DocumentReference?{wanted}")["total"] == 0 if number > 1 else True
        identifiers = "&".join(f"identifier=kis|{value}" for value in range(number))
        assert caller.bundle(f"Patient?{identifiers}")["total"] == 0
    assert caller.bundle("DocumentReference?" + "&".join(["patient=kis|1"] * 300))["total"] == 1
    with app.app_context():
        from webapp.fhir.service import service

        kept = service().documents._statement.cache_info()
        assert kept.maxsize is not None
        assert kept.maxsize * 30_000 < 10_000_000


@pytest.mark.skipif(not hasattr(psutil.Process, "cpu_affinity"), reason="processes cannot be kept on a core here")
@pytest.mark.parametrize("pin", ["on", "off"])
def test_each_process_stays_on_a_core_of_its_own_and_shares_what_was_loaded_before(tmp_path, pin):
    cores = len(psutil.Process().cpu_affinity())
    port = free_port()
    with live.webapp(port, f"sqlite:///{tmp_path}/a.sqlite3", tmp_path, BEFUND_WEB_PIN=pin):
        wait_until(lambda: len(live.gunicorn(port).children()) == 2, "there are not two workers")
        workers = live.gunicorn(port).children()
        kept = [worker.cpu_affinity() for worker in workers]
        held = [worker.memory_full_info() for worker in workers]
        assert {worker.environ()["MALLOC_ARENA_MAX"] for worker in workers} == {"2"}
    assert len(kept) == 2
    assert all(len(own) == (1 if pin == "on" else cores) for own in kept)
    assert pin == "off" or cores == 1 or kept[0] != kept[1]
    # What the first process loaded is shared: a quarter is a worker's own, two thirds if its collector wrote into all.
    assert all(own.uss < 0.5 * (own.rss - own.shared) for own in held)


def test_a_worker_that_is_replaced_takes_the_core_that_became_free(monkeypatch):
    monkeypatch.setenv("BEFUND_WEB_PIN", "on")
    server, cores = type("Server", (), {"WORKERS": {}})(), len(psutil.Process().cpu_affinity())
    for pid in range(cores):
        server.WORKERS[pid] = type("Worker", (), {})()
        gunicorn_conf.pre_fork(server, server.WORKERS[pid])
    freed = server.WORKERS.pop(0).befund_core
    replacement = type("Worker", (), {})()
    gunicorn_conf.pre_fork(server, replacement)
    assert replacement.befund_core == freed
