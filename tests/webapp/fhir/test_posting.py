"""A posted search is the search: for people and programs alike it finds what the same parameters find by GET."""

import gzip
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest
from werkzeug.test import TestResponse

from tests.webapp.conftest import ONE_DATABASE
from tests.webapp.fhir.conftest import SYSTEM, Caller, Place, resources_of, run
from tests.webapp.fhir.test_backend_services import PUBLIC, ask, claims, signed

TOKENS = ("person", "secret", "smart")
FORM = "application/x-www-form-urlencoded"
READS = "system/DocumentReference.rs system/Binary.r system/Patient.rs system/ImagingStudy.rs"
DETAILS = {
    "type": {"coding": [{"system": "http://loinc.org", "code": "11488-4"}]},
    "category": [{"coding": [{"system": "http://loinc.org", "code": "47039-3"}]}],
    "identifier": [{"system": "urn:x", "value": "D-1"}],
    "author": [{"reference": "Practitioner/7", "identifier": {"system": "urn:lanr", "value": "9"}}],
    "context": {"encounter": [{"reference": "Encounter/1"}]},
    "content": [{"attachment": {"creation": "2026-03-04"}}],
}
FILTERS = {
    "DocumentReference": (
        "patient={p1}", "patient=Patient/{p2}", f"patient={SYSTEM}|9999", "patient=9999", "patient={p1},{p2}",
        "subject=Patient/{p1}", f"patient.identifier={SYSTEM}|4711", f"subject:identifier={SYSTEM}|4712", "_id={d1}",
        "_id={d1},{d3}", "_id=unknown", "status=current", "status=entered-in-error", "status:not=current",
        "status=superseded", "contenttype=application/pdf", "contenttype=text/html", "date=2024-05-06",
        "date=ge2024-05-07&date=lt2024-05-08", "_lastUpdated=lt2024-05-07", "type=11488-4",
        "category=http://loinc.org|47039-3", "identifier=urn:x|D-1", "author=Practitioner/7", "author:identifier=9",
        "encounter=1", "creation=2026-03", "patient={p1}&_count=1&_sort=date",
        "patient.family=must&_include=DocumentReference:patient",
        "date=gestern&patient={p1}&foo=1&type:above=x",
    ),
    "Patient": (
        f"identifier={SYSTEM}|4711", "identifier=4712", f"identifier={SYSTEM}|0", "_id={p1}", "_id={p1},{p2}",
        "name=must", "family=Müller", "given:exact=Eva", "birthdate=1970-03-05", "birthdate=ge1980", "gender=female",
        "gender=other", "name=niemand", "family=m&_count=1", "address=x&family=Müller",
    ),
    "ImagingStudy": (
        "patient={p1}", "patient=Patient/{p2}", "subject={p1}", f"patient.identifier={SYSTEM}|4711", "_id={s1}",
        "_id=unknown", "identifier=urn:oid:1.2.840.1", "identifier=urn:dicom:uid|urn:oid:1.2.840.1", "identifier=0",
        "patient=nobody", "patient={p2}&_count=1", "modality=CT&patient={p1}",
    ),
    "Patient/{p1}/$everything": (
        "_type=DocumentReference", "_type=ImagingStudy", "_type=Observation", "start=2024-05-07", "end=2024-05-06",
        "start=2024-05-06&end=2024-05-06", "start=2100", "_count=1", "_count=1&_offset=1", "_summary=count",
        "_type=DocumentReference&start=2024-05-07", "start=morgen&_type=DocumentReference",
    ),
}  # fmt: skip


@pytest.fixture
def names(place: Place) -> dict[str, str]:
    """Two patients with names, four documents, two studies."""
    first = place.add_person("4711", "Mustermann", "Max", "1970-03-05", "male")
    second = place.add_person("4712", "Müller", "Eva", "1985", "female")
    documents = [
        place.add_document(patient_id=first, at="2024-05-06T10:00:00+00:00", details=DETAILS),
        place.add_document(patient_id=first, at="2024-05-07T10:00:00+00:00", content_type="application/pdf"),
        place.add_document(patient_id=second, at="2024-05-08T10:00:00+00:00"),
        place.add_document(external_system=SYSTEM, external_value="9999"),
    ]
    place.mark(documents[2])
    studies = [
        place.add_study(first, identifier=[{"system": "urn:dicom:uid", "value": "urn:oid:1.2.840.1"}]),
        place.add_study(second),
    ]
    found = {f"d{number}": str(ident) for number, ident in enumerate(documents, 1)}
    found |= {f"s{number}": str(ident) for number, ident in enumerate(studies, 1)}
    return found | {"p1": str(first), "p2": str(second)}


