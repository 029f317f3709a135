"""IHE Mobile access to Health Documents (MHD 4.2), transaction by transaction: ITI-65 provides, ITI-67 finds, ITI-68
retrieves, ITI-105 publishes. ITI-66 (submission sets) is not offered; they are read and not kept."""

import base64
import hashlib
from typing import Any
from urllib.parse import urlsplit

import pytest

from clinical.fhir import from_xml, to_xml
from tests.webapp.conftest import ONE_DATABASE
from tests.webapp.fhir.conftest import BODY, FHIR, SYSTEM, XML, Caller, Place, Resource, document

MHD = "https://profiles.ihe.net/ITI/MHD/StructureDefinition"
PERSON = {"system": SYSTEM, "value": "99"}


def concept(code: str) -> Resource:
    return {"coding": [{"system": "urn:codes", "code": code}]}


def comprehensive(**changed: Any) -> Resource:
    """A Comprehensive DocumentReference as ITI-65 sends it: its file is an entry of the same bundle."""
    said: dict[str, Any] = {
        "meta": {"profile": [f"{MHD}/IHE.MHD.Comprehensive.DocumentReference"]},
        "masterIdentifier": {"system": "urn:ietf:rfc:3986", "value": "urn:oid:1.2.3.4"},
        "identifier": [{"use": "official", "system": "urn:ietf:rfc:3986", "value": "urn:uuid:7d5bb8ac"}],
        "type": concept("PATH"), "category": [concept("BEF")], "subject": {"reference": "urn:uuid:patient"},
        "author": [{"reference": "#a"}], "securityLabel": [concept("N")],
        "contained": [{"resourceType": "Practitioner", "id": "a", "name": [{"family": "Muster", "given": ["Maxi"]}]},
                      {"resourceType": "Patient", "id": "p", "identifier": [PERSON]}],
        "content": [{"attachment": {"url": "urn:uuid:file", "contentType": "text/plain", "title": "Brief.txt",
                                    "language": "de", "creation": "2026-02-03T10:00:00+01:00", "size": len(BODY),
                                    "hash": base64.b64encode(hashlib.sha1(BODY).digest()).decode()},
                     "format": {"system": "urn:formats", "code": "text"}}],
        "context": {"facilityType": concept("KHS"), "practiceSetting": concept("ALLG"), "event": [concept("E100")],
                    "period": {"start": "2026-01-01", "end": "2026-02-01"}, "sourcePatientInfo": {"reference": "#p"},
                    "related": [{"identifier": {"system": "urn:orders", "value": "A-1"}}]},
    }  # fmt: skip
    return document(**(said | changed))


def provide(*references: Resource) -> Resource:
    """A Provide Document Bundle: submission set, patient, file, documents."""
    entries: list[tuple[str, Resource]] = [
        ("set", {"resourceType": "List", "status": "current", "mode": "working",
                 "meta": {"profile": [f"{MHD}/IHE.MHD.Comprehensive.SubmissionSet"]}}),
        ("patient", {"resourceType": "Patient", "identifier": [PERSON], "name": [{"family": "Muster"}]}),
        ("file", {"resourceType": "Binary", "contentType": "text/plain", "data": base64.b64encode(BODY).decode()}),
        *((f"document{number}", reference) for number, reference in enumerate(references)),
    ]  # fmt: skip
    listed = [{"fullUrl": f"urn:uuid:{name}", "resource": one,
               "request": {"method": "POST", "url": one["resourceType"]}} for name, one in entries]  # fmt: skip
    for entry in listed:
        if entry["resource"]["resourceType"] == "Patient":
            entry["request"]["ifNoneExist"] = f"identifier={SYSTEM}|99"
    profile = f"{MHD}/IHE.MHD.Comprehensive.ProvideBundle"
    return {"resourceType": "Bundle", "meta": {"profile": [profile]}, "type": "transaction", "entry": listed}


@pytest.fixture
def provided(program: Caller) -> Resource:
    """The DocumentReference of one provided document, beside another document that no search may find."""
    program.post("DocumentReference", document())
    answer = program.post("", provide(comprehensive()))
    assert answer.status_code == 200, answer.data
    (where,) = [entry["response"]["location"] for entry in answer.get_json(force=True)["entry"][3:]]
    return program.bundle(where.rpartition("/fhir/r4/")[2])


