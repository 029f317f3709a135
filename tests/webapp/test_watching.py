"""An operator's view of the webapp: probes, counts over several processes, and outages answered in words."""

import re
import shutil
import socket
import tempfile
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest
from flask import session
from prometheus_client import REGISTRY
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError

from clinical.errors import BefundError
from clinical.fhir import MEDIA_TYPE
from tests.certificates import certificate
from tests.full_disk import small_disk
from tests.serving import free_port, wait_until
from tests.webapp.conftest import SECRET, add_user, login, make_app
from tests.webapp.sso import live
from webapp import watching
from webapp.__main__ import _prepare as prepare
from webapp.extensions import db as database
from webapp.sessions import SESSION_COOKIE
from webapp.sso.cli import providers
from webapp.watching import part_of

NOWHERE = "127.0.0.1:1"
PLACE = uuid.UUID("5c0d9e0e-6f0b-4d5e-9f4e-2f6c7b7d1a12")


def _count(name, **labels):
    return REGISTRY.get_sample_value(name, labels) or 0.0


@pytest.fixture
def made(tmp_path, sqlite_url):
    """A function that makes applications with settings of its own, on a copy of the empty database."""

    def make(database_url=sqlite_url, **settings):
        return make_app(database_url, tmp_path, **settings)

    return make


def test_the_probes_say_ready_and_count_as_no_request(made):
    client = made().test_client()
    before = _count("befund_web_requests_total", route="other", method="GET", status="404")
    assert client.get("/internal/livez").data == client.get("/internal/readyz").data == b"ok\n"
    assert client.get("/internal/readyz", headers={"Host": "10.0.0.7"}).status_code == 200
    assert client.post("/internal/readyz").status_code == 405
    assert client.get("/internal/readyz/x").status_code == 404
    assert _count("befund_web_requests_total", route="other", method="GET", status="404") == before + 1


def test_a_name_that_is_not_ours_stops_no_probe(made):
    client = made(public_url="https://befund.example/app", allowed_hosts="befund.example").test_client()
    assert client.get("/internal/readyz", headers={"Host": "10.0.0.7"}).status_code == 200
    assert client.get("/app/accounts/login/", headers={"Host": "10.0.0.7"}).status_code == 400


@pytest.mark.parametrize(
    ("part", "settings"),
    [
        ("database", {"database_url": f"postgresql://nobody@{NOWHERE}/nowhere"}),
        ("limits", {"limits_url": f"redis://{NOWHERE}/0"}),
        ("files", {"storage": "file:///dev/null/files"}),
    ],
)
def test_a_part_that_does_not_answer_is_named_counted_and_logged(part, settings, made, caplog):
    before = _count("befund_web_failures_total", part=part)
    client = made(**settings).test_client()
    answer = client.get("/internal/readyz")
    assert answer.status_code == 503
    assert part in answer.text
    assert NOWHERE not in answer.text + caplog.text
    assert f"not ready: {part}: " in caplog.text
    assert _count("befund_web_failures_total", part=part) == before + 1
    assert client.get("/internal/livez").status_code == 200
    assert client.get("/internal/readyz").status_code == 503
    assert _count("befund_web_failures_total", part=part) == before + 1, "shared for two seconds"


@pytest.mark.parametrize("part", ["files", "database", "mails", "uploads", "counts"])
def test_a_full_disk_is_not_ready_until_there_is_room(part, made, tmp_path, sqlite_template, monkeypatch, caplog):
    """Every folder that the webapp writes to, each on a disk of its own; the answer names none of them."""
    monkeypatch.setattr(watching, "SHARED_SECONDS", 0.0)
    with small_disk(tmp_path / "disk") as disk:
        shutil.copy(sqlite_template, disk.folder / "webapp.sqlite3")
        settings = {
            "files": {"storage": f"file://{disk.folder}/files"},
            "database": {"database_url": f"sqlite:///{disk.folder}/webapp.sqlite3"},
            "mails": {"var": str(disk.folder / "var"), "storage": f"file://{tmp_path}/files"},
        }.get(part, {})
        if part == "uploads":
            monkeypatch.setattr(tempfile, "tempdir", str(disk.folder))
        if part == "counts":
            monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(disk.folder))
        client = made(**settings).test_client()
        assert client.get("/internal/readyz").text == "ok\n"
        disk.fill()
        answer = client.get("/internal/readyz")
        assert answer.status_code == 503
        assert answer.text == f"not ready: {'files' if part == 'files' else 'disk'}\n"
        assert f"nothing can be written into {disk.folder}" in caplog.text
        assert client.get("/internal/livez").status_code == 200
        disk.free()
        assert client.get("/internal/readyz").text == "ok\n"


