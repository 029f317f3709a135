"""Programs as callers: service accounts with secrets that rotate, scopes, and what ends when one is switched off."""

from datetime import timedelta

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import joinedload

from tests.webapp.conftest import Outside, add_organization
from tests.webapp.fhir.conftest import Caller, Place, resources_of, run
from webapp.fhir.dates import MICROS
from webapp.fhir.machines import scopes
from webapp.fhir.machines.accounts import SECRETS_AT_MOST, WARN_DAYS, ServiceAccount, ServiceSecret, ends_soon
from webapp.fhir.models import AccessLog
from webapp.models import AuditEvent, utcnow


def test_a_service_account_reads_its_organization_alone_and_belongs_to_nobody(place: Place, db: Outside) -> None:
    document = place.add_document()
    _, secret = place.machine()
    assert resources_of(place.calls(secret).bundle("DocumentReference"))[0]["id"] == str(document)
    assert place.calls(secret).get(f"Binary/{document}").data == b"Befund"
    other = add_organization(place.app, "Andere Praxis").id
    assert Caller(Place(place.app, other, place.user, secret)).get("DocumentReference").status_code == 403
    entry = db.session.scalars(select(AccessLog)).one()
    assert (entry.how, entry.user_id, f"_{entry.token_id}_" in secret) == ("binary", None, True)


def test_secrets_rotate_without_a_gap_and_old_ones_end_at_once(place: Place, db: Outside) -> None:
    account, old = place.machine()
    new = run(place.app, "add-secret", account)
    assert [place.calls(text).get("Patient").status_code for text in (old, new)] == [200, 200]
    assert db.session.get(ServiceSecret, old.split("_")[1]).last_used_at is not None
    place.add_document()
    link = place.calls(old).link()
    assert place.app.test_client().get(link).status_code == 200
    run(place.app, "revoke-secret", account, old.split("_")[1])
    assert [place.calls(text).get("Patient").status_code for text in (old, new)] == [401, 200]
    assert place.app.test_client().get(link).status_code == 403, "a link dies with the secret that made it"
    run(place.app, "deactivate", account)
    assert place.calls(new).get("Patient").status_code == 401
    run(place.app, "deactivate", account, "--undo")
    assert place.calls(new).get("Patient").status_code == 200
    events = db.session.scalars(select(AuditEvent.event).where(AuditEvent.event.like("service%"))).all()
    assert {"service_added", "service_secret_added", "service_secret_revoked", "service_deactivated"} <= set(events)


def test_an_account_has_few_secrets_and_the_last_one_warns_before_it_ends(place: Place, db: Outside) -> None:
    account, secret = place.machine()
    assert "WARNING" not in run(place.app, "list")
    soon = int((utcnow() + timedelta(days=WARN_DAYS - 1)).timestamp() * MICROS)
    with db.write() as session:
        session.execute(update(ServiceSecret).values(expires_at=soon))
    assert "WARNING" in run(place.app, "list")
    for _ in range(SECRETS_AT_MOST - 1):
        run(place.app, "add-secret", account)
    assert "WARNING" not in run(place.app, "list"), "there is a later one"
    assert "valid secrets" in run(place.app, "add-secret", account, fails=True)
    with db.write() as session:
        session.execute(update(ServiceSecret).values(expires_at=1))
    assert place.calls(secret).get("Patient").status_code == 401
    row = db.session.scalars(select(ServiceAccount).options(joinedload(ServiceAccount.secrets))).unique().one()
    assert ends_soon(row) is None, "nothing is left to warn of"


@pytest.mark.parametrize(
    "given", ["", "system/Observation.rs", "patient/Patient.rs", "system/Patient.sr", "system/Patient."]
)
def test_a_scope_that_is_none_is_refused(place: Place, given: str) -> None:
    assert "not a scope" in run(place.app, "add", "x", "--org", str(place.organization), "--scopes", given, fails=True)


def test_scopes_are_granted_as_far_as_the_account_has_them() -> None:
    allowed = "system/DocumentReference.crs system/Patient.read"
    assert scopes.granted(allowed, "") == allowed
    assert (
        scopes.granted(allowed, "system/DocumentReference.rs system/Patient.c openid") == "system/DocumentReference.rs"
    )
    assert scopes.granted(allowed, "system/*.r") == ""
