"""Account and operator pages, the command line, languages, the log filters."""

import logging
import re

import pytest
from sqlalchemy import select

from clinical.errors import SettingError
from tests.webapp.conftest import SECRET, add_user, command, login, make_app, submit
from tests.webapp.sso.conftest import LOGIN, person, sign_in
from tests.webapp.sso.stub_vendor import secret_of
from webapp.models import BrowserSession, Membership, User
from webapp.sessions import SESSION_COOKIE, SHOWN
from webapp.sso.models import Identity, Provider

FORM = {
    "id": "acme",
    "name": "Klinik Acme",
    "authorization_url": "https://sso.acme.example/authorize",
    "token_url": "https://sso.acme.example/token",
    "userinfo_url": "https://sso.acme.example/userinfo",
    "client_id": "befund",
    "client_secret": "streng-geheimes-Secret",
    "scopes": "openid email profile",
    "token_auth_method": "post",
    "pkce": "y",
    "trust_email": "y",
}


def test_the_login_page_lists_active_vendors_only(app, client, add_provider):
    add_provider("acme")
    add_provider("globex")
    command(app, "providers", "deactivate", "globex")
    page = client.get("/accounts/login/?next=/accounts/").get_data(as_text=True)
    assert "/accounts/vendor_oauth2/login/?provider_id=acme&amp;next=/accounts/" in page
    assert "globex" not in page


@pytest.mark.parametrize(
    ("languages", "word"),
    [
        ("de-CH,de;q=0.9", "Anmelden"),
        ("en-US,en", "Sign in"),
        ("fr", "Anmelden"),
        ("fr,en;q=0.5", "Sign in"),
        ("", "Anmelden"),
    ],
)
def test_pages_speak_the_language_of_the_browser(client, languages, word):
    page = client.get("/accounts/login/", headers={"Accept-Language": languages}).get_data(as_text=True)
    assert f"<h1>{word}</h1>" in page
    assert f'<html lang="{"en" if word == "Sign in" else "de"}">' in page


def test_a_linked_vendor_can_be_removed_while_another_remains(client, db, add_provider, vendor):
    for provider_id in ("acme", "globex"):
        add_provider(provider_id)
        sign_in(client, vendor, person(1, sub=provider_id), provider_id)
    first, second = db.session.scalars(select(Identity.id).order_by(Identity.provider_id)).all()
    assert submit(client, "/accounts/", f"/accounts/identities/{first}/unlink/").status_code == 302
    submit(client, "/accounts/", f"/accounts/identities/{second}/unlink/")
    assert db.session.scalars(select(Identity.id)).all() == [second]


def test_sessions_are_listed_and_ended(app, client, db):
    user = add_user(app)
    phone = app.test_client()
    for browser in (client, phone):
        login(browser, user)
    page = client.get("/accounts/").get_data(as_text=True)
    assert page.count("diese Sitzung") == 1
    other = re.search(r"/accounts/sessions/([0-9a-f-]{36})/end/", page)
    assert other
    submit(client, "/accounts/", f"/accounts/sessions/{other[1]}/end/")
    assert phone.get("/accounts/").status_code == 302
    login(phone, user)
    submit(client, "/accounts/", "/accounts/sessions/end/")
    assert client.get("/accounts/").status_code == phone.get("/accounts/").status_code == 302
    assert db.session.scalars(select(BrowserSession).where(BrowserSession.user_id.is_not(None))).all() == []


def test_of_many_sessions_a_page_shows_this_one_and_the_latest_and_counts_the_rest(app, client, db):
    """Bytes read, held and sent for the page are bounded, also for a program that signs in and never out."""
    from datetime import timedelta

    user, own = add_user(app), SHOWN + 3
    login(client, user)
    with db.write() as session:
        this = session.scalars(select(BrowserSession).where(BrowserSession.user_id == user.id)).one()
        this.seen_at -= timedelta(hours=1)
        for number in range(own):
            session.add(BrowserSession(id_hash=str(number), user_id=user.id, data="{}", browser=f"Gerät {number}."))
        for ended in session.scalars(select(BrowserSession).where(BrowserSession.id_hash.in_(["1", "2"]))):
            ended.seen_at -= timedelta(hours=13)
    page = client.get("/accounts/").get_data(as_text=True)
    assert page.count("diese Sitzung") == 1
    assert page.count("/end/") == SHOWN - 1 + 1  # each of the others, and all
    assert f"Weitere Sitzungen: {own - 2 + 1 - SHOWN}<" in page
    assert "Gerät 1." not in page


def test_an_idle_session_ends(app, client, db):
    from datetime import timedelta

    login(client, add_user(app))
    with db.write() as session:
        session.scalars(select(BrowserSession)).one().seen_at -= timedelta(hours=13)
    assert client.get("/accounts/").status_code == 302


