"""`demo`: sign in with the built-in vendor, end to end; what the README shows of it are real answers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import httpx2
import pytest

from tests import docs
from tests.serving import free_port
from tests.test_docs import README
from tests.webapp.conftest import SECRET, command, make_app
from tests.webapp.sso import live


def test_a_newcomer_signs_in_as_erika_and_sees_documents(tmp_path: Path, sqlite_url: str) -> None:
    port = free_port()
    app = make_app(sqlite_url, tmp_path, web_port=port)
    for stored in (3, 0):
        assert f": 3 documents, {stored} of them stored now\n" in command(app, "demo")
    with live.webapp(port, sqlite_url, tmp_path, BEFUND_SECRET_KEY=SECRET) as base:
        browser = httpx2.Client(follow_redirects=True, timeout=10)
        vendor = browser.get(f"{base}/accounts/vendor_oauth2/login/?provider_id=demo")
        token = re.search(r'name="csrf_token" value="([^"]+)"', vendor.text)
        assert token
        page = browser.post(vendor.url, data={"csrf_token": token[1], "person": "erika"})
        assert str(page.url) == f"{base}/accounts/"
        assert "Erika Mustermann" in page.text
        assert "Betreiber" in page.text
        denied = httpx2.Client(follow_redirects=True, timeout=10)
        vendor = denied.get(f"{base}/accounts/vendor_oauth2/login/?provider_id=demo")
        token = re.search(r'name="csrf_token" value="([^"]+)"', vendor.text)
        assert token
        assert denied.post(vendor.url, data={"csrf_token": token[1], "person": ""}).status_code == 403


@pytest.mark.parametrize("path", ["authorize", "token", "userinfo"])
def test_production_has_no_demo(tmp_path: Path, sqlite_url: str, path: str) -> None:
    app = make_app(sqlite_url, tmp_path, env="production")
    assert app.test_client().get(f"/development/vendor/{path}").status_code == 404
    assert "development" in command(app, "demo", fails=True)


def test_the_search_for_documents(app, client):
    added = command(app, "demo")
    organization = re.search(r"organization (\S+):", added)[1]
    token = command(app, "tokens", "create", "--user", "erika@example.org").split()[-1]
    _, shown = docs.example(README, "/fhir/r4/DocumentReference")
    url = f"/{organization}/fhir/r4/DocumentReference?_count=1"
    assert url.replace(organization, "$ORGANIZATION") in README.read_text("utf-8")
    real = client.get(url, headers={"Authorization": f"Bearer {token}"}).json
    assert docs.shortened(json.loads(shown.text), real), real


def test_the_way_to_a_vendor(app, client):
    command(app, "demo")
    _, shown = docs.example(README, "/accounts/vendor_oauth2/login/")
    answer = client.get("/accounts/vendor_oauth2/login/?provider_id=demo")
    status, location = shown.text.splitlines()
    assert status == f"HTTP/1.1 {answer.status}"
    said, real = (urlsplit(url.removesuffix("&...")) for url in (location.removeprefix("Location: "), answer.location))
    assert said.path == real.path
    assert set(parse_qsl(said.query)) <= set(parse_qsl(real.query))
