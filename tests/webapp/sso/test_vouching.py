"""Conditions under which a vendor's word about an address is enough, and accounts for which it never is."""

from typing import Any

import pytest
from sqlalchemy import select

from tests.webapp.conftest import ONE_DATABASE, add_organization, add_user
from tests.webapp.sso.conftest import person, sign_in
from webapp.models import AuditEvent, User
from webapp.sso.models import Identity

DOUBTS: dict[str, Any] = {
    "false": False, "zero": 0, "one": 1, "minus": -1, "float": 1.0, "text zero": "0", "text one": "1", "no": "no",
    "yes": "yes", "false text": "false", "False": "False", "space false": " false", "space true": " true",
    "true space": "true ", "True": "True", "TRUE": "TRUE", "null": None, "empty": "", "list": [],
    "list of true": [True], "object": {}, "object of true": {"value": True}, "on": "on", "ja": "ja",
    "null text": "null", "NUL": "true\x00", "fullwidth": "\uff54\uff52\uff55\uff45", "huge": 10**40,
}  # fmt: skip
OTHER_SPELLINGS = ("emailVerified", "verified_email", "is_email_verified")

pytestmark = ONE_DATABASE


@pytest.mark.parametrize("name", DOUBTS)
def test_whatever_is_not_true_goes_to_the_code(app, client, db, add_provider, vendor, name):
    add_provider()
    add_user(app, "person1@example.org")
    answer = sign_in(client, vendor, person(1, email_verified=DOUBTS[name]))
    assert answer.headers["Location"] == "/accounts/complete/"
    assert db.session.scalars(select(Identity)).all() == []


@pytest.mark.parametrize("said", [True, "true"])
def test_true_is_enough(app, client, db, add_provider, vendor, said):
    add_provider()
    user = add_user(app, "person1@example.org")
    assert sign_in(client, vendor, person(1, email_verified=said)).headers["Location"] == "/accounts/"
    assert db.session.scalars(select(Identity.user_id)).one() == user.id


@pytest.mark.parametrize("claim", OTHER_SPELLINGS)
@pytest.mark.parametrize("beside", [{}, {"email_verified": True}])
def test_a_doubt_in_another_spelling_is_a_doubt(client, add_provider, vendor, claim, beside):
    add_provider()
    answer = sign_in(client, vendor, person(1, **beside, **{claim: False}))
    assert answer.headers["Location"] == "/accounts/complete/"


@pytest.mark.parametrize("verified", [None, True, "true"])
def test_an_operators_account_is_never_linked_by_a_vendors_word(app, client, db, add_provider, vendor, verified):
    add_provider(trust_email=True)
    user = add_user(app, "person1@example.org")
    add_organization(app, operator=user)
    claims = person(1) if verified is None else person(1, email_verified=verified)
    answer = sign_in(client, vendor, claims)
    assert answer.headers["Location"] == "/accounts/complete/"
    assert client.get("/accounts/").status_code == 302
    assert db.session.scalars(select(Identity)).all() == []


def test_an_operator_who_is_linked_signs_in_as_ever(app, client, db, add_provider, vendor):
    add_provider()
    sign_in(client, vendor, person(1))
    user = db.session.scalars(select(User)).one()
    add_organization(app, operator=user)
    again = app.test_client()
    assert sign_in(again, vendor, person(1)).headers["Location"] == "/accounts/"
    assert again.get("/operator/audit/").status_code == 200


def test_the_owner_is_mailed_when_a_vendor_is_linked_and_not_at_every_sign_in(
    app, client, db, add_provider, vendor, tmp_path
):
    add_provider("acme")
    add_provider("globex")
    sign_in(client, vendor, person(1), "acme")
    assert not (tmp_path / "outbox").exists(), "a new account needs no warning"
    for _ in range(2):
        sign_in(client, vendor, person(9, email="person1@example.org"), "globex")
    [mail] = (tmp_path / "outbox").glob("*.eml")
    assert "To: person1@example.org" in mail.read_text()
    assert [event for event in db.session.scalars(select(AuditEvent.event)) if event == "linked"] == ["linked"]


def test_a_mail_server_that_is_down_holds_no_sign_in_back(app, client, db, add_provider, vendor):
    add_provider()
    add_user(app, "person1@example.org")
    assert sign_in(client, vendor, person(1)).headers["Location"] == "/accounts/"
    assert "notice_not_sent" in db.session.scalars(select(AuditEvent.event)).all()


@pytest.fixture
def app_settings(request):
    """One test has a mail server that nobody runs."""
    down = request.node.originalname == "test_a_mail_server_that_is_down_holds_no_sign_in_back"
    return {"mail_url": "smtp://127.0.0.1:9"} if down else {}
