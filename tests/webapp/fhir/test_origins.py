"""Web pages of other origins: none reads an answer until an organization lists its origin, and without cookies."""

import pytest
from flask import Flask
from sqlalchemy import select
from werkzeug.test import TestResponse

from tests.webapp.conftest import Outside, add_organization, command
from tests.webapp.fhir.conftest import Caller, Place
from webapp.models import AuditEvent

PAGE = "https://viewer.example"
ALLOW = "Access-Control-Allow-Origin"


def run(app: Flask, *arguments: str, fails: bool = False) -> str:
    return command(app, "origins", *arguments, fails=fails)


def asked(place: Place, path: str, origin: str = PAGE, method: str = "OPTIONS", **headers: str) -> TestResponse:
    before = {"Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "authorization"}
    sent = {"Origin": origin, **(before if method == "OPTIONS" else {}), **headers}
    return place.app.test_client().open(path, method=method, headers=sent)


def test_a_listed_origin_may_search_read_and_fetch_and_no_other(place: Place, caller: Caller, db: Outside) -> None:
    document = place.add_document()
    paths = [f"{place.path}/DocumentReference", f"{place.path}/Binary/{document}", caller.link()]
    bearer = {"Authorization": f"Bearer {place.token}"}
    for path in paths:
        for answer in (asked(place, path), asked(place, path, method="GET", **bearer)):
            assert answer.status_code in (200, 204)
            assert ALLOW not in answer.headers, "off by default"
    run(place.app, "add", PAGE, "--org", str(place.organization))
    assert run(place.app, "list", "--org", str(place.organization)).split() == [PAGE]
    for path in paths:
        before, answer = asked(place, path), asked(place, path, method="GET", **bearer)
        assert (before.headers[ALLOW], answer.headers[ALLOW]) == (PAGE, PAGE)
        assert "Authorization" in before.headers["Access-Control-Allow-Headers"]
        assert "Befund-Complete-Until" in answer.headers["Access-Control-Expose-Headers"]
        assert "Origin" in answer.headers["Vary"]
        assert "Access-Control-Allow-Credentials" not in answer.headers
        for other in ("https://viewer.example.evil", "https://evil", "http://viewer.example", "null", "*"):
            assert ALLOW not in asked(place, path, other).headers
    run(place.app, "remove", PAGE, "--org", str(place.organization))
    assert ALLOW not in asked(place, paths[0]).headers
    assert "not on the list" in run(place.app, "remove", PAGE, "--org", str(place.organization), fails=True)
    events = db.session.scalars(select(AuditEvent.event).where(AuditEvent.event.like("origin%"))).all()
    assert sorted(events) == ["origin_allowed", "origin_refused"]


def test_a_page_that_is_listed_still_needs_a_token_and_reads_why(place: Place) -> None:
    run(place.app, "add", PAGE, "--org", str(place.organization))
    answer = asked(place, f"{place.path}/DocumentReference", method="GET")
    assert (answer.status_code, answer.headers[ALLOW]) == (401, PAGE)


@pytest.mark.parametrize("path", ["Observation", "Observation/1/x", ".well-known/smart-configuration"])
def test_a_page_reads_why_below_the_base_there_is_nothing(place: Place, path: str) -> None:
    run(place.app, "add", PAGE, "--org", str(place.organization))
    bearer = {"Authorization": f"Bearer {place.token}"}
    before = asked(place, f"{place.path}/{path}")
    assert (before.status_code // 100, before.headers[ALLOW]) == (2, PAGE), "else the browser does not call at all"
    for status, sent in ((404, bearer), (401, {})):
        answer = asked(place, f"{place.path}/{path}", method="GET", **sent)
        assert (answer.status_code, answer.headers[ALLOW]) == (200 if path.startswith(".") else status, PAGE)
        assert answer.status_code == 200 or answer.get_json(force=True)["resourceType"] == "OperationOutcome"
    other = asked(place, f"{place.path}/{path}", "https://evil.example")
    assert ALLOW not in other.headers
    assert other.status_code == (200 if path.startswith(".") else 404)


def test_the_list_is_of_one_organization_and_of_its_fhir_routes(place: Place) -> None:
    other = Place(place.app, add_organization(place.app, "Andere Praxis").id, place.user, place.token)
    run(place.app, "add", PAGE, "--org", str(other.organization))
    assert ALLOW in asked(other, f"{other.path}/Patient").headers
    for path in (f"{place.path}/Patient", "/", "/login", f"/{other.organization}/oauth2/token"):
        assert ALLOW not in asked(place, path).headers


@pytest.mark.parametrize(
    "wrong", ["*", "null", "https://*.example", "http://viewer.example", "https://viewer.example/", "https://V.example"]
)
def test_what_is_no_origin_is_not_listed(place: Place, wrong: str) -> None:
    assert "https://host" in run(place.app, "add", wrong, "--org", str(place.organization), fails=True)
