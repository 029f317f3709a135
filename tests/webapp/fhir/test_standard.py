"""Sixty requests as the usual clients send them, answered as FHIR R4 or the contract says.

Each line: whose shape it is, the request, and what must come back: names of documents, patients or studies of the
fixture. Shapes are those that fhirpy, fhirclient, fhir-kit-client, @medplum/core and HAPI's client build.
"""

from urllib.parse import quote, urlsplit

import pytest
from fhir.resources.R4B import get_fhir_model_class

from tests.webapp.fhir.conftest import SYSTEM, Caller, link, make_place
from webapp.extensions import db as database
from webapp.fhir.models import Patient

STATUS = "http://hl7.org/fhir/document-reference-status"
TABLE = [
    ("fhirpy", "DocumentReference?_id={d1}", "d1"),
    ("medplum", "DocumentReference?_id={d1},{d3}", "d3 d1"),
    ("hapi", "DocumentReference?_id=unknown", ""),
    ("kit", "DocumentReference?_id={d1}&_id={d2}", ""),
    ("fhirpy", "DocumentReference?subject=Patient/{p1}", "d2 d1"),
    ("fhirclient", "DocumentReference?subject=Patient%2F{p1}", "d2 d1"),
    ("hapi", "DocumentReference?subject:Patient={p1}", "d2 d1"),
    ("hapi", "DocumentReference?patient:Patient={p1}", "d2 d1"),
    ("medplum", "DocumentReference?subject={base}/Patient/{p1}", "d2 d1"),
    ("kit", "DocumentReference?patient={base}/Patient/{p2}", "d3"),
    ("kit", "DocumentReference?patient=urn:uuid:{p2}", "d3"),
    ("fhirpy", "DocumentReference?patient={p1},{p2}", "d3 d2 d1"),
    ("hapi", "DocumentReference?patient=Patient/{p1},Patient/{p2}", "d3 d2 d1"),
    ("fhirpy", "DocumentReference?patient=urn:oid:1.2.3%7C9999", "d4"),
    ("fhirpy", "DocumentReference?patient=9999", "d4"),
    ("kit", "DocumentReference?subject=urn:oid:1.2.3|9999", "d4"),
    ("hapi", "DocumentReference?patient.identifier=urn:oid:1.2.3%7C4711", "d2 d1"),
    ("hapi", "DocumentReference?subject:Patient.identifier=urn:oid:1.2.3%7C4711", "d2 d1"),
    ("hapi", "DocumentReference?relationship=urn:x%7C1", "all, ignored"),
    ("medplum", "DocumentReference?patient:identifier=urn:oid:1.2.3%7C9999", "d4"),
    ("medplum", "DocumentReference?subject:identifier=4711", "d2 d1"),
    ("medplum", "DocumentReference?patient.identifier=urn:oid:1.2.3%7C4711,urn:oid:1.2.3%7C9999", "d4 d2 d1"),
    ("hapi", "DocumentReference?patient.identifier=urn:oid:1.2.3%7C0", ""),
    ("hapi", f"DocumentReference?status={quote(STATUS)}%7Ccurrent", "d5 d4 d3 d1"),
    ("hapi", "DocumentReference?status=http://example.org%7Ccurrent", ""),
    ("medplum", "DocumentReference?status=current,entered-in-error", "d5 d4 d3 d2 d1"),
    ("medplum", "DocumentReference?status:not=entered-in-error", "d5 d4 d3 d1"),
    ("fhirpy", "DocumentReference?contenttype=application/pdf,text/plain", "d5 d4 d3 d2 d1"),
    ("hapi", "DocumentReference?contenttype=urn:ietf:bcp:13%7Capplication/pdf", "d3"),
    ("kit", "DocumentReference?identifier=urn:x%7C1", ""),
    ("fhirpy", "DocumentReference?type=http://loinc.org%7C11503-0", ""),
    ("fhirpy", "DocumentReference?category=clinical-note", ""),
    ("hapi", "DocumentReference?author=Practitioner/1", ""),
    ("hapi", "DocumentReference?encounter=Encounter/1", ""),
    ("hapi", "DocumentReference?creation=ge2026-01-01", ""),
    ("fhirpy", "DocumentReference?_sort=date", "d1 d2 d3 d4 d5"),
    ("medplum", "DocumentReference?_sort=-date", "d5 d4 d3 d2 d1"),
    ("medplum", "DocumentReference?_sort=-_lastUpdated&_count=2", "d5 d4 d3 d2 d1"),
    ("fhirpy", "DocumentReference?_sort=_lastUpdated&_count=2", "d1 d2 d3 d4 d5"),
    ("hapi", "DocumentReference?_sort=_id&_count=2", "by id"),
    ("medplum", "DocumentReference?_total=accurate&_count=2", "d5 d4 d3 d2 d1"),
    ("hapi", "DocumentReference?_summary=true", "d5 d4 d3 d2 d1"),
    ("hapi", "DocumentReference?_elements=status,date", "d5 d4 d3 d2 d1"),
    ("fhirpy", "DocumentReference?_include=DocumentReference:patient", "d5 d4 d3 d2 d1 +p2 +p1"),
    ("hapi", "DocumentReference?_include=DocumentReference:subject:Patient&_id={d1}", "d1 +p1"),
    ("hapi", "DocumentReference?_revinclude=Provenance:target&_id={d1}", "d1"),
    ("hapi", "DocumentReference?_format=json&_lastUpdated=ge2020-01-01", "d5 d4 d3 d2 d1"),
    ("medplum", "Patient?_id={p1},{p2}", "p2 p1"),
    ("fhirpy", "Patient?identifier=urn:oid:1.2.3%7C4711", "p1"),
    ("fhirpy", "Patient?identifier=urn:oid:1.2.3%7C4711,urn:oid:1.2.3%7C4712", "p2 p1"),
    ("medplum", "Patient?name=must", "p1"),
    ("fhirpy", "Patient?family=MÜLLER&given=eva", "p2"),
    ("hapi", "Patient?family:exact=Müller", "p2"),
    ("kit", "Patient?birthdate=1970-03-05", "p1"),
    ("kit", "Patient?birthdate=ge1980&birthdate=lt1990", "p2"),
    ("fhirpy", "Patient?gender=female,other", "p2"),
    ("medplum", "Patient?name=niemand", ""),
    ("hapi", "ImagingStudy?patient=Patient/{p1}", "s1"),
    ("fhirpy", "ImagingStudy?identifier=urn:dicom:uid%7Curn:oid:1.2.840.1", "s1"),
    ("medplum", "ImagingStudy?_id={s1}&patient.identifier=urn:oid:1.2.3%7C4711", "s1"),
]


