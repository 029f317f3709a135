"""Clients that trickle, behind the shipped nginx; bodies nobody asked for, there and at gunicorn itself."""

import io
import shutil
import socket
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import httpx2
import psutil
import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.nginx import in_front_of
from tests.serving import connect as connect_to
from tests.serving import free_port
from tests.webapp.conftest import SECRET, add_organization, add_user, login
from tests.webapp.sso import live

TRICKLING = 1000
TIMES = 12
PIECE = 65_536
UPLOAD = "/documents/%s/upload/"


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Iterator[str]:
    """The webapp under its own gunicorn settings, one process."""
    folder = tmp_path_factory.mktemp("web")
    shutil.copy(sqlite_template, folder / "webapp.sqlite3")
    url = f"sqlite:///{folder / 'webapp.sqlite3'}"
    given = {"BEFUND_SECRET_KEY": SECRET, "WEB_CONCURRENCY": "1", "TMPDIR": str(folder)}
    with live.webapp(free_port(), url, folder, **given) as base:
        yield base


@pytest.fixture(scope="module")
def behind(web: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The same behind the shipped nginx configuration."""
    with in_front_of("webapp", {5000: [int(web.rpartition(":")[2])]}, tmp_path_factory.mktemp("nginx")) as base:
        yield base


def connect(base: str, *parts: bytes) -> socket.socket:
    """Somebody at another address than the tests' own."""
    host, _, port = base.removeprefix("http://").partition(":")
    opened = connect_to((host, int(port)), timeout=20, source="127.0.0.2")
    for part in parts:
        opened.sendall(part)
    return opened


def trickling(base: str, number: int) -> list[socket.socket]:
    """Connections that begin and never end: in the request line, in the headers, in a body."""
    beginnings = (
        b"GE",
        b"GET /accounts/login/ HTTP/1.1\r\nHost: x\r\nX-Slow: ",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nemail=",
    )
    return [connect(base, beginnings[index % len(beginnings)]) for index in range(number)]


def test_a_thousand_trickling_connections_are_not_noticed_behind_nginx(behind: str) -> None:
    slow = trickling(behind, TRICKLING)
    try:
        for _ in range(20):
            assert httpx2.get(f"{behind}/accounts/login/", timeout=10).status_code == 200
            assert httpx2.post(f"{behind}/accounts/complete/", data={"email": "x"}, timeout=10).status_code == 400
    finally:
        for one in slow:
            one.close()


class Unread(io.BytesIO):
    """A body that must not be read."""

    def read(self, *_: object) -> bytes:
        raise AssertionError("the body was read")

    readline = readinto = read1 = readinto1 = read  # type: ignore[assignment]


def upload(client: FlaskClient, place: uuid.UUID) -> int:
    return client.post(
        UPLOAD % place,
        input_stream=Unread(),
        environ_overrides={"CONTENT_LENGTH": str(512 * 1024 * 1024)},
        content_type="multipart/form-data; boundary=b",
    ).status_code


def test_an_upload_is_not_read_before_session_and_membership(app: Flask, client: FlaskClient) -> None:
    place = add_organization(app).id
    assert upload(client, place) == 302
    login(client, add_user(app))
    assert upload(client, place) == 404
    assert upload(client, uuid.uuid4()) == 404


@pytest.mark.parametrize("where", ["web", "behind"])
def test_an_upload_without_a_session_leaves_nothing_on_the_disk(request: pytest.FixtureRequest, where: str) -> None:
    """64 MiB of a promised 512: the answer comes without them, and they are nowhere. Less of them, several times: nginx
    still sends when the webapp has answered, and made an error of its own of a webapp that hung up then."""
    base: str = request.getfixturevalue(where)
    for size in (64 * 1024 * 1024, *(PIECE * (4 + 2 * number) for number in range(TIMES))):
        _refused_in_the_middle(base, size)


def _refused_in_the_middle(base: str, size: int) -> None:
    head = (
        f"POST {UPLOAD % uuid.uuid4()} HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\n"
        f"Content-Length: {512 * 1024 * 1024}\r\n\r\n--b\r\n"
        'Content-Disposition: form-data; name="files"; filename="a"\r\n\r\n'
    )
    before = written()
    with connect(base, head.encode()) as opened:
        sent = 0
        try:
            while sent < size:
                sent += opened.send(b"x" * PIECE)
        except OSError:
            pass
        opened.settimeout(20)
        try:
            answer = opened.recv(12)
        except ConnectionResetError:
            answer = b"HTTP/1.1 302"  # the answer was sent and the rest of the body refused
    assert answer == b"HTTP/1.1 302"
    assert written() - before < 1024 * 1024


def written() -> int:
    """Bytes that servers of this test hold in files somebody has already unlinked, as temporary files are."""
    total = 0
    for child in psutil.Process().children(recursive=True):
        try:
            files = child.open_files()
        except psutil.Error:
            continue
        for file in files:
            path = Path(file.path.removesuffix(" (deleted)"))
            if tempfile.gettempdir() in str(path) and path.suffix not in (".log", ".sqlite3", ".sqlite3-wal"):
                total += path.stat().st_size if path.exists() else 0
    return total
