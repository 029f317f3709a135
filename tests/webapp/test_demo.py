"""`demo`: sign in with the built-in vendor, end to end, with the webapp calling itself under gunicorn."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.serving import free_port
from tests.webapp.conftest import SECRET, make_app
from tests.webapp.sso import live


def test_a_newcomer_signs_in_as_erika_and_sees_documents(tmp_path: Path, sqlite_template: Path) -> None:
    shutil.copy(sqlite_template, tmp_path / "webapp.sqlite3")
    url, port = f"sqlite:///{tmp_path / 'webapp.sqlite3'}", free_port()
    app = make_app(url, tmp_path, web_port=port)
    for stored in (3, 0):
        result = app.test_cli_runner().invoke(args=["demo"])
        assert result.exit_code == 0, result.output
        assert f": 3 documents, {stored} of them stored now\n" in result.output
    with live.webapp(port, url, tmp_path, BEFUND_SECRET_KEY=SECRET) as base:
        browser = requests.Session()
        vendor = browser.get(f"{base}/accounts/vendor_oauth2/login/?provider_id=demo", timeout=10)
        token = re.search(r'name="csrf_token" value="([^"]+)"', vendor.text)
        assert token
        page = browser.post(vendor.url, data={"csrf_token": token[1], "person": "erika"}, timeout=10)
        assert page.url == f"{base}/accounts/"
        assert "Erika Mustermann" in page.text
        assert "Betreiber" in page.text
        denied = requests.Session()
        vendor = denied.get(f"{base}/accounts/vendor_oauth2/login/?provider_id=demo", timeout=10)
        token = re.search(r'name="csrf_token" value="([^"]+)"', vendor.text)
        assert token
        assert denied.post(vendor.url, data={"csrf_token": token[1], "person": ""}, timeout=10).status_code == 403
    app.extensions["befund_engine"].dispose()


@pytest.mark.parametrize("path", ["authorize", "token", "userinfo"])
def test_production_has_no_demo(tmp_path: Path, sqlite_template: Path, path: str) -> None:
    given: dict[str, Any] = {"env": "production"}
    shutil.copy(sqlite_template, tmp_path / "webapp.sqlite3")
    app = make_app(f"sqlite:///{tmp_path / 'webapp.sqlite3'}", tmp_path, **given)
    assert app.test_client().get(f"/development/vendor/{path}").status_code == 404
    result = app.test_cli_runner().invoke(args=["demo"])
    assert result.exit_code == 1
    assert "development" in result.output
    app.extensions["befund_engine"].dispose()
