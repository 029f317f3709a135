"""Vendors for the sign-in tests, and the watch over the logs: after every test no secret may be in them."""

import logging
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.webapp.sso.stub_vendor import running_stub, secret_of
from webapp.extensions import db as database
from webapp.sso.providers import ProviderFields, store

CALLBACK = "/accounts/vendor_oauth2/login/callback/"
LOGIN = "/accounts/vendor_oauth2/login/"


class LogWatch(logging.Handler):
    """Keeps every record of every logger, at DEBUG, as text with its traceback."""

    def __init__(self):
        super().__init__(logging.DEBUG)
        self.setFormatter(logging.Formatter("%(name)s %(message)s"))
        self.lines: list[str] = []

    def emit(self, record):
        if not record.name.startswith(("mail.log", "asyncio")):  # those are the test's own mail server
            self.lines.append(self.format(record))


@pytest.fixture(autouse=True)
def log_watch(vendor):
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
def _one_vendor():
    with running_stub() as server:
        yield server


@pytest.fixture
def vendor(_one_vendor):
    """The stub vendor with empty memory."""
    _one_vendor.seen.clear()
    _one_vendor.requests.clear()
    return _one_vendor


@pytest.fixture
def add_provider(app, vendor):
    """Stores a provider row that points to the stub: `add_provider("acme", mode="good", trust_email=False)`."""

    def add(provider_id="acme", mode="good", **values):
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
        store_vendors(app, ProviderFields(**fields))
        vendor.seen.add(fields["client_secret"])
        return provider_id

    return add


def store_vendors(app, *vendors):
    """Store rows of providers."""
    with app.app_context(), database.write() as session:
        for fields in vendors:
            store(session, fields)


def leave(client, provider_id="acme", **query):
    """Start a sign-in; the vendor URL we were sent to."""
    response = client.get(LOGIN, query_string={"provider_id": provider_id, **query})
    assert response.status_code == 302, response.get_data(as_text=True)
    return str(response.headers["Location"])


def sign_in(client, vendor, claims, provider_id="acme", **query):
    """Leave, let the vendor grant, come back; the answer of our callback."""
    return come_back(client, vendor, leave(client, provider_id, **query), claims)


def come_back(client, vendor, location, claims, **more):
    """From the vendor, where `location` led to, to the callback it names; `more` is added to the query."""
    return client.get(callback_of(location), query_string={**vendor.grant(location, claims), **more})


def callback_of(location):
    """The path of the redirect URI in an authorization request."""
    return urlsplit(parse_qs(urlsplit(location).query)["redirect_uri"][0]).path


def person(number=1, **claims):
    """Claims of an invented person."""
    return {
        "sub": f"subject-{number}",
        "email": f"person{number}@example.org",
        "given_name": f"Vorname{number}",
        "family_name": "Mustermann",
        **claims,
    }