def test_a_made_up_session_id_is_not_adopted(client, add_provider, vendor):
    """Session fixation: an id the server did not make never becomes one."""
    add_provider()
    client.set_cookie(SESSION_COOKIE, "chosen-by-an-attacker")
    sign_in(client, vendor, person())
    cookie = client.get_cookie(SESSION_COOKIE)
    assert cookie is not None
    assert cookie.value != "chosen-by-an-attacker"


def test_operator_pages_are_for_operators(app, client):
    assert client.get("/operator/providers/").status_code == 302
    login(client, add_user(app))
    for path in ("/operator/providers/", "/operator/providers/add/", "/operator/providers/acme/", "/operator/audit/"):
        assert client.get(path).status_code == 403


def test_an_operator_adds_and_changes_a_vendor_and_never_sees_the_secret(operator, db, vendor):
    vendor.seen.add(FORM["client_secret"])
    assert submit(operator, "/operator/providers/add/", **FORM).status_code == 302
    stored = db.session.scalars(select(Provider)).one()
    assert (stored.name, stored.pkce, stored.trust_email) == ("Klinik Acme", True, True)
    sealed = stored.client_secret_encrypted
    page = operator.get("/operator/providers/acme/").get_data(as_text=True)
    assert FORM["client_secret"] not in page
    assert "http://localhost/accounts/vendor_oauth2/login/callback/" in page
    changed = {**FORM, "name": "Klinik Neu", "client_secret": ""}
    del changed["pkce"]
    assert submit(operator, "/operator/providers/acme/", **changed).status_code == 302
    again = db.session.scalars(select(Provider)).one()
    assert (again.name, again.pkce, again.client_secret_encrypted) == ("Klinik Neu", False, sealed)
    trail = operator.get("/operator/audit/").get_data(as_text=True)
    assert "provider_changed" in trail
    assert "betrieb@example.org" in trail
    assert FORM["client_secret"] not in trail


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("id", "mit leer"), ("id", ""), ("id", "x" * 65), ("name", " "), ("client_secret", ""), ("scopes", "a  b"),
        ("token_url", "http://sso.acme.example/token"), ("token_url", "ftp://x/"), ("userinfo_url", "https://"),
        ("authorization_url", "javascript:alert(1)"), ("authorization_url", "https://u:p@x.example/"),
        ("authorization_url", "https://x.example/#f"), ("token_url", "https://[::1"), ("client_id", "x" * 501),
    ],
)  # fmt: skip
def test_a_faulty_vendor_is_refused_beside_its_field(operator, db, field, value):
    answer = submit(operator, "/operator/providers/add/", **{**FORM, field: value})
    assert answer.status_code == 422
    assert f'id="{field}-error"' in answer.get_data(as_text=True)
    assert FORM["client_secret"] not in answer.get_data(as_text=True)
    assert db.session.scalars(select(Provider)).all() == []


@pytest.mark.parametrize("path", ["nobody", "a%00b", "%2e%2e", "x" * 300, "%F0%9F%92%A9"])
def test_a_vendor_that_is_not_there_is_not_found(operator, path):
    assert operator.get(f"/operator/providers/{path}/").status_code == 404
    assert submit(operator, "/operator/providers/", f"/operator/providers/{path}/active/").status_code == 404


def test_an_id_is_given_once(operator, db):
    submit(operator, "/operator/providers/add/", **FORM)
    assert submit(operator, "/operator/providers/add/", **{**FORM, "name": "Anders"}).status_code == 422
    assert db.session.scalars(select(Provider.name)).one() == "Klinik Acme"


def test_an_operator_switches_a_vendor_off(operator, add_provider):
    add_provider()
    submit(operator, "/operator/providers/", "/operator/providers/acme/active/", active="0")
    assert operator.get(LOGIN, query_string={"provider_id": "acme"}).status_code == 404


def test_commands_add_show_switch_and_test_a_vendor(app, client, vendor):
    def run(*arguments, fails=False):
        return command(app, "providers", *arguments, fails=fails)

    secret = secret_of("befund")
    vendor.seen.add(secret)
    base = f"{vendor.url}/good"
    added = run(
        "add", "acme", "--name", "Acme", "--authorization-url", f"{base}/authorize", "--token-url", f"{base}/token",
        "--userinfo-url", f"{base}/userinfo", "--client-id", "befund", "--client-secret", secret,
    )  # fmt: skip
    assert "http://127.0.0.1:5000/accounts/vendor_oauth2/login/callback/" in added
    assert "acme\tactive\tpost\tAcme" in run("list")
    shown = run("show", "acme")
    assert secret not in shown + added
    assert "login_url: http://127.0.0.1:5000/accounts/vendor_oauth2/login/?provider_id=acme" in shown
    assert run("test", "acme").count("ok   ") == 3
    run("deactivate", "acme")
    run("activate", "nobody", fails=True)
    plain = run(
        "add", "x", "--name", "X", "--authorization-url", "http://x.example/", "--token-url", "x",
        "--userinfo-url", "x", "--client-id", "x", "--client-secret", "x", fails=True,
    )  # fmt: skip
    assert "authorization_url: must be https" in plain


