"""The operator's pages of service accounts: made, given secrets and keys, bounded, switched off; who did it is kept."""

import json
import re
from typing import Any

import pytest
from flask.testing import FlaskClient
from joserfc.jwk import ECKey, KeySet
from sqlalchemy import select
from werkzeug.test import TestResponse

from tests.webapp.conftest import Outside, add_user, login, submit
from tests.webapp.fhir.conftest import Place
from webapp.fhir.machines.accounts import ServiceAccount
from webapp.models import AuditEvent

LIST = "/operator/services/"
READS = "system/DocumentReference.rs"


def made(operator: FlaskClient, place: Place, **changed: Any) -> TestResponse:
    given = {"organization": str(place.organization), "name": "Archiv", "scopes": READS, "way": "secret"}
    return submit(operator, LIST, **given | changed)


def secret_in(answer: TestResponse) -> str:
    found = re.findall(r"bfs_s[0-9a-f]{12}_[\w-]{43}", answer.get_data(as_text=True))
    assert len(found) == 1, answer.status
    return str(found[0])


def test_a_secret_is_shown_once_works_rotates_and_ends(operator: FlaskClient, place: Place, db: Outside) -> None:
    first = secret_in(made(operator, place))
    account = db.session.scalars(select(ServiceAccount)).one()
    page = f"{LIST}{account.id}/"
    assert place.calls(first).get("DocumentReference").status_code == 200
    for shown in (operator.get(LIST), operator.get(page)):
        text = shown.get_data(as_text=True)
        assert first not in text
        assert account.id in text
        assert ">nie<" not in text.replace("\n", ""), "it was used just now"
    second = secret_in(submit(operator, page, to=f"{page}secrets/", days="30"))
    assert [place.calls(one).get("DocumentReference").status_code for one in (first, second)] == [200, 200]
    assert submit(operator, page, to=f"{page}secrets/{first.split('_')[1]}/revoke/").status_code == 302
    assert [place.calls(one).get("DocumentReference").status_code for one in (first, second)] == [401, 200]
    submit(operator, page, to=f"{page}active/", active="0")
    assert place.calls(second).get("DocumentReference").status_code == 401
    submit(operator, page, to=f"{page}active/", active="1")
    assert place.calls(second).get("DocumentReference").status_code == 200
    told = db.session.scalars(select(AuditEvent).where(AuditEvent.event.like("service%")).order_by(AuditEvent.id)).all()
    assert [row.event for row in told] == [
        "service_added", "service_secret_added", "service_secret_added", "service_secret_revoked",
        "service_deactivated", "service_activated",
    ]  # fmt: skip
    assert {row.actor for row in told} == {"betrieb@example.org"}
    secrets = [one.split("_", 2)[2] for one in (first, second)]
    assert not any(secret in row.detail for secret in secrets for row in told)


def test_keys_and_scopes_are_set_and_changed(operator: FlaskClient, place: Place, db: Outside) -> None:
    public = json.dumps(KeySet([ECKey.generate_key("P-384")]).as_dict(private=False))
    assert made(operator, place, way="upload", jwks=public).status_code == 302
    account = db.session.scalars(select(ServiceAccount)).one()
    assert (account.jwks, account.scopes, account.secrets) == (public, READS, [])
    page = f"{LIST}{account.id}/"
    submit(operator, page, to=f"{page}keys/", way="url", url="https://archiv.example/jwks.json")
    submit(operator, page, to=f"{page}scopes/", scopes=f"{READS} system/Binary.r")
    db.session.expire_all()
    assert (account.jwks, account.jwks_url) == ("", "https://archiv.example/jwks.json")
    assert account.scopes == f"{READS} system/Binary.r"


PRIVATE = json.dumps(KeySet([ECKey.generate_key("P-384")]).as_dict(private=True))
WRONG: dict[str, dict[str, str]] = {
    "no name": {"name": " "},
    "no scope": {"scopes": "alles"},
    "nobody's organization": {"organization": "00000000-0000-4000-8000-000000000000"},
    "no organization": {"organization": "alle"},
    "private keys": {"way": "upload", "jwks": PRIVATE},
    "no keys": {"way": "upload", "jwks": "{}"},
    "no https": {"way": "url", "url": "ftp://archiv.example/jwks.json"},
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said_and_nothing_is_made(operator: FlaskClient, place: Place, db: Outside, case: str) -> None:
    answer = made(operator, place, **WRONG[case])
    assert answer.status_code == 422
    assert 'class="wrong"' in answer.get_data(as_text=True)
    assert db.session.scalars(select(ServiceAccount)).all() == []


def test_changes_that_are_wrong_change_nothing(operator: FlaskClient, place: Place, db: Outside) -> None:
    made(operator, place)
    account = db.session.scalars(select(ServiceAccount)).one()
    page = f"{LIST}{account.id}/"
    assert submit(operator, page, to=f"{page}keys/", way="upload", jwks=PRIVATE).status_code == 422
    assert submit(operator, page, to=f"{page}keys/", way="secret").status_code == 422
    assert submit(operator, page, to=f"{page}scopes/", scopes="alles").status_code == 422
    assert submit(operator, page, to=f"{page}secrets/", days="9999").status_code == 422
    for _ in range(4):
        secret_in(submit(operator, page, to=f"{page}secrets/", days="30"))
    assert submit(operator, page, to=f"{page}secrets/", days="30").status_code == 302, "five are enough"
    db.session.expire_all()
    assert (account.jwks, account.scopes, len(account.secrets)) == ("", READS, 5)


def test_only_operators_see_and_change_them_and_no_foreign_form(operator: FlaskClient, place: Place) -> None:
    account = re.findall(r"s[0-9a-f]{12}", secret_in(made(operator, place)))[0]
    member = place.app.test_client()
    login(member, add_user(place.app, "mitglied@example.org"))
    paths = [LIST, f"{LIST}{account}/"]
    assert [member.get(path).status_code for path in paths] == [403, 403]
    assert [place.app.test_client().get(path).status_code for path in paths] == [302, 302]
    posted = [LIST, *(f"{LIST}{account}/{what}/" for what in ("secrets", "keys", "scopes", "active"))]
    assert [operator.post(path).status_code for path in posted] == [400] * 5
    assert operator.get(f"{LIST}s000000000000/").status_code == 404
