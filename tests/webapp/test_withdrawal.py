"""Access that was given can be taken back, at once and everywhere, and every change leaves a trace."""

import io
import uuid
from collections.abc import Callable

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select, update

from tests.webapp.conftest import Outside, add_organization, add_user, command, login, submit
from tests.webapp.fhir.conftest import Caller, Place, place
from webapp.fhir.models import AccessToken
from webapp.models import AuditEvent, Membership, Organization, Role, User, utcnow

__all__ = ["place"]  # a fixture


def events(db: Outside, kind: str = "change") -> list[tuple[str, str, str]]:
    rows = db.session.scalars(select(AuditEvent).where(AuditEvent.kind == kind).order_by(AuditEvent.id))
    return [(row.event, row.actor, row.detail) for row in rows]


def revoke(place: Place, app: Flask, db: Outside) -> None:
    with db.write() as session:
        session.execute(update(AccessToken).values(revoked_at=utcnow()))


def expire(place: Place, app: Flask, db: Outside) -> None:
    with db.write() as session:
        session.execute(update(AccessToken).values(expires_at=1))


def remove(place: Place, app: Flask, db: Outside) -> None:
    command(app, "orgs", "members", "remove", place.organization, "erika@example.org")


def deactivate(place: Place, app: Flask, db: Outside) -> None:
    command(app, "users", "deactivate", "erika@example.org")


def switch_off(place: Place, app: Flask, db: Outside) -> None:
    """Without the command, which revokes the tokens too."""
    with db.write() as session:
        session.execute(update(User).values(active=False))


ENDS = [(revoke, 401), (expire, 401), (remove, 403), (deactivate, 401), (switch_off, 401)]


@pytest.mark.parametrize(("end", "status"), ENDS)
def test_a_link_dies_with_the_token_the_membership_and_the_account_that_made_it(
    app: Flask, db: Outside, place: Place, end: Callable[[Place, Flask, Outside], None], status: int
) -> None:
    place.add_document(b"Befund")
    link, browser = Caller(place).link(), app.test_client()
    assert browser.get(link).data == b"Befund"
    assert Caller(place).get("DocumentReference").status_code == 200
    end(place, app, db)
    dead = browser.get(link)
    assert dead.status_code == 403
    assert b"Befund" not in dead.data
    assert Caller(place).get("DocumentReference").status_code == status


def test_an_operator_removes_a_member_on_the_page(app: Flask, db: Outside, place: Place, operator: FlaskClient) -> None:
    member = app.test_client()
    login(member, db.session.get(User, place.user))
    assert member.get(f"/documents/{place.organization}/").status_code == 200
    assert Caller(place).get("DocumentReference").status_code == 200
    page = operator.get("/operator/members/").get_data(as_text=True)
    assert "erika@example.org" in page
    to = f"/operator/members/{place.organization}/{place.user}/"
    assert submit(operator, "/operator/members/", to).status_code == 302
    assert member.get(f"/documents/{place.organization}/").status_code == 404
    assert Caller(place).get("DocumentReference").status_code == 403
    assert events(db)[-1] == (
        "member_removed", "betrieb@example.org", "erika@example.org in Praxis am Beispielplatz: member -> none"
    )  # fmt: skip


def test_a_role_is_changed_and_the_former_power_is_gone(app: Flask, db: Outside, operator: FlaskClient) -> None:
    other = add_user(app, "zweite@example.org")
    place = add_organization(app, "Zweite", operator=other)
    client = app.test_client()
    login(client, other)
    assert client.get("/operator/audit/").status_code == 200
    submit(operator, "/operator/members/", f"/operator/members/{place.id}/{other.id}/", role="member")
    assert client.get("/operator/audit/").status_code == 403
    assert events(db)[-1][2] == "zweite@example.org in Zweite: operator -> member"


def test_a_member_is_added_by_address(app: Flask, db: Outside, place: Place, operator: FlaskClient) -> None:
    add_user(app, "neu@example.org")
    to = f"/operator/members/{place.organization}/add/"
    submit(operator, "/operator/members/", to, email="Neu@Example.org", role="member")
    assert events(db)[-1][2] == "neu@example.org in Praxis am Beispielplatz: none -> member"
    before = len(db.session.scalars(select(Membership)).all())
    submit(operator, "/operator/members/", to, email="nobody@example.org", role="member")
    assert len(db.session.scalars(select(Membership)).all()) == before


