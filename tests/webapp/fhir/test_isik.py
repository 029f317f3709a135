"""The public suite for ISiK Stufe 5 Dokumentenaustausch (gematik/isik-testsuite 2.4.0, features/Stufe5), scenario by
scenario as it asks: what it searches and reads in JSON and XML, and the clauses that are not met, as they are answered.

The values are the suite's own (fixtures and preconditions of DocumentReference-Read).
"""

import base64
from typing import Any
from xml.etree import ElementTree

import pytest

from clinical.fhir import from_xml
from tests.webapp.fhir.conftest import FHIR, WRITES, XML, Caller, Place, Resource, document

PDF = b"%PDF-1.0"
TAG = {"system": "urn:isik", "code": "test"}
KDL, XDS, IHE = (
    "http://dvmd.de/fhir/CodeSystem/kdl",
    "http://ihe-d.de/CodeSystems/IHEXDStypeCode",
    "http://ihe-d.de/CodeSystems",
)
CREATED = "2026-01-31T14:50:50+01:00"
PERSON = ("urn:oid:1.2.276.0.76", "4711")


def concept(system: str, code: str) -> Resource:
    return {"coding": [{"system": system, "code": code}]}


@pytest.fixture
def names(place: Place, program: Caller) -> dict[str, str]:
    """The document of the suite, the one it replaces, and another that no search may find."""
    patient = place.add_patient(PERSON)
    replaced = program.post("DocumentReference", document(subject={"reference": f"Patient/{patient}"}))
    old = replaced.get_json(force=True)["id"]
    answer = program.post("DocumentReference", letter(str(patient), old))
    assert answer.status_code == 201, answer.data
    place.add_document()
    return {"id": answer.get_json(force=True)["id"], "patient": str(patient), "old": old}


def letter(patient: str, old: str) -> Resource:
    attachment = {
        "contentType": "application/pdf", "language": "de", "title": "Pflegebericht vom 31.01.26", "creation": CREATED,
        "data": base64.b64encode(PDF).decode(),
    }  # fmt: skip
    kinds = {"coding": [{"system": KDL, "code": "VL160105"}, {"system": XDS, "code": "PFLG"}]}
    return document(
        meta={"tag": [TAG], "profile": ["https://gematik.de/fhir/isik/StructureDefinition/ISiKDokumentenMetadaten"]},
        masterIdentifier={"system": "urn:ietf:rfc:3986", "value": "urn:oid:1.2.840.113556.1.8000.2554"},
        identifier=[{"system": "urn:uuid:96fdda7c", "value": "129.6.58.42.33726"}], docStatus="final", type=kinds,
        category=[concept(f"{IHE}/IHEXDSclassCode", "DOK")], author=[{"display": "Maxine Mustermann"}],
        subject={"reference": f"Patient/{patient}"}, securityLabel=[concept("urn:confidentiality", "N")],
        relatesTo=[{"code": "replaces", "target": {"reference": f"DocumentReference/{old}"}}],
        content=[{"attachment": attachment, "format": {"code": "urn:ihe:iti:xds:2017:mimeTypeSufficient"}}],
        context={"encounter": [{"reference": "Encounter/5"}], "facilityType": concept(f"{IHE}/Einrichtung", "KHS"),
                 "practiceSetting": concept(f"{IHE}/Fach", "ALLG"), "event": [concept(f"{IHE}/Kontext", "E100")]},
    )  # fmt: skip


SEARCHES = (  # parameters, content type, how many are found
    ("_id={id}", XML, 1), ("_count", XML, 3), ("patient=Patient/{patient}", XML, 2),
    ("_tag=urn:isik%7Ctest&patient=Patient/{patient}", XML, 1), ("status=current&patient=Patient/{patient}", FHIR, 1),
    ("identifier=129.6.58.42.33726&patient=Patient/{patient}", FHIR, 1),
    ("patient.identifier=urn:oid:1.2.276.0.76%7C4711&patient=Patient/{patient}", FHIR, 2),
    ("type=VL160105&patient=Patient/{patient}", FHIR, 1), ("category=DOK&patient=Patient/{patient}", XML, 1),
    ("encounter=Encounter/5&patient=Patient/{patient}", FHIR, 1),
    ("creation=2026-01-31&patient=Patient/{patient}", XML, 1),
)  # fmt: skip


