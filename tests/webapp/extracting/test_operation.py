"""`$extract`: a stored letter becomes a FHIR document of fields, codes and places; kept only where asked."""

import base64
import logging
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from fhir.resources.R4B.bundle import Bundle
from fhir.resources.R4B.operationdefinition import OperationDefinition
from sqlalchemy import select
from werkzeug.test import TestResponse

from clinical.contract import QUERY_MAX
from clinical.fhir import from_xml
from tests.webapp.conftest import ONE_DATABASE, Outside
from tests.webapp.extracting.conftest import KEEPS
from tests.webapp.fhir.conftest import Caller, Place, make_place
from tests.webapp.fhir.test_client_examples import LANGUAGES, Example
from tests.webapp.workbench.conftest import Behind
from tests.written_files import pdf_of, scan_of
from webapp.extracting import asking
from webapp.extracting.asking import _queries
from webapp.extracting.codes import TABLE, codes_of, condition
from webapp.extracting.routes import PARAMETERS
from webapp.fhir.models import AccessLog, Document
from webapp.models import AuditEvent

LINES = """Spital Seeblick
Seestrasse 12, 8006 Zürich

Austrittsbericht

Herr Max Kanarienvogel, geb. 4.5.1950

Diagnosen:
- Gonarthrose rechts
- Arterielle Hypertonie
- V. a. Pneumonie

Medikation:
- Ramipril 5 mg 1-0-0
""".splitlines()
CANARY = "Kanarienvogel"
PDF, PLAIN = "application/pdf", "text/plain"


def pdf(place: Place, **more: Any) -> uuid.UUID:
    return place.add_document(pdf_of(LINES), content_type=PDF, title="brief.pdf", **more)


def extract(caller: Caller, document: Any, query: str = "", **more: Any) -> TestResponse:
    return caller.open("POST", f"DocumentReference/{document}/$extract{query}", **more)


def read(caller: Caller, document: Any, query: str = "") -> dict[str, Any]:
    answer = extract(caller, document, query)
    assert answer.status_code == 200, answer.data
    bundle: dict[str, Any] = answer.get_json(force=True)
    Bundle.model_validate(bundle)
    return bundle


