"""Dry runs: a whole round trip that shows what a vendor sends and changes nothing; a bad id field is refused."""

import pytest
from sqlalchemy import select

from tests.webapp.conftest import ONE_DATABASE, command, submit
from tests.webapp.sso.conftest import come_back, person
from webapp.models import User
from webapp.sessions import SESSION_COOKIE
from webapp.sso.models import Identity, Provider

pytestmark = ONE_DATABASE
PAGE = "/operator/providers/acme/dry-run/"
LIVE = "Anbieter einschalten"


@pytest.fixture
def acme(db, add_provider):
    """A vendor that is not switched on."""
    add_provider()
    with db.write() as session:
        session.get(Provider, "acme").active = False
    return "acme"


def run(client, vendor, account, claims, **more):
    """One round trip; the page afterwards."""
    left = client.get(f"{PAGE}{account}/")
    assert left.status_code == 302
    back = come_back(client, vendor, left.headers["Location"], claims, **more)
    assert (back.status_code, back.headers["Location"]) == (302, PAGE)
    return client.get(PAGE).get_data(as_text=True)


def test_two_good_accounts_let_the_vendor_go_live(operator, acme, db, vendor):
    before = sorted(user.email for user in db.session.scalars(select(User)))
    assert LIVE not in run(operator, vendor, "A", person(1))
    assert "noch einmal mit Konto A" in operator.get(PAGE).get_data(as_text=True)
    assert LIVE not in run(operator, vendor, "A", person(1))
    page = run(operator, vendor, "B", person(2))
    assert LIVE in page
    assert "Gut: Konto A" in page
    assert sorted(user.email for user in db.session.scalars(select(User))) == before, "nobody is signed in or made"
    assert db.session.scalars(select(Identity).where(Identity.provider_id == "acme")).all() == []
    assert operator.get("/operator/audit/").status_code == 200, "the operator is still who they were"
    submit(operator, PAGE, "/operator/providers/acme/active/", active="1")
    db.session.expire_all()
    assert db.session.get(Provider, "acme").active


def test_every_step_header_and_field_is_shown_and_every_secret_is_masked(operator, acme, vendor):
    claims = person(1, department="Chirurgie", refresh_token="geheim-4711", nested={"api_key": "geheim-4712"})
    page = run(operator, vendor, "A", claims)
    for word in (
        "/good/authorize → 302",
        "redirect_uri",
        "GET /accounts/vendor",
        "/good/token → 200",
        "/good/userinfo → 200",
        "Content-Type",
        "Chirurgie",
    ):
        assert word in page
    for source in ("<code>sub</code>", "<code>given_name</code>", "<code>email</code>"):
        assert f"← {source}" in page
    assert vendor.tokens
    for secret in (*vendor.seen, *vendor.tokens, "geheim-4711", "geheim-4712"):
        assert secret not in page


def test_an_echoed_token_is_masked_under_any_name(operator, acme, vendor):
    def echoing(handler, _):
        bearer = handler.headers["Authorization"].removeprefix("Bearer ")
        handler.answer(200, person(1, sub=bearer, note=f"you came with {bearer}", **{bearer: "x"}))

    vendor.userinfo_behaviours["good"] = echoing
    try:
        page = run(operator, vendor, "A", person(1))
    finally:
        del vendor.userinfo_behaviours["good"]
    assert "<code>note</code>" in page
    assert "you came with" not in page
    assert not [token for token in vendor.tokens if token in page]


def test_a_subject_that_changes_for_one_account_is_refused(operator, acme, vendor):
    run(operator, vendor, "A", person(1, sub="sitzung-1"))
    run(operator, vendor, "A", person(1, sub="sitzung-2"))
    page = run(operator, vendor, "B", person(2))
    assert "Abgelehnt: die Kennung ändert sich" in page
    assert LIVE not in page


def test_a_subject_that_two_accounts_share_is_refused(operator, acme, vendor):
    for account, number in (("A", 1), ("A", 1), ("B", 2)):
        page = run(operator, vendor, account, person(number, sub="klinik"))
    assert "haben dieselbe Kennung" in page
    assert LIVE not in page


