"""The contract's flow, sections 1 to 5: leaving, coming back, account rules."""

import base64
import re
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy import func, select

from tests.webapp.conftest import ONE_DATABASE, add_user, command, login, make_app
from tests.webapp.sso.conftest import CALLBACK, LOGIN, come_back, leave, person, sign_in, store_vendors
from tests.webapp.sso.stub_vendor import secret_of
from webapp.fhir import tokens
from webapp.models import AuditEvent, BrowserSession, User
from webapp.sessions import SESSION_COOKIE
from webapp.sso.models import Identity, Provider, SignInAttempt
from webapp.sso.providers import ProviderFields


def count(db, model):
    return db.session.scalar(select(func.count()).select_from(model)) or 0


def test_login_redirects_with_exactly_the_parameters_of_the_contract(client, add_provider):
    add_provider(pkce=False)
    location = leave(client)
    query = parse_qs(urlsplit(location).query, strict_parsing=True)
    assert set(query) == {"response_type", "client_id", "redirect_uri", "scope", "state"}
    assert query["response_type"] == ["code"]
    assert query["client_id"] == ["client-acme"]
    assert query["redirect_uri"] == [f"http://localhost{CALLBACK}"]
    assert query["scope"] == ["openid email profile"]
    assert len(query["state"][0]) >= 32


def test_pkce_adds_an_s256_challenge(client, add_provider):
    add_provider()
    query = parse_qs(urlsplit(leave(client)).query)
    assert query["code_challenge_method"] == ["S256"]
    assert len(query["code_challenge"][0]) == 43


@ONE_DATABASE
@pytest.mark.parametrize("asked", ["nobody", "", "acme'--", "a\x00b", "x" * 500, "..", "schläfer"])
def test_unknown_provider_is_not_found(client, add_provider, asked):
    add_provider()
    response = client.get(LOGIN, query_string={"provider_id": asked})
    assert response.status_code == 404
    assert "Anbieter nicht gefunden" in response.get_data(as_text=True)


def test_inactive_provider_is_not_found(app, client, add_provider, vendor):
    add_provider()
    location = leave(client)
    command(app, "providers", "deactivate", "acme")
    assert client.get(LOGIN, query_string={"provider_id": "acme"}).status_code == 404
    assert client.get(CALLBACK, query_string=vendor.grant(location, person())).status_code == 404


@pytest.mark.parametrize("method", ["post", "basic"])
@pytest.mark.parametrize("pkce", [True, False])
def test_first_sign_in_creates_the_account_and_shows_it(client, db, add_provider, vendor, method, pkce):
    add_provider(token_auth_method=method, pkce=pkce)
    response = sign_in(client, vendor, person(7, picture="https://vendor.example/7.png", preferred_username="p7"))
    assert response.status_code == 302
    assert response.headers["Location"] == "/accounts/"
    page = client.get("/accounts/").get_data(as_text=True)
    assert "person7@example.org" in page
    assert "Vorname7 Mustermann" in page
    user = db.session.scalars(select(User)).one()
    assert (user.picture, user.preferred_username) == ("https://vendor.example/7.png", "p7")
    assert not [path for path, _, _ in vendor.requests if path.endswith(".png")]


def test_post_sends_the_secret_in_the_body_only(client, add_provider, vendor):
    add_provider(token_auth_method="post")
    sign_in(client, vendor, person())
    _, form, headers = next(seen for seen in vendor.requests if seen[0].endswith("/token"))
    assert set(form) == {"grant_type", "code", "redirect_uri", "client_id", "client_secret", "code_verifier"}
    assert form["grant_type"] == "authorization_code"
    assert form["client_secret"] == secret_of("client-acme")
    assert "Authorization" not in headers
    assert headers["Content-Type"] == "application/x-www-form-urlencoded"


def test_basic_sends_raw_base64_and_nothing_in_the_body(client, add_provider, vendor):
    add_provider(token_auth_method="basic")
    sign_in(client, vendor, person())
    _, form, headers = next(seen for seen in vendor.requests if seen[0].endswith("/token"))
    assert set(form) == {"grant_type", "code", "redirect_uri", "code_verifier"}
    raw = f"client-acme:{secret_of('client-acme')}".encode()
    assert headers["Authorization"] == f"Basic {base64.b64encode(raw).decode()}"