def of_type(bundle: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [one["resource"] for one in bundle["entry"] if one["resource"]["resourceType"] == kind]


def parts(extension: dict[str, Any]) -> dict[str, Any]:
    """The inner extensions of one by their URLs; those of several are lists of theirs."""
    inner: dict[str, Any] = {}
    for one in extension["extension"]:
        value = next((one[name] for name in one if name.startswith("value")), None)
        inner[one["url"]] = parts(one) if value is None else value
    return inner


def fields(bundle: dict[str, Any]) -> dict[str, dict[str, Any]]:
    sections = of_type(bundle, "Composition")[0]["section"]
    listed = [parts(one) for section in sections for one in section.get("extension", [])]
    return {one["path"]: one for one in listed}


def outcome(answer: TestResponse) -> tuple[int, str, str]:
    (issue,) = answer.get_json(force=True)["issue"]
    return answer.status_code, issue["code"], issue["diagnostics"]


def test_a_stored_pdf_becomes_a_document_whose_fields_and_codes_say_where_they_stand(
    place: Place, reader: Caller, db: Outside
) -> None:
    patient = place.add_patient()
    document = pdf(place, patient_id=patient)
    bundle = read(reader, document)
    assert (bundle["type"], bundle["entry"][0]["resource"]["resourceType"]) == ("document", "Composition")
    composition = of_type(bundle, "Composition")[0]
    assert composition["status"] == "preliminary"
    assert composition["subject"]["reference"].endswith(f"{place.path}/Patient/{patient}")
    assert "link" not in bundle

    told = fields(bundle)
    assert told["patient.nachname"]["value"] == CANARY
    assert told["medikation[0]"]["value"] == "Ramipril 5 mg 1-0-0"
    text = base64.b64decode(of_type(bundle, "Binary")[0]["data"]).decode()
    for one in told.values():
        where = one["urn:befund:evidence"]
        assert where["page"] == where["box"]["page"] == 1
        if where["match"] == "exact":
            assert text[where["start"] : where["end"]] == one["value"]

    conditions = {one["code"]["coding"][0]["code"]: one for one in of_type(bundle, "Condition")}
    assert {"M17.9", "I10.90", "J18.9"} <= conditions.keys()
    (evidence,) = conditions["J18.9"]["evidence"]
    assert conditions["J18.9"]["verificationStatus"]["coding"][0]["code"] == "provisional"
    assert evidence["code"] == [{"text": "Pneumonie"}]
    assert evidence["detail"][0]["reference"].endswith(f"DocumentReference/{document}")
    place_of = parts(evidence["detail"][0]["extension"][0])
    assert text[place_of["start"] : place_of["end"]] == "V. a. Pneumonie"
    assert place_of["box"]["left"] > 0
    coding = conditions["M17.9"]["code"]["coding"][0]
    assert "R" in {one["valueCoding"]["code"] for one in coding["extension"] if "valueCoding" in one}
    assert (coding["userSelected"], coding["version"]) == (False, "2026")

    assert of_type(bundle, "MedicationStatement")[0]["medicationCodeableConcept"]["text"] == "Ramipril 5 mg 1-0-0"
    (provenance,) = of_type(bundle, "Provenance")
    assert provenance["target"] == [{"reference": bundle["entry"][0]["fullUrl"]}]
    assert provenance["entity"][0]["what"]["reference"].endswith(f"DocumentReference/{document}/_history/1")
    inside = {one["fullUrl"] for one in bundle["entry"]}
    listed = [entry["reference"] for section in composition["section"] for entry in section.get("entry", [])]
    assert listed
    assert set(listed) <= inside

    entries = db.session.scalars(select(AccessLog)).all()
    assert [(one.how, one.document_id) for one in entries] == [("extract", document)]
    assert len(db.session.scalars(select(Document)).all()) == 1, "nothing is kept unless asked"


@pytest.mark.parametrize("form", ["application/fhir+json", "application/fhir+xml"])
def test_a_text_without_codes_in_both_formats(place: Place, reader: Caller, behind: Behind, form: str) -> None:
    document = place.add_document("\n".join(LINES).encode(), external_system="urn:x", external_value="7")
    asked = {"resourceType": "Parameters", "parameter": [
        {"name": "coded", "valueBoolean": False}, {"name": "document_type", "valueCode": "zuweisung"}]}  # fmt: skip
    answer = extract(reader, document, json=asked, headers={"Content-Type": "application/fhir+json", "Accept": form})
    assert (answer.status_code, answer.content_type) == (200, form)
    bundle = answer.get_json(force=True) if form.endswith("json") else from_xml(answer.data)
    told = fields(bundle)
    assert told["patient.nachname"]["value"] == CANARY
    assert "box" not in told["patient.nachname"]["urn:befund:evidence"]
    assert {one["code"]["text"] for one in of_type(bundle, "Condition")} >= {"Arterielle Hypertonie"}
    assert not any("coding" in one["code"] for one in of_type(bundle, "Condition"))
    subject = of_type(bundle, "Composition")[0]["subject"]
    assert subject == {"type": "Patient", "identifier": {"system": "urn:x", "value": "7"}}
    assert behind.begun == 1, "one call, for the fields alone"


def test_a_result_is_kept_once_as_a_document_that_transforms_the_letter(
    place: Place, keeper: Caller, behind: Behind, db: Outside
) -> None:
    document = pdf(place, patient_id=place.add_patient())
    first = extract(keeper, document, "?store=true")
    assert first.status_code == 201, first.data
    bundle = first.get_json(force=True)
    ident = first.headers["Location"].rpartition("/")[2]
    assert bundle["link"] == [{"relation": "self", "url": f"http://localhost{place.path}/Binary/{ident}"}]
    calls_before = behind.begun
    again = extract(keeper, document, "?store=true")
    assert (again.status_code, again.headers["Location"]) == (200, first.headers["Location"])
    assert again.get_json(force=True) == bundle
    assert behind.begun == calls_before, "what is kept is not read again"

    kept = keeper.bundle(f"DocumentReference/{ident}")
    assert kept["relatesTo"] == [{"code": "transforms", "target": {"reference": f"DocumentReference/{document}"}}]
    assert kept["subject"]["reference"] == keeper.bundle(f"DocumentReference/{document}")["subject"]["reference"]
    attachment = kept["content"][0]["attachment"]
    assert (attachment["contentType"], attachment["title"]) == ("application/fhir+json", "brief.pdf.fhir.json")
    assert keeper.bundle(f"Binary/{ident}") | {"link": bundle["link"]} == bundle
    assert keeper.ids(f"DocumentReference?relatesto=DocumentReference/{document}&relation=transforms") == [ident]
    assert len(keeper.bundle("DocumentReference/_history")["entry"]) == 2
    assert db.session.scalars(select(AuditEvent).where(AuditEvent.event == "uploaded")).one()
    assert outcome(extract(keeper, ident))[0] == 415, "a result is no letter"

    place.mark(uuid.UUID(ident))
    assert outcome(extract(keeper, document, "?store=true"))[:2] == (409, "conflict")


def test_rights_decide_who_reads_and_who_keeps(place: Place, reader: Caller, behind: Behind) -> None:
    document = pdf(place)
    other = make_place(place.app, "Andere Praxis", "max@example.org")
    foreign = pdf(other)
    assert outcome(extract(reader, foreign))[0] == 404
    stranger = Caller(Place(place.app, other.organization, place.user, reader.place.token))
    assert outcome(extract(stranger, foreign))[0] == 403
    assert extract(Caller(Place(place.app, place.organization, place.user, "none")), document).status_code == 401
    searcher = place.program("system/DocumentReference.s system/Patient.rs")
    assert outcome(extract(searcher, document))[0] == 403
    assert "system/DocumentReference.c" in outcome(extract(reader, document, "?store=true"))[2]
    assert outcome(extract(Caller(place), document, "?store=true"))[0] == 403, "people's tokens write nothing"
    assert behind.begun == 0
    assert extract(Caller(place), document, "?coded=false").status_code == 200, "people read"
    place.mark(document)
    assert outcome(extract(reader, document))[0] == 404
    assert extract(reader, uuid.uuid4()).status_code == 404
    assert reader.get(f"DocumentReference/{document}/$extract").status_code == 405


@pytest.mark.parametrize("query", ["?document_type=rezept", "?coded=ja", "?store=", "?page=1"])
def test_a_parameter_that_is_not_understood_is_refused(
    place: Place, keeper: Caller, behind: Behind, query: str
) -> None:
    assert outcome(extract(keeper, pdf(place), query))[:2] == (400, "invalid")
    assert behind.begun == 0


def test_files_that_nobody_reads_are_told_apart(
    place: Place, reader: Caller, behind: Behind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(behind.real.state.files, "ocr", False)
    other = place.add_document(b"{}", content_type="application/fhir+json")
    assert outcome(extract(reader, other))[:2] == (415, "not-supported")
    broken = place.add_document(b"%PDF-1.7", content_type=PDF)
    assert outcome(extract(reader, broken)) == (422, "processing", "Die Datei ist beschädigt oder nicht lesbar.")
    scan = place.add_document(scan_of(pdf_of(LINES), 72), content_type="image/png")
    status, code, said = outcome(extract(reader, scan))
    assert (status, code) == (422, "processing")
    assert "Texterkennung ist nicht eingerichtet" in said
    large = place.add_document(b"x" * (20 * 1024 * 1024 + 1))
    assert outcome(extract(reader, large))[:2] == (413, "too-long")


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("dead", (502, "transient")), ("unusable", (502, "transient")), ("quota", (503, "transient"))],
)
def test_a_text_api_that_fails_is_told(
    place: Place, keeper: Caller, behind: Behind, mode: str, expected: tuple[int, str], db: Outside
) -> None:
    document = pdf(place)
    behind.mode = mode
    answer = extract(keeper, document, "?store=true")
    assert outcome(answer)[:2] == expected
    assert answer.headers.get("Retry-After") == ("17" if mode == "quota" else None)
    assert b"geheim" not in answer.data
    assert len(db.session.scalars(select(Document)).all()) == 1


