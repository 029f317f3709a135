"""XML in and out: what it says is what FHIR says, by the reader of fhir.resources, which shares no code with ours."""

import base64
from typing import Any

import orjson
import pytest
from fhir.resources.R4B import get_fhir_model_class
from lxml import etree

from clinical.fhir import NotXml, from_xml, to_xml
from tests.webapp.conftest import ONE_DATABASE
from tests.webapp.fhir.conftest import BODY, FHIR, SYSTEM, XML, Caller, Place, Resource, bundle, document, element
from tests.webapp.fhir.test_elements import CASES, DATE, made

NAMES = [{"family": "Muster & Söhne", "given": ["Max", "<Moritz>"]}]
DIV = '<div xmlns="http://www.w3.org/1999/xhtml"><p>Brief &amp; <b>Befund</b></p></div>'


def by_the_library(resource: Resource) -> Any:
    return orjson.loads(get_fhir_model_class(resource["resourceType"]).model_validate(resource).model_dump_json())


def from_library_xml(body: bytes) -> Any:
    kind = etree.QName(etree.fromstring(body)).localname
    return orjson.loads(get_fhir_model_class(kind).model_validate_xml(body).model_dump_json())


def without_urls(value: Any) -> Any:
    """The same without links to files, which are made anew in every answer."""
    if isinstance(value, dict):
        return {name: without_urls(item) for name, item in value.items() if not str(item).count("&signature=")}
    return [without_urls(item) for item in value] if isinstance(value, list) else value


ANSWERS = [
    "metadata", "OperationDefinition/extract",
    "DocumentReference", "DocumentReference?_count=1&_summary=true", "DocumentReference/{document}",
    "DocumentReference/_history", "DocumentReference/{document}/_history",
    "DocumentReference/{document}/_history/1", "Patient", "Patient/{patient}",
    "Patient/{patient}/$everything", "ImagingStudy", "ImagingStudy/{study}",
    "DocumentReference?_include=DocumentReference:patient", "DocumentReference/gibt-es-nicht", "Nirgends",
]  # fmt: skip


def test_every_answer_says_the_same_in_xml(place: Place, caller: Caller) -> None:
    patient = place.add_patient((SYSTEM, "4711"), name=NAMES, text={"status": "generated", "div": DIV})
    study = place.add_study(patient, description="Röntgen", started="2026-01-02T03:04:05+01:00")
    details = {"description": "  zwei  Leerzeichen\nund eine Zeile", "type": {"text": "Brief \x01"}}
    documents = [place.add_document(patient_id=patient, details=details) for _ in range(2)]
    for path in (path.format(document=documents[0], patient=patient, study=study) for path in ANSWERS):
        plain, answer = caller.get(path), caller.get(path, headers={"Accept": XML})
        assert (answer.status_code, answer.content_type) == (plain.status_code, XML), path
        expected = plain.get_data(as_text=True).replace("\\u0001", "\ufffd")
        read = without_urls(by_the_library(orjson.loads(expected)))
        assert without_urls(from_library_xml(answer.data)) == read, path
        assert without_urls(from_xml(answer.data)) == without_urls(orjson.loads(expected)), path
        assert "Accept" in answer.headers["Vary"], path


FORMATS: list[tuple[str | None, str, str | None]] = [
    (None, "", FHIR), ("*/*", "", FHIR), ("application/json", "", FHIR), (FHIR, "", FHIR), (XML, "", XML),
    ("application/xml", "", XML), ("text/xml", "", XML), (f"{FHIR};q=0.5, {XML}", "", XML),
    (f"{XML};q=0.5, */*", "", FHIR),
    (XML, "json", FHIR), (FHIR, "xml", XML), ("text/turtle", "xml", XML), (None, "application/fhir%2Bxml", XML),
    (None, "application/fhir+xml", XML), (None, "text/xml", XML),
    (None, "application/fhir%2Bjson;fhirVersion=4.0", FHIR),
    (None, "ttl", FHIR), (XML, "text/html", XML), ("text/turtle", "", None),
    ("application/pdf, image/*", "", None),
    ("text/html, */*;q=0.1", "", FHIR), ("", "", FHIR),
]  # fmt: skip


