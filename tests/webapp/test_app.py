"""The application as a whole: sessions, headers, error pages."""

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.webapp.conftest import add_user, login


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
