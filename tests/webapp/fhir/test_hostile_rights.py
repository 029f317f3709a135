"""Whoever wants what is another's: tokens, assertions, keys, links, headers and sessions that are not quite right.

Each case is one row. What must hold is the same for all: it is refused, nothing of the other organization is in the
answer, and nothing of it has changed.
"""

import base64
import gzip
import json
import re
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey
from sqlalchemy import func, select
from werkzeug.test import TestResponse

from tests.webapp.conftest import ONE_DATABASE, SECRET, Outside, add_user, login
from tests.webapp.fhir.conftest import Caller, Place, make_place, run
from tests.webapp.fhir.test_backend_services import (
    FORM,
    PUBLIC,
    RSA,
    STRANGER,
    _Keys,
    ask,
    claims,
    endpoint,
    published,
    signed,
)
from webapp.fhir.machines.accounts import ServiceAccount, ServiceSecret
from webapp.fhir.models import AccessToken, Document, Patient
from webapp.models import BrowserSession, Membership, User
from webapp.sso.models import Identity, Provider

__all__ = ["published"]
BODY, TITLE, NAME = b"nur fuer die eine Praxis 4711", "Geheimbrief.txt", "Geheimfrau"
REFUSED = (400, 401, 403, 404, 405, 409, 415, 422)
TABLES = (AccessToken, Document, Identity, Membership, Patient, ServiceAccount, ServiceSecret)


@dataclass
class Stage:
    """Organization `mine` with a letter, a patient and a service account; a member of organization `theirs` who wants
    them, with a token, a program and keys of their own."""

    app: Flask
    mine: Place
    theirs: Place
    document: uuid.UUID
    patient: uuid.UUID
    account: str
    secret: str
    program: str
    program_secret: str

    def get(self, path: str, token: str, **more: Any) -> TestResponse:
        headers = {"Authorization": f"Bearer {token}"} | more.pop("headers", {})
        return self.app.test_client().open(self.filled(path), headers=headers, **more)

    def filled(self, path: str) -> str:
        names = {"mine": self.mine.organization, "theirs": self.theirs.organization, "document": self.document}
        return path.format(**names, patient=self.patient, account=self.account)


@pytest.fixture
def stage(app: Flask, tmp_path: Any) -> Stage:
    mine, theirs = make_place(app), make_place(app, "Andere Praxis", "bob@example.org")
    patient = mine.add_patient(("urn:a", "4711"), name=[{"family": NAME}])
    document = mine.add_document(BODY, title=TITLE, patient_id=patient)
    (tmp_path / "jwks.json").write_text(PUBLIC)
    found = {}
    for place in (mine, theirs):
        account = run(app, "add", "Archiv", "--org", str(place.organization))
        found[place.organization] = (account, run(app, "add-secret", account))
        run(app, "keys", account, "--file", str(tmp_path / "jwks.json"))
    return Stage(app, mine, theirs, document, patient, *found[mine.organization], *found[theirs.organization])


@pytest.fixture
def unchanged(stage: Stage, db: Outside) -> Any:
    """Says at the end whether anything was made, changed or taken away."""
    before = state(db)
    yield before
    assert state(db) == before


def state(db: Outside) -> dict[str, Any]:
    session = db.session
    counts = {table.__name__: session.scalar(select(func.count()).select_from(table)) for table in TABLES}
    roles = sorted((str(row.user_id), row.role.value) for row in session.scalars(select(Membership)))
    marks = sorted(row.status.value for row in session.scalars(select(Document)))
    alive = sorted(row.id for row in session.scalars(select(AccessToken)) if row.revoked_at is None)
    accounts = sorted((row.id, row.scopes, row.active, row.jwks_url) for row in session.scalars(select(ServiceAccount)))
    return counts | {"roles": roles, "marks": marks, "alive": alive, "accounts": accounts}


