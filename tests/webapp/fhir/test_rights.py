"""A scope decides every way to the same content: routes, links, includes, history, what a create answers.

Letters as SMART App Launch 2.2 has them: `c` creates, `r` reads what is named, `s` lists. Nothing here asks politely.
"""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from sqlalchemy import select
from werkzeug.test import TestResponse

from tests.webapp.conftest import ONE_DATABASE, Outside
from tests.webapp.fhir.conftest import BODY, SYSTEM, Place, bundle, document, resources_of
from tests.webapp.fhir.test_backend_services import ask, claims, signed
from tests.webapp.fhir.test_posting import READS, holder
from webapp.extensions import db as database
from webapp.fhir.machines import accounts
from webapp.fhir.machines.accounts import ServiceAccount
from webapp.fhir.models import AccessLog

SECRETS = ("Geheimbefund", "Mustermann", "Erika-Studie")


@pytest.fixture
def names(place: Place) -> dict[str, str]:
    """A patient with a document and a study, all of which say something that nobody without a right may see."""
    patient = place.add_patient((SYSTEM, "4711"), name=[{"family": "Mustermann"}])
    found = place.add_document(b"Geheimbefund", patient_id=patient, title="Geheimbefund.txt")
    study = place.add_study(patient, description="Erika-Studie")
    return {"p": str(patient), "d": str(found), "s": str(study)}


def leaks(answer: TestResponse) -> list[str]:
    """The secrets that an answer gives away."""
    text = answer.get_data(as_text=True)
    return [secret for secret in (*SECRETS, "/files/") if secret in text]


DOCUMENTS, PATIENTS, STUDIES, FILES = (
    f"system/{kind}." for kind in ("DocumentReference", "Patient", "ImagingStudy", "Binary")
)
# What a program may do, what it tries, and the scope it lacks.
LACKING = [
    (f"{DOCUMENTS}s", "GET DocumentReference/{d}", f"{DOCUMENTS}r"),
    (f"{DOCUMENTS}s", "HEAD DocumentReference/{d}", ""),
    (f"{DOCUMENTS}s", "GET DocumentReference/{d}/_history", f"{DOCUMENTS}r"),
    (f"{DOCUMENTS}s", "GET DocumentReference/{d}/_history/1", f"{DOCUMENTS}r"),
    (f"{DOCUMENTS}s", "GET Binary/{d}", f"{FILES}r"),
    (f"{DOCUMENTS}r", "GET DocumentReference", f"{DOCUMENTS}s"),
    (f"{DOCUMENTS}r", "GET DocumentReference?_id={d}", f"{DOCUMENTS}s"),
    (f"{DOCUMENTS}r", "POST DocumentReference/_search", f"{DOCUMENTS}s"),
    (f"{DOCUMENTS}r", "GET DocumentReference/_history", f"{DOCUMENTS}s"),
    (f"{DOCUMENTS}c", "GET DocumentReference", f"{DOCUMENTS}s"),
    (f"{DOCUMENTS}c", "GET DocumentReference/{d}", f"{DOCUMENTS}r"),
    (f"{DOCUMENTS}c", "GET DocumentReference/_history", f"{DOCUMENTS}s"),
    (f"{DOCUMENTS}c", "GET Binary/{d}", f"{FILES}r"),
    (f"{DOCUMENTS}cud", "POST DocumentReference/_search", f"{DOCUMENTS}s"),
    (f"{DOCUMENTS}write", "GET DocumentReference/{d}", f"{DOCUMENTS}r"),
    (f"{FILES}r", "GET DocumentReference/{d}", f"{DOCUMENTS}r"),
    (f"{FILES}r", "GET DocumentReference", f"{DOCUMENTS}s"),
    (f"{FILES}cuds", "GET Binary/{d}", f"{FILES}r"),
    (f"{PATIENTS}s", "GET Patient/{p}", f"{PATIENTS}r"),
    (f"{PATIENTS}r", "GET Patient", f"{PATIENTS}s"),
    (f"{PATIENTS}r", "POST Patient/_search", f"{PATIENTS}s"),
    (f"{PATIENTS}c", "GET Patient?identifier=4711", f"{PATIENTS}s"),
    (f"{PATIENTS}rs", "GET Patient/{p}/$everything", f"{DOCUMENTS}s {STUDIES}s"),
    (f"{PATIENTS}rs", "GET Patient/{p}/$everything?_type=DocumentReference", f"{DOCUMENTS}s"),
    (f"{PATIENTS}r {DOCUMENTS}r", "GET Patient/{p}/$everything?_type=DocumentReference", f"{DOCUMENTS}s"),
    (f"{PATIENTS}r {DOCUMENTS}s", "GET Patient/{p}/$everything?_type=DocumentReference,ImagingStudy", f"{STUDIES}s"),
    (f"{PATIENTS}r {DOCUMENTS}s", "GET Patient/{p}/$everything?_type=&_type=ImagingStudy", f"{STUDIES}s"),
    (f"{DOCUMENTS}s {STUDIES}s", "GET Patient/{p}/$everything", f"{PATIENTS}r"),
    (f"{DOCUMENTS}s {STUDIES}s", "POST Patient/{p}/$everything", f"{PATIENTS}r"),
    (f"{STUDIES}s", "GET ImagingStudy/{s}", f"{STUDIES}r"),
    (f"{STUDIES}r", "GET ImagingStudy", f"{STUDIES}s"),
    (f"{STUDIES}cud", "POST ImagingStudy/_search", f"{STUDIES}s"),
    (f"{DOCUMENTS}s", "GET DocumentReference?_include=DocumentReference:subject", f"{PATIENTS}r"),
    (f"{DOCUMENTS}s", "GET DocumentReference?_include=DocumentReference:patient:Patient", f"{PATIENTS}r"),
    (f"{DOCUMENTS}s", "GET DocumentReference?%5finclude=DocumentReference%3apatient", f"{PATIENTS}r"),
    (
        f"{DOCUMENTS}s", "GET DocumentReference?_include=DocumentReference:author&_include=DocumentReference:patient",
        f"{PATIENTS}r",
    ),
    (f"{DOCUMENTS}s {PATIENTS}s", "GET DocumentReference?_include=DocumentReference:patient", f"{PATIENTS}r"),
    (f"{DOCUMENTS}s", "GET DocumentReference?_include=DocumentReference:patient&_summary=count", f"{PATIENTS}r"),
    (f"{DOCUMENTS}rs", "POST DocumentReference", f"{DOCUMENTS}c"),
    (f"{DOCUMENTS}c", "POST Patient", f"{PATIENTS}c"),
    (f"{DOCUMENTS}c", "POST Binary", f"{FILES}c"),
]  # fmt: skip