@pytest.fixture
def names(place):
    """Five documents, two patients, an imaging study, by the names of the table; others have the same identifiers."""
    first = place.add_person("4711", "Mustermann", "Max", "1970-03-05", "male")
    second = place.add_person("4712", "Müller", "Eva Maria", "1985", "female")
    documents = [
        place.add_document(patient_id=first),
        place.add_document(patient_id=first, external_system=SYSTEM, external_value="4711"),
        place.add_document(patient_id=second, content_type="application/pdf"),
        place.add_document(external_system=SYSTEM, external_value="9999"),
        place.add_document(),
    ]
    place.mark(documents[1])
    study = place.add_study(first, identifier=[{"system": "urn:dicom:uid", "value": "urn:oid:1.2.840.1"}])
    other = make_place(place.app, "Andere Praxis", "max@example.org")
    other.add_patient((SYSTEM, "4711"), name=[{"family": "Mustermann"}], birthDate="1970-03-05")
    other.add_document(external_system=SYSTEM, external_value="9999")
    found = {f"d{number}": str(ident) for number, ident in enumerate(documents, 1)}
    return found | {"p1": str(first), "p2": str(second), "s1": str(study)}


def asked(place, names, request):
    return request.format(base=quote(f"http://localhost{place.path}", safe=""), **names)


def found(caller, names, path):
    """The names on all pages in their order; included ones once, at the end, with a plus."""
    back, matches, included = {ident: name for name, ident in names.items()}, [], []
    while path:
        bundle = caller.bundle(path)
        get_fhir_model_class("Bundle").model_validate(bundle)
        for entry in bundle.get("entry", []):
            some, sign = (matches, "") if entry["search"]["mode"] == "match" else (included, "+")
            some.append(sign + back[entry["resource"]["id"]])
        path = link(bundle, "next")
    return " ".join([*matches, *dict.fromkeys(included)]), bundle["total"]