def test_basic_percent_encodes_when_the_switch_says_so(client, add_provider, vendor):
    add_provider(token_auth_method="basic", basic_percent_encode=True, client_secret="geheim: +%")
    sign_in(client, vendor, person())
    _, _, headers = next(seen for seen in vendor.requests if seen[0].endswith("/token"))
    assert base64.b64decode(headers["Authorization"].split()[1]) == b"client-acme:geheim%3A+%2B%25"


def test_id_first_name_and_last_name_stand_in(client, db, add_provider, vendor):
    add_provider()
    sign_in(client, vendor, {"id": 4711, "email": "max@example.org", "first_name": "Max", "last_name": "Mustermann"})
    user = db.session.scalars(select(User)).one()
    assert (user.given_name, user.family_name) == ("Max", "Mustermann")
    assert db.session.scalars(select(Identity.subject)).one() == "4711"


def test_a_subject_beyond_float_precision_keeps_every_digit(client, db, add_provider, vendor):
    add_provider()
    sign_in(client, vendor, person(sub=2**70 + 1))
    assert db.session.scalars(select(Identity.subject)).one() == str(2**70 + 1)


def test_same_email_links_to_the_existing_account(app, client, db, add_provider, vendor):
    add_provider("acme")
    add_provider("globex")
    user = add_user(app, "person1@example.org", given_name="Erika", family_name="Beispiel")
    sign_in(client, vendor, person(1, email="Person1@EXAMPLE.org"), "acme")
    sign_in(app.test_client(), vendor, person(9, email="person1@example.org"), "globex")
    assert count(db, User) == 1
    assert {identity.user_id for identity in db.session.scalars(select(Identity))} == {user.id}
    assert "Erika Beispiel" in client.get("/accounts/").get_data(as_text=True)


def test_addresses_that_only_unicode_folding_makes_equal_stay_two_people(client, db, add_provider, vendor):
    add_provider()
    sign_in(client, vendor, person(1, email="strasse@example.org"))
    sign_in(client, vendor, person(2, email="straße@example.org"))
    assert count(db, User) == 2


def test_a_changed_vendor_email_moves_nothing(app, client, db, add_provider, vendor):
    add_provider()
    sign_in(client, vendor, person(1))
    other = add_user(app, "other@example.org")
    sign_in(app.test_client(), vendor, person(1, email="other@example.org"))
    identity = db.session.scalars(select(Identity)).one()
    assert identity.user_id != other.id
    assert db.session.get(User, identity.user_id).email == "person1@example.org"


def test_the_same_subject_at_two_vendors_is_two_people(client, db, add_provider, vendor):
    add_provider("acme")
    add_provider("globex")
    sign_in(client, vendor, {"sub": "1", "email": "a@example.org"}, "acme")
    sign_in(client, vendor, {"sub": "1", "email": "b@example.org"}, "globex")
    assert count(db, User) == 2


def test_linking_an_unverified_account_ends_its_other_sessions_and_tokens(app, client, db, add_provider, vendor):
    add_provider()
    squatter = app.test_client()
    user = add_user(app, "person1@example.org", email_verified_at=None)
    login(squatter, user)
    with db.write() as session:
        tokens.create(session, user.id, "of the squatter")
    assert squatter.get("/accounts/").status_code == 200
    sign_in(client, vendor, person(1))
    assert squatter.get("/accounts/").status_code == 302
    assert all(token.revoked_at for token in tokens.of_user(db.session, user.id))
    assert client.get("/accounts/").status_code == 200


def test_a_deactivated_account_stays_out(app, client, db, add_provider, vendor):
    add_provider()
    sign_in(client, vendor, person(1))
    command(app, "users", "deactivate", "person1@example.org")
    assert client.get("/accounts/").status_code == 302
    again = sign_in(client, vendor, person(1))
    assert again.status_code == 403
    assert sign_in(client, vendor, person(2, email="person1@example.org")).status_code == 403
    assert count(db, BrowserSession) == 0