@ONE_DATABASE
@pytest.mark.parametrize(("scopes", "tried", "lacking"), LACKING)
def test_what_a_scope_does_not_give_is_refused_and_named(
    place: Place, names: dict[str, str], scopes: str, tried: str, lacking: str
) -> None:
    method, path = tried.format(**names).split(" ", 1)
    answer = place.program(scopes).open(method, path)
    assert answer.status_code == 403
    assert lacking in answer.get_data(as_text=True)
    assert leaks(answer) == []


DETOURS = [
    "GET documentreference", "GET DocumentReference/", "GET DocumentReference/{d}/", "GET DocumentReference//{d}",
    "GET /DocumentReference/{d}", "GET %44ocumentReference/{d}", "GET DocumentReference%2F{d}",
    "GET Patient/../DocumentReference", "GET Patient/..%2fDocumentReference/{d}", "GET ./DocumentReference",
    "GET DocumentReference;a=b/{d}", "GET DocumentReference/{d}/%24everything", "GET ?_type=DocumentReference",
    "GET _search?_type=DocumentReference", "POST _search", "GET DocumentReference/_search",
    "GET DocumentReference/$docref?patient={p}", "GET Patient/{p}/DocumentReference",
    "GET Patient/{p}/Patient/{p}/$everything", "GET _history", "GET DocumentReference/{d}/_history/_search",
    "GET Binary", "GET Binary/_search", "GET Binary/{d}/_history", "PUT DocumentReference/{d}", "PATCH Patient/{p}",
    "DELETE DocumentReference/{d}",
]  # fmt: skip


@ONE_DATABASE
@pytest.mark.parametrize("tried", DETOURS)
def test_no_detour_leads_to_content(place: Place, names: dict[str, str], tried: str) -> None:
    """By whoever may list studies, and by whoever overrides the method."""
    method, path = tried.format(**names).split(" ", 1)
    weak = place.program(f"{STUDIES}c")
    for headers in ({}, {"X-HTTP-Method-Override": "GET"}, {"X-Original-URL": f"{place.path}/Patient"}):
        answer = weak.open(method, path, headers=headers, follow_redirects=True)
        assert answer.status_code in (400, 403, 404, 405), answer.get_data(as_text=True)
        assert leaks(answer) == []