def refused(answer: TestResponse, *more: int) -> None:
    """Not done, with words, and without anything of the other organization."""
    assert answer.status_code in (*REFUSED, *more), answer.text[:300]
    for told in (BODY, TITLE.encode(), NAME.encode()):
        assert told not in answer.data


# --- tokens -----------------------------------------------------------------------------------------------------------

CALLS = [
    ("GET", "DocumentReference"), ("GET", "DocumentReference/{document}"), ("GET", "Binary/{document}"),
    ("GET", "DocumentReference/{document}/_history"), ("GET", "Patient"), ("GET", "Patient/{patient}"),
    ("GET", "Patient/{patient}/$everything"), ("POST", "DocumentReference/_search"), ("POST", "Patient/_search"),
    ("POST", "DocumentReference"), ("POST", "Patient"), ("POST", ""),
]  # fmt: skip


@pytest.mark.parametrize("who", ["person", "program"])
def test_a_good_token_of_one_organization_is_none_at_another(stage: Stage, unchanged: Any, who: str) -> None:
    token = stage.theirs.token if who == "person" else stage.program_secret
    for method, path in CALLS:
        refused(stage.get(f"/{{mine}}/fhir/r4/{path}", token, method=method))


def forged(stage: Stage, key: Any = None, **changed: Any) -> str:
    """An access token as the server signs them, with another key or other claims."""
    now = int(time.time())
    given = {
        "sub": stage.account,
        "org": str(stage.mine.organization),
        "scope": "system/*.rs",
        "iat": now,
        "exp": now + 300,
    }
    return jwt.encode({"alg": "HS256"}, given | changed, key or OctKey.import_key(SECRET))


DEPTHS = (
    base64.urlsafe_b64encode(b'{"alg":"RS384","kid":"rsa-1","x":' + b"[" * 2000 + b"]" * 2000 + b"}")
    .decode()
    .rstrip("=")
)


def unsigned(stage: Stage) -> str:
    return f"eyJhbGciOiJub25lIn0.{forged(stage).split('.')[1]}."


def of_the_program(stage: Stage) -> str:
    """A good access token of the other organization's program."""
    answer = ask(stage.theirs, signed(claims(stage.theirs, stage.program)))
    token: str = answer.get_json()["access_token"]
    return token


TOKENS: dict[str, Callable[[Stage], str]] = {
    "prefix in capitals": lambda s: s.mine.token.replace("bfa_", "BFA_"),
    "one character more": lambda s: s.mine.token + "a",
    "one character less": lambda s: s.mine.token[:-1],
    "a line behind": lambda s: f"{s.mine.token}%0a",
    "two, one of them good": lambda s: f"{s.theirs.token}, {s.mine.token}",
    "in quotes": lambda s: f'"{s.mine.token}"',
    "an id with another's secret": lambda s: "_".join((*s.mine.token.split("_")[:2], s.theirs.token.split("_", 2)[2])),
    "a program's secret less one character": lambda s: s.secret[:-1],
    "a program's id with another's secret": lambda s: "_".join(
        (*s.secret.split("_")[:2], s.program_secret.split("_", 2)[2])
    ),
    "an id of no program": lambda s: "bfs_s000000000000_" + s.secret.split("_", 2)[2],
    "a program's secret as a person's": lambda s: s.secret.replace("bfs_", "bfa_"),
    "a person's token as a program's": lambda s: s.mine.token.replace("bfa_", "bfs_"),
    "the id alone": lambda s: "_".join(s.mine.token.split("_")[:2]) + "_",
    "an id like a pattern": lambda s: "bfa_%_" + s.mine.token.split("_", 2)[2],
    "an id like a statement": lambda s: "bfa_' OR '1'='1_" + s.mine.token.split("_", 2)[2],
    "a hash of the secret": lambda s: "bfa_" + "0" * 12 + "_" + "0" * 64,
    "an assertion": lambda s: signed(claims(s.mine, s.account)),
    "a signed note of another key": forged,
    "a signed note without a signature": unsigned,
    "a signed note by the public key": lambda s: forged(s, OctKey.import_key(PUBLIC.encode())),
    "a note of another organization's program": of_the_program,
    "depths": lambda s: f"{DEPTHS}.{forged(s).split('.')[1]}.AAAA",
    "a cut note": lambda s: of_the_program(s)[:-2],
    "a note with another's claims": lambda s: ".".join(
        (lambda parts, other: (parts[0], other[1], parts[2]))(of_the_program(s).split("."), forged(s).split("."))
    ),
}


