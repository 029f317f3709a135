"""Every element of an R4 DocumentReference that a program posts is read back as it was sent, or refused by its name."""

import base64
import hashlib
from typing import Any

import pytest
from fhir.resources.R4B import documentreference as model
from fhir.resources.R4B import get_fhir_model_class
from fhir.resources.R4B.attachment import Attachment
from fhir.resources.R4B.meta import Meta
from fhir.resources.R4B.reference import Reference

from tests.webapp.fhir.conftest import BODY, Caller, Place, Resource, document, element, resources_of

EXTENSION = [{"url": "urn:test", "valueString": "x"}]
WITH = {"extension": EXTENSION}  # of a primitive element
CONCEPT = {"coding": [{"system": "http://loinc.org", "code": "11488-4", "display": "Brief"}], "text": "Arztbrief"}
TOKEN = {"use": "official", "system": "urn:oid:1.2.3", "value": "1", "type": CONCEPT}
SOMEBODY = {"reference": "Organization/7", "type": "Organization", "display": "Klinik", "identifier": TOKEN}
ELSEWHERE = {"reference": "https://archiv.example/fhir/DocumentReference/5"}
TAG = [{"system": "urn:a", "code": "b", "display": "c"}]
SHA1, SHA256 = (base64.b64encode(hashlib.new(kind, BODY).digest()).decode() for kind in ("sha1", "sha256"))
DATE = "2026-03-04T08:00:00.5+01:00"
CONTAINED = [{"resourceType": "Practitioner", "id": "p", "name": [{"family": "Beispiel", "given": ["Erika"]}]}]

# What is posted for each element, by its place. KEPT: it is read back equal. A number: it is refused with that status
# and its name. OURS: FHIR R4 says that the server makes it (http, section 3.1.0.8), so that what is sent is ignored.
# Anything else: the extension under which it is kept, because the contract has its own value there.
KEPT, OURS = "kept", "ours"
PLAIN = {
    "fhir_comments": (["x"], 400),
    "id": ("own-id", OURS),
    "implicitRules": ("http://example.org/rules", 422),
    "_implicitRules": (WITH, 422),
    "language": ("de-CH", KEPT),
    "_language": (WITH, KEPT),
    "contained": (CONTAINED, KEPT),
    "extension": (EXTENSION, KEPT),
    "modifierExtension": (EXTENSION, 422),
    "text": ({"status": "generated", "div": '<div xmlns="http://www.w3.org/1999/xhtml">Brief</div>'}, KEPT),
    "masterIdentifier": (TOKEN, KEPT),
    "identifier": ([TOKEN, {"value": "2"}], KEPT),
    "status": ("entered-in-error", KEPT),
    "_status": (WITH, KEPT),
    "docStatus": ("final", KEPT),
    "_docStatus": (WITH, KEPT),
    "type": (CONCEPT, KEPT),
    "category": ([CONCEPT], KEPT),
    "date": (DATE, "urn:befund:posted-date"),
    "_date": (WITH, KEPT),
    "author": ([SOMEBODY, {"reference": "#p"}], KEPT),
    "authenticator": (SOMEBODY, KEPT),
    "custodian": (SOMEBODY, KEPT),
    "relatesTo": ([{"code": "appends", "target": ELSEWHERE}], KEPT),
    "description": ("Brief", KEPT),
    "_description": (WITH, KEPT),
    "securityLabel": ([CONCEPT], KEPT),
}
OF = {
    "meta": (Meta, {
        "id": ("m", KEPT), "extension": (EXTENSION, KEPT), "versionId": ("7", OURS), "_versionId": (WITH, OURS),
        "lastUpdated": (DATE, OURS), "_lastUpdated": (WITH, OURS), "source": ("urn:archiv", KEPT),
        "_source": (WITH, KEPT), "profile": (["http://a.example/p", "http://a.example/q"], KEPT),
        "_profile": ([WITH], KEPT), "security": (TAG, KEPT), "tag": (TAG, KEPT), "fhir_comments": (["x"], 400),
    }),
    "subject": (Reference, {
        "id": ("s", KEPT), "extension": (EXTENSION, KEPT), "reference": ("Patient/{patient}", KEPT),
        "_reference": (WITH, KEPT), "type": ("Patient", KEPT), "_type": (WITH, KEPT), "identifier": (TOKEN, KEPT),
        "display": ("Max", KEPT), "_display": (WITH, KEPT), "fhir_comments": (["x"], 400),
    }),
    "relatesTo[0]": (model.DocumentReferenceRelatesTo, {
        "id": ("r", KEPT), "extension": (EXTENSION, KEPT), "modifierExtension": (EXTENSION, 422),
        "code": ("signs", KEPT), "_code": (WITH, KEPT), "target": (SOMEBODY, KEPT), "fhir_comments": (["x"], 400),
    }),
    "content[0]": (model.DocumentReferenceContent, {
        "id": ("c", KEPT), "extension": (EXTENSION, KEPT), "modifierExtension": (EXTENSION, 422),
        "format": (TAG[0], KEPT), "fhir_comments": (["x"], 400),
    }),
    "content[0].attachment": (Attachment, {
        "id": ("a", KEPT), "extension": (EXTENSION, KEPT), "contentType": ("text/plain", KEPT),
        "_contentType": (WITH, KEPT), "creation": ("2026-03", KEPT), "_creation": (WITH, KEPT), "_data": (WITH, KEPT),
        "data": (base64.b64encode(BODY).decode(), OURS), "hash": (SHA256, KEPT), "_hash": (WITH, KEPT),
        "language": ("de", KEPT), "_language": (WITH, KEPT), "size": (len(BODY), KEPT), "_size": (WITH, KEPT),
        "title": ("Befund.txt", KEPT), "_title": (WITH, KEPT), "url": ("https://archiv.example/5",
        "urn:befund:posted-url"), "_url": (WITH, KEPT), "fhir_comments": (["x"], 400),
    }),
    "context": (model.DocumentReferenceContext, {
        "id": ("k", KEPT), "extension": (EXTENSION, KEPT), "modifierExtension": (EXTENSION, 422),
        "encounter": ([{"reference": "Encounter/1"}], KEPT), "event": ([CONCEPT], KEPT),
        "period": ({"start": "2026-03-01", "end": "2026-03-04T10:00:00+01:00"}, KEPT), "facilityType": (CONCEPT, KEPT),
        "practiceSetting": (CONCEPT, KEPT), "sourcePatientInfo": ({"reference": "#p", "display": "Max"}, KEPT),
        "related": ([SOMEBODY], KEPT), "fhir_comments": (["x"], 400),
    }),
}  # fmt: skip
BESIDE = {
    "author": {"contained": CONTAINED},
    "context": {"contained": CONTAINED},
    "relatesTo[0]": {"code": "appends", "target": ELSEWHERE},
    "meta._profile": {"profile": ["http://a.example/p"]},
}
CASES = {name: (name, case) for name, case in PLAIN.items()} | {
    f"{place}.{name}": (name, case) for place, (_, cases) in OF.items() for name, case in cases.items()
}


