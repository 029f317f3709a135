"""Whatever a client sends, malformed or not, no server logs it: neither patient nor code nor the full address."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.malformed import FORMS, WELL, filled, send
from tests.nginx import in_front_of
from tests.serving import free_port
from tests.webapp.conftest import SECRET
from tests.webapp.sso import live

CANARY = b"kanarienvogel-4711"
CALLBACK = live.CALLBACK.encode()


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Iterator[tuple[list[int], list[Path]]]:
    """Ports and logs of gunicorn at debug with its access log, and of nginx before it."""
    folder, front = tmp_path_factory.mktemp("canary"), tmp_path_factory.mktemp("front")
    shutil.copy(sqlite_template, folder / "webapp.sqlite3")
    ports = [free_port(), free_port()]
    url = f"sqlite:///{folder / 'webapp.sqlite3'}"
    with (
        live.webapp(ports[0], url, folder, BEFUND_SECRET_KEY=SECRET, BEFUND_LOG_FORMAT="json"),
        in_front_of("webapp", {5000: ports[:1]}, front, ports[1]),
    ):
        yield ports, [folder / "webapp.log", front / "nginx.log"]


@pytest.mark.parametrize("form", FORMS)
def test_no_form_of_a_request_reaches_a_log(servers: tuple[list[int], list[Path]], form: str) -> None:
    ports, logs = servers
    for port in ports:
        send(port, filled(form, CALLBACK, CANARY))
    text = b"".join(log.read_bytes() for log in logs)
    assert CANARY not in text
    assert b"code=" not in text
    assert b"M\xc3\xbcller" not in text


def test_no_form_of_a_request_reaches_the_metrics(servers: tuple[list[int], list[Path]]) -> None:
    ports, _ = servers
    said = [httpx2.get(f"http://127.0.0.1:{ports[0]}/internal/{name}", timeout=20) for name in ("metrics", "readyz")]
    assert b"befund_web_requests_total" in said[0].content
    for answer in said:
        assert not any(word in answer.content for word in (CANARY, b"code=", b"M\xc3\xbcller"))
    assert httpx2.get(f"http://127.0.0.1:{ports[1]}/internal/metrics", timeout=20).status_code == 404


def test_a_malformed_request_is_counted_in_the_log_without_its_address(servers: tuple[list[int], list[Path]]) -> None:
    ports, logs = servers
    send(ports[0], b"GET /?patient=M\xc3\xbcller HTTP/9.9\r\n" + WELL)
    text = logs[0].read_text("utf-8", "replace")
    assert "a malformed request was refused" in text
    assert "ip=127.0.0.1" not in text


def test_every_line_of_gunicorn_and_of_ours_is_json(servers: tuple[list[int], list[Path]]) -> None:
    lines = [line for line in servers[1][0].read_text("utf-8").splitlines() if line.strip()]
    ours = [line for line in lines if line.startswith("{")]
    assert {json.loads(line)["logger"] for line in ours} >= {"gunicorn.error"}
    assert [line for line in lines if not line.startswith(("{", "webapp: "))] == []
