"""SMART Backend Services: a program signs an assertion with its key and gets an access token of five minutes."""

import http.server
import json
import string
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, RSAKey
from sqlalchemy import select
from werkzeug.test import TestResponse

from clinical.errors import SettingError
from tests.serving import free_port, serving, wait_until
from tests.webapp.conftest import ONE_DATABASE, SECRET, Outside, make_app
from tests.webapp.fhir.conftest import Caller, Place, make_place, run
from tests.webapp.sso import live
from webapp.fhir.machines.accounts import ServiceAccount
from webapp.fhir.machines.keys import AGAIN_S, AT_ONCE, KEPT_S, KeysBusy, PublicKeys
from webapp.fhir.machines.oauth import UNPROVEN
from webapp.models import AuditEvent

RSA = RSAKey.generate_key(2048, {"kid": "rsa-1"})
EC = ECKey.generate_key("P-384", {"kid": "ec-1"})
STRANGER = RSAKey.generate_key(2048, {"kid": "rsa-1"})
PUBLIC = json.dumps({"keys": [RSA.as_dict(private=False), EC.as_dict(private=False)]})
FORM = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


@pytest.fixture
def account(place: Place, tmp_path: Path) -> str:
    """A service account with uploaded keys."""
    found = run(place.app, "add", "Archiv", "--org", str(place.organization))
    (tmp_path / "jwks.json").write_text(PUBLIC)
    run(place.app, "keys", found, "--file", str(tmp_path / "jwks.json"))
    return found


def endpoint(place: Place) -> str:
    return f"http://localhost/{place.organization}/oauth2/token"


def claims(place: Place, account: str, **changed: Any) -> dict[str, Any]:
    now = int(time.time())
    given = {"iss": account, "sub": account, "aud": endpoint(place), "exp": now + 240, "jti": uuid.uuid4().hex}
    return {name: value for name, value in (given | changed).items() if value is not None}


def signed(what: dict[str, Any], key: Any = RSA, **header: Any) -> str:
    head = {"alg": "ES384" if key is EC else "RS384", "kid": key.kid} | header
    return jwt.encode(head, what, key, algorithms=["RS384", "ES384", "RS256", "HS256"])


def ask(place: Place, assertion: str, **changed: str) -> TestResponse:
    form = {"grant_type": "client_credentials", "client_assertion_type": FORM, "client_assertion": assertion}
    return place.app.test_client().post(f"/{place.organization}/oauth2/token", data=form | changed)


@pytest.mark.parametrize("key", [RSA, EC], ids=["RS384", "ES384"])
def test_a_program_gets_a_token_and_reads_with_it(place: Place, account: str, key: Any) -> None:
    configuration = place.app.test_client().get(f"{place.path}/.well-known/smart-configuration").get_json()
    assert configuration["token_endpoint"] == endpoint(place)
    assert configuration["token_endpoint_auth_methods_supported"] == ["private_key_jwt"]
    document = place.add_document()
    answer = ask(place, signed(claims(place, account), key), scope="system/DocumentReference.rs system/Patient.c")
    assert answer.status_code == 200, answer.get_data(as_text=True)
    assert answer.headers["Cache-Control"] == "no-store"
    told = answer.get_json()
    assert (told["token_type"], told["expires_in"], told["scope"]) == ("bearer", 300, "system/DocumentReference.rs")
    caller = Caller(Place(place.app, place.organization, place.user, told["access_token"]))
    assert caller.ids("DocumentReference") == [str(document)]
    assert caller.get("Patient").status_code == 403, "the scope was not granted"
    run(place.app, "deactivate", account)
    assert caller.get("DocumentReference").status_code == 401, "the account is asked with every call"


NO_JWT, EXP, ALG = "no JWT", "exp must be ahead", "alg of the assertion must be RS384 or ES384"
SYMMETRIC = OctKey.import_key(PUBLIC.encode(), {"kid": "rsa-1"})
UNSIGNED = "eyJhbGciOiJub25lIiwia2lkIjoicnNhLTEifQ"


def in_s(seconds: int) -> int:
    return int(time.time()) + seconds