def test_an_answer_without_a_subject_or_with_a_foreign_issuer_fails_in_words(operator, db, acme, vendor):
    assert "user_not_created: no usable sub or id" in run(operator, vendor, "A", {"email": "x@example.org"})
    with db.write() as session:
        session.get(Provider, "acme").issuer = "https://acme.example"
    page = run(operator, vendor, "A", person(1), iss="https://other.example")
    assert "wrong_issuer" in page
    assert "user_not_created" not in page, "runs with the row as it was no longer count"


def test_a_dry_run_is_for_operators_and_never_a_sign_in(app, operator, acme, vendor):
    stranger = app.test_client()
    assert "/accounts/login/" in stranger.get(f"{PAGE}A/").headers["Location"]
    location = operator.get(f"{PAGE}A/").headers["Location"]
    operator.delete_cookie(SESSION_COOKIE)
    assert come_back(operator, vendor, location, person(1)).status_code == 400
    assert operator.get("/accounts/").status_code == 302, "nobody was signed in"


def test_a_person_cannot_ask_for_the_mark_of_a_dry_run(client, db, add_provider, vendor):
    add_provider()
    left = client.get("/accounts/vendor_oauth2/login/?provider_id=acme&next=dry-run:A")
    assert come_back(client, vendor, left.headers["Location"], person(1)).headers["Location"] == "/accounts/"


def test_records_vanish_after_half_an_hour(operator, acme, vendor, monkeypatch):
    import time

    assert "Konto A, Umlauf 1" in run(operator, vendor, "A", person(1))
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 31 * 60)
    assert "Umlauf 1" not in operator.get(PAGE).get_data(as_text=True)


def test_beginning_anew_forgets(operator, acme, vendor):
    run(operator, vendor, "A", person(1))
    submit(operator, PAGE, f"{PAGE}forget/")
    assert "Umlauf 1" not in operator.get(PAGE).get_data(as_text=True)


def test_hostile_answers_are_shown_short_and_harm_nothing(operator, acme, vendor):
    deep = "[" * 900 + "]" * 900
    many = ",".join(f'"f{number}":"eyJ{"eyJ" * 10}"' for number in range(5000))
    hostile = (
        f'{{"sub":"1","deep":{deep},"jwt":"eyJhbGciOiJ.eyJzdWIi","tag":"<script>","long":"{"eyJ" * 90000}",{many}}}'
    )
    vendor.userinfo_behaviours["good"] = lambda handler, _: handler.answer(200, hostile)
    try:
        page = run(operator, vendor, "A", person(1))
    finally:
        del vendor.userinfo_behaviours["good"]
    assert "<script>" not in page.replace("<script src", "")
    assert "eyJhbGciOiJ.eyJ" not in page
    assert len(page) < 60_000


def test_a_new_vendor_can_wait_for_its_dry_run(app, operator, db):
    url = "https://sso.labor.example"
    common = {name: f"{url}/{name}" for name in ("authorization_url", "token_url", "userinfo_url")}
    common |= {"name": "Labor", "client_id": "befund", "client_secret": "ein-langes-geheimnis", "scopes": "openid"}
    fields = {**common, "id": "labor", "own_callback": "y", "token_auth_method": "post", "inactive": "y"}
    assert submit(operator, "/operator/providers/add/", **fields).status_code == 302
    options = [f"--{name.replace('_', '-')}={value}" for name, value in common.items()]
    command(app, "providers", "add", "praxis", *options, "--own-callback", "--inactive")
    assert {row.id: row.active for row in db.session.scalars(select(Provider))} == {"labor": False, "praxis": False}


def test_the_page_speaks_english(operator, acme):
    page = operator.get(PAGE, headers={"Accept-Language": "en"}).get_data(as_text=True)
    assert "Next: sign in with account A." in page
    assert "Konto" not in page.split("<main")[1]