@pytest.mark.parametrize("form", [FHIR, XML])
def test_iti_65_provides_a_document_bundle(program: Caller, form: str) -> None:
    bundle = provide(comprehensive())
    body = to_xml(bundle) if form == XML else None
    sent = {"data": body} if body else {"json": bundle}
    answer = program.open("POST", "", headers={"Content-Type": form, "Accept": form}, **sent)
    assert (answer.status_code, answer.content_type) == (200, form)
    told = from_xml(answer.data) if form == XML else answer.get_json(force=True)
    assert told["type"] == "transaction-response"
    assert [entry["response"]["status"][:3] for entry in told["entry"]] == ["200", "201", "201", "201"]


def test_iti_65_all_or_nothing(program: Caller) -> None:
    bad = comprehensive(subject={"reference": "Patient/00000000-0000-4000-8000-000000000000"})
    assert program.post("", provide(comprehensive(), bad)).status_code == 422
    assert program.bundle("DocumentReference")["total"] == program.bundle("Patient")["total"] == 0


def test_iti_65_replaces_a_document(program: Caller, provided: Resource) -> None:
    relates = [{"code": "replaces", "target": {"reference": f"DocumentReference/{provided['id']}"}}]
    newer = comprehensive(relatesTo=relates, identifier=None)
    assert program.post("", provide(newer)).status_code == 200
    assert program.bundle(f"DocumentReference/{provided['id']}")["status"] == "superseded"


FINDS = (
    "patient.identifier={system}%7C99", "patient={patient}", "status=current&type=urn:codes%7CPATH", "category=BEF",
    "creation=ge2026-02-03&creation=le2026-02-03", "author.family=Muster", "author.given=Maxi", "event=E100",
    "facility=KHS", "setting=ALLG", "security-label=N", "format=urn:formats%7Ctext", "period=2026",
    "related:identifier=urn:orders%7CA-1", "identifier=urn:uuid:7d5bb8ac", "date=ge{day}&type=PATH",
)  # fmt: skip


@pytest.mark.parametrize("asked", FINDS)
def test_iti_67_finds_document_references(program: Caller, provided: Resource, asked: str) -> None:
    patient = provided["subject"]["reference"]
    query = asked.format(system=SYSTEM, patient=patient, day=provided["date"][:10])
    assert program.ids(f"DocumentReference?{query}") == [provided["id"]]
    form = {"Content-Type": "application/x-www-form-urlencoded", "Accept": XML}
    posted = program.open("POST", "DocumentReference/_search", data=query, headers=form)
    assert [entry["resource"]["id"] for entry in from_xml(posted.data)["entry"]] == [provided["id"]]


def test_iti_68_retrieves_the_document_by_the_url_of_its_attachment(program: Caller, provided: Resource) -> None:
    attachment = provided["content"][0]["attachment"]
    parts = urlsplit(attachment["url"])
    answer = program.place.app.test_client().get(f"{parts.path}?{parts.query}")
    assert (answer.status_code, answer.mimetype, answer.data) == (200, attachment["contentType"], BODY)
    assert base64.b64decode(attachment["hash"]) == hashlib.sha256(answer.data).digest()
    assert len(answer.data) == attachment["size"]
    assert program.get(f"Binary/{provided['id']}").data == BODY


def test_iti_105_publishes_a_document_in_one_call(program: Caller) -> None:
    """Simplified Publish: a DocumentReference with its file inline."""
    inline = {"contentType": "text/plain", "data": base64.b64encode(BODY).decode()}
    subject = {"identifier": PERSON}
    sent = comprehensive(content=[{"attachment": inline}], subject=subject, meta={
        "profile": [f"{MHD}/IHE.MHD.SimplifiedPublish.DocumentReference"]})  # fmt: skip
    answer = program.post("DocumentReference", sent)
    assert answer.status_code == 201, answer.data
    made = answer.get_json(force=True)
    assert answer.headers["Location"].endswith(f"/DocumentReference/{made['id']}")
    assert "data" not in made["content"][0]["attachment"]
    assert program.get(f"Binary/{made['id']}").data == BODY


# --- ITI-106 ---------------------------------------------------------------------------------------------------------


