"""Rights to read: tokens, members, presigned URLs, the log; and that no request makes the server fail."""

import re
import time
import uuid
from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import event, select

from tests.webapp.conftest import ONE_DATABASE, add_organization
from tests.webapp.fhir.conftest import make_place
from webapp.extensions import db as database
from webapp.fhir.models import AccessLog, AccessToken, Status

RELAXED = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
ROUTES = [
    *("DocumentReference", "DocumentReference/{id}", "Binary/{id}", "Patient", "Patient/{id}"),
    *("Patient/{id}/$everything", "Observation", ""),
]
HEADERS = [
    None,
    "",
    "Bearer",
    "Bearer x",
    "Bearer bfa_00",
    "Bearer bfa_{id}_",
    "Bearer bfa_{id}_wrong",
    "Basic {token}",
]
HOSTILE = [
    *("\0", "|\0", "9" * 400, "-1", "A" * 38, "a|", "|", "0001", "9999-12-31T23:59:59.999999"),
    *("0001-01-01T00:00:00+14:00", "gt9999", "https://x|y|z", "\ud7ff", "%", "application/pdf"),
]
NAMES = [
    *("date", "patient", "status", "contenttype", "_count", "_offset", "_cursor", "_type", "start", "end"),
    *("identifier", "_elements", "_summary", "_format"),
]


def test_without_a_valid_token_every_route_answers_401(place, browser):
    ident = place.token.split("_")[1]
    for header, route in product(HEADERS, ROUTES):
        path = f"{place.path}/{route.format(id=uuid.uuid4())}"
        headers = {} if header is None else {"Authorization": header.format(id=ident, token=place.token)}
        response = browser.get(path, headers=headers)
        assert response.status_code == 401, (header, route)
        error = ', error="invalid_token"' if (header or "").startswith("Bearer ") else ""
        told, _, metadata = response.headers["WWW-Authenticate"].partition(", resource_metadata=")
        assert told == f'Bearer realm="Befund FHIR"{error}', ("RFC 6750, section 3.1", header, route)
        assert metadata.endswith(f'/.well-known/oauth-protected-resource{place.path}"'), "RFC 9728"
        assert response.get_json(force=True)["issue"][0]["code"] == "login"
        assert response.content_type == "application/fhir+json"


def test_members_of_another_organization_get_403(place, app):
    theirs = add_organization(app, "Andere Praxis")
    for other, route in product((str(theirs.id), str(uuid.uuid4()), "praxis"), ROUTES):
        path = f"/{other}/fhir/r4/{route.format(id=uuid.uuid4())}"
        response = app.test_client().get(path, headers=place.headers)
        assert response.status_code == 403, path
        assert response.get_json(force=True)["issue"][0]["code"] == "forbidden", path


@pytest.mark.parametrize("ident", ["5c0d9e0e-6f0b-4d5e-9f4e-2f6c7b7d1a11", "x", "0" * 36, "%00", "..%2f..", "ä" * 300])
def test_unknown_ids_get_404(caller, ident):
    for route in ("DocumentReference/{id}", "Binary/{id}", "Patient/{id}", "Patient/{id}/$everything"):
        response = caller.get(route.format(id=ident))
        assert response.status_code == 404, route
        assert response.get_json(force=True)["resourceType"] == "OperationOutcome", route


def test_the_scheme_is_read_in_any_case(place, browser):
    for scheme in ("bearer", "BEARER", "Bearer"):
        headers = {"Authorization": f"{scheme} {place.token}"}
        assert browser.get(f"{place.path}/DocumentReference", headers=headers).status_code == 200


def test_only_a_hash_of_the_secret_is_stored(place, app):
    with app.app_context():
        row = database.session.scalars(select(AccessToken)).one()
        stored = " ".join(str(value) for value in vars(row).values())
    assert place.token.split("_", 2)[2] not in stored


def test_a_presigned_url_hands_out_the_file_and_only_the_file(place, caller, browser):
    document = place.add_document(b"Inhalt", title="Bericht.txt")
    url = caller.link()
    response = browser.get(url)
    assert response.status_code == 200
    assert response.data == b"Inhalt"
    assert response.headers["Content-Type"] == "text/plain"
    # Every single character altered, and every other document or organization, is refused.
    path, _, query = url.partition("?")
    for at in range(len(query)):
        altered = query[:at] + ("A" if query[at] != "A" else "B") + query[at + 1 :]
        assert browser.get(f"{path}?{altered}").status_code in (403, 404), altered
    second = str(place.add_document())
    assert browser.get(url.replace(str(document), second)).status_code == 403
    assert browser.get(url.replace(str(place.organization), str(uuid.uuid4()))).status_code == 403
    assert browser.get(url.replace(str(document), str(document).upper())).status_code == 403
    place.mark(document)
    assert browser.get(url).status_code == 404
    place.mark(document, Status.CURRENT)
    assert browser.get(url).status_code == 200


def test_a_presigned_url_lasts_one_hour(place, caller, browser):
    place.add_document()
    expires = int(re.search(r"expires=(\d+)", caller.link())[1])
    assert 3595 <= expires - time.time() <= 3600