def test_a_text_api_that_hangs_ends_with_the_deadline(
    place: Place, reader: Caller, behind: Behind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "DEADLINE_S", 0.5)
    document = pdf(place)
    behind.mode = "silent"
    assert outcome(extract(reader, document))[:2] == (504, "timeout")


def test_nothing_of_a_letter_is_logged(
    place: Place, keeper: Caller, behind: Behind, caplog: pytest.LogCaptureFixture, db: Outside
) -> None:
    caplog.set_level(logging.DEBUG)
    document = pdf(place)
    answer = extract(keeper, document, "?store=true")
    assert CANARY.encode() in answer.data
    assert answer.headers["Cache-Control"] == "no-store"
    behind.mode = "dead"
    extract(keeper, place.add_document("\n".join(LINES).encode()))
    assert CANARY not in caplog.text
    assert CANARY not in "".join(str(vars(one)) for one in db.session.scalars(select(AuditEvent)))


def test_a_place_is_taken_and_given_back(place: Place, reader: Caller, behind: Behind) -> None:
    from webapp.workbench import calls as workbench

    document = pdf(place)
    with place.app.app_context():
        slots = workbench.slots()
    held = [uuid.uuid4() for _ in range(slots.most)]
    assert all(map(slots.take, held))
    answer = extract(reader, document)
    assert (outcome(answer)[:2], answer.headers["Retry-After"]) == ((503, "transient"), "3")
    assert behind.begun == 0
    for one in held:
        slots.free(one)
    assert extract(reader, document, "?coded=false").status_code == 200
    assert slots.taken == 0


