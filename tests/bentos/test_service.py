"""The BentoML service for real: `bentoml serve` with two workers, and a built Bento served from another folder."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx2
import pytest

from bentos.keys.database import open_database
from bentos.keys.keys import KeyLimits, Keys
from bentos.patience import HEADERS_S
from clinical.search.native.library import LIBRARY, is_current
from clinical.sse import Decoder
from evals.load.servers import running as server_process
from tests.bentos.conftest import CLOSED, ROOT
from tests.malformed import FORMS, filled, send
from tests.serving import answers, free_port, wait_until

SECRET = "Mustermann"
CANARY = b"kanarienvogel-4711"
JSON = b"POST /api/deep-research HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n"
BODIES = {
    "key alone": JSON + b"Authorization: Bearer bfd_00000000_" + CANARY + b"\r\nContent-Length: 2\r\n\r\n{}",
    "key of another scheme": JSON + b"Authorization: Basic " + CANARY + b"\r\nContent-Length: 2\r\n\r\n{}",
    "body cut short": JSON + b'Content-Length: 900\r\n\r\n{"query": "' + CANARY,
    "body that is no JSON": JSON + b"Content-Length: 18\r\n\r\n" + CANARY,
    "body that is no UTF-8": JSON + b'Content-Length: 20\r\n\r\n"\xff' + CANARY,
    "body longer than said": JSON + b"Content-Length: 2\r\n\r\n{}" + CANARY,
    "field of another kind": JSON + b'Content-Length: 33\r\n\r\n{"query": ["' + CANARY + b'"]}',
    "path that is none": b"GET /api/" + CANARY + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
}


@contextmanager
def bentoml_serve(target: str, folder: Path, environment: dict[str, str]) -> Iterator[str]:
    """`bentoml serve TARGET` with `folder` as the working folder; yields the base URL when it is ready."""
    port = free_port()
    command = [sys.executable, "-m", "bentoml", "serve", target, "--port", str(port)]
    command += ["--timeout-graceful-shutdown", "3"]
    base = f"http://127.0.0.1:{port}"

    def all_ready() -> bool:  # every worker: each connection is new and goes to any of them
        return all(answers(f"{base}/internal/readyz") for _ in range(20))

    with server_process(command, all_ready, environment=environment, folder=folder, log=folder / "log"):
        yield base


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder in which the servers of this file run: their log and their database."""
    return tmp_path_factory.mktemp("service")


@pytest.fixture(scope="module")
def environment(folder, starter_artifact):
    database = f"sqlite:///{folder / 'api.sqlite'}"
    settings = {"CATALOG": starter_artifact, "API_DATABASE_URL": database, "WORKERS": 2, "ENV": "development"}
    settings["LOG_FORMAT"] = "json"
    return {
        **os.environ,
        **{f"BEFUND_{name}": str(value) for name, value in settings.items()},
        "BEFUND_INTERNAL_KEY": "measured",
        "BENTOML_HOME": str(folder / "bentoml"),
        "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))),
    }


@pytest.fixture(scope="module")
def key(folder):
    return Keys(open_database(f"sqlite:///{folder / 'api.sqlite'}")).create("test", KeyLimits(0, 0))


@pytest.fixture(scope="module")
def base(environment, folder):
    """`bentoml serve` with two workers, for all tests of this file that need no other."""
    with bentoml_serve("bentos.service:Befund", folder, environment) as served:
        yield served


def _ask(base, key, query):
    headers = {"Authorization": f"Bearer {key}"}
    answer = httpx2.post(f"{base}/api/deep-research", json={"query": query}, headers=headers, trust_env=False)
    assert answer.status_code == 200, answer.text
    return list(Decoder().feed(answer.content))


def test_bentoml_serve_closes_the_connections_of_those_who_do_not_come_to_an_end(base):
    """BentoML's uvicorn has our protocol; alone it would keep all three."""
    port = int(base.rpartition(":")[2])
    with ExitStack() as ends:
        beginnings = (b"", b"GE", b"POST /api/deep-research HTTP/1.1\r\nHost: x\r\nX-Slow: ")
        slow = [ends.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in beginnings]
        for one, beginning in zip(slow, beginnings, strict=True):
            one.settimeout(3 * HEADERS_S)
            one.sendall(beginning)
        assert [one.recv(1) for one in slow] == [b"", b"", b""]