def fields(kind: Any) -> set[str]:
    return {field.alias or name for name, field in kind.model_fields.items()}


def test_no_element_of_the_model_is_forgotten() -> None:
    whole = {place.partition("[")[0].partition(".")[0] for place in OF}
    assert fields(model.DocumentReference) == set(PLAIN) | whole | {"relatesTo"}
    wrong = {place: fields(kind) ^ set(cases) - {"attachment"} for place, (kind, cases) in OF.items()}
    wrong["content[0]"] -= {"attachment"}
    assert {place: names for place, names in wrong.items() if names} == {}
    assert len(CASES) > 90


def made(case: str, value: Any) -> Resource:
    """A DocumentReference with that element."""
    place, _, name = case.rpartition(".")
    sent = document()
    if not place:
        return sent | BESIDE.get(name, {}) | {name: value}
    if place == "content[0].attachment":
        return document(attachment={name: value})
    if place == "content[0]":
        return sent | {"content": [sent["content"][0] | {name: value}]}
    around = BESIDE.get(case, BESIDE.get(place, {}) if place == "relatesTo[0]" else {}) | {name: value}
    if place == "relatesTo[0]":
        return sent | {"relatesTo": [around]}
    return sent | (BESIDE.get(place, {}) if place == "context" else {}) | {place: around}


def at(resource: Resource, case: str) -> Any:
    found: Any = resource
    for step in case.replace("[0]", ".0").split("."):
        found = found[int(step)] if isinstance(found, list) else found.get(step)
        if found is None:
            return None
    return found


