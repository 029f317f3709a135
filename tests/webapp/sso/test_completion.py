"""Profile completion with a one-time code, received by a real mail server (aiosmtpd)."""

import re
import stat
from datetime import timedelta

import pytest
from aiosmtpd.controller import Controller
from sqlalchemy import select, update

from tests.serving import free_port
from tests.webapp.conftest import add_user, make_app, submit
from tests.webapp.sso.conftest import LOGIN, person, sign_in, store_vendors
from tests.webapp.sso.stub_vendor import secret_of
from webapp.models import AuditEvent, User
from webapp.sso.models import Identity, OneTimeCode
from webapp.sso.providers import ProviderFields

ADDRESS = "/accounts/complete/"
CODE = "/accounts/complete/code/"
WITHOUT = {"sub": "s-1", "given_name": "Erika", "family_name": "Mustermann"}


class Postbox:
    """Messages that the mail server received; `refuse` makes it turn mail away."""

    def __init__(self, seen):
        self.mails: list[tuple[list[str], str]] = []
        self.refuse = False
        self.seen = seen

    async def handle_DATA(self, server, session, envelope):  # noqa: N802 - aiosmtpd calls it so
        if self.refuse:
            return "451 try later"
        import email
        import email.policy

        message = email.message_from_bytes(envelope.content, policy=email.policy.default)
        text = message.get_content()
        self.mails.append((envelope.rcpt_tos, text))
        self.seen.add(self.code())
        return "250 OK"

    def code(self):
        """The code of the latest mail."""
        found = re.search(r"\b(\d{6})\b", self.mails[-1][1])
        assert found
        return found[1]


@pytest.fixture(scope="module")
def post_office(_one_vendor):
    """The mail server."""
    box = Postbox(_one_vendor.seen)
    controller = Controller(box, hostname="127.0.0.1", port=free_port())
    controller.start()
    yield controller
    controller.stop()


@pytest.fixture
def postbox(post_office):
    """Its requests so far, at first none."""
    box = post_office.handler
    box.mails.clear()
    box.refuse = False
    return box


@pytest.fixture
def app_settings(post_office):
    return {"mail_url": f"smtp://127.0.0.1:{post_office.port}", "mail_from": "anmeldung@befund.example"}


@pytest.fixture
def pending(client, add_provider, vendor, postbox):
    """The browser of somebody who came back from a vendor that gave no address."""
    add_provider()
    sign_in(client, vendor, WITHOUT)
    return client


def ask(client, address="erika@example.org"):
    return submit(client, ADDRESS, email=address)


def age_codes(db, by):
    """Let time pass for the codes on record."""
    with db.write() as session:
        for row in session.scalars(select(OneTimeCode)):
            session.execute(update(OneTimeCode).where(OneTimeCode.id == row.id).values(created_at=row.created_at - by))


def test_without_email_the_person_proves_one(client, db, add_provider, vendor, postbox):
    add_provider()
    assert sign_in(client, vendor, WITHOUT, next="/?later").headers["Location"] == ADDRESS
    assert client.get("/accounts/").status_code == 302
    assert ask(client).headers["Location"] == CODE
    assert postbox.mails[0][0] == ["erika@example.org"]
    done = submit(client, CODE, code=f"{postbox.code()[:3]} {postbox.code()[3:]}")
    assert done.headers["Location"] == "/?later"
    assert "erika@example.org" in client.get("/accounts/").get_data(as_text=True)
    user = db.session.scalars(select(User)).one()
    assert user.email_verified_at is not None
    assert user.name == "Erika Mustermann"
    assert sign_in(client, vendor, WITHOUT).headers["Location"] == "/accounts/", "the second time nothing is asked"


@pytest.mark.parametrize(
    "claims",
    [{}, *({"email": value} for value in ("", None, "no address", ["a@b.example"], "a@b.example\nBcc: x@y"))],
)
def test_an_unusable_email_counts_as_none(client, add_provider, vendor, claims):
    add_provider()
    assert sign_in(client, vendor, {**WITHOUT, **claims}).headers["Location"] == ADDRESS
    assert 'type="email"' in client.get(ADDRESS).get_data(as_text=True)


