"""Resources are sent along with matches: each row of the table, its rights, its bounds, and each resource once."""

from typing import Any

import pytest
from fhir.resources.R4B import get_fhir_model_class

from tests.webapp.fhir import conftest
from tests.webapp.fhir.conftest import Caller, Place, make_place
from webapp.fhir import routes

TABLE = {
    "DocumentReference?_id={d1}&_include=DocumentReference:patient": "d1 +p1",
    "DocumentReference?_id={d1}&_include=DocumentReference:subject&_include=DocumentReference:patient": "d1 +p1",
    "DocumentReference?_id={d1}&_include=DocumentReference:subject:Group": "d1",
    "DocumentReference?_id={d1}&_include=DocumentReference:subject:DocumentReference": "d1",
    "Patient?_id={p1}&_revinclude=DocumentReference:subject:DocumentReference": "p1",
    "Patient?_id={p1}&_revinclude=DocumentReference:subject:Patient": "p1 +d1 +d2",
    "DocumentReference?_id={d1}&_include=DocumentReference:author": "d1",
    "DocumentReference?_id={d2}&_include=DocumentReference:relatesto": "d2 +d1",
    "DocumentReference?_id={d3}&_include=DocumentReference:relatesto": "d3 +d1 +d2",
    "DocumentReference?_id={d2},{d3}&_include=DocumentReference:relatesto": "d2 d3 +d1",
    "DocumentReference?_id={d3}&_include=*": "d3 +d1 +d2 +p2",
    "DocumentReference?_id={d1}&_include=DocumentReference:relatesto": "d1",
    "DocumentReference?_id={d1}&_revinclude=DocumentReference:relatesto": "d1 +d2 +d3",
    "DocumentReference?_id={d3}&_revinclude=DocumentReference:relatesto": "d3",
    "DocumentReference?_id={d1}&_revinclude=Provenance:target": "d1",
    "DocumentReference/_search?_id={d1}&_revinclude=DocumentReference:relatesto": "d1 +d2 +d3",
    "Patient?identifier=urn:a|1&_revinclude=DocumentReference:patient": "p1 +d1 +d2",
    "Patient?_id={p1}&_revinclude=DocumentReference:subject&_revinclude=ImagingStudy:patient": "p1 +d1 +d2 +s1",
    "Patient?identifier=urn:a|2&_revinclude=ImagingStudy:subject": "p2",
    "Patient?identifier=urn:a|9&_revinclude=DocumentReference:patient": "",
    "Patient?_id={p1},{p2}&_summary=count&_revinclude=DocumentReference:patient": "",
    "ImagingStudy?_id={s1}&_include=ImagingStudy:patient": "s1 +p1",
    "ImagingStudy?_id={s1}&_include=ImagingStudy:subject:Patient": "s1 +p1",
    "Patient/{p1}/DocumentReference?_include=DocumentReference:patient": "d1 d2 +p1",
}


@pytest.fixture
def names(place: Place) -> dict[str, str]:
    """Two patients, three documents of which the later relate to the earlier, a study; others have the same."""
    p1, p2 = (place.add_patient(("urn:a", number)) for number in "12")
    (d1,) = place.add_documents([{"patient_id": p1}])
    to = [{"reference": f"DocumentReference/{d1}"}, {"reference": f"https://a.example/fhir/DocumentReference/{d1}"}]
    (d2,) = place.add_documents([{"patient_id": p1, "details": {"relatesTo": [{"code": "appends", "target": to[0]}]}}])
    both = [{"code": "replaces", "target": one} for one in (*to, {"reference": f"urn:uuid:{d2}"}, {"display": "x"})]
    (d3,) = place.add_documents([{"patient_id": p2, "details": {"relatesTo": both}}])
    other = make_place(place.app, "Andere Praxis", "max@example.org")
    other.add_documents([{"details": {"relatesTo": both}}])
    found = {"p1": p1, "p2": p2, "d1": d1, "d2": d2, "d3": d3, "s1": place.add_study(p1)}
    return {name: str(ident) for name, ident in found.items()}