@ONE_DATABASE
@pytest.mark.parametrize("case", TOKENS)
def test_a_token_that_is_not_exactly_one_opens_nothing(stage: Stage, case: str) -> None:
    token = TOKENS[case](stage)
    for path in ("DocumentReference", "Binary/{document}", "Patient/{patient}"):
        answer = stage.get(f"/{{mine}}/fhir/r4/{path}", token)
        refused(answer)
        assert answer.status_code == (403 if case == "a note of another organization's program" else 401)


ELSEWHERE: dict[str, Callable[[Stage], dict[str, Any]]] = {
    "in the query": lambda s: {"query_string": {"access_token": s.mine.token}},
    "in a form": lambda s: {"method": "POST", "data": {"access_token": s.mine.token}},
    "as a password": lambda s: {"auth": ("erika@example.org", s.mine.token)},
    "in a cookie": lambda s: {
        "headers": {"Cookie": f"__Host-befund_session={s.mine.token}; befund_session={s.mine.token}"}
    },
    "in another header": lambda s: {"headers": {"X-Authorization": f"Bearer {s.mine.token}"}},
    "for a proxy": lambda s: {"headers": {"Proxy-Authorization": f"Bearer {s.mine.token}"}},
    "of another scheme": lambda s: {"headers": {"Authorization": f"Token {s.mine.token}"}},
    "without a scheme": lambda s: {"headers": {"Authorization": s.mine.token}},
    "said by a proxy": lambda s: {
        "headers": {"X-Remote-User": "erika@example.org", "X-Forwarded-User": str(s.mine.user)}
    },
}


@ONE_DATABASE
@pytest.mark.parametrize("case", ELSEWHERE)
def test_a_token_counts_in_its_header_alone(stage: Stage, unchanged: Any, case: str) -> None:
    path = stage.filled("/{mine}/fhir/r4/DocumentReference") + ("/_search" if case == "in a form" else "")
    answer = stage.app.test_client().open(path, **ELSEWHERE[case](stage))
    refused(answer)
    assert answer.status_code == 401


# --- presigned links --------------------------------------------------------------------------------------------------

LINKS: dict[str, Callable[[Stage, str], str]] = {
    "another organization": lambda s, url: url.replace(str(s.mine.organization), str(s.theirs.organization)),
    "another document": lambda s, url: url.replace(str(s.document), str(uuid.uuid4())),
    "a later end": lambda s, url: re.sub(r"expires=(\d+)", lambda found: f"expires={int(found[1]) + 1}", url),
    "an end without end": lambda s, url: re.sub(r"expires=\d+", "expires=999999999999", url),
    "an end in other digits": lambda s, url: re.sub(r"expires=\d+", "expires=%D9%A1%D9%A2", url),
    "no end": lambda s, url: re.sub(r"expires=\d+&", "", url),
    "another token": lambda s, url: re.sub(r"token=\w+", f"token={s.theirs.token.split('_')[1]}", url),
    "no token": lambda s, url: re.sub(r"&token=\w+", "", url),
    "another key": lambda s, url: re.sub(r"key=\w+", "key=00000000", url),
    "an empty signature": lambda s, url: re.sub(r"signature=\w+", "signature=", url),
    "half a signature": lambda s, url: url[:-32],
    "a signature of capitals": lambda s, url: (lambda head, tail: head + tail.upper())(*url.rsplit("=", 1)) + "=",
    "a way around": lambda s, url: url.replace("/files/", f"/files/{uuid.uuid4()}/../"),
    "the document in capitals": lambda s, url: url.replace(str(s.document), str(s.document).upper() + "%00"),
}