def test_every_route_asks_for_a_right(place: Place, names: dict[str, str]) -> None:
    """Routes of today and those that somebody adds: a program that may do nothing gets no content anywhere."""
    open_to_all = {
        "/fhir/r4/metadata", "/fhir/r4/OperationDefinition/extract", "/fhir/r4/.well-known/smart-configuration",
    }  # fmt: skip
    weak, seen = place.program(f"{STUDIES}c"), 0
    keys = {"document_id": names["d"], "patient_id": names["p"], "version_id": "1", "key": names["s"], "_rest": "x"}
    for rule in place.app.url_map.iter_rules():
        path = rule.rule.removeprefix("/<organization>")
        if not path.startswith("/fhir/r4") or path in open_to_all:
            continue
        path = path.replace("<any(DocumentReference, Patient):kind>", "DocumentReference").replace(
            "<fhir_id:ident>", names["d"]
        )
        for method in sorted((rule.methods or set()) - {"OPTIONS"}):
            for name, value in keys.items():
                path = path.replace(f"<{name}>", value).replace(f"<path:{name}>", value)
            answer = weak.open(method, path.removeprefix("/fhir/r4").lstrip("/"))
            assert answer.status_code in (400, 403, 404, 405, 415), (method, rule.rule)
            assert leaks(answer) == [], (method, rule.rule)
            seen += 1
    assert seen > 25


# --- links to files --------------------------------------------------------------------------------------------------

LISTED = [
    "GET DocumentReference", "GET DocumentReference?_id={d}", "GET DocumentReference?_summary=true",
    "GET DocumentReference?_summary=data", "GET DocumentReference?_elements=content",
    "GET DocumentReference?_include=DocumentReference:patient", "POST DocumentReference/_search",
    "GET DocumentReference/_history", "GET Patient/{p}/$everything", "POST Patient/{p}/$everything",
    "GET _history", "GET Patient/{p}/DocumentReference", "POST Patient/{p}/DocumentReference/_search",
    "GET DocumentReference/$docref?patient={p}", "GET DocumentReference?_sort=type,-date",
]  # fmt: skip
FINDS = f"{DOCUMENTS}s {PATIENTS}rs {STUDIES}s"


def attachments(answer: TestResponse) -> list[dict[str, Any]]:
    found = [item for item in resources_of(answer.get_json(force=True)) if item["resourceType"] == "DocumentReference"]
    return [item["content"][0]["attachment"] for item in found]


@ONE_DATABASE
@pytest.mark.parametrize("tried", LISTED)
@pytest.mark.parametrize("kind", ["secret", "smart"])
def test_who_may_only_find_documents_gets_no_link_to_their_files(
    place: Place, tmp_path: Path, names: dict[str, str], kind: str, tried: str
) -> None:
    method, path = tried.format(**names).split(" ", 1)
    answer = holder(place, tmp_path, kind, FINDS).open(method, path)
    (attachment,) = attachments(answer)
    assert attachment["title"] == "Geheimbefund.txt", "what is found is shown"
    assert "url" not in attachment
    assert "/files/" not in answer.get_data(as_text=True)


@ONE_DATABASE
@pytest.mark.parametrize("tried", LISTED)
@pytest.mark.parametrize("given", [f"{DOCUMENTS}r", f"{FILES}r"])
def test_who_may_read_documents_or_files_gets_links_that_work(
    place: Place, names: dict[str, str], given: str, tried: str
) -> None:
    method, path = tried.format(**names).split(" ", 1)
    (attachment,) = attachments(place.program(f"{FINDS} {given}").open(method, path))
    assert fetched(place, attachment["url"]).data == b"Geheimbefund"


def test_a_link_ends_with_the_right_it_was_made_by(place: Place, names: dict[str, str]) -> None:
    account, secret = place.machine("--scopes", READS)
    (attachment,) = attachments(place.calls(secret).get("DocumentReference"))
    assert fetched(place, attachment["url"]).status_code == 200
    for scopes, status in ((FINDS, 403), (f"{FILES}r", 200), (f"{FILES}c", 403), (f"{DOCUMENTS}r", 200)):
        _set_scopes(place, account, scopes)
        assert fetched(place, attachment["url"]).status_code == status, scopes


def test_an_access_token_has_no_more_than_it_asked_for_and_than_its_account_still_has(
    place: Place, tmp_path: Path, names: dict[str, str], db: Outside
) -> None:
    holder(place, tmp_path, "smart", READS)
    (account,) = db.session.scalars(select(ServiceAccount.id))
    token = ask(place, signed(claims(place, account)), scope=f"{DOCUMENTS}s").get_json()["access_token"]
    (attachment,) = attachments(place.calls(token).get("DocumentReference"))
    assert "url" not in attachment
    assert place.calls(token).get(f"DocumentReference/{names['d']}").status_code == 403
    wide = ask(place, signed(claims(place, account))).get_json()["access_token"]
    assert "url" in attachments(place.calls(wide).get("DocumentReference"))[0]
    _set_scopes(place, account, f"{DOCUMENTS}s")
    assert "url" not in attachments(place.calls(wide).get("DocumentReference"))[0]
    assert place.calls(wide).get("Patient").status_code == 403