def test_a_secret_key_that_opens_no_vendors_secret_is_not_ready(made):
    urls = [f"--{kind}-url=http://127.0.0.1/{kind}" for kind in ("authorization", "token", "userinfo")]
    given = ["add", "alpha", "--name", "Alpha", "--client-id", "a", "--client-secret", "geheim", *urls]
    app = made()
    done = app.test_cli_runner().invoke(providers, given)
    assert done.exit_code == 0, done.output
    assert app.test_client().get("/internal/readyz").status_code == 200
    answer = made(secret_key=f"{SECRET}-another").test_client().get("/internal/readyz")
    assert (answer.status_code, answer.text) == (503, "not ready: keys\n")


def test_the_metrics_want_the_key_in_production_and_off_closes_all(made):
    open_to_all = made().test_client()
    assert "befund_web_requests_total" in open_to_all.get("/internal/metrics").text
    client = made(env="production", internal_key="nur-fuer-die-messung").test_client()
    assert client.get("/internal/metrics").status_code == 404
    assert client.get("/internal/metrics", headers={"Authorization": "Bearer falsch"}).status_code == 404
    assert client.get("/internal/metrics", headers={"Authorization": "Bearer nur-fuer-die-messung"}).status_code == 200
    assert made(env="production").test_client().get("/internal/metrics").status_code == 404
    closed, moved = made(internal_path="off").test_client(), made(internal_path="/betrieb").test_client()
    assert [closed.get(f"/internal/{name}").status_code for name in ("livez", "readyz", "metrics")] == [404] * 3
    assert moved.get("/betrieb/livez").status_code == 200


def test_the_metrics_say_what_nobody_would_miss_in_time(made, tmp_path):
    """Readiness without anybody who asks for it, the newest backup, and the end of the proxy's certificate."""

    def metrics(**settings: object) -> dict[str, float]:
        text = made(**settings).test_client().get("/internal/metrics").text
        lines = [line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#")]
        return {name.removeprefix("befund_web_"): float(value) for name, value in lines}

    backup, end = "backup_timestamp_seconds", "certificate_expiry_timestamp_seconds"
    given = {"backups": tmp_path / "backups", "tls_certificate": tmp_path / "proxy.pem"}
    said = metrics(**given)
    assert (said[backup], said[end], said["ready"]) == (1, 1, 1)
    (tmp_path / "backups" / "monday").mkdir(parents=True)
    (tmp_path / "backups" / "monday" / "manifest.json").touch()
    certificate(tmp_path, "127.0.0.1").rename(given["tls_certificate"])
    said = metrics(**given)
    assert abs(said[backup] - time.time()) < 300
    assert said[end] > time.time()
    assert metrics(limits_url=f"redis://127.0.0.1:{free_port()}")["ready"] == 0


# --- outages ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", ["/accounts/", f"/{PLACE}/fhir/r4/DocumentReference", "/accounts/vendor_oauth2/login/?provider_id=alpha"]
)
def test_without_its_database_a_request_is_a_503_in_words_and_nobody_is_signed_out(path, made, caplog):
    before = _count("befund_web_failures_total", part="database")
    client = made(f"postgresql://nobody@{NOWHERE}/nowhere").test_client()
    client.set_cookie(SESSION_COOKIE, "a-session-of-somebody")
    answer = client.get(path, headers={"Authorization": "Bearer bft_0123456789abcdef_" + "a" * 43})
    assert answer.status_code == 503
    assert answer.headers["Retry-After"] == "5"
    assert "Set-Cookie" not in answer.headers
    if "/fhir/" in path:
        assert answer.content_type == MEDIA_TYPE
        assert answer.json["issue"][0]["code"] == "transient"
    else:
        assert "Im Augenblick nicht möglich" in answer.text
    assert _count("befund_web_failures_total", part="database") > before
    assert "database: OperationalError on endpoint" in caplog.text
    assert NOWHERE not in caplog.text


def test_a_database_that_goes_behind_an_answer_leaves_the_answer(postgres_url, tmp_path, caplog):
    """The request's session is given back when the answer is made, and counted: nothing of it may become a 500."""
    app, outside = make_app(postgres_url, tmp_path), create_engine(postgres_url.replace("://", "+psycopg://"))

    @app.get("/behind")
    def behind():
        own = database.session.scalar(text("SELECT pg_backend_pid()"))
        with outside.connect() as connection:
            connection.execute(text("SELECT pg_terminate_backend(:own, 5000)"), {"own": own})
        return "well"

    client = app.test_client()
    assert client.get("/behind").text == "well"
    assert "the database went away behind an answer: it closed the connection" in caplog.text
    assert client.get("/accounts/login/").status_code == 200
    outside.dispose()


