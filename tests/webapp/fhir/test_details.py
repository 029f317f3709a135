"""Details of a document beside the contract's fields: in from a manifest, out as FHIR, found by it."""

from fhir.resources.R4B import get_fhir_model_class

from tests.webapp.fhir.conftest import manifest
from webapp.fhir.bulk.documents import DocumentLine, _LineReader

KDL, LOINC = "http://dvmd.de/fhir/CodeSystem/kdl", "http://loinc.org"
XDS = "http://ihe-d.de/CodeSystems/IHEXDSclassCode"
LETTER = {
    "path": "a.pdf",
    "title": "Entlassbrief.pdf",
    "type": "kdl|AD010103|Entlassungsbericht intern",
    "category": [f"{XDS}|BRI", "loinc|11488-4"],
    "author": ["Dr. Erika Beispiel", "Practitioner/7"],
    "encounter": "urn:oid:1.2.3|F-4711",
    "masterIdentifier": "urn:oid:1.2.276.0.1",
    "identifier": "urn:archiv|D-1",
    "description": "Entlassbrief der Inneren Abteilung",
    "creation": "2026-03-04T08:00:00+01:00",
    "language": "de",
    "docStatus": "final",
    "securityLabel": "http://terminology.hl7.org/CodeSystem/v3-Confidentiality|N",
    "format": "http://ihe.net/fhir/ihe.formatcode.fhir/CodeSystem/formatcode|urn:ihe:iti:xds:2017:mimeTypeSufficient",
    "facilityType": "http://ihe-d.de/CodeSystems/PatientBezogenenGesundheitsversorgung|KHS",
    "practiceSetting": "http://ihe-d.de/CodeSystems/AerztlicheFachrichtungen|INNE",
}


def details(code="AD010103", **more):
    concept = {"coding": [{"system": KDL, "code": code}]}
    return {"type": concept, "context": {"encounter": [{"reference": "Encounter/1"}]}} | more


def test_what_a_line_says_comes_back_as_fhir(place, caller, tmp_path):
    (tmp_path / "a.pdf").write_bytes(b"%PDF")
    letters = manifest(tmp_path, LETTER)
    place.imported("documents", letters)
    assert "0 stored, 1 already there" in place.imported("documents", letters)
    (found,) = caller.all("DocumentReference")
    get_fhir_model_class("DocumentReference").model_validate(found)
    kind = {"system": KDL, "code": "AD010103", "display": "Entlassungsbericht intern"}
    assert found["type"] == {"coding": [kind]}
    assert [item["coding"][0]["code"] for item in found["category"]] == ["BRI", "11488-4"]
    assert found["author"] == [{"display": "Dr. Erika Beispiel"}, {"reference": "Practitioner/7"}]
    assert found["context"]["encounter"] == [{"identifier": {"system": "urn:oid:1.2.3", "value": "F-4711"}}]
    assert found["masterIdentifier"] == {"system": "urn:ietf:rfc:3986", "value": "urn:oid:1.2.276.0.1"}
    assert found["description"] == "Entlassbrief der Inneren Abteilung"
    content = found["content"][0]
    assert content["format"]["code"] == "urn:ihe:iti:xds:2017:mimeTypeSufficient"
    assert content["attachment"]["creation"] == LETTER["creation"]
    assert (content["attachment"]["language"], content["attachment"]["title"]) == ("de", "Entlassbrief.pdf")
    assert found["date"] == found["meta"]["lastUpdated"]
    assert caller.get(f"DocumentReference/{found['id']}").get_json(force=True)["type"] == found["type"]
    (short,) = caller.all("DocumentReference?_summary=true")
    assert {"type", "category", "author", "description", "context"} <= set(short)


def test_what_a_line_says_is_searched_like_what_is_posted(place, caller, tmp_path):
    (tmp_path / "a.pdf").write_bytes(b"%PDF")
    writer = {"resourceType": "Practitioner", "id": "p", "name": [{"family": "Müller"}]}
    more = {"contained": [writer], "author": "#p", "event": "urn:e|OP", "period": "2026-03-01/2026-03-04",
            "related": ["Observation/5", "urn:a|6"], "authenticator": "Practitioner/8",
            "custodian": "Organization/9"}  # fmt: skip
    place.imported("documents", manifest(tmp_path, LETTER | more))
    (found,) = caller.all("DocumentReference")
    get_fhir_model_class("DocumentReference").model_validate(found)
    for asked in ("author.family=muller", "event=urn:e|OP", "period=2026-03", "related=Observation/5",
                  "related:identifier=6", "authenticator:Practitioner=8", "custodian=Organization/9"):  # fmt: skip
        assert caller.ids(f"DocumentReference?{asked}") == [found["id"]], asked
    assert caller.ids("DocumentReference?period=2026-04") == []
    for wrong in ({"contained": [{"resourceType": "Nothing"}]}, {"period": "gestern"}):
        assert "line 1: " in place.imported("documents", manifest(tmp_path, LETTER | wrong), fails=True)