WRONG: dict[str, tuple[str, Callable[[Place, str], str]]] = {
    "signed by another": (UNPROVEN, lambda place, account: signed(claims(place, account), STRANGER)),
    "unknown key": (UNPROVEN, lambda place, account: signed(claims(place, account), kid="x")),
    "no kid": ("kid of the assertion must name", lambda place, account: signed(claims(place, account), kid="")),
    "RS256": (ALG, lambda place, account: signed(claims(place, account), alg="RS256")),
    "HS256": (ALG, lambda place, account: signed(claims(place, account), SYMMETRIC, alg="HS256")),
    "none": (ALG, lambda place, account: f"{UNSIGNED}.{signed(claims(place, account)).split('.')[1]}."),
    "other audience": ("/oauth2/token", lambda place, account: signed(claims(place, account, aud="https://x/"))),
    "two audiences": (
        "sub must be the client, aud http",
        lambda place, account: signed(claims(place, account, aud=[endpoint(place), "https://x/"])),
    ),
    "other subject": ("sub must be the client", lambda place, account: signed(claims(place, account, sub="s1"))),
    "unknown account": (UNPROVEN, lambda place, account: signed(claims(place, "s000000000000"))),
    "account of another kind": (UNPROVEN, lambda place, account: signed(claims(place, account, iss=["x"]))),
    "over": (f"{EXP}, by at most 300 s", lambda place, account: signed(claims(place, account, exp=in_s(-60)))),
    "far ahead": (EXP, lambda place, account: signed(claims(place, account, exp=in_s(900)))),
    "no end": (EXP, lambda place, account: signed(claims(place, account, exp=None))),
    "not begun": ("nbf is ahead", lambda place, account: signed(claims(place, account, nbf=in_s(90)))),
    "no jti": ("jti must be a text of 1 to 255", lambda place, account: signed(claims(place, account, jti=None))),
    "no JWT": (NO_JWT, lambda place, account: "ey.ey.ey"),
    "no ASCII": (NO_JWT, lambda place, account: "eyä.b.c"),
    "a list": (NO_JWT, lambda place, account: f"{signed(claims(place, account)).split('.')[0]}.W10.AAAA"),
    "empty": ("client_assertion must be a JWT", lambda place, account: ""),
}
"""Of each case the words that a program is told, and its assertion; `UNPROVEN` tells nothing."""


@ONE_DATABASE
@pytest.mark.parametrize("case", WRONG)
def test_an_assertion_that_is_not_exactly_right_earns_nothing(place: Place, account: str, case: str) -> None:
    said, assertion = WRONG[case]
    answer = ask(place, assertion(place, account))
    told = answer.get_json()
    assert (answer.status_code, told["error"]) == (401, "invalid_client")
    assert said in told["error_description"]
    assert set(told["error_description"]) <= set(string.printable) - set('"\\\n')


def test_what_is_known_here_is_told_to_nobody_who_did_not_sign_for_it(place: Place, account: str) -> None:
    """A client that is there, one that is not, one that is switched off, one of another organization, one without keys:
    all with a signature that is not theirs get the same bytes."""
    other = make_place(place.app, "Andere Praxis", "anna@example.org")
    keyless = run(place.app, "add", "Leer", "--org", str(place.organization))
    away = run(place.app, "add", "Weg", "--org", str(place.organization))
    run(place.app, "deactivate", away)
    theirs = run(place.app, "add", "Fremd", "--org", str(other.organization))
    clients = (account, "s000000000000", away, theirs, keyless, "", "x" * 300)
    answers = [ask(place, signed(claims(place, client), STRANGER)) for client in clients]
    assert len({answer.data for answer in answers}) == 1
    assert {answer.status_code for answer in answers} == {401}


def test_a_refused_call_leads_to_where_tokens_come_from(place: Place, account: str) -> None:
    browser = place.app.test_client()
    challenge = browser.get(f"{place.path}/Patient").headers["WWW-Authenticate"]
    resource = browser.get(challenge.partition('resource_metadata="')[2].rstrip('"')).get_json()
    assert resource["resource"].endswith(place.path)
    server, _, organization = resource["authorization_servers"][0].rpartition("/")
    metadata = browser.get(f"{server}/.well-known/oauth-authorization-server/{organization}").get_json()
    assert metadata["issuer"] == resource["authorization_servers"][0], "RFC 8414, section 3.3"
    assert metadata["token_endpoint"] == endpoint(place)
    assert ask(place, signed(claims(place, account)), resource=resource["resource"]).status_code == 200
    other = ask(place, signed(claims(place, account)), resource=resource["resource"].replace("/fhir/", "/other/"))
    assert (other.status_code, other.get_json()["error"]) == (400, "invalid_target")
    for path in ("oauth-protected-resource/praxis/fhir/r4", "oauth-authorization-server/praxis"):
        assert browser.get(f"/.well-known/{path}").status_code == 400