@pytest.mark.parametrize("header", ["Range", "none"])
def test_documents_marked_in_error_are_listed_but_not_handed_out(place, caller, header):
    document = place.add_document()
    place.mark(document)
    assert caller.bundle("DocumentReference")["entry"][0]["resource"]["status"] == "entered-in-error"
    response = caller.get(f"Binary/{document}", headers={header: "bytes=0-1"})
    assert response.status_code == 404


def test_every_reading_of_a_document_is_logged(place, caller, browser, app):
    document = place.add_document()
    caller.get(f"DocumentReference/{document}")
    caller.get(f"Binary/{document}")
    browser.get(caller.link(), environ_overrides={"REMOTE_ADDR": "203.0.113.77"})
    caller.get(f"Binary/{uuid.uuid4()}")
    with app.app_context():
        rows = database.session.scalars(select(AccessLog).order_by(AccessLog.id)).all()
    assert [row.how for row in rows] == ["metadata", "binary", "presigned"]
    assert {row.document_id for row in rows} == {document}
    assert {row.user_id for row in rows} == {place.user}
    assert {row.token_id for row in rows} == {place.token.split("_")[1]}
    assert rows[-1].address == "203.0.113.0/24"


@ONE_DATABASE
def test_neither_answer_nor_work_tells_whether_others_have_a_document(place, app):
    other = make_place(app, "Andere Praxis", "max@example.org")
    engine, asked, told = app.extensions["befund_fhir"].origins._reader.engine, [], []

    def traced(connection, _):
        connection.set_trace_callback(asked.append)

    event.listen(engine, "connect", traced)
    for document in (other.add_document(), uuid.uuid4()):
        engine.dispose()
        asked.clear()
        answer = app.test_client().get(f"{place.path}/Binary/{document}", headers=place.headers)
        said = [one.replace(document.hex, "").replace(str(document), "") for one in (answer.text, *asked)]
        told.append((answer.status_code, said))
    event.remove(engine, "connect", traced)
    assert told[0] == told[1]
    assert told[0][0] in (403, 404)
    assert len(told[0][1]) > 2, "the caller and the document are looked up"


class TestNothingMakesItFail:
    """No query string, path, id, token or header gives a 5xx."""

    @RELAXED
    @given(query=st.one_of(st.text(max_size=60), st.binary(max_size=60).map(lambda raw: raw.decode("latin-1"))))
    def test_query_strings(self, caller, query):
        for route in ("DocumentReference", "Patient", f"Patient/{uuid.uuid4()}/$everything"):
            environ = {"QUERY_STRING": query.encode("utf-8", "replace").decode("latin-1")}
            assert caller.get(route, environ_overrides=environ).status_code in (200, 404)

    @RELAXED
    @given(st.lists(st.tuples(st.sampled_from(NAMES), st.text(max_size=20) | st.sampled_from(HOSTILE)), max_size=6))
    def test_parameters_with_hostile_values(self, place, caller, pairs):
        patient = add_patient_once(place)
        for route in ("DocumentReference", "Patient", f"Patient/{patient}/$everything"):
            response = caller.get(route, query_string=pairs)
            assert response.status_code == 200, response.get_data(as_text=True)
            assert response.get_json(force=True)["total"] >= 0
            posted = caller.open("POST", "DocumentReference/_search", data=dict(pairs))
            assert posted.status_code == 200

    @ONE_DATABASE
    @RELAXED
    @given(st.text(max_size=60), st.sampled_from(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"]))
    def test_paths(self, caller, path, method):
        status = caller.open(method, path.replace("?", "").replace("#", "")).status_code
        assert status < 500

    @ONE_DATABASE
    @RELAXED
    @given(
        st.sampled_from(["Authorization", "Range", "If-None-Match", "If-Range", "Prefer", "Accept-Encoding", "Accept"]),
        st.text(st.characters(max_codepoint=255, exclude_characters="\r\n\0"), max_size=60),
    )
    def test_headers(self, place, caller, name, value):
        document = add_document_once(place)
        for route in (f"Binary/{document}", f"DocumentReference/{document}", "DocumentReference", "metadata"):
            assert caller.get(route, headers={name: value}).status_code < 500

    @ONE_DATABASE
    @RELAXED
    @given(st.text(st.characters(max_codepoint=255, exclude_characters="\r\n\0"), max_size=80))
    def test_tokens(self, place, browser, value):
        ident = place.token.split("_")[1]
        for token in (value, f"Bearer {value}", f"Bearer bfa_{value}", f"Bearer bfa_{ident}_{value}"):
            response = browser.get(f"{place.path}/DocumentReference", headers={"Authorization": token})
            assert response.status_code == 401


_MADE: dict[uuid.UUID, uuid.UUID] = {}


def add_patient_once(place):
    if place.organization not in _MADE:
        _MADE[place.organization] = place.add_patient(("urn:a", "1"))
        place.add_document(patient_id=_MADE[place.organization])
    return _MADE[place.organization]


def add_document_once(place):
    if place.organization not in _MADE:
        _MADE[place.organization] = place.add_document()
    return _MADE[place.organization]
