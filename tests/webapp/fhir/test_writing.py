"""Programs write: documents, files and patients, one by one and in transactions; what is wrong is named by element."""

import base64
import concurrent.futures
import hashlib
from typing import Any

import pytest
from sqlalchemy import func, select
from werkzeug.test import TestResponse

from tests.webapp.conftest import Outside, add_organization
from tests.webapp.fhir.conftest import BODY, SYSTEM, WRITES, Caller, Place, bundle, document, element, resources_of
from webapp.fhir.models import Document
from webapp.models import AuditEvent


def test_a_document_is_stored_as_an_import_would_and_read_back(place: Place, program: Caller, db: Outside) -> None:
    patient = place.add_patient((SYSTEM, "4711"))
    sent = document(
        subject={"identifier": {"system": SYSTEM, "value": "4711"}},
        masterIdentifier={"system": "urn:ietf:rfc:3986", "value": "urn:oid:1.2.3.4"},
        type={"coding": [{"system": "http://loinc.org", "code": "11488-4"}]},
    )
    answer = program.post("DocumentReference", sent)
    assert answer.status_code == 201, answer.get_data(as_text=True)
    made = answer.get_json(force=True)
    assert made["subject"]["reference"] == f"Patient/{patient}"
    assert made["meta"]["lastUpdated"] == made["date"]
    assert made["masterIdentifier"] == sent["masterIdentifier"]
    attachment = made["content"][0]["attachment"]
    assert attachment["hash"] == base64.b64encode(hashlib.sha256(BODY).digest()).decode()
    assert answer.headers["Location"].endswith(f"{place.path}/DocumentReference/{made['id']}")
    assert program.get(f"Binary/{made['id']}").data == BODY
    assert program.bundle("DocumentReference?identifier=urn:oid:1.2.3.4")["total"] == 1
    assert program.bundle("DocumentReference")["total"] == 1
    trail = db.session.scalars(select(AuditEvent.detail).where(AuditEvent.event == "uploaded")).one()
    assert trail.startswith(f"DocumentReference/{made['id']} by s")
    minimal = program.post("DocumentReference", document(), Prefer="return=minimal")
    assert (minimal.status_code, minimal.data) == (201, b"")


def test_a_file_is_posted_first_and_used_once(place: Place, program: Caller) -> None:
    big = bytes(range(256)) * 8192
    posted = program.open("POST", "Binary", data=big, headers={"Content-Type": "application/pdf"})
    assert posted.status_code == 201
    reference = posted.headers["Location"].rpartition("/fhir/r4/")[2]
    sent = document(content=[{"attachment": {"url": reference, "title": "Arztbrief.pdf"}}])
    made = program.post("DocumentReference", sent).get_json(force=True)
    assert made["content"][0]["attachment"]["contentType"] == "application/pdf"
    assert program.get(f"Binary/{made['id']}").data == big
    again = program.post("DocumentReference", sent)
    assert (again.status_code, element(again)) == (422, "DocumentReference.content[0].attachment")
    as_fhir = {"resourceType": "Binary", "contentType": "text/plain", "data": base64.b64encode(BODY).decode()}
    assert program.post("Binary", as_fhir).status_code == 201


def test_a_conditional_create_makes_one_document_also_at_the_same_moment(place: Place, program: Caller) -> None:
    sent = document(identifier=[{"system": SYSTEM, "value": "brief-1"}])
    condition = {"If_None_Exist": f"identifier={SYSTEM}|brief-1"}

    def create(_: int) -> TestResponse:
        return Caller(program.place).post("DocumentReference", sent, **condition)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(create, range(8)))
    assert sorted(answer.status_code for answer in answers) == [200] * 7 + [201]
    assert len({answer.headers["Location"] for answer in answers}) == 1
    program.post("DocumentReference", sent)
    assert program.post("DocumentReference", sent, **condition).status_code == 412, "two have it by now"
    wrong = program.post("DocumentReference", sent, If_None_Exist="patient=1")
    assert (wrong.status_code, element(wrong)) == (400, "If-None-Exist")