def holder(place: Place, folder: Path, kind: str, scopes: str = READS) -> Caller:
    """Whoever holds a token of that kind: a person, or a program with these scopes."""
    if kind == "person":
        return Caller(place)
    account, secret = place.machine("--scopes", scopes)
    if kind == "secret":
        return place.calls(secret)
    (folder / "jwks.json").write_text(PUBLIC)
    run(place.app, "keys", account, "--file", str(folder / "jwks.json"))
    return place.calls(ask(place, signed(claims(place, account))).get_json()["access_token"])


@pytest.fixture(params=TOKENS)
def program(request: pytest.FixtureRequest, place: Place, tmp_path: Path) -> Caller:
    """One of each kind who may read all."""
    return holder(place, tmp_path, request.param)


def told(answer: TestResponse) -> Any:
    """The ids that an answer finds, in its order, or the fault that it names."""
    body = answer.get_json(force=True)
    if answer.status_code != 200:
        return answer.status_code, body["issue"][0]["details"]["text"]
    listed = [(entry["search"]["mode"], entry["resource"]["id"]) for entry in body.get("entry", [])]
    ignored = answer.headers.get("Befund-Ignored")
    return body["total"], listed, ignored, sorted(item["relation"] for item in body["link"])


@pytest.mark.parametrize("path", FILTERS)
def test_what_is_posted_finds_what_is_asked_by_get(program: Caller, names: dict[str, str], path: str) -> None:
    where = path.format(**names)
    post, wrong, narrowed = where if "$" in where else f"{where}/_search", {}, 0
    everything = told(program.get(where))
    for given in FILTERS[path]:
        pairs = parse_qsl(given.format(**names))
        asked = told(program.get(where, query_string=urlencode(pairs)))
        ways = {
            "form": told(program.open("POST", post, data=dict_of(pairs))),
            "bytes": told(program.open("POST", post, data=urlencode(pairs), content_type=FORM)),
            "both": told(
                program.open("POST", f"{post}?{urlencode(pairs[:1])}", data=urlencode(pairs[1:]), content_type=FORM)
            ),
        }
        if "$" in post:
            body = {"resourceType": "Parameters", "parameter": [{"name": n, "valueString": v} for n, v in pairs]}
            ways["Parameters"] = told(program.open("POST", post, json=body))
        narrowed += asked != everything
        wrong |= {(given, way): got for way, got in ways.items() if got != asked}
    assert wrong == {}
    assert narrowed >= len(FILTERS[path]) - 1, "nearly all of them have to narrow, or nothing was compared"


SEARCHED = ("DocumentReference", "Patient", "ImagingStudy")
NO_FORMS: dict[str, dict[str, Any]] = {
    "no type": {"data": b"patient=x"},
    "text": {"data": b"patient=x", "content_type": "text/plain"},
    "multipart": {"data": {"patient": "x"}, "content_type": "multipart/form-data"},
    "Turtle": {"data": b"<Parameters/>", "content_type": "application/fhir+turtle"},
    "two types": {"data": b"patient=x", "content_type": f"{FORM}, text/plain"},
    "UTF-16": {"data": "patient=x".encode("utf-16"), "content_type": f"{FORM}; charset=utf-16"},
    "compressed": {"data": gzip.compress(b"patient=x"), "content_type": FORM, "headers": {"Content-Encoding": "gzip"}},
}


@ONE_DATABASE
@pytest.mark.parametrize("case", NO_FORMS)
def test_another_content_type_is_refused_and_named(program: Caller, names: dict[str, str], case: str) -> None:
    for path in (*(f"{kind}/_search" for kind in SEARCHED), f"Patient/{names['p1']}/$everything"):
        answer = program.open("POST", path, **NO_FORMS[case])
        assert answer.status_code == 415
        said = answer.get_json(force=True)["issue"][0]["details"]["text"]
        assert FORM in said
        assert "kein Content-Type" in said or NO_FORMS[case].get("content_type", "?")[:50] in said


def test_json_is_no_form_of_a_search_and_a_form_in_utf8_is_one(program: Caller, names: dict[str, str]) -> None:
    assert program.open("POST", "DocumentReference/_search", json={"patient": names["p1"]}).status_code == 415
    xml = {"data": b'<Parameters xmlns="http://hl7.org/fhir"/>', "content_type": "application/fhir+xml"}
    assert program.open("POST", "DocumentReference/_search", **xml).status_code == 415
    posted = {"data": urlencode({"family": "Müller"}), "content_type": f"{FORM};charset=UTF-8"}
    assert told(program.open("POST", "Patient/_search", **posted))[0] == 1
    assert told(program.open("POST", "Patient/_search"))[0] == 2, "nothing was posted, so there is nothing to type"
    everything = f"Patient/{names['p1']}/$everything"
    assert told(program.open("POST", everything, data="", content_type="application/json"))[0] == 3


