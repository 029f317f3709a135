"""Vendors for the sign-in tests, and the watch over the logs: after every test no secret may be in them."""

import logging
import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.webapp.sso.stub_vendor import StubVendor, running_stub, secret_of
from webapp.extensions import db as database
from webapp.sso.providers import ProviderFields, store

CALLBACK = "/accounts/vendor_oauth2/login/callback/"
LOGIN = "/accounts/vendor_oauth2/login/"

AddProvider = Callable[..., str]


class LogWatch(logging.Handler):
    """Keeps every record of every logger, at DEBUG, as text with its traceback."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.setFormatter(logging.Formatter("%(name)s %(message)s"))
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if not record.name.startswith(("mail.log", "asyncio")):  # those are the test's own mail server
            self.lines.append(self.format(record))


@pytest.fixture(autouse=True)
def log_watch(vendor: StubVendor) -> Iterator[LogWatch]:
    """Fails the test when a secret, code, token, state or one-time code it used is in any log."""
    watch, root = LogWatch(), logging.getLogger()
    before = root.level
    root.addHandler(watch)
    root.setLevel(logging.DEBUG)
    yield watch
    root.removeHandler(watch)
    root.setLevel(before)
    text = "\n".join(watch.lines)
    leaked = [
        value for value in vendor.seen if len(value) >= 6 and re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text)
    ]
    assert not leaked, f"{len(leaked)} secret values are in the logs"


@pytest.fixture(scope="session")
def _one_vendor() -> Iterator[StubVendor]:
    with running_stub() as server:
        yield server


@pytest.fixture
def vendor(_one_vendor: StubVendor) -> StubVendor:
    """The stub vendor with empty memory."""
    _one_vendor.seen.clear()
    _one_vendor.requests.clear()
    return _one_vendor


@pytest.fixture
def add_provider(app: Flask, vendor: StubVendor) -> AddProvider:
    """Stores a provider row that points to the stub: `add_provider("acme", mode="good", trust_email=False)`."""

    def add(provider_id: str = "acme", mode: str = "good", **values: Any) -> str:
        base = f"{vendor.url}/{mode}"
        fields: dict[str, Any] = {
            "id": provider_id,
            "name": f"Klinik {provider_id}",
            "authorization_url": f"{base}/authorize",
            "token_url": f"{base}/token",
            "userinfo_url": f"{base}/userinfo",
            "client_id": f"client-{provider_id}",
            "client_secret": secret_of(f"client-{provider_id}"),
            "own_callback": provider_id != "acme" and "issuer" not in values,  # a second vendor must be told apart
            **values,
        }
        with app.app_context(), database.write() as session:
            store(session, ProviderFields(**fields))
        vendor.seen.add(fields["client_secret"])
        return provider_id

    return add


def leave(client: FlaskClient, provider_id: str = "acme", **query: str) -> str:
    """Start a sign-in; the vendor URL we were sent to."""
    response = client.get(LOGIN, query_string={"provider_id": provider_id, **query})
    assert response.status_code == 302, response.get_data(as_text=True)
    return str(response.headers["Location"])


def sign_in(
    client: FlaskClient, vendor: StubVendor, claims: Any, provider_id: str = "acme", **query: str
) -> TestResponse:
    """Leave, let the vendor grant, come back; the answer of our callback."""
    return come_back(client, vendor, leave(client, provider_id, **query), claims)


def come_back(client: FlaskClient, vendor: StubVendor, location: str, claims: Any, **more: Any) -> TestResponse:
    """From the vendor, where `location` led to, to the callback it names; `more` is added to the query."""
    return client.get(callback_of(location), query_string={**vendor.grant(location, claims), **more})


def callback_of(location: str) -> str:
    """The path of the redirect URI in an authorization request."""
    return urlsplit(parse_qs(urlsplit(location).query)["redirect_uri"][0]).path


def person(number: int = 1, **claims: Any) -> dict[str, Any]:
    """Claims of an invented person."""
    return {
        "sub": f"subject-{number}",
        "email": f"person{number}@example.org",
        "given_name": f"Vorname{number}",
        "family_name": "Mustermann",
        **claims,
    }