def test_bad_details_are_reported_with_the_element(place, tmp_path):
    (tmp_path / "a.txt").write_bytes(b"a")
    for field, value, named in (
        ("docStatus", "irgendwie", "docStatus"),
        ("creation", "gestern", "creation"),
        ("type", {"coding": "x"}, "type"),
        ("category", ["loinc|1", {"code": 1}], "category"),
        ("description", "x" * 20_000, "too long"),
        ("author", "a\0b", "U+0000"),
    ):
        assert named in place.imported("documents", manifest(tmp_path, {"path": "a.txt", field: value}), fails=True)


def test_a_line_without_details_keeps_the_key_it_had_before_there_were_any(place, tmp_path):
    """The key of this line as the version before stored it."""
    (tmp_path / "a.txt").write_bytes(b"a")
    keyed = _LineReader(tmp_path).read(1, '{"path": "a.txt"}')
    assert keyed.key.hex() == "e1c88b64cdd61ef0a2c1336ff052cb6d26ebfbb672d6c7db1f8e5fcad72aac05"


FOUND = [
    ("type=AD010103", "c a"),
    (f"type={KDL}|AD010103", "c a"),
    (f"type={KDL}|", "c b a"),
    (f"type={LOINC}|AD010103", ""),
    (f"type={KDL}|AD010103,{KDL}|VL010101", "c b a"),
    ("type=AD010103&status=current&date=ge2020", "c a"),
    ("type=AD010103&contenttype=application/pdf", "c"),
    ("type=AD010103&_sort=date", "a c"),
    ("type=AD010103&patient={patient}", "a"),
    ("category=BRI", "a"),
    ("category=BRI&type=VL010101", ""),
    ("author=Practitioner/7", "a"),
    ("author=7&type=AD010103", "a"),
    ("author:identifier=urn:lanr|1", "b"),
    ("encounter=Encounter/1", "c b a"),
    ("encounter=http://localhost/x/fhir/r4/Encounter/1&_count=1", "c b a"),
    ("encounter:identifier=F-1", "d"),
    ("identifier=urn:a|1", "a"),
    ("identifier=urn:ietf:rfc:3986|urn:oid:1.2", "b"),
    ("identifier=9", ""),
    ("creation=2026-03-04", "a"),
    ("creation=lt2026-03-04", "b"),
    ("creation=ge2020&creation=lt2027", "b a"),
    ("_id={a}&type=AD010103", "a"),
    ("_id={a}&type=VL010101", ""),
]


def test_documents_are_found_by_what_they_carry(place, caller):
    patient = place.add_patient()
    created = {"content": [{"attachment": {"creation": "2026-03-04T08:00:00Z"}}]}
    earlier = {"content": [{"attachment": {"creation": "2025"}}]}
    given = {
        "a": {"patient_id": patient, "details": details(category=[{"coding": [{"code": "BRI"}]}],
              author=[{"reference": "Practitioner/7"}], identifier=[{"system": "urn:a", "value": "1"}], **created)},
        "b": {"details": details("VL010101", author=[{"identifier": {"system": "urn:lanr", "value": "1"}}],
              masterIdentifier={"system": "urn:ietf:rfc:3986", "value": "urn:oid:1.2"}, **earlier)},
        "c": {"details": details(), "content_type": "application/pdf"},
        "d": {"details": {"context": {"encounter": [{"identifier": {"value": "F-1"}}]}}},
        "e": {},
    }  # fmt: skip
    ids = dict(zip(given, map(str, place.add_documents(list(given.values()))), strict=True))
    names, wrong = {ident: name for name, ident in ids.items()}, {}
    for query, wanted in FOUND:
        path = f"DocumentReference?{query.format(patient=patient, **ids)}"
        got, totals = " ".join(names[ident] for ident in caller.ids(path)), caller.bundle(path)["total"]
        if (got, totals) != (wanted, len(wanted.split())):
            wrong[query] = got, totals
    assert wrong == {}
    strict = caller.get(
        "DocumentReference?type=AD010103&encounter=1&creation=2026", headers={"Prefer": "handling=strict"}
    )
    assert strict.status_code == 200


def test_no_string_of_a_line_is_kept_for_the_process():
    first, second = (DocumentLine.model_validate_json('{"path": "Zwirnwald.pdf"}').path for _ in range(2))
    assert first == second
    assert first is not second, "pydantic keeps short strings by its default"