def test_an_assertion_works_once_and_for_its_organization_alone(place: Place, account: str, db: Outside) -> None:
    assertion = signed(claims(place, account))
    assert ask(place, assertion).status_code == 200
    assert ask(place, assertion).get_json()["error_description"] == "this assertion was used before (its jti)"
    elsewhere = Place(place.app, uuid.uuid4(), place.user, "")
    assert ask(elsewhere, signed(claims(elsewhere, account))).status_code == 401
    assert ask(place, signed(claims(place, account)), grant_type="password").get_json()["error"] == (
        "unsupported_grant_type"
    )
    assert ask(place, signed(claims(place, account)), scope="system/Patient.u").get_json()["error"] == "invalid_scope"
    trail = db.session.scalars(select(AuditEvent.detail).where(AuditEvent.event == "refused")).all()
    assert any("used before" in detail for detail in trail)
    assert not any(assertion[:30] in detail for detail in trail)


def test_private_and_broken_key_sets_are_not_taken(place: Place, account: str, tmp_path: Path) -> None:
    bad = {
        "private": json.dumps({"keys": [RSA.as_dict(private=True)]}),
        "symmetric": json.dumps({"keys": [{"kty": "oct", "k": "AAAA", "kid": "a"}]}),
        "empty": '{"keys": []}', "list": "[]", "no": "nothing",
    }  # fmt: skip
    for name, text in bad.items():
        (tmp_path / name).write_text(text)
        run(place.app, "keys", account, "--file", str(tmp_path / name), fails=True)
    for url in ("http://keys.example/jwks", "https://10.0.0.1/jwks", "https://[::1]/jwks#x", "file:///etc/passwd"):
        run(place.app, "keys", account, "--url", url, fails=True)
    assert ask(place, signed(claims(place, account))).status_code == 200, "those it had go on"


class _Keys(http.server.BaseHTTPRequestHandler):
    body, asked, held = b"", 0, None

    def do_GET(self) -> None:
        type(self).asked += 1
        if self.held is not None:
            self.held.wait(30)
        self.send_response(200 if self.body else 302)
        self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *_: Any) -> None:
        """Quiet."""


@pytest.fixture
def published() -> Iterator[tuple[type[_Keys], str]]:
    """A program's own server with its key set."""
    handler = type("Keys", (_Keys,), {})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    with serving(server):
        yield handler, f"http://127.0.0.1:{server.server_port}/jwks"


def test_keys_are_fetched_from_their_url_kept_and_fetched_again_for_a_new_one(
    place: Place, account: str, db: Outside, published: tuple[type[_Keys], str]
) -> None:
    handler, url = published
    handler.body = json.dumps({"keys": [RSA.as_dict(private=False)]}).encode()
    run(place.app, "keys", account, "--url", url)
    assert [ask(place, signed(claims(place, account))).status_code for _ in range(3)] == [200] * 3
    assert handler.asked == 1
    now = 0.0
    keys, row = PublicKeys(lambda: now), db.session.get(ServiceAccount, account)

    def known(kid: str) -> set[str | None]:
        return {key.kid for key in keys.of(row, kid).keys}

    with place.app.app_context():
        assert known("rsa-1") == {"rsa-1"}
        handler.body = PUBLIC.encode()
        now = AGAIN_S - 1
        assert known("ec-1") == {"rsa-1"}, "asked again at most once a minute"
        now = AGAIN_S + 1
        assert known("ec-1") == {"rsa-1", "ec-1"}
        handler.body = b""
        now += KEPT_S - 1
        assert known("rsa-1") == {"rsa-1", "ec-1"}
        now += 2
        with pytest.raises(SettingError, match="302"):
            keys.of(row, "rsa-1")