@ONE_DATABASE
@pytest.mark.parametrize("case", LINKS)
def test_a_link_that_was_changed_opens_nothing(stage: Stage, unchanged: Any, case: str) -> None:
    url = Caller(stage.mine).link()
    changed = LINKS[case](stage, url)
    assert changed != url
    refused(stage.app.test_client().get(changed))
    assert stage.app.test_client().get(url).data == BODY, "the link itself is good"


# --- assertions -------------------------------------------------------------------------------------------------------

OWN = STRANGER.as_dict(private=False)


def recoded(assertion: str, part: int, change: Callable[[bytes], bytes]) -> str:
    """The assertion with a part that is said otherwise; its signature stays."""
    parts = assertion.split(".")
    raw = base64.urlsafe_b64decode(parts[part] + "==")
    parts[part] = base64.urlsafe_b64encode(change(raw)).decode().rstrip("=")
    return ".".join(parts)


ASSERTIONS: dict[str, Callable[[Stage], str]] = {
    "for another organization": lambda s: signed(claims(s.theirs, s.account)),
    "of another organization's program": lambda s: signed(claims(s.mine, s.program)),
    "for another program": lambda s: signed(claims(s.mine, s.program, sub=s.account)),
    "as another program": lambda s: signed(claims(s.mine, s.account, sub=s.program)),
    "a key in its header": lambda s: signed(claims(s.mine, s.account), STRANGER, jwk=OWN),
    "a URL of keys in its header": lambda s: signed(claims(s.mine, s.account), STRANGER, jku="https://evil.example/jwks"),
    "a certificate in its header": lambda s: signed(claims(s.mine, s.account), STRANGER, x5u="https://evil.example/x"),
    "a key id that is a path": lambda s: signed(claims(s.mine, s.account), STRANGER, kid="../../../../dev/null"),
    "a key id that is a statement": lambda s: signed(claims(s.mine, s.account), STRANGER, kid="' OR '1'='1"),
    "a demand nobody knows": lambda s: recoded(
        signed(claims(s.mine, s.account)), 0, lambda raw: raw[:-1] + b',"crit":["x"],"x":1}'
    ),
    "depths in its header": lambda s: ".".join((DEPTHS, *signed(claims(s.mine, s.account)).split(".")[1:])),
    "depths in its claims": lambda s: recoded(
        signed(claims(s.mine, s.account)), 1, lambda raw: raw[:-1] + b',"x":' + b"[" * 5000 + b"]" * 5000 + b"}"
    ),
    "an algorithm in small letters": lambda s: recoded(
        signed(claims(s.mine, s.account)), 0, lambda raw: raw.replace(b"RS384", b"rs384")
    ),
    "another audience behind the signature": lambda s: recoded(
        signed(claims(s.theirs, s.account)), 1,
        lambda raw: raw.replace(str(s.theirs.organization).encode(), str(s.mine.organization).encode()),
    ),
    "its subject twice": lambda s: recoded(
        signed(claims(s.mine, s.program)), 1, lambda raw: raw[:-1] + f',"sub":"{s.account}"}}'.encode()
    ),
    "a cut signature": lambda s: signed(claims(s.mine, s.account))[:-8],
    "an empty signature": lambda s: signed(claims(s.mine, s.account)).rpartition(".")[0] + ".",
    "five parts": lambda s: signed(claims(s.mine, s.account)) + ".AAAA.AAAA",
    "in an object": lambda s: json.dumps({"payload": signed(claims(s.mine, s.account)).split(".")[1]}),
    "an audience beside it": lambda s: signed(claims(s.mine, s.account, aud=endpoint(s.mine) + "/")),
    "the base as its audience": lambda s: signed(claims(s.mine, s.account, aud=f"http://localhost{s.mine.path}")),
    "an end in words": lambda s: signed(claims(s.mine, s.account, exp=str(int(time.time()) + 60))),
    "an end that is true": lambda s: signed(claims(s.mine, s.account, exp=True)),
    "an end that is no number": lambda s: signed(claims(s.mine, s.account, exp=float("nan"))),
    "an end beyond all": lambda s: signed(claims(s.mine, s.account, exp=10**30)),
    "a beginning in words": lambda s: signed(claims(s.mine, s.account, nbf="soon")),
    "a number as its name": lambda s: signed(claims(s.mine, s.account, jti=5)),
    "a name without end": lambda s: signed(claims(s.mine, s.account, jti="x" * 300)),
    "an issuer that looks alike": lambda s: signed(claims(s.mine, s.account, iss=s.account.replace("s", "ѕ", 1))),
    "an issuer in capitals": lambda s: signed(claims(s.mine, s.account, iss=s.account.upper())),
    "an issuer that is a pattern": lambda s: signed(claims(s.mine, s.account, iss="%")),
    "a megabyte": lambda s: signed(claims(s.mine, s.account, more="x" * 20_000)),
}  # fmt: skip