def test_providers_test_says_what_is_wrong(app, add_provider, vendor):
    add_provider("wrong-secret", client_secret="not this one")
    add_provider(
        "wrong-urls", userinfo_url=f"{vendor.url}/x", token_url=f"{vendor.url}/y", authorization_url=f"{vendor.url}/z"
    )
    assert "FAIL token: refuses the client" in command(app, "providers", "test", "wrong-secret", fails=True)
    assert command(app, "providers", "test", "wrong-urls", fails=True).count("FAIL") == 3


def test_commands_for_people_and_organizations(app, db):
    command(app, "users", "add", "Erika@Example.org")
    command(app, "users", "add", "erika@example.org", fails=True)
    command(app, "users", "add", "keine adresse", fails=True)
    org = "7f0b5a44-3a0e-4b52-8a51-5f1a5a8f0001"
    command(app, "orgs", "add", "Praxis", "--id", org)
    command(app, "orgs", "add", "Praxis", fails=True)
    command(app, "orgs", "members", "add", org, "erika@example.org", "--role", "operator")
    assert "operator\tErika@example.org" in command(app, "orgs", "members", "list", org)
    assert f"{org}\tPraxis" in command(app, "orgs", "list")
    assert len(db.session.scalars(select(Membership)).all()) == 1
    command(app, "users", "deactivate", "erika@example.org")
    assert "inactive" in command(app, "users", "list")
    assert db.session.scalars(select(User.email_verified_at)).one() is None


def test_a_missing_key_is_said_in_words(app, client, tmp_path, add_provider, vendor):
    """A secret sealed under another key: the sign-in fails with a page, the log says what to do, nothing leaks."""
    add_provider()
    url = app.config["BEFUND"].database_url
    other = make_app(url, tmp_path, secret_key="another-key-another-key-another-key")
    response = sign_in(other.test_client(), vendor, person())
    assert response.status_code == 500
    assert "Da ist etwas schiefgegangen" in response.get_data(as_text=True)


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"env": "production", "secret_key": SECRET}, "BEFUND_PUBLIC_URL"),
        ({"env": "production", "secret_key": "ab" * 20, "public_url": "https://befund.example"}, "BEFUND_SECRET_KEY"),
        ({"env": "production", "secret_key": "changeme-123-" * 4, "public_url": "https://b.example"}, "repeats"),
    ],
)
def test_unsafe_settings_are_refused_by_name(tmp_path, given, word):
    from webapp.config import load_settings

    with pytest.raises(SettingError, match=word):
        load_settings({"var": str(tmp_path), **given})


def test_the_log_watch_sees_what_it_should(log_watch, vendor):
    logging.getLogger("webapp.anything").debug("hello")
    assert any("hello" in line for line in log_watch.lines)


def test_request_lines_are_logged_without_their_query(log_watch):
    logging.getLogger("werkzeug").info('%s - "%s" %s', "::1", "GET /accounts/x/?code=abc123&state=y HTTP/1.1", 302)
    assert any("GET /accounts/x/ HTTP/1.1" in line for line in log_watch.lines)
    assert not any("abc123" in line for line in log_watch.lines)


def test_an_unexpected_error_is_logged_without_what_was_sent(database_url, tmp_path, log_watch):
    app = make_app(database_url, tmp_path)  # its own: one that has answered takes no further view

    @app.get("/boom/<secret>")
    def boom(secret):
        raise ValueError(f"cannot read {secret}")

    response = app.test_client().get("/boom/geheimer-inhalt")
    assert response.status_code == 500
    assert "geheimer-inhalt" not in response.get_data(as_text=True)
    logged = "\n".join(log_watch.lines)
    assert "unexpected ValueError on endpoint boom" in logged
    assert "geheimer-inhalt" not in logged


def test_a_plain_http_vendor_of_development_is_no_vendor_in_production(app, tmp_path, add_provider):
    add_provider()
    production = make_app(app.config["BEFUND"].database_url, tmp_path, env="production")
    client = production.test_client()
    assert client.get(LOGIN, query_string={"provider_id": "acme"}).status_code == 404
