"""A hostile or broken vendor: never a 500, never a hang, never a leak, never an account."""

import time
from functools import partial
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy import select

from tests.serving import free_port
from tests.webapp.conftest import ONE_DATABASE
from tests.webapp.sso import hostile
from tests.webapp.sso.conftest import CALLBACK, leave, person, sign_in
from tests.webapp.sso.conftest import come_back as at_callback
from tests.webapp.sso.threads import at_once
from webapp.models import AuditEvent, BrowserSession, User
from webapp.sso.models import Identity

pytestmark = ONE_DATABASE


@pytest.fixture
def vendor(vendor):
    hostile.install(vendor)
    vendor.seen.add(hostile.GOOD_TOKEN["access_token"])  # type: ignore[arg-type]
    return vendor


def refused(response, db, vendor):
    """A page with words, and nothing else happened."""
    page = response.get_data(as_text=True)
    assert response.status_code == 502, page
    assert "<h1>" in page
    assert "schiefgegangen" not in page
    assert not [value for value in vendor.seen if value in page]
    assert "Set-Cookie" not in response.headers or "befund_session" not in response.headers["Set-Cookie"]
    for model in (User, Identity, BrowserSession):
        assert db.session.scalars(select(model)).all() == []
    refusals = db.session.scalars(select(AuditEvent).where(AuditEvent.event == "refused")).all()
    assert len(refusals) == 1
    assert not [value for value in vendor.seen if value in refusals[0].detail]
    assert not [path for path, _, _ in vendor.requests if path.startswith("/stolen")]


@pytest.mark.parametrize("name", hostile.TOKEN)
def test_token_endpoint(client, db, add_provider, vendor, name):
    add_provider(mode=f"t-{name}")
    refused(sign_in(client, vendor, person()), db, vendor)


@pytest.mark.parametrize("name", hostile.USERINFO)
def test_userinfo_endpoint(client, db, add_provider, vendor, name):
    add_provider(mode=f"u-{name}")
    refused(sign_in(client, vendor, person()), db, vendor)


@pytest.mark.parametrize("name", hostile.ODD_BUT_FINE)
def test_odd_claims_are_cleaned(client, db, add_provider, vendor, name):
    add_provider()
    claims, holds = hostile.ODD_BUT_FINE[name]
    assert sign_in(client, vendor, {"sub": "s", "email": "erika@example.org", **claims}).status_code == 302
    assert holds(db.session.scalars(select(User)).one())
    page = client.get("/accounts/")
    assert page.status_code == 200
    assert "<script>alert" not in page.get_data(as_text=True)


@pytest.mark.parametrize(
    "changes", [{"expires_in": "soon"}, {"expires_in": None}, {"scope": "other"}, {"token_type": "bearer"}]
)
def test_odd_token_answers_that_still_are_good(client, add_provider, vendor, changes):
    vendor.token_behaviours["t-odd"] = hostile.token(**changes)
    vendor.tokens[str(hostile.GOOD_TOKEN["access_token"])] = person()
    add_provider(mode="t-odd")
    assert sign_in(client, vendor, person()).status_code == 302


def test_nobody_listens(client, db, add_provider, vendor):
    add_provider(token_url=f"http://127.0.0.1:{free_port()}/token")
    refused(sign_in(client, vendor, person()), db, vendor)


def test_slow_vendors_are_left_within_fifteen_seconds(app, db, add_provider, vendor):
    """All at once, so that the test takes as long as the slowest. Twice when need be: vendor, server and browser share
    this process, and a machine that stalls for seconds is no slow vendor."""
    names = [f"{kind}-{name}" for kind in "tu" for name in hostile.SLOW]
    for name in names:
        add_provider(name, mode=name)
    for _ in range(2):
        took = at_once(*(partial(come_back, app.test_client(), vendor, name) for name in names))
        assert [status for status, _ in took] == [502] * len(names)
        if (longest := max(seconds for _, seconds in took)) < 15:
            break
    assert longest < 15
    assert db.session.scalars(select(User)).all() == []


def come_back(client, vendor, name):
    """Status and duration of the callback of one sign-in."""
    location = leave(client, name)
    began = time.monotonic()
    status = at_callback(client, vendor, location, person()).status_code
    return status, time.monotonic() - began


def test_an_altered_state_and_a_mixed_up_answer_do_nothing(client, db, add_provider, vendor):
    """A code of one vendor brought to the attempt of another is refused there (mix-up)."""
    add_provider("acme")
    add_provider("globex")
    first = vendor.grant(leave(client, "acme"), person(1))
    second = vendor.grant(leave(client, "globex"), person(2))
    response = client.get(CALLBACK, query_string={"state": first["state"], "code": second["code"]})
    assert response.status_code == 502
    assert db.session.scalars(select(User)).all() == []


def test_a_leftover_code_cannot_be_used_by_another_browser(app, client, add_provider, vendor):
    add_provider()
    answer = vendor.grant(leave(client), person())
    attacker = app.test_client()
    state = parse_qs(urlsplit(leave(attacker)).query)["state"][0]
    # PKCE: the code is bound to the verifier of the attempt it was issued for
    assert attacker.get(CALLBACK, query_string={"state": state, "code": answer["code"]}).status_code == 502