def test_sixty_usual_requests_are_answered_as_the_standard_says(place, caller, names):
    wrong = {}
    for client, request, expected in TABLE:
        everything = "d5 d4 d3 d2 d1"
        by_id = " ".join(sorted(everything.split(), key=names.get))
        wanted = {"all, ignored": everything, "by id": by_id}.get(expected, expected)
        got, total = found(caller, names, asked(place, names, request))
        if (got, total) != (wanted, sum(name[0] != "+" for name in wanted.split())):
            wrong[f"{client} {request}"] = got
    assert len(TABLE) == 60
    assert wrong == {}


def test_strict_callers_are_refused_only_what_is_not_applied(place, caller, names):
    for client, request, expected in TABLE:
        response = caller.get(asked(place, names, request), headers={"Prefer": "handling=strict"})
        assert response.status_code == (400 if "ignored" in expected else 200), (client, request)


def test_what_is_dropped_is_named_in_a_header(caller):
    response = caller.get("DocumentReference?foo=1&date=ne2026&_id=x&b%0d%0aa=1&status=")
    assert response.headers["Befund-Ignored"] == "foo, date, b%0D%0Aa, status"
    assert "Befund-Ignored" not in caller.get("DocumentReference?status=current").headers
    assert caller.get("Patient?address=x").headers["Befund-Ignored"] == "address"


def test_every_page_in_every_order_holds_every_document_once(place, caller):
    ids = [str(place.add_document(at="2026-03-05T10:00:00+00:00")) for _ in range(7)]
    for order, wanted in (
        ("date", sorted(ids)), ("-date", sorted(ids)[::-1]), ("_id", sorted(ids)), ("-_id", sorted(ids)[::-1]),
    ):  # fmt: skip
        assert caller.ids(f"DocumentReference?_sort={order}&_count=2") == wanted
        offset = caller.bundle(f"DocumentReference?_sort={order}&_count=2&_offset=3")
        assert [entry["resource"]["id"] for entry in offset["entry"]] == wanted[3:5]


def test_an_external_reference_has_its_identifier_beside_it(place, caller, names):
    subject = caller.get(f"DocumentReference/{names['d4']}").get_json(force=True)["subject"]
    assert subject == {"reference": f"{SYSTEM}|9999", "identifier": {"system": SYSTEM, "value": "9999"}}


def test_summaries_leave_out_what_they_say(place, caller, names):
    (text,) = caller.all(f"Patient?_id={names['p1']}&_summary=text")
    assert set(text) == {"resourceType", "id", "meta"}
    (short,) = caller.all(f"Patient?_id={names['p1']}&_summary=true")
    assert {"name", "birthDate"} <= set(short)
    assert short["meta"]["tag"][0]["code"] == "SUBSETTED"


def test_a_long_list_is_no_longer_statement(place, caller, names):
    many = ",".join([names["d1"], *(f"{number:08d}-0000-4000-8000-000000000000" for number in range(150))])
    assert caller.ids(f"DocumentReference?_id={many}") == [names["d1"]]
    assert caller.ids(f"DocumentReference?patient={many.replace(names['d1'], names['p2'])}") == [names["d3"]]
    assert "," in urlsplit(link(caller.bundle(f"DocumentReference?_id={many}"), "self")).query


def test_an_imaging_study_can_be_read(place, caller, names):
    study = caller.get(f"ImagingStudy/{names['s1']}").get_json(force=True)
    assert study["subject"] == {"reference": f"Patient/{names['p1']}"}
    assert caller.get(f"ImagingStudy/{names['p1']}").status_code == 404
    assert (
        Caller(make_place(place.app, "Dritte", "c@example.org")).get(f"ImagingStudy/{names['s1']}").status_code == 404
    )


def test_a_renewed_patient_is_found_by_the_new_name_only(place, caller):
    patient = place.add_patient(name=[{"family": "Alt"}])
    with place.app.app_context(), database.write() as session:
        session.get_one(Patient, patient).resource = {"name": [{"family": "Groß", "given": ["Änne"]}]}
    assert caller.ids("Patient?family=gross&given=anne") == [str(patient)]
    assert caller.ids("Patient?family=Alt") == []
