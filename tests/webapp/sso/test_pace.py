"""Limits on asking: codes per mailbox and per network, refusals per address."""

import re
from email import message_from_bytes, policy
from typing import Any

import pytest
from flask import request_finished
from flask_limiter import RequestLimit
from limits import parse
from sqlalchemy import select

from tests.webapp.conftest import ONE_DATABASE
from tests.webapp.sso.conftest import CALLBACK, sign_in
from webapp.extensions import limiter
from webapp.sso import otp
from webapp.sso.blueprint import PER_ADDRESS
from webapp.sso.models import OneTimeCode
from webapp.sso.profile import usable_email

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
