"""Sign-in with a real OpenID provider (npm `oidc-provider`) that nobody here wrote, over HTTP."""

import re
from urllib.parse import urljoin

import httpx2
import pytest
from sqlalchemy import select

from tests.serving import free_port
from tests.webapp.sso import live
from tests.webapp.sso.conftest import CALLBACK, leave
from webapp.models import User
from webapp.sso.models import Identity


@pytest.fixture(scope="module")
def issuer(tmp_path_factory):
    if reason := live.node_missing("oidc-provider"):
        pytest.skip(reason)
    with live.oidc_provider(free_port(), tmp_path_factory.mktemp("vendor"), "http://localhost") as url:
        yield url


@pytest.fixture
def real(issuer, add_provider):
    """Adds a provider row for one of the vendor's clients: post, basic or pkce."""

    def add(client_id, **values):
        return add_provider(
            client_id, client_id=client_id, client_secret=f"geheimnis-von-{client_id}-0123456789", issuer=issuer,
            authorization_url=f"{issuer}/auth", token_url=f"{issuer}/token", userinfo_url=f"{issuer}/me",
            token_auth_method="basic" if client_id == "basic" else "post", **values,
        )  # fmt: skip

    return add  # type: ignore[return-value]


def at_vendor(location, name):
    """Log in at the vendor's own pages and consent; where it sends the browser back to."""
    browser = httpx2.Client(timeout=10)
    answer = browser.get(location)
    for _ in range(12):
        if answer.has_redirect_location:
            location = urljoin(str(answer.url), answer.headers["Location"])
            if CALLBACK in location:
                return location
            answer = browser.get(location)
            continue
        action = re.search(r'action="([^"]+)"', answer.text)
        prompt = re.search(r'name="prompt" value="([^"]+)"', answer.text)
        assert action, answer.text
        assert prompt, answer.text
        data = {"prompt": prompt[1], "login": name, "password": "egal"}
        answer = browser.post(action[1], data=data)
    raise AssertionError("the vendor never sent the browser back")


@pytest.mark.parametrize(
    ("client_id", "pkce"), [("post", True), ("post", False), ("basic", True), ("basic", False), ("pkce", True)]
)
def test_post_and_basic_with_and_without_pkce(client, db, real, client_id, pkce):
    real(client_id, pkce=pkce)
    back = at_vendor(leave(client, client_id), "erika")
    assert "iss=" in back
    assert client.get(back).headers["Location"] == "/accounts/"
    page = client.get("/accounts/").get_data(as_text=True)
    assert "Erika Mustermann" in page
    assert "erika@example.org" in page
    assert db.session.scalars(select(Identity.subject)).one() == "erika"


def test_a_vendor_that_demands_pkce_says_no_without_it(client, real):
    real("pkce", pkce=False)
    response = client.get(at_vendor(leave(client, "pkce"), "erika"))
    assert response.status_code == 403
    assert "invalid_request" in response.get_data(as_text=True)


@pytest.mark.parametrize("name", ["ohne", "offen"])
def test_no_email_or_an_unverified_one_leads_to_the_code(client, db, real, name):
    real("post")
    assert client.get(at_vendor(leave(client, "post"), name)).headers["Location"] == "/accounts/complete/"
    assert db.session.scalars(select(User)).all() == []


def test_fields_of_its_own_instead_of_claims(client, db, real):
    real("post")
    client.get(at_vendor(leave(client, "post"), "eigen"))
    user = db.session.scalars(select(User)).one()
    assert (user.name, user.email) == ("Emil Eigen", "eigen@example.org")
    assert db.session.scalars(select(Identity.subject)).one() == "4711"


def test_a_code_is_good_once_at_a_real_vendor_too(app, client, db, real):
    real("post", pkce=False)
    back = at_vendor(leave(client, "post"), "erika")
    code = re.search(r"code=([^&]+)", back)
    assert code
    assert client.get(back).status_code == 302
    other = app.test_client()
    state, issuer = re.search(r"state=([^&]+)", leave(other, "post")), re.search(r"iss=([^&]+)", back)
    assert state
    assert issuer
    response = other.get(f"{CALLBACK}?code={code[1]}&state={state[1]}&iss={issuer[1]}")
    assert response.status_code == 502
    assert "jeder gilt nur einmal" in response.get_data(as_text=True)


def test_providers_test_finds_the_real_vendor_good(app, real, tmp_path):
    real("post", pkce=False)
    result = app.test_cli_runner().invoke(args=["providers", "test", "post"])
    # the callback the command line shows is that of `make up`, which this vendor does not allow
    assert "ok   token" in result.output, result.output
    assert "ok   userinfo" in result.output