def test_the_capability_statement_names_the_operation(place: Place) -> None:
    told = Caller(place).bundle("metadata")["rest"][0]["resource"][0]["operation"]
    (definition,) = [one["definition"] for one in told if one["name"] == "extract"]
    answer = place.app.test_client().get(urlsplit(definition).path)
    assert answer.status_code == 200, "without a token, like the CapabilityStatement"
    resource = answer.get_json(force=True)
    OperationDefinition.model_validate(resource)
    assert resource["url"] == definition
    taken = {one["name"] for one in resource["parameter"] if one["use"] == "in"}
    assert taken == set(PARAMETERS)


def test_only_the_operation_of_our_own_is_defined_here(place: Place) -> None:
    client = place.app.test_client()
    assert client.get("/nobody/fhir/r4/OperationDefinition/extract").status_code == 404
    assert Caller(place).get("OperationDefinition/docref").status_code == 404


def test_it_is_no_call_of_a_batch(place: Place) -> None:
    program = place.program(KEEPS)
    entry = {"request": {"method": "POST", "url": f"DocumentReference/{pdf(place)}/$extract"}}
    answer = program.open("POST", "", json={"resourceType": "Bundle", "type": "batch", "entry": [entry]},
                          headers={"Content-Type": "application/fhir+json"})  # fmt: skip
    assert outcome(answer)[0] == 400


@ONE_DATABASE
@LANGUAGES
def test_a_letter_is_read_and_its_codes_are_printed(tmp_path: Path, base: str, place: Place, language: str) -> None:
    example = Example(tmp_path, base, place)
    document = pdf(place)
    printed = example.run("Extract", language, DOCUMENT=str(document))
    assert " ".join(printed) == "M17.9 Gonarthrose rechts I10.90 Arterielle Hypertonie J18.9 Pneumonie"
    assert example.run("Extract", language, DOCUMENT=str(document)) == printed
    assert len(example.caller.ids("DocumentReference?relation=transforms")) == 1


DIAGNOSES = ["Gonarthrose rechts", "", "Diabetes mellitus Typ 2 mit Nephropathie"]


def entry(code: str, start: int, end: int, **more: Any) -> dict[str, Any]:
    said = {"code": code, "description": code, "confidence": "high", "pair": None, "certainty": None, "side": None}
    return said | {"evidence": {"start": start, "end": end}} | more


def test_the_last_tier_decides_the_codes_and_the_first_says_certainty_and_side() -> None:
    mentions = [
        {"span": {"start": 0, "end": 18}, "certainty": "G", "side": "R"},
        {"span": {"start": 20, "end": 60}, "certainty": "V", "side": None},
    ]
    tiers = [
        {"codes": [entry("E11.20", 20, 60), entry("Z99.9", 0, 5)], "mentions": mentions, "beyond": []},
        {"codes": [entry("M17.9", 0, 11), entry("E11.20", 20, 43, pair="N08.3"), entry("N08.3", 20, 43, pair="E11.20"),
                   entry("A00.0", 0, 0, evidence=None)]},
    ]  # fmt: skip
    found = {one.code: one for one in codes_of(tiers, DIAGNOSES, 5)}
    assert list(found) == ["M17.9", "E11.20", "N08.3", "A00.0"]
    assert (found["M17.9"].line, found["M17.9"].side, found["M17.9"].certainty) == (5, "R", "G")
    assert (found["E11.20"].line, found["E11.20"].certainty, found["E11.20"].first) == (7, "V", None)
    assert (found["N08.3"].line, found["N08.3"].certainty, found["N08.3"].first) == (7, "V", "E11.20")
    assert DIAGNOSES[0][found["M17.9"].start : found["M17.9"].end] == "Gonarthrose"
    assert found["A00.0"].line is None
    made = condition(found["N08.3"].model_copy(update={"mark": "*"}), "2026", {}, "", {})
    assert {one["url"] for one in made["code"]["coding"][0]["extension"]} >= {TABLE["markers"]["mark"][0]}


def test_diagnoses_go_in_queries_that_the_api_takes_and_keep_their_numbers() -> None:
    diagnoses = ["a\nb", "", "x" * (QUERY_MAX + 5), *(["y" * 900] * 5)]
    asked = list(_queries(diagnoses))
    assert all(len("\n".join(lines)) <= QUERY_MAX for _, lines in asked)
    assert [number + place for number, lines in asked for place in range(len(lines))] == list(range(len(diagnoses)))
    assert asked[0][1][0] == "a b"
    assert list(_queries([])) == list(_queries(["", " "])) == []