def test_state_works_once(app, client, db, add_provider, vendor):
    add_provider()
    answer = vendor.grant(leave(client), person())
    cookies = {cookie.key: cookie.value for cookie in client._cookies.values()}
    assert client.get(CALLBACK, query_string=answer).status_code == 302
    for key, value in cookies.items():
        client.set_cookie(key, value)
    again = client.get(CALLBACK, query_string={**answer, "code": "fresh"})
    assert again.status_code == 400
    assert "Anmeldung abgelaufen" in again.get_data(as_text=True)


@pytest.mark.parametrize("change", ["missing", "altered", "twice", "empty", "other browser"])
def test_wrong_state_does_nothing(app, client, db, add_provider, vendor, change):
    add_provider()
    answer = vendor.grant(leave(client), person())
    query = {
        "missing": f"code={answer['code']}",
        "altered": f"code={answer['code']}&state={answer['state'][:-1]}!",
        "twice": f"code={answer['code']}&state={answer['state']}&state=x",
        "empty": f"code={answer['code']}&state=",
        "other browser": f"code={answer['code']}&state={answer['state']}",
    }[change]
    browser = app.test_client() if change == "other browser" else client
    assert browser.get(f"{CALLBACK}?{query}").status_code == 400
    assert count(db, User) == count(db, BrowserSession) == 0
    assert not [path for path, _, _ in vendor.requests if path.endswith("/token")]


def test_an_attempt_expires_after_ten_minutes(app, client, db, add_provider, vendor):
    from datetime import timedelta

    add_provider()
    answer = vendor.grant(leave(client), person())
    with db.write() as session:
        attempt = session.scalars(select(SignInAttempt)).one()
        attempt.created_at -= timedelta(minutes=10, seconds=1)
    assert client.get(CALLBACK, query_string=answer).status_code == 400


def test_several_tabs_come_back_in_any_order(client, db, add_provider, vendor):
    for name in ("acme", "globex", "initech"):
        add_provider(name)
    left = [leave(client, name, next=f"/?tab={name}") for name in ("acme", "globex", "initech")]
    for name, location in reversed(list(zip(("acme", "globex", "initech"), left, strict=True))):
        response = come_back(client, vendor, location, person(1, sub=name))
        assert response.headers["Location"] == f"/?tab={name}"
    assert count(db, Identity) == 3
    assert count(db, User) == 1


def test_the_session_id_changes_at_sign_in_and_sign_out(client, add_provider, vendor):
    add_provider()
    ids = []
    for _ in range(2):
        sign_in(client, vendor, person())
        ids.append(client.get_cookie(SESSION_COOKIE).value)
    token = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', client.get("/accounts/").get_data(as_text=True))
    assert token
    client.post("/accounts/logout/", data={"csrf_token": token[1]})
    ids.append(client.get_cookie(SESSION_COOKIE).value)
    assert len(set(ids)) == 3
    client.set_cookie(SESSION_COOKIE, ids[1])
    assert client.get("/accounts/").status_code == 302


@ONE_DATABASE
@pytest.mark.parametrize(
    ("wanted", "went"),
    [
        ("/accounts/?x=1", "/accounts/?x=1"),
        ("/dokumente/ü?q=a%20b", "/dokumente/%C3%BC?q=a%20b"),
        ("//evil.example", "/accounts/"),
        ("/\\evil.example", "/accounts/"),
        ("\\\\evil.example", "/accounts/"),
        ("https://evil.example/", "/accounts/"),
        ("javascript:alert(1)", "/accounts/"),
        ("/%2Fevil.example", "/accounts/"),
        ("/%252Fevil.example", "/accounts/"),
        ("/%5Cevil.example", "/accounts/"),
        ("/\tevil", "/accounts/"),
        ("/a//evil.example", "/accounts/"),
        ("evil.example", "/accounts/"),
        ("/" + "a" * 3000, "/accounts/"),
    ],
)  # fmt: skip
def test_next_stays_on_this_site(client, add_provider, vendor, wanted, went):
    add_provider()
    assert sign_in(client, vendor, person(), next=wanted).headers["Location"] == went


