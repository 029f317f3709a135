"""nginx by itself, in front of nobody: its limits count IPv6 callers by their /64, and its errors have a form."""

import json
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx2
import pytest

from evals.load.servers import listens, running
from tests.nginx import program
from tests.serving import free_port

ROOT = Path(__file__).resolve().parents[2]
BURST = 3
SAYS_WHO = "real_ip_header X-Test-Address; set_real_ip_from 127.0.0.1;"


@contextmanager
def nginx(file: str, folder: Path) -> Iterator[str]:
    """The configuration as shipped, but for its ports, for how much is too much, and for who may say whose call it
    is; nothing listens behind it, so that what is let through is a 502 or a 504."""
    text = (ROOT / file).read_text("utf-8")
    port, nobody = free_port(), free_port()
    text = re.sub(r"listen 127\.0\.0\.1:\d+", f"listen 127.0.0.1:{port}", text)
    text = re.sub(r"server 127\.0\.0\.1:\d+", f"server 127.0.0.1:{nobody}", text)
    text = re.sub(r"rate=\d+r/s", "rate=1r/m", text)
    text = re.sub(r"burst=\d+", f"burst={BURST - 1}", text).replace(
        "    server_tokens off;", f"    server_tokens off; {SAYS_WHO}"
    )
    (folder / "proxy.conf").write_text(text, "utf-8")
    command = [program(), "-p", str(folder), "-c", "proxy.conf", "-g", "daemon off; error_log stderr crit;"]
    with running(command, lambda: listens(port)):
        yield f"http://127.0.0.1:{port}"


@pytest.mark.parametrize(
    ("file", "path"),
    [
        ("webapp/proxy.conf", "/accounts/vendor_oauth2/login/"),
        ("webapp/proxy.conf", "/00000000-0000-4000-8000-000000000000/fhir/r4/DocumentReference"),
        ("bentos/proxy.conf", "/api/deep-research"),
    ],
)
def test_addresses_of_one_ipv6_network_share_a_limit_at_nginx(tmp_path: Path, file: str, path: str) -> None:
    with nginx(file, tmp_path) as base, httpx2.Client(base_url=base, timeout=20) as client:

        def limited(address: str) -> bool:
            answer = client.get(path, headers={"X-Test-Address": address})
            assert answer.status_code in (429, 502, 504)
            return answer.status_code == 429

        for network in (
            "2001:db8:1:2:%d:a:b:c",
            "2001:db8:0:3::%d",
            "2001:0:0:4:a:b:c:%d",
            "2001:0:0:5:a:b:c:%d",
            "::%d",
        ):
            passed = [limited(network % number) for number in range(1, BURST + 3)]
            assert passed == [False] * BURST + [True] * 2, network
        assert not limited("2001:db8:1:3:1:a:b:c"), "the network beside it"
        assert [limited(f"198.51.100.{number}") for number in range(6)] == [False] * 6, "IPv4 is counted by address"
        assert [limited(f"::ffff:203.0.113.{number}") for number in range(6)] == [False] * 6


FHIR = "/00000000-0000-4000-8000-000000000000/fhir/r4/Patient"


@pytest.mark.parametrize(
    ("file", "path", "size", "status", "form", "said"),
    [
        ("webapp/proxy.conf", "/kanarienvogel", 0, 502, "text/html", "nicht erreichbar"),
        ("webapp/proxy.conf", FHIR, 0, 502, "application/fhir+json", '"code":"transient"'),
        ("webapp/proxy.conf", FHIR, 513, 413, "application/fhir+json", '"code":"too-long"'),
        ("bentos/proxy.conf", "/api/deep-research", 0, 502, "application/problem+json", '"status":502'),
        ("bentos/proxy.conf", "/api/deep-research", 2, 413, "application/problem+json", '"status":413'),
        ("bentos/proxy.conf", "/kanarienvogel", 0, 404, "application/problem+json", '"title":"Not Found"'),
    ],
)
def test_an_error_of_nginx_has_the_form_of_its_caller_and_a_line_without_the_request(
    tmp_path: Path, file: str, path: str, size: int, status: int, form: str, said: str
) -> None:
    """`size`: MiB that a body announces."""
    with nginx(file, tmp_path) as base:
        headers = f"Host: x\r\nX-Test-Address: 203.0.113.9\r\nConnection: close\r\nContent-Length: {size << 20}\r\n"
        with socket.create_connection(("127.0.0.1", int(base.rpartition(":")[2])), 20) as line:
            line.sendall(f"POST {path}?name=Mustermann HTTP/1.1\r\n{headers}\r\n".encode())
            read = b""
            with suppress(ConnectionResetError):  # a body that is refused is not read
                while more := line.recv(65_536):
                    read += more
    answer = read.decode()
    head, _, body = answer.partition("\r\n\r\n")
    assert head.startswith(f"HTTP/1.1 {status} ")
    assert f"content-type: {form}" in head.lower()
    assert ("retry-after: 5" in head.lower()) == (status == 502)
    assert said in body
    assert "nginx" not in body
    lines = (tmp_path / "errors.log").read_text()
    assert [json.loads(each)["status"] for each in lines.splitlines()] == ([] if status == 404 else [status])
    assert not any(word in lines for word in ("Mustermann", "kanarienvogel", "/fhir", "203.0.113"))
