"""The audit trail by kind: a flood buries nothing, and rows go when their time is over."""

import ast
from datetime import timedelta
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select

from tests.webapp.conftest import Outside, command
from webapp import audit
from webapp.models import AuditEvent, utcnow
from webapp.pages.operator import EVENTS


def add(db: Outside, event: str, number: int = 1, age: timedelta = timedelta(0), detail: str = "") -> None:
    with db.write() as session:
        for _ in range(number):
            kind = audit.KINDS.get(event, audit.OTHER_KIND)
            session.add(AuditEvent(event=event, kind=kind, at=utcnow() - age, detail=detail))


def kinds(db: Outside) -> dict[str, int]:
    counted = select(AuditEvent.kind, func.count()).group_by(AuditEvent.kind)
    return dict(db.session.execute(counted).tuples().all())


def test_a_flood_of_refused_callbacks_buries_nothing(operator: FlaskClient, db: Outside) -> None:
    add(db, "member_changed", detail="the-one-that-matters")
    for number in range(150):
        operator.get("/accounts/vendor_oauth2/login/callback/", query_string={"state": f"x{number}", "code": "y"})
    trail = operator.get("/operator/audit/").get_data(as_text=True)
    assert "the-one-that-matters" in trail
    refusals = operator.get("/operator/audit/?kind=refusal").get_data(as_text=True)
    assert refusals.count('title="refused"') == 100
    assert "the-one-that-matters" not in refusals


@pytest.mark.parametrize("kind", ["", "nothing", "refusal'--", "\x00"])
def test_an_unknown_kind_shows_what_is_shown_without(operator: FlaskClient, db: Outside, kind: str) -> None:
    add(db, "member_changed", detail="seen")
    assert "seen" in operator.get("/operator/audit/", query_string={"kind": kind}).get_data(as_text=True)


def test_rows_go_when_the_time_of_their_kind_is_over(app: Flask, db: Outside) -> None:
    for event, kind in (("refused", "refusal"), ("signed_in", "sign_in"), ("uploaded", "document"), ("x", "change")):
        add(db, event, age=audit.KEPT[kind] + timedelta(hours=1))
        add(db, event, age=audit.KEPT[kind] - timedelta(hours=1))
    assert command(app, "audit", "purge") == "4 rows deleted\n"
    assert kinds(db) == {"refusal": 1, "sign_in": 1, "document": 1, "change": 1}


def test_refusals_are_kept_up_to_a_number(app: Flask, db: Outside) -> None:
    add(db, "refused", 25)
    add(db, "signed_in", 30)
    with db.write() as session:
        assert audit.purge(session, refusals=20) == 5
    assert kinds(db) == {"refusal": 20, "sign_in": 30}


def test_what_is_recorded_purges_by_itself(app: Flask, db: Outside) -> None:
    """One row in PURGE_EVERY does it: that fifteen times as many never did: one in three million."""
    add(db, "refused", 3, age=timedelta(days=31))
    with db.write() as session:
        for _ in range(15 * audit.PURGE_EVERY):
            audit.record(session, "member_changed")
    assert set(kinds(db)) == {"change"}


def test_the_command_shows_events_by_kind(app: Flask, db: Outside) -> None:
    add(db, "refused", detail="no state")
    add(db, "member_changed", detail="operator")
    assert "operator" in command(app, "audit", "list")
    assert "no state" not in command(app, "audit", "list")
    assert "no state" in command(app, "audit", "list", "--kind", "refusal")


def recorded() -> set[str]:
    """Every name of an event that the webapp's source gives to the trail."""
    names = set(audit.KINDS)
    for file in Path(audit.__file__).parent.rglob("*.py"):
        for call in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] in ("record_alone", "record"):
                said = [one for argument in call.args[:2] for one in ast.walk(argument)]
                names |= {one.value for one in said if isinstance(one, ast.Constant) and isinstance(one.value, str)}
    return names


def test_every_event_is_told_in_german() -> None:
    assert {"signed_in", "service_deactivated", "purged"} <= recorded()
    assert recorded() <= set(EVENTS)