@ONE_DATABASE
@pytest.mark.parametrize("kind", ["secret", "smart"])
@pytest.mark.parametrize("way", ["query", "form", "no type", "text"])
def test_what_a_program_may_not_read_it_cannot_post_for(
    place: Place, tmp_path: Path, names: dict[str, str], kind: str, way: str
) -> None:
    finder = holder(place, tmp_path, kind, "system/DocumentReference.s")
    asked = "_include=DocumentReference:patient"
    answer = {
        "query": lambda: finder.get(f"DocumentReference?{asked}"),
        "form": lambda: finder.open("POST", "DocumentReference/_search", data=asked, content_type=FORM),
        "no type": lambda: finder.open("POST", "DocumentReference/_search", data=asked.encode()),
        "text": lambda: finder.open("POST", "DocumentReference/_search", data=asked, content_type="text/plain"),
    }[way]()
    assert answer.status_code == (403 if way in ("query", "form") else 415)
    assert names["p1"] not in answer.get_data(as_text=True)


@ONE_DATABASE
@pytest.mark.parametrize("kind", ["secret", "smart"])
@pytest.mark.parametrize("asked", ["_type=DocumentReference", "_type=ImagingStudy", "", "_type=Observation"])
def test_the_types_of_everything_need_their_own_rights_however_they_are_sent(
    place: Place, tmp_path: Path, names: dict[str, str], kind: str, asked: str
) -> None:
    program = holder(place, tmp_path, kind, "system/Patient.r system/DocumentReference.s")
    where = f"Patient/{names['p1']}/$everything"
    ways = [
        program.get(f"{where}?{asked}"),
        program.open("POST", where, data=asked, content_type=FORM),
        program.open("POST", where, json={"resourceType": "Parameters", "parameter": [
            {"name": name, "valueCode": value} for name, value in parse_qsl(asked)]}),
    ]  # fmt: skip
    allowed = asked in ("_type=DocumentReference", "_type=Observation")
    assert [answer.status_code for answer in ways] == [200 if allowed else 403] * 3
    kinds = {resource["resourceType"] for answer in ways if allowed for resource in resources_of(told_body(answer))}
    assert kinds == ({"DocumentReference"} if asked == "_type=DocumentReference" else set())


UNREADABLE = (
    {"name": "start", "valuePeriod": {"start": "2100"}}, {"name": "start"}, {"name": "start", "valueDate": None},
    {"name": "start", "valueDecimal": 2100.5}, {"name": "_type", "valueCode": ["DocumentReference"]},
    {"name": "_type", "part": [{"name": "x", "valueCode": "DocumentReference"}]}, {"valueDate": "2100"},
)  # fmt: skip


@pytest.mark.parametrize("kind", TOKENS)
def test_a_posted_parameter_that_cannot_be_read_is_not_as_if_it_were_not_there(
    place: Place, tmp_path: Path, names: dict[str, str], kind: str
) -> None:
    caller = holder(place, tmp_path, kind)
    for parameter in UNREADABLE:
        body = {"resourceType": "Parameters", "parameter": [parameter]}
        answer = caller.open("POST", f"Patient/{names['p1']}/$everything", json=body)
        assert answer.status_code == (200 if kind == "person" else 400), parameter
        assert kind != "person" or answer.headers["Befund-Ignored"] == parameter.get("name", ""), parameter


def test_parameters_in_the_body_of_a_get_are_not_as_if_they_were_not_there(
    place: Place, caller: Caller, tmp_path: Path, names: dict[str, str]
) -> None:
    sent = {"data": f"patient={names['p1']}", "content_type": FORM}
    program = holder(place, tmp_path, "secret")
    assert program.get("DocumentReference", **sent).status_code == 400
    assert caller.get("DocumentReference", **sent).headers["Befund-Ignored"] == "body"


def dict_of(pairs: list[tuple[str, str]]) -> dict[str, list[str]]:
    """As the test client takes a form in which names may come twice."""
    return {name: [value for other, value in pairs if other == name] for name, _ in pairs}


def told_body(answer: TestResponse) -> dict[str, Any]:
    body: dict[str, Any] = answer.get_json(force=True)
    return body