def test_bentoml_serve_answers_the_contract_and_nothing_else(base, folder, key):
    for path in CLOSED:
        assert httpx2.get(f"{base}{path}").status_code == 404, path
    assert httpx2.get(f"{base}/api/health").json()["catalog"]["version"] == "2026"
    assert _ask(base, key, "Essentielle Hypertonie")[1].codes
    assert httpx2.post(f"{base}/api/deep-research", json={}).status_code == 401
    _ask(base, key, SECRET)
    bad = httpx2.post(
        f"{base}/api/deep-research?{SECRET}",
        content=f'{{"query": ["{SECRET}"]}}',
        headers={"Authorization": f"Bearer {key}"},
    )
    assert bad.status_code == 422
    httpx2.get(f"{base}/api/{SECRET}")
    metrics = httpx2.get(f"{base}/internal/metrics", headers={"Authorization": "Bearer measured"}).text
    assert 'route="/api/deep-research",status="200"' in metrics
    assert SECRET not in metrics + bad.text
    wait_until(lambda: "POST /api/deep-research 422" in (folder / "log").read_text(), "the refusal is not logged")
    log = (folder / "log").read_text()
    assert SECRET not in log
    assert key not in log


@pytest.mark.parametrize("form", [*FORMS, *BODIES])
def test_no_form_of_a_request_reaches_the_log_of_the_api(base, folder, form):
    port = int(base.rpartition(":")[2])
    request = BODIES[form] if form in BODIES else filled(form, b"/api/deep-research", CANARY)
    send(port, request)
    log = (folder / "log").read_bytes()
    for told in (CANARY, b"code=", b"M\xc3\xbcller", b" HTTP/1.1", b"127.0.0.1:" + str(port).encode() + b" - "):
        assert told not in log


def test_every_line_of_the_server_is_json_and_names_the_request(base, folder):
    request_id = "f058ebd6-02f7-4d3f-942e-904344e8cde5"
    assert httpx2.get(f"{base}/api/health", headers={"X-Request-ID": request_id}).headers["X-Request-ID"] == request_id

    def lines() -> list[str]:  # whole ones: the server writes on while this reads
        written = (folder / "log").read_text("utf-8").splitlines(keepends=True)
        return [line for line in written if line.strip() and line.endswith("\n")]

    # a request is logged when its answer has been sent, so the client may be here before the line is
    wait_until(lambda: any(request_id in line for line in lines()), "the request is not logged")
    assert [line for line in lines() if not line.startswith("{")] == []
    said = [json.loads(line) for line in lines()]
    (access,) = [line for line in said if line.get("request_id") == request_id]
    assert access["logger"] == "befund.access"
    assert access["message"].startswith("GET /api/health 200 ")


def test_a_built_bento_serves_from_another_folder_and_its_keys_lie_outside(environment, tmp_path):
    built = subprocess.run(
        [sys.executable, "-m", "bentoml", "build", "--output", "tag"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert built.returncode == 0, built.stderr[-3000:]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    without = {"PYTHONPATH", "BEFUND_API_DATABASE_URL"}
    environment = {name: value for name, value in environment.items() if name not in without}
    environment["HOME"] = str(elsewhere)
    (source,) = Path(environment["BENTOML_HOME"], "bentos", "befund").glob("*/src")
    assert is_current(source / LIBRARY.relative_to(ROOT)), "the loops of the search travel compiled"
    environment["CC"] = "none"  # where it is served there is no compiler
    made = subprocess.run(
        [sys.executable, "-m", "bentos", "keys", "create", "--name", "Praxis"],
        cwd=source, env=environment, capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    with bentoml_serve("befund:latest", elsewhere, environment) as base:
        assert httpx2.get(f"{base}/api/health").json()["status"] == "ok"
        assert _ask(base, made.stdout.strip(), "Essentielle Hypertonie")[1].codes
    assert (elsewhere / ".befund" / "api.sqlite").is_file()
    written = [path for path in source.parent.rglob("*") if "sqlite" in path.name or "secret" in path.name]
    assert [path for path in written if path.suffix != ".py"] == [], "what is written must not be exported with a Bento"
