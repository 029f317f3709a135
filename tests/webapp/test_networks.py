"""The limits of both nginx configurations count IPv6 callers by their /64, as the webapp does itself."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests

from tests.serving import free_port, wait_until
from tests.webapp.nginx import program

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
        "    access_log off;", f"    access_log off; {SAYS_WHO}"
    )
    (folder / "proxy.conf").write_text(text, "utf-8")
    command = [program(), "-p", str(folder), "-c", "proxy.conf", "-g", "daemon off; error_log stderr crit;"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: (folder / "nginx.pid").exists() or process.poll() is not None, "nginx did not start")
        assert process.poll() is None
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


@pytest.mark.parametrize(
    ("file", "path"),
    [
        ("webapp/proxy.conf", "/accounts/vendor_oauth2/login/"),
        ("webapp/proxy.conf", "/00000000-0000-4000-8000-000000000000/fhir/r4/DocumentReference"),
        ("bentos/proxy.conf", "/api/deep-research"),
    ],
)
def test_addresses_of_one_ipv6_network_share_a_limit_at_nginx(tmp_path: Path, file: str, path: str) -> None:
    with nginx(file, tmp_path) as base:

        def limited(address: str) -> bool:
            answer = requests.get(f"{base}{path}", headers={"X-Test-Address": address}, timeout=20)
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
