"""Bodies that were made to do harm: they are refused by name, cost little, and write little into the log."""

import json
import logging
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest
from flask import Flask
from sqlalchemy import event

from tests.webapp.conftest import ONE_DATABASE, make_app
from tests.webapp.fhir.conftest import FHIR, SYSTEM, Caller, Place, Resource, bundle, document, element, manifest
from webapp.fhir import received
from webapp.fhir.answers import FhirError
from webapp.fhir.writing import given, transaction
from webapp.fhir.writing.bounds import LARGEST_PATIENT, MOST_IDENTIFIERS, MOST_NAMES, MOST_WORDS

PATIENT: Resource = {"resourceType": "Patient"}


def nested(levels: int) -> list[Resource]:
    extension: Resource = {"url": "urn:test", "valueString": "x"}
    for _ in range(levels):
        extension = {"url": "urn:test", "extension": [extension]}
    return [extension]


def containing(*resources: Any) -> Resource:
    return document(contained=list(resources))


AT = "DocumentReference.contained[0]"
REFUSED: dict[str, tuple[Resource, int, str]] = {
    "another resource": ({"resourceType": "Patient"}, 400, "DocumentReference.resourceType"),
    "a list": ([], 400, "DocumentReference.resourceType"),
    "no content": (document(content=None), 400, "DocumentReference.content"),
    "two files": (document(content=[{"attachment": {}}] * 2), 422, "DocumentReference.content"),
    "no status": (document(status=None), 400, "DocumentReference.status"),
    "another status": (document(status="superseded"), 422, "DocumentReference.status"),
    "no file": (
        document(content=[{"attachment": {"title": "x"}}]), 422, "DocumentReference.content[0].attachment",
    ),
    "no Base64": (document(attachment={"data": "!"}), 400, "DocumentReference.content[0].attachment.data"),
    "data of a number": (document(attachment={"data": 5}), 400, "DocumentReference.content[0].attachment.data"),
    "another size": (document(attachment={"size": 1}), 422, "DocumentReference.content[0].attachment.size"),
    "another hash": (document(attachment={"hash": "AAAA"}), 422, "DocumentReference.content[0].attachment.hash"),
    "title of a number": (
        document(attachment={"title": 5}), 400, "DocumentReference.content[0].attachment.title",
    ),
    "unknown element": (document(nothing="x"), 400, "DocumentReference.nothing"),
    "unknown patient": (
        document(subject={"reference": "Patient/00000000-0000-4000-8000-000000000000"}), 422,
        "DocumentReference.subject.reference",
    ),
    "subject of another kind": (
        document(subject={"reference": "Group/1"}), 422, "DocumentReference.subject.reference",
    ),
    "nul": (document(description="a\0b"), 400, "DocumentReference"),
    "contained of an unknown type": (containing({"resourceType": "Foo"}), 400, f"{AT}.resourceType"),
    "contained of a number": (containing({"resourceType": 5}), 400, f"{AT}.resourceType"),
    "contained of a list": (containing({"resourceType": ["Patient"]}), 400, f"{AT}.resourceType"),
    "contained of no type": (containing({"id": "p"}), 400, f"{AT}.resourceType"),
    "contained as text": (containing('{"resourceType": "Patient"}'), 400, f"{AT}.resourceType"),
    "contained is no list": (document(contained={"resourceType": "Patient"}), 400, "DocumentReference.contained"),
    "contained is a number": (document(contained=5), 400, "DocumentReference.contained"),
    "a type that is no resource": (containing({"resourceType": "Extension", "url": "x"}), 400,
                                   "DocumentReference.contained[0].resourceType"),
    "unknown type deeper": (
        containing({"resourceType": "Bundle", "type": "collection", "entry": [{"resource": {"resourceType": "Foo"}}]}),
        400, f"{AT}.entry[0].resource.resourceType",
    ),
    "contained in contained": (containing({"resourceType": "Patient", "contained": [PATIENT]}), 400,
                               f"{AT}.contained"),
    "a reference to nothing": (document(author=[{"reference": "#a"}]), 422, "DocumentReference.author[0].reference"),
    "a modifier in contained": (containing({"resourceType": "Patient", "modifierExtension": nested(0)}), 422,
                                f"{AT}.modifierExtension"),
    "rules in contained": (containing({"resourceType": "Patient", "implicitRules": "urn:x"}), 422,
                           f"{AT}.implicitRules"),
    "another type": ({"resourceType": 5}, 400, "DocumentReference.resourceType"),
    "a type within": (document(subject={"resourceType": "Foo", "display": "x"}), 400,
                      "DocumentReference.subject.resourceType"),
    "a list where a URL is": (document(extension=[{"url": "urn:x", "valueUrl": ["x"]}]), 400,
                              "DocumentReference.extension"),
    "a number where a date is": (document(date=5), 400, "DocumentReference.date"),
    "a text where a number is": (document(extension=[{"url": "urn:x", "valueInteger": "5"}]), 400,
                                 "DocumentReference.extension[0].valueInteger"),
    "a resource as text": (document(subject='{"display": "x"}'), 400, "DocumentReference.subject"),
    "only a status that says nothing": (document(status=None, _status={"extension": nested(0)}), 422,
                                        "DocumentReference.status"),
    "too many details": (document(text={"status": "generated", "div": "<div>" + "x" * 20_000 + "</div>"}), 422,
                         "DocumentReference.text"),
    "too many words": (document(identifier=[{"value": str(number)} for number in range(126)]), 422,
                       "DocumentReference.identifier"),
    "too many values": (document(category=[{"text": "x"}] * 3_000), 400, "DocumentReference"),
}  # fmt: skip
PATIENTS: dict[str, tuple[Resource, str]] = {
    "4,000 identifiers": (
        PATIENT | {"identifier": [{"system": SYSTEM, "value": str(number)} for number in range(4_000)]},
        "Patient.identifier",
    ),
    "200,000 given names": (PATIENT | {"name": [{"given": ["a"] * 200_000}]}, "Patient.name[0].given"),
    "too many names": (PATIENT | {"name": [{"family": "a"}] * (MOST_NAMES + 1)}, "Patient.name"),
    "a long name": (PATIENT | {"name": [{"family": "a"}, {"family": "a" * 1_001}]}, "Patient.name[1].family"),
    "a long given name": (PATIENT | {"name": [{"given": ["a", "a" * 1_001]}]}, "Patient.name[0].given"),
    "a long value": (PATIENT | {"identifier": [{"value": "a"}, {"value": "a" * 256}]}, "Patient.identifier[1].value"),
    "a long system": (PATIENT | {"identifier": [{"system": "a" * 501, "value": "a"}]}, "Patient.identifier[0].system"),
    "too many bytes": (PATIENT | {"photo": [{"data": "YWFh" * (LARGEST_PATIENT // 4)}]}, "Patient"),
}


@ONE_DATABASE
@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_document_is_refused_by_its_element(program: Caller, case: str) -> None:
    sent, status, expression = REFUSED[case]
    answer = program.post("DocumentReference", sent)
    assert (answer.status_code, element(answer)) == (status, expression)
    assert program.bundle("DocumentReference")["total"] == 0


@ONE_DATABASE
@pytest.mark.parametrize("case", PATIENTS)
def test_a_patient_beyond_the_bounds_is_refused_by_its_element(program: Caller, case: str) -> None:
    sent, expression = PATIENTS[case]
    answer = program.post("Patient", sent)
    assert (answer.status_code, element(answer)) == (422, expression)
    inside = program.post("", bundle(patient=sent))
    assert (inside.status_code, element(inside)) == (422, f"Bundle.entry[1].{expression}")
    assert program.bundle("Patient")["total"] == 0


def test_the_import_has_the_same_bounds(place: Place, tmp_path: Any) -> None:
    lines = manifest(tmp_path, *(sent for sent, _ in PATIENTS.values()), PATIENT | {"gender": "male"})
    said = place.imported("patients", lines, fails=True)
    assert f"1 stored, 0 already there, {len(PATIENTS)} bad" in said
    assert f"identifier has 4000 items; expected at most {MOST_IDENTIFIERS}" in said


@ONE_DATABASE
@pytest.mark.parametrize("levels", [20, 120, 400, 5_000])
def test_what_is_nested_too_deep_is_refused_before_anything_walks_it(program: Caller, levels: int) -> None:
    body = b'{"resourceType": "DocumentReference", "status": "current", "extension": '
    body += b'[{"url": "urn:x", "extension": ' * levels + b"[]" + b"}]" * levels + b"}"
    answer = program.open("POST", "DocumentReference", data=body, headers={"Content-Type": FHIR})
    assert answer.status_code == 400
    assert len(answer.data) < 2_000
    for allowed in (1, 18):
        assert program.post("DocumentReference", document(extension=nested(allowed))).status_code == 201


def test_a_body_of_brackets_is_not_even_parsed(program: Caller) -> None:
    body = b'{"resourceType": "Patient", "x": [' + b"[]," * 200_000 + b"[]]}"
    answer = program.open("POST", "Patient", data=body, headers={"Content-Type": FHIR})
    assert answer.status_code == 413


def test_a_transaction_writes_no_more_rows_of_indexes_than_others_wait_for(program: Caller) -> None:
    people = {
        f"person {number}": PATIENT | {"identifier": [{"value": f"{number}-{one}"} for one in range(100)]}
        for number in range(41)
    }
    answer = program.post("", bundle(**people))
    assert (answer.status_code, element(answer)) == (422, "Bundle.entry")
    assert program.bundle("Patient")["total"] == 0


@contextmanager
def counted(app: Flask) -> Iterator[list[str]]:
    """The statements that the application sends to the database meanwhile."""
    sent: list[str] = []

    def note(_: Any, __: Any, statement: str, *___: Any) -> None:
        if not statement.startswith("SET LOCAL"):  # tells PostgreSQL how to plan, and asks nothing
            sent.append(statement)

    engine = app.extensions["befund_engine"]
    event.listen(engine, "before_cursor_execute", note)
    yield sent
    event.remove(engine, "before_cursor_execute", note)


def test_a_patient_of_many_identifiers_needs_no_more_statements_than_one_of_few(place: Place, program: Caller) -> None:
    numbers = []
    for start, many in ((0, 2), (500, 2), (1_000, MOST_IDENTIFIERS), (9_000, MOST_IDENTIFIERS)):
        place.add_document(external_system=SYSTEM, external_value=str(start))
        person = PATIENT | {"identifier": [{"system": SYSTEM, "value": str(start + one)} for one in range(many)]}
        person |= {"name": [{"family": "a", "given": [str(one) for one in range(MOST_WORDS)]}]}
        with counted(place.app) as sent:
            assert program.post("Patient", person, Prefer="return=minimal").status_code == 201
        numbers.append(len(sent))
    assert min(numbers[:2]) == min(numbers[2:]) > 0, "any of them may also open a connection"
    linked = [found["subject"]["reference"][:8] for found in program.all("DocumentReference")]
    assert linked == ["Patient/"] * 4


def test_a_transaction_of_many_documents_needs_no_more_statements_than_one_of_few(
    place: Place, program: Caller
) -> None:
    numbers = []
    for many in (1, 2, 40):
        sent = {
            f"more {one}": document(
                identifier=[{"value": f"{many}-{one}"}], subject={"identifier": {"value": f"{many}-{one}"}}
            )
            for one in range(many)
        }
        with counted(place.app) as statements:
            assert program.post("", bundle(**sent, patient=PATIENT)).status_code == 200
        numbers.append(len([text for text in statements if "audit" not in text]))
    assert numbers[1] == numbers[2] > 0, "the first also opens the connection"


def test_an_error_of_recursion_is_a_page_in_the_log_at_most(
    sqlite_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def recurse(depth: int) -> int:
        return depth if depth > 10_000 else other(depth + 1)

    def other(depth: int) -> int:
        return recurse(depth + 1)

    app = make_app(sqlite_url, tmp_path)
    app.add_url_rule("/recurse", "recurse", lambda: str(recurse(0)))
    with caplog.at_level(logging.ERROR, logger="webapp"):
        assert app.test_client().get("/recurse").status_code == 500
    (record,) = [one for one in caplog.records if one.name == "webapp.errors"]
    said = record.getMessage()
    assert "RecursionError" in said
    assert "in recurse" in said
    assert len(said) < 8_000


ODD: tuple[Any, ...] = (
    None, 5, -1, 1.5, True, "", "x", "#p", "Patient/1", "urn:uuid:x", [], {}, [None], [[]], [{}], {"x": 1},
    {"resourceType": 5}, {"resourceType": "Foo"}, {"extension": []}, ["a", None], {"reference": 5}, {"coding": 5},
    2**70, 1e300, "9" * 300,
)  # fmt: skip
WHOLE = document(
    contained=[{"resourceType": "Practitioner", "id": "p", "name": [{"family": "x", "given": ["a"]}]}],
    extension=nested(1), text={"status": "generated", "div": "<div>x</div>"}, meta={"profile": ["a"], "tag": [{}]},
    identifier=[{"system": SYSTEM, "value": "1"}], type={"coding": [{"code": "x"}]}, author=[{"reference": "#p"}],
    subject={"identifier": {"system": SYSTEM, "value": "b"}, "display": "x"}, date="2026-03-04T08:00:00Z",
    relatesTo=[{"code": "appends", "target": {"display": "x"}}], securityLabel=[{"coding": [{"code": "x"}]}],
    context={"encounter": [{"reference": "Encounter/1"}], "period": {"start": "2020"}},
)  # fmt: skip
PERSON = PATIENT | {
    "identifier": [{"system": SYSTEM, "value": "1"}], "birthDate": "1970", "contact": [{"name": {"family": "q"}}],
    "name": [{"family": "x", "given": ["a", "b"], "_given": [None, {"extension": nested(0)}]}], "gender": "male",
}  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to everything in a resource."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in steps:
        yield (*path, step)
        yield from places(item, (*path, step))


def mutated(chance: random.Random, resource: Resource) -> bytes:
    """The resource with one thing in it taken out, exchanged, wrapped or added."""
    changed = json.loads(json.dumps(resource))
    *way, last = chance.choice(list(places(changed)))
    around: Any = changed
    for step in way:
        around = around[step]
    kind = chance.randrange(4)
    if kind == 0:
        del around[last]
    elif kind == 1:
        around[last] = chance.choice(ODD)
    elif kind == 2:
        around[last] = [around[last]]
    elif isinstance(around, dict):
        around[chance.choice([f"_{last}", "extension", "resourceType", "contained", "reference"])] = chance.choice(ODD)
    return json.dumps(changed).encode()


def read(body: bytes, kind: str) -> str:
    """The fate of a body before the database is asked: `taken`, or the status of its refusal."""
    try:
        resource = received.resource_of(body, kind)
        if kind == "Patient":
            orjson.dumps(given.patient(resource).resource)
        elif kind == "Bundle":
            transaction.Transaction(resource)
        else:
            orjson.dumps(given.posted_document(resource)[0].details)
    except FhirError as error:
        return str(error.status)
    return "taken"


@pytest.mark.parametrize("kind", ["DocumentReference", "Patient", "Bundle"])
def test_nothing_that_is_sent_is_an_unforeseen_error(kind: str) -> None:
    chance = random.Random(kind)
    whole = {"DocumentReference": WHOLE, "Patient": PERSON, "Bundle": bundle(document=document(), file=PATIENT)}[kind]
    outcomes = {read(mutated(chance, whole), kind) for _ in range(600)}
    assert {"taken", "400", "422"} >= outcomes >= {"taken", "400"}