def test_a_patient_is_stored_once_and_waiting_documents_find_it(place: Place, program: Caller) -> None:
    waiting = place.add_document(external_system=SYSTEM, external_value="815")
    person = {"resourceType": "Patient", "identifier": [{"system": SYSTEM, "value": "815"}], "gender": "female"}
    answer = program.post("Patient", person)
    assert answer.status_code == 201
    made = answer.get_json(force=True)
    read = program.bundle(f"DocumentReference/{waiting}")
    assert read["subject"]["reference"] == f"Patient/{made['id']}"
    again = program.post("Patient", person)
    assert (again.status_code, element(again)) == (409, "Patient.identifier[0]")
    known = program.post("Patient", person, If_None_Exist=f"identifier={SYSTEM}|815")
    assert (known.status_code, known.get_json(force=True)["id"]) == (200, made["id"])


def test_people_and_programs_without_the_scope_do_not_write(place: Place, caller: Caller) -> None:
    reader = place.program()
    for program in (caller, reader):
        for path, what in (("DocumentReference", document()), ("Patient", {"resourceType": "Patient"}), ("", bundle())):
            assert program.post(path, what).status_code == 403
    writer = place.machine("--scopes", WRITES)[1]
    other = add_organization(place.app, "Andere Praxis").id
    elsewhere = Caller(Place(place.app, other, place.user, writer))
    assert elsewhere.post("DocumentReference", document()).status_code == 403
    only_documents = place.program("system/DocumentReference.c")
    assert only_documents.post("DocumentReference", document(), Prefer="return=minimal").status_code == 201
    assert "system/Patient.c" in only_documents.post("", bundle()).get_data(as_text=True)
    plain = place.calls(writer).open("POST", "DocumentReference", data="x", headers={"Content-Type": "text/plain"})
    assert plain.status_code == 415


def test_a_transaction_stores_all_with_its_references(program: Caller) -> None:
    answer = program.post("", bundle())
    assert answer.status_code == 200, answer.get_data(as_text=True)
    told = answer.get_json(force=True)
    assert told["type"] == "transaction-response"
    assert [entry["response"]["status"] for entry in told["entry"]] == ["200 OK", *["201 Created"] * 3]
    (made,) = resources_of(program.bundle("DocumentReference"))
    patient = told["entry"][1]["response"]["location"].rpartition("/")[2]
    assert made["subject"]["reference"] == f"Patient/{patient}"
    file = told["entry"][2]["response"]["location"].rpartition("/fhir/r4/")[2]
    assert program.get(file).data == BODY


@pytest.mark.parametrize(
    ("changed", "expression"),
    [
        ({"document": document(attachment={"data": "!"})},
         "Bundle.entry[3].DocumentReference.content[0].attachment.data"),
        ({"document": document(status="x")}, "Bundle.entry[3].DocumentReference.status"),
        ({"document": document()}, "Bundle.entry[2].Binary"),
        ({"patient": {"resourceType": "Patient", "gender": 5}}, "Bundle.entry[1].Patient.gender"),
        ({"more": {"resourceType": "Observation"}}, "Bundle.entry[4].resource"),
        ({"more": document(content=[{"attachment": {"url": "urn:uuid:none"}}])},
         "Bundle.entry[4].DocumentReference.content[0].attachment.url"),
    ],
)  # fmt: skip
def test_a_transaction_with_one_fault_stores_nothing(
    program: Caller, db: Outside, changed: dict[str, Any], expression: str
) -> None:
    answer = program.post("", bundle(**changed))
    assert answer.status_code in (400, 422)
    assert element(answer) == expression
    assert db.session.scalar(select(func.count()).select_from(Document)) == 0
    assert program.bundle("Patient")["total"] == 0