@pytest.mark.parametrize(("asked", "form", "number"), SEARCHES)
def test_a_search_of_the_suite(program: Caller, names: dict[str, str], asked: str, form: str, number: int) -> None:
    answer = program.get("DocumentReference/?" + asked.format(**names), headers={"Accept": form})
    assert (answer.status_code, answer.content_type) == (200, form)
    assert "Befund-Ignored" not in answer.headers
    if form == XML:
        assert ElementTree.fromstring(answer.data).tag == "{http://hl7.org/fhir}Bundle"
    bundle = from_xml(answer.data) if form == XML else answer.get_json(force=True)
    found = [entry["resource"]["id"] for entry in bundle["entry"]]
    assert (bundle["total"], len(found)) == (number, number)
    assert names["id"] in found


def test_the_capability_statement_names_what_the_suite_asks_for(program: Caller) -> None:
    (kind,) = [
        item for item in program.bundle("metadata")["rest"][0]["resource"] if item["type"] == "DocumentReference"
    ]
    assert {item["code"] for item in kind["interaction"]} >= {"create", "read", "search-type"}
    told = {item["name"]: item["type"] for item in kind["searchParam"]}
    asked = {"_id": "token", "_count": "number", "patient": "reference", "status": "token", "identifier": "token",
             "type": "token", "category": "token", "creation": "date", "encounter": "reference",
             "_tag": "token"}  # fmt: skip
    assert {name: told.get(name) for name in asked} == asked


def test_the_document_reads_as_it_was_posted(program: Caller, names: dict[str, str]) -> None:
    sent, read = letter(names["patient"], names["old"]), program.bundle(f"DocumentReference/{names['id']}")
    for element in ("masterIdentifier", "identifier", "status", "docStatus", "type", "category", "author", "subject",
                    "relatesTo", "securityLabel", "context"):  # fmt: skip
        assert read[element] == sent[element], element
    attachment = read["content"][0]["attachment"]
    assert (attachment["contentType"], attachment["language"], attachment["creation"]) == (
        "application/pdf",
        "de",
        CREATED,
    )
    assert "data" not in attachment
    binary = program.bundle(f"Binary/{names['id']}?_format=json")
    assert (binary["contentType"], base64.b64decode(binary["data"])) == ("application/pdf", PDF)
    in_xml = from_xml(program.get(f"Binary/{names['id']}", headers={"Accept": XML}).data)
    assert in_xml == binary


def not_met(program: Caller, names: dict[str, str]) -> dict[str, Any]:
    """Clauses of the suite that are not met: what is answered instead, and why."""
    read = program.bundle(f"DocumentReference/{names['id']}")
    return {
        # The contract: `Binary/<id>` is the file, also for clients that accept JSON by default.
        "Binary as JSON by Accept": program.get(f"Binary/{names['id']}", headers={"Accept": FHIR}).data == PDF,
        # The contract: the address of a file is a presigned one.
        "attachment.url is Binary/<id>": "/files/" in read["content"][0]["attachment"]["url"],
        # Encounters are not kept here, so that none is unknown.
        "an unknown Encounter is 422": program.made(context={"encounter": [{"reference": "Encounter/gibt-es-nicht"}]})
        ["context"]["encounter"] == [{"reference": "Encounter/gibt-es-nicht"}],
        # No mapping of KDL to XDS is shipped.
        "XDS type code derived": program.made(type=concept(KDL, "VL160105"))["type"] == concept(KDL, "VL160105"),
    }  # fmt: skip


def test_what_is_not_met_is_answered_as_the_documentation_says(program: Caller, names: dict[str, str]) -> None:
    assert [clause for clause, answered in not_met(program, names).items() if not answered] == []


def test_the_status_of_the_content_is_updated_as_the_suite_does(place: Place, names: dict[str, str]) -> None:
    """DocumentReference-UpdateMetadata: preliminary, then entered in error, which is the contract's soft deletion."""
    updater = place.program(f"{WRITES} system/DocumentReference.u")
    sent = letter(names["patient"], names["old"]) | {"docStatus": "preliminary"}
    del sent["relatesTo"]
    made = updater.post("DocumentReference", sent).get_json(force=True)
    update = {"resourceType": "Parameters", "id": "CorrectDocumentReferenceUpdateMetadata",
              "parameter": [{"name": "docStatus", "valueCode": "entered-in-error"}]}  # fmt: skip
    answer = updater.post(f"DocumentReference/{made['id']}/$update-metadata", update)
    assert answer.status_code == 200, answer.data
    told = answer.get_json(force=True)
    assert (told["docStatus"], told["status"]) == ("entered-in-error", "entered-in-error")