# --- what a create answers -------------------------------------------------------------------------------------------

WRITES = f"{DOCUMENTS}c {FILES}c {PATIENTS}c"
SENT: dict[str, tuple[dict[str, Any], str]] = {
    "DocumentReference": (
        document(identifier=[{"system": SYSTEM, "value": "brief-1"}], description="Geheimbefund"), "brief-1",
    ),
    "Patient": (
        {"resourceType": "Patient", "identifier": [{"system": SYSTEM, "value": "99"}],
         "name": [{"family": "Mustermann"}]}, "99",
    ),
}  # fmt: skip


@ONE_DATABASE
@pytest.mark.parametrize("prefer", ["", "return=representation", "return=OperationOutcome"])
@pytest.mark.parametrize("kind", SENT)
@pytest.mark.parametrize("token", ["secret", "smart"])
def test_who_may_only_create_learns_of_what_is_there_only_where_it_is(
    place: Place, tmp_path: Path, db: Outside, token: str, kind: str, prefer: str
) -> None:
    sent, value = SENT[kind]
    writer = holder(place, tmp_path, token, f"{WRITES} system/ImagingStudy.rs")
    made = writer.post(kind, sent)
    assert made.status_code == 201
    assert "/files/" not in made.get_data(as_text=True), "the new document's file is read by whoever may read"
    there = writer.post(kind, sent, If_None_Exist=f"identifier={SYSTEM}|{value}", Prefer=prefer)
    assert (there.status_code, there.data) == (200, b"")
    assert there.headers["Location"] == made.headers["Location"]
    assert not {"ETag", "Last-Modified"} & set(there.headers.keys())
    assert db.session.scalars(select(AccessLog)).all() == []


@pytest.mark.parametrize("kind", SENT)
def test_who_may_read_too_gets_what_is_there_and_that_is_written_down(place: Place, db: Outside, kind: str) -> None:
    sent, value = SENT[kind]
    _, secret = place.machine("--scopes", f"{WRITES} system/{kind}.r")
    made = place.calls(secret).post(kind, sent)
    ident = made.headers["Location"].rpartition("/")[2]
    condition = {"If_None_Exist": f"identifier={SYSTEM}|{value}"}
    minimal = place.calls(secret).post(kind, sent, Prefer="return=minimal", **condition)
    assert (minimal.status_code, minimal.data) == (200, b"")
    assert db.session.scalars(select(AccessLog)).all() == [], "nothing was read"
    there = place.calls(secret).post(kind, sent, **condition)
    assert (there.status_code, there.get_json(force=True)["id"]) == (200, ident)
    row = db.session.scalars(select(AccessLog)).one()
    assert (row.how, row.kind, str(row.document_id), row.user_id) == ("metadata", kind, ident, None)
    assert row.token_id == secret.split("_")[1]
    if kind == "DocumentReference":
        assert fetched(place, there.get_json(force=True)["content"][0]["attachment"]["url"]).data == BODY


def test_a_transaction_tells_no_more_of_what_is_there(place: Place, db: Outside) -> None:
    writer = place.program(WRITES)
    writer.post("Patient", SENT["Patient"][0])
    sent = bundle()
    sent["entry"][1]["request"]["ifNoneExist"] = f"identifier={SYSTEM}|99"
    answer = writer.post("", sent)
    assert answer.status_code == 200
    patient = answer.get_json(force=True)["entry"][1]["response"]
    assert set(patient) == {"status", "location"}
    assert patient["status"] == "200 OK"
    assert leaks(answer) == []


def test_reading_a_patient_or_a_study_is_written_down(place: Place, names: dict[str, str], db: Outside) -> None:
    reader = place.program(READS)
    for path in (f"Patient/{names['p']}", f"ImagingStudy/{names['s']}", f"DocumentReference/{names['d']}"):
        assert reader.get(path).status_code == 200
    assert reader.get(f"Patient/{names['d']}").status_code == 404
    rows = db.session.scalars(select(AccessLog).order_by(AccessLog.id)).all()
    assert [(row.kind, str(row.document_id)) for row in rows] == [
        ("Patient", names["p"]), ("ImagingStudy", names["s"]), ("DocumentReference", names["d"]),
    ]  # fmt: skip


def fetched(place: Place, url: str) -> TestResponse:
    """The file behind a link, as a browser without a token gets it."""
    parts = urlsplit(url)
    return place.app.test_client().get(f"{parts.path}?{parts.query}")


def _set_scopes(place: Place, account: str, scopes: str) -> None:
    with place.app.app_context(), database.write() as session:
        accounts.set_scopes(session, accounts.find(session, account), scopes)