def test_keys_in_a_private_network_are_not_asked_for_in_production(
    database_url: str, tmp_path: Path, published: tuple[type[_Keys], str]
) -> None:
    """Neither by address nor by a name that leads there."""
    handler, url = published
    app = make_app(database_url, tmp_path, env="production", public_url="https://befund.example", mail_url="")
    with app.app_context():
        for asked in (url, url.replace("http://", "https://"), url.replace("http://127.0.0.1", "https://localhost")):
            with pytest.raises(SettingError):
                PublicKeys().of(ServiceAccount(id="s1", jwks="", jwks_url=asked), "rsa-1")
    assert handler.asked == 0


def test_a_url_that_gives_no_keys_is_asked_again_after_a_minute(
    place: Place, account: str, db: Outside, published: tuple[type[_Keys], str]
) -> None:
    handler, url = published
    run(place.app, "keys", account, "--url", url)
    now = 0.0
    keys, row = PublicKeys(lambda: now), db.session.get(ServiceAccount, account)
    with place.app.app_context():
        for later, asked in ((0.0, 1), (1.0, 1), (AGAIN_S - 1, 1), (AGAIN_S + 1, 2), (AGAIN_S + 2, 2)):
            now = later
            with pytest.raises(SettingError, match="302"):
                keys.of(row, "rsa-1")
            assert handler.asked == asked
        handler.body, now = PUBLIC.encode(), 2 * AGAIN_S + 2
        assert {key.kid for key in keys.of(row, "rsa-1").keys} == {"rsa-1", "ec-1"}


def test_sixty_junk_signatures_fetch_once_and_hold_few_threads(
    place: Place, account: str, db: Outside, published: tuple[type[_Keys], str]
) -> None:
    """A URL that takes long: one thread fetches, some wait for it, the others are told to come back at once."""
    handler, url = published
    handler.body, handler.held = PUBLIC.encode(), threading.Event()
    run(place.app, "keys", account, "--url", url)
    keys, row = PublicKeys(), db.session.get(ServiceAccount, account)
    counts, said = threading.Semaphore(0), []

    def one(number: int) -> None:
        with place.app.app_context():
            try:
                said.append(len(keys.of(row, f"junk-{number}").keys))
            except KeysBusy:
                said.append(0)
        counts.release()

    threads = [threading.Thread(target=one, args=(number,), daemon=True) for number in range(60)]
    for thread in threads:
        thread.start()
    for _ in range(60 - AT_ONCE):
        assert counts.acquire(timeout=30), "a thread waits that should not"
    assert said == [0] * (60 - AT_ONCE)
    handler.held.set()
    for thread in threads:
        thread.join(30)
    assert sorted(said) == [0] * (60 - AT_ONCE) + [2] * AT_ONCE
    assert handler.asked == 1
    with place.app.app_context():
        assert len(keys.of(row, "junk").keys) == 2, "kept for a minute, whatever the kid"
    assert handler.asked == 1


@ONE_DATABASE
def test_a_page_does_not_wait_for_anybodys_keys(
    database_url: str, tmp_path: Path, place: Place, account: str, published: tuple[type[_Keys], str]
) -> None:
    """The attack over HTTP, on one process of the server as it is shipped: sixty junk signatures for one client."""
    handler, url = published
    handler.held = threading.Event()
    run(place.app, "keys", account, "--url", url)
    one = {"WEB_CONCURRENCY": "1", "BEFUND_SECRET_KEY": SECRET}
    with live.webapp(free_port(), database_url, tmp_path, **one) as base, ThreadPoolExecutor(60) as pool:
        form = {"grant_type": "client_credentials", "client_assertion_type": FORM}
        junk = [form | {"client_assertion": signed(claims(place, account), STRANGER)} for _ in range(60)]
        asked = [
            pool.submit(httpx2.post, f"{base}/{place.organization}/oauth2/token", data=one, timeout=40, verify=False)
            for one in junk
        ]
        wait_until(lambda: sum(one.done() for one in asked) >= len(asked) - AT_ONCE, "too many threads wait")
        assert httpx2.get(f"{base}/accounts/login/", timeout=10).status_code == 200
        assert not all(one.done() for one in asked), "some still wait for the keys"
        handler.held.set()
        answers = [one.result() for one in asked]
    assert handler.asked == 1
    assert {answer.status_code for answer in answers} == {401, 503}
    busy = [answer for answer in answers if answer.status_code == 503]
    assert {answer.json()["error"] for answer in busy} == {"temporarily_unavailable"}
    assert {answer.headers["Retry-After"] for answer in busy} == {"2"}