def report(**changed: Any) -> Resource:
    """A FHIR document as a subsystem sends it (ISiKBerichtBundle)."""
    composition: Resource = {
        "resourceType": "Composition", "status": "final", "title": "Blutbild", "date": "2026-02-03T10:00:00+01:00",
        "identifier": {"system": "urn:report", "value": "R-7"}, "confidentiality": "N",
        "type": {"coding": [{"system": "http://dvmd.de/fhir/CodeSystem/kdl", "code": "LB120103"}]},
        "subject": {"reference": "urn:uuid:patient"}, "encounter": {"reference": "Encounter/e"},
        "author": [{"reference": "urn:uuid:doctor"}, {"display": "Gerät 3"}],
    }  # fmt: skip
    kind = {"coding": [{"system": "http://terminology.hl7.org/CodeSystem/v2-0203", "code": "MR"}]}
    entries: list[Resource] = [
        {"fullUrl": "urn:uuid:report", "resource": composition | changed},
        {"fullUrl": "urn:uuid:patient", "resource": {"resourceType": "Patient", "identifier": [
            {"system": "urn:kvnr", "value": "X1"}, PERSON | {"type": kind}]}},
        {"fullUrl": "https://kis.example/Encounter/e", "resource": {
            "resourceType": "Encounter", "id": "e", "identifier": [{"system": "urn:fall", "value": "F-1"}]}},
        {"fullUrl": "urn:uuid:doctor", "resource": {"resourceType": "Practitioner", "id": "1",
                                                    "name": [{"family": "Muster"}]}},
    ]  # fmt: skip
    return {"resourceType": "Bundle", "type": "document", "identifier": {"system": "urn:bundle", "value": "B-7"},
            "timestamp": "2026-02-03T10:00:00+01:00", "entry": entries}  # fmt: skip


def generate(program: Caller, what: Any, form: str = FHIR) -> Any:
    parameters = {"resourceType": "Parameters", "parameter": [{"name": "document", "resource": what}]}
    headers = {"Content-Type": form, "Accept": FHIR}
    sent = {"data": to_xml(parameters)} if form == XML else {"json": parameters}
    return program.open("POST", "DocumentReference/$generate-metadata", headers=headers, **sent)


@pytest.mark.parametrize("form", [FHIR, XML])
def test_iti_106_generates_the_metadata_of_a_fhir_document(program: Caller, form: str) -> None:
    patient = program.post("Patient", {"resourceType": "Patient", "identifier": [PERSON]}).get_json(force=True)["id"]
    answer = generate(program, report(), form)
    assert answer.status_code == 200, answer.data
    (told,) = answer.get_json(force=True)["parameter"]
    assert told["name"] == "DocumentReference"
    made = program.bundle(told["valueReference"]["reference"])
    assert made["subject"]["reference"] == f"Patient/{patient}"
    assert made["masterIdentifier"]["value"] == "B-7"
    assert (made["description"], made["docStatus"], made["status"]) == ("Blutbild", "final", "current")
    assert made["type"]["coding"][0]["code"] == "LB120103"
    assert made["securityLabel"][0]["coding"][0]["code"] == "N"
    assert made["context"]["encounter"] == [{"identifier": {"system": "urn:fall", "value": "F-1"}}]
    attachment = made["content"][0]["attachment"]
    assert (attachment["contentType"], attachment["title"], attachment["language"]) == (FHIR, "Blutbild", "de")
    assert program.get(f"Binary/{made['id']}").get_json(force=True) == report(), "the document as it was sent"
    for found in ("identifier=urn:report%7CR-7", "author.family=Muster", "encounter:identifier=urn:fall%7CF-1"):
        assert program.ids(f"DocumentReference?{found}") == [made["id"]], found
    replaces = {"code": "replaces", "targetIdentifier": {"system": "urn:report", "value": "R-7"}}
    again = generate(program, report(relatesTo=[replaces], identifier=None))
    assert again.status_code == 200, again.data
    assert program.bundle(f"DocumentReference/{made['id']}")["status"] == "superseded"


BROKEN: tuple[Any, ...] = (
    {"resourceType": "Binary", "contentType": "text/xml", "data": "PGEvPg=="}, {"resourceType": "Bundle"}, None, 7,
    report() | {"type": "collection"}, report() | {"entry": []}, report() | {"entry": [1, {"resource": 2}]},
    report(author=5), report(author=[{"reference": ["x"]}]), report(event=[{"code": 3}]), report(subject="x"),
    report(title={}), report(identifier=[5]), report(relatesTo=[{"targetReference": 1}]), report(confidentiality=[]),
)  # fmt: skip


@ONE_DATABASE
@pytest.mark.parametrize("number", range(len(BROKEN)))
def test_iti_106_refuses_what_is_no_fhir_document(program: Caller, number: int) -> None:
    answer = generate(program, BROKEN[number])
    if answer.status_code != 200:  # an empty value is none
        assert answer.status_code in (400, 422), answer.data
        assert answer.get_json(force=True)["resourceType"] == "OperationOutcome"
    assert (answer.status_code == 200) == (program.bundle("DocumentReference")["total"] == 1)


def test_iti_106_is_writing(place: Place, program: Caller, caller: Caller) -> None:
    reader = place.program("system/DocumentReference.rus")
    assert [generate(one, report()).status_code for one in (reader, caller)] == [403, 403]