def sent(caller: Caller, names: dict[str, str], path: str) -> tuple[str, dict[str, Any]]:
    back = {ident: name for name, ident in names.items()}
    url, _, query = path.format(**names).partition("?")
    posted = url.endswith("_search")
    form: dict[str, Any] = {"data": query, "content_type": "application/x-www-form-urlencoded"} if posted else {}
    answer = caller.open("POST" if posted else "GET", url if posted else f"{url}?{query}", **form)
    assert answer.status_code == 200, answer.data
    assert "Befund-Ignored" not in answer.headers
    bundle: dict[str, Any] = answer.get_json(force=True)
    get_fhir_model_class("Bundle").model_validate(bundle)
    signs = {"match": "", "include": "+"}
    found = [signs[entry["search"]["mode"]] + back[entry["resource"]["id"]] for entry in bundle.get("entry", [])]
    return " ".join(sorted(found, key=lambda name: (name[0] == "+", name))), bundle


@pytest.mark.parametrize("path", TABLE)
def test_what_is_related_is_sent_along_once(place: Place, caller: Caller, names: dict[str, str], path: str) -> None:
    found, bundle = sent(caller, names, path)
    assert found == TABLE[path]
    assert bundle["total"] == (2 if "_summary" in path else sum(name[0] != "+" for name in found.split()))


def test_documents_that_are_sent_along_have_links_that_work(
    place: Place, caller: Caller, names: dict[str, str]
) -> None:
    _, bundle = sent(caller, names, "Patient?_id={p1}&_revinclude=DocumentReference:patient")
    (first, *_) = (entry["resource"] for entry in bundle["entry"] if entry["search"]["mode"] == "include")
    assert caller.client.get(first["content"][0]["attachment"]["url"]).data == b"Befund"


@pytest.mark.parametrize(
    ("scopes", "path", "lacking"),
    [
        ("system/Patient.rs", "Patient?_revinclude=DocumentReference:patient", "system/DocumentReference.s"),
        ("system/Patient.rs", "Patient?_revinclude=ImagingStudy:patient", "system/ImagingStudy.s"),
        ("system/ImagingStudy.rs", "ImagingStudy?_include=ImagingStudy:patient", "system/Patient.r"),
        ("system/DocumentReference.s", "DocumentReference?_include=*", "system/DocumentReference.r system/Patient.r"),
        ("system/DocumentReference.r", "Patient?_revinclude=DocumentReference:patient", "system/Patient.s"),
    ],
)
def test_it_takes_the_rights_to_what_is_sent_along(place: Place, scopes: str, path: str, lacking: str) -> None:
    reader = place.program(scopes)
    refused = reader.get(path)
    assert (refused.status_code, lacking in refused.get_data(as_text=True)) == (403, True)


def test_what_nobody_refers_by_is_refused_or_named(place: Place, caller: Caller) -> None:
    for path in ("DocumentReference?_include=DocumentReference:type", "ImagingStudy?_include=DocumentReference:patient",
                 "DocumentReference?_revinclude=*", "Patient?_revinclude=patient"):  # fmt: skip
        assert "include" in caller.get(path).headers["Befund-Ignored"], path
        assert caller.get(path, headers={"Prefer": "handling=strict"}).status_code == 400, path


def test_more_than_is_sent_along_is_said(place: Place, caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    assert routes.MOST_INCLUDED >= 5 * 200
    patient = place.add_patient(("urn:a", "1"))
    place.add_documents([{"patient_id": patient}] * (routes.MOST_INCLUDED + 1))
    path = "Patient?_revinclude=DocumentReference:patient"
    modes = [entry["search"]["mode"] for entry in caller.bundle(path)["entry"]]
    assert modes == ["match", *["include"] * routes.MOST_INCLUDED, "outcome"]
    bundle = caller.bundle(path)
    get_fhir_model_class("Bundle").model_validate(bundle)
    assert bundle["entry"][-1]["resource"]["issue"][0]["severity"] == "warning"
    assert conftest.resources_of(bundle)[0]["id"] == str(patient)