def test_a_database_that_goes_in_the_middle_of_a_page_of_somebody_signed_in_leaves_the_session(made):
    app = made()
    client = app.test_client()
    login(client, add_user(app))

    @app.get("/test/breaks")
    def breaks():
        session["something"] = "new"
        raise OperationalError("SELECT", {}, Exception("gone"))

    answer = client.get("/test/breaks")
    assert (answer.status_code, "Set-Cookie" in answer.headers) == (503, False)
    assert client.get("/accounts/").status_code == 200


def test_without_the_counters_of_limits_a_sign_in_is_a_503_and_documents_are_read_on(made):
    client = made(limits_url=f"redis://{NOWHERE}/0").test_client()
    before = _count("befund_web_failures_total", part="limits")
    assert client.get("/accounts/vendor_oauth2/login/?provider_id=alpha").status_code == 503
    assert client.get("/accounts/vendor_oauth2/login/callback/?state=x").status_code == 503
    assert _count("befund_web_failures_total", part="limits") == before + 2
    assert client.get("/accounts/login/").status_code == 200


def test_an_outage_behind_the_view_is_a_503_too(made):
    app = made()

    @app.after_request
    def breaks(response):
        raise OperationalError("SELECT", {}, Exception("gone"))

    answer = app.test_client().get("/accounts/login/")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")


@pytest.mark.parametrize("environment", ["production", "development"])
def test_a_start_without_its_database_ends_in_one_sentence(environment, tmp_path, monkeypatch):
    given = {
        "ENV": environment,
        "SECRET_KEY": SECRET,
        "PUBLIC_URL": "https://befund.example",
        "VAR": str(tmp_path),
        "DATABASE_URL": f"postgresql://nobody@{NOWHERE}/nowhere",
    }
    for name, value in given.items():
        monkeypatch.setenv(f"BEFUND_{name}", value)
    with pytest.raises(BefundError, match="the database does not answer") as ended:
        prepare(demo=False)
    assert NOWHERE not in str(ended.value)


def test_errors_of_a_request_are_no_outage():
    assert part_of(ValueError("x")) == ""
    assert part_of(FileNotFoundError(2, "x")) == ""
    assert part_of(OSError(28, "no space left")) == "files"


# --- several processes ------------------------------------------------------------------------------------------------


def _samples(base):
    text = httpx2.get(f"{base}/internal/metrics", timeout=10).text
    families = text_string_to_metric_families(text)
    return {(s.name, *sorted(s.labels.values())): s.value for family in families for s in family.samples}


def test_two_processes_count_as_one_also_when_one_was_killed(tmp_path):
    port = free_port()
    with live.webapp(port, f"sqlite:///{tmp_path}/a.sqlite3", tmp_path) as base:
        missed = ("befund_web_requests_total", "404", "GET", "other")
        with ThreadPoolExecutor(8) as pool:
            asked = [pool.submit(httpx2.get, f"{base}/nirgends/{n}", timeout=20, verify=False) for n in range(60)]
            assert {one.result().status_code for one in asked} == {404}
        assert _samples(base)[missed] == 60
        begun = _samples(base)["befund_web_requests_total", "/accounts/login/", "200", "GET"]
        assert httpx2.get(f"{base}/accounts/login/?next=/geheim", timeout=20).status_code == 200
        assert httpx2.get(f"{base}/{PLACE}/fhir/r4/Patient/{PLACE}/$everything", timeout=20).status_code == 401
        seen = _samples(base)
        assert seen["befund_web_requests_total", "/accounts/login/", "200", "GET"] == begun + 1
        template = "/<organization>/fhir/r4/Patient/<patient_id>/$everything"
        assert seen["befund_web_requests_total", template, "401", "GET"] == 1
        assert str(PLACE) not in str(seen)
        folder = re.search(rb"PROMETHEUS_MULTIPROC_DIR=([^\0]+)", _environ_of_a_worker(port))[1].decode()
        _a_worker_is_killed(port)
        wait_until(lambda: _reaches(port), "no worker is left")
        assert _samples(base)[missed] == 60
        assert httpx2.get(f"{base}/nirgends", timeout=20).status_code == 404
        assert _samples(base)[missed] == 61
        assert _samples(base)[("befund_web_requests_open",)] == 0
        assert _samples(base)[("befund_web_worker_restarts_total",)] == 1
    assert not Path(folder).exists(), "the counts end with the server"


def _environ_of_a_worker(port):
    return Path(f"/proc/{live.gunicorn(port).children()[0].pid}/environ").read_bytes()


def _a_worker_is_killed(port):
    one = live.gunicorn(port).children()[0]
    one.kill()
    wait_until(lambda: one.pid not in {other.pid for other in live.gunicorn(port).children()}, "it is still there")
    wait_until(lambda: len(live.gunicorn(port).children()) == 2, "it was not replaced")


def _reaches(port):
    with socket.create_connection(("127.0.0.1", port), timeout=2):
        return True