@pytest.mark.parametrize(("trust", "verified"), [(True, False), (True, "false"), (False, True), (False, None)])
def test_a_doubtful_email_is_proven_before_anything_is_linked(
    app, client, db, add_provider, vendor, postbox, trust, verified
):
    add_provider(trust_email=trust)
    user = add_user(app, "person1@example.org")
    sign_in(client, vendor, person(1, email_verified=verified))
    assert db.session.scalars(select(Identity)).all() == []
    ask(client, "attacker@example.org")  # the address is fixed: what the form sends counts for nothing
    assert postbox.mails[0][0] == ["person1@example.org"]
    submit(client, CODE, code=postbox.code())
    assert db.session.scalars(select(Identity.user_id)).one() == user.id


def test_the_form_does_not_tell_whether_an_account_exists(app, db, add_provider, vendor, postbox):
    add_provider()
    add_user(app, "known@example.org")
    pages = []
    for number, address in enumerate(("known@example.org", "unknown@example.org")):
        browser = app.test_client()
        sign_in(browser, vendor, {"sub": f"s-{number}"})
        answer = ask(browser, address)
        page = browser.get(CODE).get_data(as_text=True).replace(address, "ADDRESS")
        pages.append((answer.status_code, answer.headers["Location"], re.sub(r'value="[^"]{20,}"', "", page)))
        age_codes(db, timedelta(minutes=1))
    assert pages[0] == pages[1]


def test_the_fifth_wrong_try_voids_the_code(pending, db, postbox):
    ask(pending)
    wrong = f"{(int(postbox.code()) + 1) % 10**6:06d}"
    for left in (4, 3, 2, 1):
        assert f"Noch {left} Versuche" in submit(pending, CODE, code=wrong).get_data(as_text=True)
    assert "gilt nicht mehr" in submit(pending, CODE, code=wrong).get_data(as_text=True)
    assert "gilt nicht mehr" in submit(pending, CODE, code=postbox.code()).get_data(as_text=True)
    assert db.session.scalars(select(User)).all() == []


def test_a_malformed_code_costs_no_try(pending, db, postbox):
    ask(pending)
    for text in ("", "12345", "1234567", "abcdef", "１２３４５６", "٣٣٣٣٣٣"):
        assert submit(pending, CODE, code=text).status_code == 422
    assert db.session.scalars(select(OneTimeCode.tries)).one() == 0


def test_a_new_code_voids_the_old_and_both_die_after_ten_minutes(pending, db, postbox):
    ask(pending)
    first = postbox.code()
    age_codes(db, timedelta(seconds=11))
    ask(pending)
    if first != postbox.code():
        assert submit(pending, CODE, code=first).status_code == 422
    age_codes(db, timedelta(minutes=10))
    assert "gilt nicht mehr" in submit(pending, CODE, code=postbox.code()).get_data(as_text=True)


def test_a_code_is_worth_nothing_in_another_session_or_for_another_address(app, pending, db, vendor, postbox):
    ask(pending, "mine@example.org")
    mine = postbox.code()
    age_codes(db, timedelta(seconds=11))
    other = app.test_client()
    sign_in(other, vendor, {"sub": "s-2"})
    ask(other, "mine@example.org")
    if mine != postbox.code():
        assert submit(other, CODE, code=mine).status_code == 422
    age_codes(db, timedelta(seconds=11))
    ask(pending, "victim@example.org")
    if mine != postbox.code():
        assert submit(pending, CODE, code=mine).status_code == 422


