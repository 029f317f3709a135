"""Many at once, and asking too often: nobody lost, nobody mixed up, no account made twice, no guess too many."""

import re
from email import message_from_bytes, policy
from typing import Any

import pytest
from flask import request_finished
from flask_limiter import RequestLimit
from limits import parse
from sqlalchemy import func, select

from tests.webapp.conftest import ONE_DATABASE, add_user
from tests.webapp.sso.conftest import CALLBACK, leave, person, sign_in
from tests.webapp.sso.threads import at_once
from webapp.extensions import db as database
from webapp.extensions import limiter
from webapp.models import User
from webapp.sessions import digest
from webapp.sso import accounts, otp
from webapp.sso.blueprint import PER_ADDRESS
from webapp.sso.models import Identity, OneTimeCode
from webapp.sso.profile import usable_email
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


WITHOUT: dict[str, Any] = {"sub": "nobody", "given_name": "Otto"}
ALIASES = (
    "otto@example.org", "OTTO@example.org", "otto+a@example.org", "Otto+b@Example.org", "otto+@example.org",
    "\uff4ftto@example.org",
)  # fmt: skip
ENCODED = ("=?utf-8?q?otto?=@example.org", "=?us-ascii?q?otto?=@example.org", "=?utf-8?b?b3R0bw==?=@example.org",
           "a=?utf-8?q?otto?=@example.org", "=?UTF-8?Q?otto=40example.org?=@evil.example")  # fmt: skip


def ask(app, vendor, address, remote="192.0.2.1", number=0):
    """Status of asking for a code from a browser of its own."""
    client = app.test_client()
    client.environ_base["REMOTE_ADDR"] = remote
    sign_in(client, vendor, {**WITHOUT, "sub": f"nobody-{number}"})
    html = client.get("/accounts/complete/").get_data(as_text=True)
    token = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', html)
    assert token
    return client.post("/accounts/complete/", data={"csrf_token": token[1], "email": address}).status_code


def later(db, pause=otp.PAUSE):
    """As if the codes had been sent that much earlier."""
    with db.write() as session:
        for row in session.scalars(select(OneTimeCode)):
            row.created_at -= pause


def test_aliases_of_one_mailbox_share_its_pace(app, db, add_provider, vendor):
    add_provider()
    answers = []
    for number, alias in enumerate(ALIASES):
        answers.append(ask(app, vendor, alias, f"192.0.2.{number}", number))
        later(db)
    assert answers == [302] * otp.PER_HOUR + [429] * (len(ALIASES) - otp.PER_HOUR)


@pytest.mark.parametrize("address", ENCODED)
def test_an_address_that_mail_programs_read_as_another_is_none(app, add_provider, vendor, address):
    add_provider()
    assert usable_email(address) == ""
    assert ask(app, vendor, address) == 422


def test_a_mail_goes_to_the_address_that_is_compared(app, add_provider, vendor, tmp_path):
    add_provider()
    assert ask(app, vendor, "o'tto+x@example.org") == 302
    [mail] = (tmp_path / "outbox").glob("*.eml")
    assert message_from_bytes(mail.read_bytes(), policy=policy.default)["To"] == "o'tto+x@example.org"


def test_addresses_of_one_ipv6_network_share_its_pace(app, db, add_provider, vendor):
    add_provider()
    answers = []
    for number in range(otp.PER_HOUR + 2):
        answers.append(ask(app, vendor, f"person{number}@example.org", f"2001:db8:1:2:{number}::{number + 1}", number))
        later(db)
    assert answers == [302] * otp.PER_HOUR + [429, 429]
    assert ask(app, vendor, "other@example.org", "2001:db8:1:3::1", 99) == 302


@ONE_DATABASE
def test_refused_callbacks_are_limited_per_address_and_good_ones_are_not(app, client, add_provider, vendor):
    add_provider()
    client.environ_base["REMOTE_ADDR"] = "192.0.2.77"
    statuses = [client.get(CALLBACK, query_string={"state": "x"}).status_code for _ in range(620)]
    assert set(statuses) == {400, 429}
    other = app.test_client()
    other.environ_base["REMOTE_ADDR"] = "192.0.2.78"
    assert sign_in(other, vendor, {"sub": "1", "email": "a@example.org"}).status_code == 302


@pytest.mark.parametrize("path", ["/accounts/vendor_oauth2/login/", CALLBACK, f"{CALLBACK}acme/"])
def test_beginning_a_sign_in_and_coming_back_count_per_address(app, path):
    assert [left(app, path, "192.0.2.80") for _ in range(3)] == [2999, 2998, 2997]
    assert left(app, path, "192.0.2.81") == 2999, "another address has its own count"


def left(app, path, remote):
    """The number of times that address may still ask for this in this minute, after having done so once more."""
    seen: list[RequestLimit] = []
    with request_finished.connected_to(lambda _, **more: seen.extend(limiter.current_limits), app):
        app.test_client().get(path, environ_base={"REMOTE_ADDR": remote})
    return next(counted.remaining for counted in seen if counted.limit == parse(PER_ADDRESS))


@ONE_DATABASE
def test_fhir_calls_without_a_token_are_limited_per_address(app):
    client = app.test_client()
    client.environ_base["REMOTE_ADDR"] = "192.0.2.79"
    path = "/00000000-0000-0000-0000-000000000000/fhir/r4/DocumentReference"
    answers = [client.get(path) for _ in range(1201)]
    assert {answer.status_code for answer in answers} == {401, 429}
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert refused.get_json(force=True)["resourceType"] == "OperationOutcome"
    assert refused.headers["Retry-After"] == "60"
