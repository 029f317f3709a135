"""The application as a whole: sessions, headers, error pages."""

from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.webapp.conftest import add_user, login, make_app


@pytest.mark.parametrize("path", ["/", "/accounts/login/", "/no/such/page"])
def test_every_page_carries_the_strict_headers(client: FlaskClient, path: str) -> None:
    response = client.get(path)
    policy = response.headers["Content-Security-Policy"]
    assert "'unsafe-inline'" not in policy
    assert "frame-ancestors 'none'" in policy
    assert response.headers["Referrer-Policy"] == "no-referrer"
    assert response.headers["X-Content-Type-Options"] == "nosniff"


def test_login_helper_signs_in_through_the_stored_session(app: Flask, client: FlaskClient) -> None:
    login(client, add_user(app, given_name="Erika", family_name="Mustermann"))
    assert "Erika Mustermann" in client.get("/accounts/").get_data(as_text=True)


def test_anonymous_visitor_gets_no_cookie(client: FlaskClient) -> None:
    assert "Set-Cookie" not in client.get("/").headers


def test_limits_per_address_are_shared_through_redis(tmp_path: Path, sqlite_url: str, redis_url: str) -> None:
    """Three servers count together: fewer tries than the limit (120 a minute) at each, and yet it is reached, also
    when a minute ends in between."""

    def answers(limits_url: str) -> set[int]:
        app = make_app(sqlite_url, tmp_path, limits_url=limits_url)
        app.config["WTF_CSRF_ENABLED"] = False  # which is looked at before a try counts
        client = app.test_client()
        return {client.post("/accounts/complete/code/", data={"code": "000000"}).status_code for _ in range(119)}

    assert 429 in answers(redis_url) | answers(redis_url) | answers(redis_url)
    assert 429 not in answers("memory://") | answers("memory://")