@ONE_DATABASE
def test_the_format_is_negotiated_and_406_says_what_there_is(caller: Caller) -> None:
    for accept, asked, expected in FORMATS:
        headers = {} if accept is None else {"Accept": accept}
        answer = caller.get("DocumentReference" + (f"?_format={asked}" if asked else ""), headers=headers)
        assert answer.content_type == (expected or FHIR), (accept, asked)
        assert answer.status_code == (200 if expected else 406), (accept, asked)
        if expected is None:
            told = answer.get_json(force=True)["issue"][0]
            assert told["code"] == "not-supported"
            assert XML in told["diagnostics"]


def test_a_posted_search_takes_its_format_from_the_form(place: Place, caller: Caller) -> None:
    place.add_document()
    answer = caller.open("POST", "DocumentReference/_search", data={"_format": "xml", "_count": "1"})
    assert answer.content_type == XML
    links = {item["relation"]: item["url"] for item in from_xml(answer.data)["link"]}
    assert links["self"].endswith("?_format=xml&_count=1")
    ignored = caller.open("POST", "DocumentReference/_search", data={"_format": "ttl"})
    assert (ignored.status_code, ignored.headers["Befund-Ignored"]) == (200, "_format")


def test_programs_are_refused_a_format_that_is_not_served(place: Place, program: Caller) -> None:
    ident = place.add_document()
    for path in ("DocumentReference?_format=ttl", f"DocumentReference/{ident}?_format=ttl"):
        assert program.get(path).status_code == 406
    assert program.open("POST", "DocumentReference/_search", data={"_format": "ttl"}).status_code == 406
    assert program.get("DocumentReference?_format=xml").content_type == XML


def test_nothing_is_stored_where_the_answer_could_not_be_sent(program: Caller) -> None:
    assert program.post("DocumentReference", document(), Accept="text/turtle").status_code == 406
    assert program.bundle("DocumentReference")["total"] == 0


def sent(program: Caller, path: str, resource: Resource, **headers: str) -> Any:
    return program.open("POST", path, data=to_xml(resource), headers={"Content-Type": XML, "Accept": XML} | headers)


def test_what_is_posted_as_xml_is_stored_as_json_would_be(place: Place, program: Caller) -> None:
    patient = sent(program, "Patient", {"resourceType": "Patient", "name": NAMES, "birthDate": "1980-02"})
    assert patient.status_code == 201, patient.data
    made = from_xml(patient.data)
    assert (made["name"], made["birthDate"]) == (NAMES, "1980-02")
    given = document(description="Brief", subject={"reference": f"Patient/{made['id']}"}, date=DATE)
    stored = sent(program, "DocumentReference", given)
    assert stored.status_code == 201, stored.data
    ident = from_xml(stored.data)["id"]
    assert program.get(f"Binary/{ident}").data == BODY
    other = program.post("DocumentReference", given).get_json(force=True)
    mine = program.get(f"DocumentReference/{ident}").get_json(force=True)
    for one in (mine, other):
        del one["id"], one["meta"], one["date"], one["content"][0]["attachment"]["url"]
    assert mine == other
    transaction = sent(program, "", bundle())
    assert transaction.status_code == 200, transaction.data
    assert from_xml(transaction.data)["type"] == "transaction-response"
    parameters = {"resourceType": "Parameters", "parameter": [{"name": "_type", "valueString": "DocumentReference"}]}
    found = sent(program, f"Patient/{made['id']}/$everything", parameters)
    assert from_xml(found.data)["total"] == 2


def test_every_element_of_a_document_reads_back_equal() -> None:
    for case in (case for case in CASES if not case.endswith("fhir_comments")):
        resource = made(case, CASES[case][1][0])
        assert from_xml(to_xml(resource)) == resource, case


HEAD = '<DocumentReference xmlns="http://hl7.org/fhir">'
STATUS = '<status value="current"/>'
TAIL = "</DocumentReference>"
MANY = "<!ENTITY a 'ha'>" + "".join(
    f"<!ENTITY {b} '{f'&{a};' * 50}'>" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)