@pytest.mark.parametrize("case", CASES)
def test_an_element_is_read_back_equal_or_refused_by_its_name(place: Place, program: Caller, case: str) -> None:
    _, (value, outcome) = CASES[case]
    if isinstance(value, str):
        value = value.replace("{patient}", str(place.add_patient()))
    answer = program.post("DocumentReference", made(case, value))
    if isinstance(outcome, int):
        assert (answer.status_code, element(answer)) == (outcome, f"DocumentReference.{case}")
        assert program.bundle("DocumentReference")["total"] == 0
        return
    assert answer.status_code == 201, answer.get_data(as_text=True)
    created = answer.get_json(force=True)
    get_fhir_model_class("DocumentReference").model_validate(created)
    (listed,) = resources_of(program.bundle("DocumentReference"))
    read = program.bundle(f"DocumentReference/{created['id']}")
    if outcome is KEPT:
        assert [at(resource, case) for resource in (created, listed, read)] == [value] * 3
    elif outcome is OURS:
        assert at(read, case) != value
    else:
        around = at(read, case.rpartition(".")[0]) if "." in case else read
        (kept,) = [item for item in around["extension"] if item["url"] == outcome]
        assert value in kept.values()
    assert read["date"] == read["meta"]["lastUpdated"] == created["date"]


def test_a_posted_date_stands_behind_the_extensions_that_were_posted(program: Caller) -> None:
    read = program.post("DocumentReference", document(date=DATE, extension=EXTENSION)).get_json(force=True)
    assert read["extension"] == [*EXTENSION, {"url": "urn:befund:posted-date", "valueInstant": DATE}]


def test_what_the_contract_answers_otherwise_is_kept_beside_it(program: Caller) -> None:
    given = {"title": "a/b\u202e.txt", "contentType": "text/plain; charset=utf-8", "hash": SHA1}
    read = program.post("DocumentReference", document(attachment=given)).get_json(force=True)
    attachment = read["content"][0]["attachment"]
    assert (attachment["title"], attachment["contentType"], attachment["hash"]) == ("a_b.txt", "text/plain", SHA256)
    kept = {item["url"].removeprefix("urn:befund:posted-"): item for item in attachment["extension"]}
    assert {name: kept[name][value] for name, value in (("title", "valueString"), ("contentType", "valueString"),
            ("hash", "valueBase64Binary"))} == given  # fmt: skip
    wrong = program.post("DocumentReference", document(attachment={"contentType": "PDF"}))
    assert (wrong.status_code, element(wrong)) == (422, "DocumentReference.content[0].attachment.contentType")


def test_parts_of_a_resource_refer_to_nothing_that_is_not_there(program: Caller) -> None:
    sent = document(
        contained=CONTAINED, author=[{"reference": "#p"}], _description=WITH, description="x", custodian=SOMEBODY
    )
    program.post("DocumentReference", sent)
    for part in ("_elements=author,description", "_summary=true"):
        (found,) = resources_of(program.bundle(f"DocumentReference?{part}"))
        assert (found["contained"], found["author"]) == (CONTAINED, sent["author"])
        assert found["_description"] == WITH
        assert "custodian" not in found
    (tagged,) = resources_of(program.bundle("DocumentReference?_elements=author"))
    assert [tag["code"] for tag in tagged["meta"]["tag"]] == ["SUBSETTED"]
    program.post("DocumentReference", document(meta={"tag": TAG}))
    found, _ = resources_of(program.bundle("DocumentReference?_summary=true"))
    assert [tag["code"] for tag in found["meta"]["tag"]] == ["b", "SUBSETTED"]


def test_documents_are_found_by_both_kinds_of_security_label(program: Caller) -> None:
    confidentiality = "http://terminology.hl7.org/CodeSystem/v3-Confidentiality"
    label = [{"system": confidentiality, "code": "R"}]
    first = program.post("DocumentReference", document(securityLabel=[{"coding": label}])).get_json(force=True)["id"]
    second = program.post("DocumentReference", document(meta={"security": label})).get_json(force=True)["id"]
    program.post("DocumentReference", document(meta={"security": [{"system": "urn:other", "code": "R"}]}))
    assert program.ids(f"DocumentReference?security-label={confidentiality}|R") == [second, first]
    assert program.ids(f"DocumentReference?security-label={confidentiality}|") == [second, first]
    assert program.bundle("DocumentReference?security-label=R")["total"] == 3
    assert program.bundle("DocumentReference?security-label=N")["total"] == 0


def test_a_patient_keeps_what_its_meta_says(program: Caller) -> None:
    meta = {"security": TAG, "tag": TAG, "profile": ["http://a.example/p"], "source": "urn:archiv"}
    made = program.post("Patient", {"resourceType": "Patient", "meta": meta | {"versionId": "9"}}).get_json(force=True)
    read = program.bundle(f"Patient/{made['id']}")
    assert read == made
    assert {name: read["meta"][name] for name in meta} == meta
    assert read["meta"]["versionId"] != "9"
    for name, value in (("implicitRules", "urn:x"), ("modifierExtension", EXTENSION)):
        refused = program.post("Patient", {"resourceType": "Patient", name: value})
        assert (refused.status_code, element(refused)) == (422, f"Patient.{name}")
