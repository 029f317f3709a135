"""Many at once: nobody lost, nobody mixed up, no account made twice, no guess too many."""

from sqlalchemy import func, select

from tests.webapp.conftest import add_user
from tests.webapp.sso.conftest import CALLBACK, leave, person, sign_in
from tests.webapp.sso.threads import at_once
from webapp.extensions import db as database
from webapp.models import User
from webapp.sessions import digest
from webapp.sso import accounts, otp
from webapp.sso.models import Identity, OneTimeCode
from webapp.sso.sealing import keyed_hash


def test_two_first_sign_ins_of_one_person_make_one_account(app, db, add_provider, vendor):
    add_provider("acme")
    add_provider("globex")

    def come(provider_id, number):
        claims = person(number, sub=f"same-{provider_id}")
        return lambda: sign_in(app.test_client(), vendor, claims, provider_id).status_code

    for number in range(5):
        works = [come(provider_id, number) for provider_id in ("acme", "globex") for _ in range(4)]
        for subject in db.session.scalars(select(Identity)):
            with db.write() as session:
                session.delete(session.get(Identity, subject.id))
        assert set(at_once(*works)) == {302}
    assert db.session.scalar(select(func.count()).select_from(User)) == 5
    assert db.session.scalar(select(func.count()).select_from(Identity)) == 2


def test_24_people_at_3_vendors_each_get_their_own_account(app, db, add_provider, vendor):
    providers = [
        add_provider(name, token_auth_method=how) for name, how in (("a", "post"), ("b", "basic"), ("c", "post"))
    ]

    def come(number):
        def work():
            browser = app.test_client()
            for turn in range(3):
                provider_id = providers[(number + turn) % 3]
                claims = person(number, sub=f"{provider_id}-{number}")
                assert sign_in(browser, vendor, claims, provider_id).status_code == 302
                assert f"person{number}@example.org" in browser.get("/accounts/").get_data(as_text=True)

        return work

    at_once(*(come(number) for number in range(24)))
    assert db.session.scalar(select(func.count()).select_from(User)) == 24
    assert db.session.scalar(select(func.count()).select_from(Identity)) == 72
    for identity in db.session.scalars(select(Identity)):
        assert identity.user.email == f"person{identity.subject.split('-')[1]}@example.org"


def test_one_state_used_at_the_same_moment_works_once(app, client, add_provider, vendor):
    add_provider()
    answer = vendor.grant(leave(client), person())
    cookies = [(cookie.key, cookie.value) for cookie in client._cookies.values()]

    def come():
        browser = app.test_client()
        for key, value in cookies:
            browser.set_cookie(key, value)
        return browser.get(CALLBACK, query_string=answer).status_code

    assert sorted(at_once(*[come] * 6)) == [302, 400, 400, 400, 400, 400]


def test_guesses_made_at_the_same_moment_are_five_at_most(app, db):
    with db.write() as session:
        session.add(
            OneTimeCode(
                pending_hash=digest("pending"),
                address_hash=_hash(app, "otp-address", "a@example.org"),
                ip_hash="x",
                code_hash="never-matches",
            )
        )

    def guess():
        with app.test_request_context("/"):
            try:
                otp.check_code("pending", "a@example.org", "123456")
            except otp.CodeRefused as refusal:
                return refusal.reason
        return "accepted"

    results = at_once(*[guess] * 16)
    assert results.count("wrong") == 4
    assert results.count("void") == 12
    assert db.session.scalars(select(OneTimeCode.tries)).one() == 5


def test_codes_asked_for_at_the_same_moment_are_sent_once(app, db):
    def ask():
        with app.test_request_context("/", environ_base={"REMOTE_ADDR": "192.0.2.7"}):
            try:
                otp.send_code("pending", "a@example.org")
            except otp.CodeRefused as refusal:
                return refusal.reason
        return "sent"

    assert sorted(at_once(*[ask] * 8)) == ["sent"] + ["too_soon"] * 7


def test_unlinking_both_ways_at_the_same_moment_leaves_one(app, db, add_provider):
    add_provider("acme")
    add_provider("globex")
    user = add_user(app)
    with db.write() as session:
        for provider_id in ("acme", "globex"):
            session.add(Identity(provider_id=provider_id, subject="1", user_id=user.id))
    ids = list(db.session.scalars(select(Identity.id)))

    def drop(identity_id):
        def work():
            with app.app_context(), database.write() as session:
                return accounts.unlink(session, user, identity_id)

        return work

    assert sorted(at_once(*(drop(identity_id) for identity_id in ids))) == [False, True]


def _hash(app, purpose, value):
    with app.app_context():
        return keyed_hash(purpose, value)