def test_codes_are_sent_every_ten_seconds_and_five_times_an_hour(app, pending, db, postbox):
    assert ask(pending).status_code == 302
    assert ask(pending).status_code == 429
    for _ in range(4):
        age_codes(db, timedelta(seconds=11))
        assert ask(pending).status_code == 302
    age_codes(db, timedelta(seconds=11))
    refused = ask(pending)
    assert refused.status_code == 429
    assert "zu viele Codes" in refused.get_data(as_text=True)
    assert ask(pending, "another@example.org").status_code == 429, "the network address has its own count"
    assert len(postbox.mails) == 5
    age_codes(db, timedelta(hours=1))
    assert ask(pending).status_code == 302


def test_codes_are_stored_hashed(pending, db, postbox):
    ask(pending)
    row = db.session.scalars(select(OneTimeCode)).one()
    assert postbox.code() not in f"{row.code_hash} {row.address_hash}"
    assert "erika" not in row.address_hash


def test_a_mail_server_that_refuses_is_said_in_words(pending, db, postbox):
    postbox.refuse = True
    answer = ask(pending)
    assert answer.status_code == 502
    assert "konnte nicht verschickt werden" in answer.get_data(as_text=True)
    postbox.refuse = False
    assert ask(pending).status_code == 302, "a code that never left does not count"


@pytest.mark.parametrize(
    "address", ["", "erika", "erika@", "a b@c.example", "x" * 250 + "@example.org", "a@b\r\nBcc: c@d.e"]
)
def test_the_form_refuses_what_is_no_address(pending, postbox, address):
    assert ask(pending, address).status_code == 422
    assert postbox.mails == []


def test_the_pages_need_a_pending_sign_in(client):
    assert client.get(ADDRESS).status_code == 400
    assert client.get(CODE).status_code == 400


def test_forms_need_their_token(pending, postbox):
    assert pending.post(ADDRESS, data={"email": "erika@example.org"}).status_code == 400
    assert postbox.mails == []


def test_the_audit_trail_knows_of_codes_but_not_the_codes(pending, db, postbox):
    ask(pending)
    submit(pending, CODE, code="000000" if postbox.code() != "000000" else "111111")
    submit(pending, CODE, code=postbox.code())
    events = db.session.scalars(select(AuditEvent).order_by(AuditEvent.id)).all()
    assert [event.event for event in events[1:]] == ["otp_sent", "otp_failed", "created", "signed_in"]
    assert postbox.code() not in " ".join(event.detail for event in events)


def test_development_without_mail_server_writes_to_the_outbox(database_url, tmp_path, vendor):
    app = make_app(database_url, tmp_path)
    urls = (f"{vendor.url}/good/{end}" for end in ("authorize", "token", "userinfo"))
    store_vendors(app, ProviderFields("acme", "A", *urls, "client-acme", secret_of("client-acme")))
    (tmp_path / "outbox").mkdir(mode=0o755)  # of an earlier version
    client = app.test_client()
    sign_in(client, vendor, WITHOUT)
    assert ask(client).status_code == 302
    [mail] = (tmp_path / "outbox").glob("*.eml")
    assert [stat.S_IMODE(path.stat().st_mode) for path in (mail.parent, mail)] == [0o700, 0o600], "the code is in it"
    assert "erika@example.org" in mail.read_text()


def test_production_without_mail_refuses_what_would_need_it(database_url, tmp_path):
    app = make_app(database_url, tmp_path, env="production")
    given = ("https://v.example/authorize", "https://v.example/token", "https://v.example/userinfo", "client", "secret")
    store_vendors(
        app,
        ProviderFields("trusted", "A", *given),
        ProviderFields("doubted", "B", *given, trust_email=False, own_callback=True),
        ProviderFields("mailless", "C", *given, "openid profile", own_callback=True),
    )
    client = app.test_client()
    assert client.get(LOGIN, query_string={"provider_id": "trusted"}).status_code == 302
    for provider_id in ("doubted", "mailless"):
        refused = client.get(LOGIN, query_string={"provider_id": provider_id})
        assert refused.status_code == 503
        assert "BEFUND_MAIL_URL" in refused.get_data(as_text=True)