@ONE_DATABASE
@pytest.mark.parametrize("case", ASSERTIONS)
def test_an_assertion_that_is_anothers_earns_nothing(stage: Stage, unchanged: Any, case: str) -> None:
    answer = ask(stage.mine, ASSERTIONS[case](stage))
    refused(answer)
    assert (answer.status_code, answer.get_json()["error"]) == (401, "invalid_client")
    assert "access_token" not in answer.text


def test_an_assertion_said_otherwise_is_the_same_one(stage: Stage) -> None:
    """A replay with padding, blanks or a line behind it: its name (jti) was used."""
    assertion = signed(claims(stage.mine, stage.account))
    assert ask(stage.mine, assertion).status_code == 200
    for again in (assertion, f"{assertion}=", f" {assertion}", f"{assertion}\n", assertion + "\0"):
        assert "access_token" not in ask(stage.mine, again).text


FORMS: dict[str, Callable[[Stage, str], dict[str, Any]]] = {
    "as JSON": lambda s, given: {"json": {"grant_type": "client_credentials", "client_assertion": given}},
    "in the query": lambda s, given: {"query_string": {"grant_type": "client_credentials", "client_assertion": given}},
    "as a SAML assertion": lambda s, given: {"data": {
        "grant_type": "client_credentials", "client_assertion": given,
        "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:saml2-bearer"}},
    "twice": lambda s, given: {
        "data": {"grant_type": "client_credentials", "client_assertion_type": FORM, "client_assertion": [given] * 2}},
    "as a code": lambda s, given: {
        "data": {"grant_type": "authorization_code", "client_assertion_type": FORM, "client_assertion": given}},
    "as a grant": lambda s, given: {
        "data": {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": given}},
    "by its secret": lambda s, given: {
        "data": {"grant_type": "client_credentials", "client_id": s.account, "client_secret": s.secret}},
    "by its secret as a password": lambda s, given: {
        "auth": (s.account, s.secret), "data": {"grant_type": "client_credentials"}},
}  # fmt: skip


@ONE_DATABASE
@pytest.mark.parametrize("case", FORMS)
def test_a_token_is_asked_for_in_one_way_only(stage: Stage, case: str) -> None:
    given = FORMS[case](stage, signed(claims(stage.mine, stage.account)))
    answer = stage.app.test_client().post(stage.filled("/{mine}/oauth2/token"), **given)
    refused(answer)
    assert answer.get_json()["error_description"]


@ONE_DATABASE
@pytest.mark.parametrize(
    "scope", ["system/*.cruds", "system/Patient.d", "patient/*.rs", "openid offline_access", "*", "system/*.*"]
)
def test_a_scope_that_the_account_has_not_is_not_given(stage: Stage, scope: str) -> None:
    answer = ask(stage.mine, signed(claims(stage.mine, stage.account)), scope=scope)
    assert (answer.status_code, answer.get_json()["error"]) == (400, "invalid_scope")


# --- keys -------------------------------------------------------------------------------------------------------------

KEY_SETS: dict[str, bytes] = {
    "a page": b"<html>Not here</html>",
    "private keys": json.dumps({"keys": [RSA.as_dict(private=True)]}).encode(),
    "a symmetric key": json.dumps({"keys": [{"kty": "oct", "k": "AAAA", "kid": "rsa-1"}]}).encode(),
    "no keys": b'{"keys": []}',
    "a list": json.dumps([RSA.as_dict(private=False)]).encode(),
    "keys of another form": b'{"keys": "rsa-1"}',
    "a key without its numbers": b'{"keys": [{"kty": "RSA", "kid": "rsa-1"}]}',
    "a weak key's half": b'{"keys": [{"kty": "RSA", "kid": "rsa-1", "n": "AQ", "e": "AQAB"}]}',
    "more than is read": json.dumps({"keys": [RSA.as_dict(private=False)], "x": "x" * 70_000}).encode(),
    "depths": b'{"keys": ' + b"[" * 30_000,
    "what is packed": gzip.compress(PUBLIC.encode()),
    "another's": json.dumps({"keys": [RSAKey.generate_key(2048, {"kid": "rsa-1"}).as_dict(private=False)]}).encode(),
}


@ONE_DATABASE
@pytest.mark.parametrize("case", KEY_SETS)
def test_a_url_of_keys_that_gives_something_else_earns_nothing(
    stage: Stage, published: tuple[type[_Keys], str], case: str
) -> None:
    handler, url = published
    handler.body = KEY_SETS[case]
    run(stage.app, "keys", stage.account, "--url", url)
    answer = ask(stage.mine, signed(claims(stage.mine, stage.account)))
    assert (answer.status_code, answer.get_json()["error"]) == (401, "invalid_client")
    assert handler.asked == 1


# --- sessions and organizations ---------------------------------------------------------------------------------------

PAGES = [
    ("GET", "/documents/{mine}/"), ("GET", "/documents/{mine}/{document}/"),
    ("GET", "/documents/{mine}/{document}/file"), ("GET", "/documents/{theirs}/{document}/"),
    ("GET", "/documents/{theirs}/{document}/file"), ("GET", "/documents/{theirs}/{document}/file?preview=1"),
    ("POST", "/documents/{theirs}/{document}/mark/"), ("POST", "/documents/{mine}/{document}/mark/"),
    ("POST", "/documents/{mine}/upload/"), ("GET", "/operator/members/"), ("POST", "/operator/members/{mine}/add/"),
    ("GET", "/operator/providers/"), ("GET", "/operator/audit/"), ("GET", "/operator/services/"),
    ("GET", "/operator/services/{account}/"), ("POST", "/operator/services/{account}/secrets/"),
    ("POST", "/operator/services/{account}/keys/"), ("POST", "/operator/services/{account}/scopes/"),
    ("POST", "/operator/services/{account}/active/"),
]  # fmt: skip
FIELDS = {
    "email": "bob@example.org", "role": "operator", "days": "9", "url": "https://evil.example/jwks",
    "scopes": "system/*.cruds", "active": "", "status": "entered-in-error",
}  # fmt: skip


def csrf_of(client: FlaskClient) -> str:
    found = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', client.get("/tokens/").text)
    assert found
    return found[1]


@pytest.mark.parametrize("who", ["of another organization", "of none"])
def test_a_session_reaches_its_own_organizations_alone(stage: Stage, db: Outside, who: str) -> None:
    person = db.session.get(User, stage.theirs.user)
    if who == "of none":
        person = add_user(stage.app, "carla@example.org")
    client = stage.app.test_client()
    login(client, person)
    token = csrf_of(client)
    before = state(db)
    for method, path in PAGES:
        data = {"csrf_token": token, **FIELDS} if method == "POST" else None
        refused(client.open(stage.filled(path), method=method, data=data))
        assert state(db) == before, path


@pytest.mark.parametrize("what", ["token", "session", "identity", "membership"])
def test_nobody_ends_what_is_anothers(stage: Stage, db: Outside, what: str) -> None:
    erika, bob = (db.session.get(User, place.user) for place in (stage.mine, stage.theirs))
    victim, client = stage.app.test_client(), stage.app.test_client()
    login(victim, erika)
    login(client, bob)
    identity = Identity(id=uuid.uuid4(), user_id=erika.id, provider_id="acme", subject="1")
    urls = dict.fromkeys(("authorization_url", "token_url", "userinfo_url"), "https://vendor.example/x")
    with db.write() as session:
        session.add(Provider(id="acme", name="A", client_id="a", client_secret_encrypted="", **urls))
        session.flush()
        session.add(identity)
    session_id = db.session.scalars(select(BrowserSession.public_id).where(BrowserSession.user_id == erika.id)).one()
    path = {
        "token": f"/tokens/{stage.mine.token.split('_')[1]}/revoke/",
        "session": f"/accounts/sessions/{session_id}/end/",
        "identity": f"/accounts/identities/{identity.id}/unlink/",
        "membership": f"/operator/members/{stage.mine.organization}/{erika.id}/",
    }[what]
    before = state(db)
    answer = client.post(path, data={"csrf_token": csrf_of(client), "role": ""})
    assert answer.status_code in (302, *REFUSED)
    assert state(db) == before
    assert victim.get("/accounts/").status_code == 200, "still signed in"
    assert Caller(stage.mine).get("DocumentReference").status_code == 200


HEADERS = {
    "another method": {"X-HTTP-Method-Override": "DELETE", "X-Method-Override": "PUT"},
    "another path": {"X-Original-URL": "/operator/audit/", "X-Rewrite-URL": "/operator/audit/"},
    "another prefix": {"X-Forwarded-Prefix": "/operator", "X-Script-Name": "/operator"},
    "another host": {"Host": "evil.example", "X-Forwarded-Host": "evil.example"},
    "another address": {"X-Forwarded-For": "127.0.0.1", "X-Real-IP": "127.0.0.1", "Forwarded": "for=127.0.0.1"},
    "another user": {"X-Remote-User": "erika@example.org", "Remote-User": "erika@example.org"},
    "another organization": {"X-Organization": "{mine}", "X-Tenant": "{mine}"},
}


@ONE_DATABASE
@pytest.mark.parametrize("case", HEADERS)
def test_a_header_decides_nothing(stage: Stage, db: Outside, unchanged: Any, case: str) -> None:
    """A proxy's headers count only where the operator names it; a client's never."""
    headers = {name: stage.filled(value) for name, value in HEADERS[case].items()}
    for path in ("/{mine}/fhir/r4/DocumentReference", "/{mine}/fhir/r4/Binary/{document}"):
        refused(stage.get(path, stage.theirs.token, headers=headers))
    answer = stage.get("/{mine}/fhir/r4/DocumentReference", stage.mine.token, headers=headers)
    assert answer.status_code in (200, 400)
    client = stage.app.test_client()
    login(client, db.session.get(User, stage.theirs.user))
    for path in ("/documents/{mine}/", "/operator/audit/"):
        refused(client.get(stage.filled(path), headers=headers), 302)  # to the login: another host has other cookies


@ONE_DATABASE
@pytest.mark.parametrize("path", ["/catalog/lookup/", "/coding/events/", "/extraction/answer/", "/drafting/answer/"])
def test_a_body_of_depths_is_no_error_of_ours(stage: Stage, db: Outside, path: str, caplog: Any) -> None:
    client = stage.app.test_client()
    login(client, db.session.get(User, stage.theirs.user))
    headers = {"X-CSRFToken": csrf_of(client), "Content-Type": "application/json"}
    assert client.post(path, data=b"[" * 100_000, headers=headers).status_code < 500
    assert "RecursionError" not in caplog.text