@ONE_DATABASE
@pytest.mark.parametrize(
    ("query", "status", "title"),
    [
        ({"error": "access_denied", "error_description": "<b>nein</b>"}, 403, "Anmeldung abgelehnt"),
        ({"error": "server_error"}, 403, "Der Anbieter hat die Anmeldung abgelehnt"),
        ({"error": "<script>alert(1)</script>"}, 403, "Der Anbieter hat die Anmeldung abgelehnt"),
        ({"error": "redirect_uri_mismatch"}, 403, "Weiterleitungsadresse passt nicht"),
        ({}, 502, "Unverständliche Antwort des Anbieters"),
        ({"code": ""}, 502, "Unverständliche Antwort des Anbieters"),
    ],
)
def test_errors_on_the_callback(client, db, add_provider, query, status, title):
    add_provider()
    state = parse_qs(urlsplit(leave(client)).query)["state"][0]
    response = client.get(CALLBACK, query_string={**query, "state": state})
    page = response.get_data(as_text=True)
    assert response.status_code == status
    assert title in page
    assert "<script>alert" not in page
    assert "<b>nein" not in page
    if query.get("error") == "access_denied":
        assert "<code>access_denied</code>" in page
    assert count(db, User) == 0


def test_an_error_without_valid_state_is_not_even_read(client, add_provider):
    add_provider()
    response = client.get(CALLBACK, query_string={"error": "access_denied", "state": "made-up"})
    assert response.status_code == 400
    assert "access_denied" not in response.get_data(as_text=True)


def test_a_used_code_is_an_invalid_grant(client, db, add_provider, vendor):
    add_provider()
    answer = vendor.grant(leave(client), person())
    vendor.codes.clear()
    response = client.get(CALLBACK, query_string=answer)
    assert response.status_code == 502
    assert "jeder gilt nur einmal" in response.get_data(as_text=True)
    assert answer["code"] not in response.get_data(as_text=True)


def test_the_audit_trail_tells_who_and_why_and_holds_no_secret(client, db, add_provider, vendor):
    add_provider()
    sign_in(client, vendor, person(1))
    client.get(CALLBACK, query_string={"state": "x", "code": "y"})
    events = db.session.scalars(select(AuditEvent).order_by(AuditEvent.id)).all()
    assert [event.event for event in events] == ["provider_added", "created", "signed_in", "refused"]
    assert events[2].actor == "person1@example.org"
    assert events[2].ip == "127.0.0.0/24"
    text = " ".join(f"{event.actor} {event.detail} {event.ip}" for event in events)
    assert not [value for value in vendor.seen if value in text]


def test_client_secret_is_encrypted_at_rest(db, add_provider):
    add_provider()
    stored = db.session.scalars(select(Provider.client_secret_encrypted)).one()
    assert secret_of("client-acme") not in stored


def test_no_token_is_stored_anywhere(client, db, add_provider, vendor):
    add_provider()
    sign_in(client, vendor, person())
    rows = " ".join(row.data for row in db.session.scalars(select(BrowserSession)))
    assert not [token for token in vendor.tokens if token in rows]
    assert count(db, SignInAttempt) == 0


def test_behind_a_proxy_the_callback_carries_the_public_base(database_url, tmp_path, vendor):
    app = make_app(database_url, tmp_path, public_url="https://befund.example/app", trusted_proxies=1)
    urls = (f"{vendor.url}/good/{end}" for end in ("authorize", "token", "userinfo"))
    store_vendors(app, ProviderFields("acme", "Acme", *urls, "c", "s"))
    client = app.test_client()
    response = client.get(LOGIN, query_string={"provider_id": "acme"}, headers={"X-Forwarded-Proto": "https"})
    query = parse_qs(urlsplit(response.headers["Location"]).query)
    assert query["redirect_uri"] == [f"https://befund.example/app{CALLBACK}"]
    cookie = response.headers["Set-Cookie"]
    assert cookie.startswith("__Host-befund_signin_")
    assert "Secure" in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "Path=/;" in cookie or cookie.endswith("Path=/")
    assert response.headers["Strict-Transport-Security"]
    for path in ("/app/accounts/login/", "/accounts/login/"):  # whether the proxy passes the prefix on or cuts it off
        assert 'href="/app/accounts/vendor_oauth2/login/?provider_id=acme"' in client.get(path).get_data(as_text=True)