BAD = {
    "no XML": ("status=current", "DocumentReference"),
    "an unknown element": (f"{HEAD}{STATUS}<kind value='x'/>{TAIL}", "DocumentReference.kind"),
    "another namespace": (f"{HEAD}<status xmlns='urn:x' value='current'/>{TAIL}", "DocumentReference.status"),
    "an unknown attribute": (f"{HEAD}<status value='current' code='x'/>{TAIL}", "DocumentReference.status"),
    "an attribute of the resource": (HEAD.replace(">", " id='1'>") + STATUS + TAIL, "DocumentReference"),
    "one element twice": (f"{HEAD}{STATUS}{STATUS}{TAIL}", "DocumentReference.status"),
    "text between elements": (f"{HEAD}{STATUS}current{TAIL}", "DocumentReference"),
    "a comment is no text": (f"{HEAD}<!-- x --><status/>{TAIL}", "DocumentReference"),
    "no namespace": (f"<DocumentReference>{STATUS}</DocumentReference>", "DocumentReference"),
    "two in one contained": (f"{HEAD}<contained><Patient/><Patient/></contained>{TAIL}", "DocumentReference.contained"),
    "a number that is none": (f"{HEAD}{STATUS}<content><attachment><size value='e'/></attachment></content>{TAIL}", ""),
    "an empty value": (f"{HEAD}<status value=''/>{TAIL}", "DocumentReference"),
    "another resource": ('<Patient xmlns="http://hl7.org/fhir"/>', "DocumentReference.resourceType"),
    "an unknown resource": ('<Brief xmlns="http://hl7.org/fhir"/>', "Brief"),
    "an entity": (f"<!DOCTYPE x [<!ENTITY e 'current'>]>{HEAD}<status value='&e;'/>{TAIL}", "DocumentReference"),
    "a file": (f"<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]>{HEAD}<description>&e;</description>{TAIL}", ""),
    "entities of entities": (f"<!DOCTYPE x [{MANY}]>{HEAD}<description value='&i;'/>{TAIL}", ""),
    "a thousand levels": (HEAD + "<extension>" * 1000 + "</extension>" * 1000 + TAIL, ""),
    "ninety levels": (HEAD + STATUS + "<extension url='urn:x'>" * 90 + "</extension>" * 90 + TAIL, ""),
    "half a document": (HEAD + STATUS, ""),
}  # fmt: skip


@ONE_DATABASE
@pytest.mark.parametrize("case", BAD)
def test_what_is_no_fhir_xml_is_refused_by_its_element(program: Caller, case: str) -> None:
    body, where = BAD[case]
    answer = program.open("POST", "DocumentReference", data=body, headers={"Content-Type": XML})
    assert answer.status_code == 400, answer.data
    assert where in element(answer) or not where or not element(answer)
    assert "root:" not in answer.get_data(as_text=True)
    assert program.bundle("DocumentReference")["total"] == 0


def test_a_body_of_tags_alone_is_refused_before_it_is_parsed(program: Caller) -> None:
    body = HEAD + "<a/>" * 400_000 + TAIL
    assert program.open("POST", "DocumentReference", data=body, headers={"Content-Type": XML}).status_code == 413


def test_a_member_that_fhir_does_not_know_is_not_left_out() -> None:
    with pytest.raises(NotXml):
        to_xml({"resourceType": "Patient", "haustier": "Hund"})


@pytest.mark.parametrize("size", [0, 1, 2, 3, 3 * 256 * 1024 + 1])
def test_a_file_comes_as_a_binary_where_its_xml_is_asked_for_by_name(place: Place, caller: Caller, size: int) -> None:
    body = bytes(number % 251 for number in range(size))
    ident = place.add_document(body)
    answer = caller.get(f"Binary/{ident}", headers={"Accept": XML})
    assert answer.content_type == XML
    assert int(answer.headers["Content-Length"]) == len(answer.data)
    found = from_xml(answer.data)
    assert (found["resourceType"], found["id"], found["contentType"]) == ("Binary", str(ident), "text/plain")
    assert found["securityContext"]["reference"] == f"DocumentReference/{ident}"
    assert base64.b64decode(found["data"]) == body
    for other in ("application/xml", FHIR, "*/*"):
        assert caller.get(f"Binary/{ident}", headers={"Accept": other}).data == body
    named = caller.get(f"Binary/{ident}?_format=json")
    assert (named.content_type, int(named.headers["Content-Length"])) == (FHIR, len(named.data))
    assert named.get_json(force=True) == found
    assert caller.get(f"Binary/{ident}?_format=xml").data == answer.data
    assert caller.open("HEAD", f"Binary/{ident}", headers={"Accept": XML}).data == b""