def test_the_last_operator_stays(app: Flask, db: Outside, operator: FlaskClient) -> None:
    organization = db.session.scalars(select(Organization).where(Organization.name == "Betrieb")).one()
    me = db.session.scalars(select(User).where(User.email == "betrieb@example.org")).one()
    to = f"/operator/members/{organization.id}/{me.id}/"
    for fields in ({}, {"role": "member"}):
        assert submit(operator, "/operator/members/", to, **fields).status_code == 302
        assert "letzte Betreiber" in operator.get("/operator/members/").get_data(as_text=True)
    assert db.session.scalars(select(Membership.role).where(Membership.user_id == me.id)).one() is Role.OPERATOR
    refused = command(app, "orgs", "members", "remove", organization.id, "betrieb@example.org", fails=True)
    assert "last operator" in refused


def test_the_page_is_for_operators_alone(app: Flask, db: Outside, place: Place) -> None:
    client = app.test_client()
    assert client.get("/operator/members/").status_code == 302
    login(client, db.session.get(User, place.user))
    assert client.get("/operator/members/").status_code == 403
    for path in ("add/", f"{place.user}/"):
        to = f"/operator/members/{place.organization}/{path}"
        assert submit(client, "/accounts/", to, role="operator", email="erika@example.org").status_code == 403
    assert db.session.scalars(select(Membership.role)).one() is Role.MEMBER


@pytest.mark.parametrize("fields", [{"role": "king"}, {"role": "OPERATOR"}, {"role": "\x00"}])
def test_a_role_nobody_has_is_refused(db: Outside, place: Place, operator: FlaskClient, fields: dict[str, str]) -> None:
    to = f"/operator/members/{place.organization}/{place.user}/"
    assert submit(operator, "/operator/members/", to, **fields).status_code == 400
    assert db.session.scalars(select(Membership.role).where(Membership.user_id == place.user)).one() is Role.MEMBER


def test_strangers_and_other_ids_are_not_found(operator: FlaskClient, place: Place) -> None:
    for to in (f"{place.organization}/{uuid.uuid4()}/", f"{uuid.uuid4()}/{place.user}/"):
        assert submit(operator, "/operator/members/", f"/operator/members/{to}").status_code == 404


def test_uploads_marks_and_tokens_leave_a_trace(app: Flask, db: Outside, place: Place) -> None:
    client = app.test_client()
    login(client, db.session.get(User, place.user))
    here = f"/documents/{place.organization}/"
    files = [(io.BytesIO(b"a"), "geheimer-name.txt"), (io.BytesIO(b"b"), "b.txt")]
    submit(client, here, f"{here}upload/", files=files, patient="")
    document = Caller(place).ids("DocumentReference")[0]
    submit(client, f"{here}{document}/", f"{here}{document}/mark/", status="entered-in-error")
    submit(client, f"{here}{document}/", f"{here}{document}/mark/", status="current")
    assert events(db, "document") == [
        ("uploaded", "erika@example.org", f"2 in organization {place.organization}"),
        ("marked", "erika@example.org", document),
        ("unmarked", "erika@example.org", document),
    ]
    submit(client, "/tokens/", name="Abruf", days="3")
    token = db.session.scalars(select(AccessToken).where(AccessToken.name == "Abruf")).one()
    submit(client, "/tokens/", f"/tokens/{token.id}/revoke/")
    assert events(db)[-2:] == [
        ("token_created", "erika@example.org", token.id),
        ("token_revoked", "erika@example.org", token.id),
    ]
    deactivate(place, app, db)
    assert [event for event, _, _ in events(db)][-2:] == ["tokens_revoked", "deactivated"]


def test_commands_leave_a_trace_too(app: Flask, db: Outside, place: Place) -> None:
    document = place.add_document()
    command(app, "documents", "mark-in-error", document)
    command(app, "tokens", "create", "--user", "erika@example.org")
    command(app, "orgs", "add", "Neue Praxis")
    command(app, "orgs", "members", "add", place.organization, "erika@example.org", "--role", "operator")
    assert events(db, "document")[-1] == ("marked", "", str(document))
    assert [event for event, _, _ in events(db)][-3:] == ["token_created", "organization_added", "member_changed"]
