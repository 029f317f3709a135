"""The table of search parameters: every row with its modifiers finds what a plain loop finds, imported and posted."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from fhir.resources.R4B import get_fhir_model_class

from tests.docs import ROOT
from tests.webapp.fhir.conftest import Caller, Place, document, make_place
from webapp.fhir.models import Status
from webapp.fhir.parameters import COMPOSITE, DATE, DOCUMENT, INCLUSIONS, PREFIXES, REFERENCE, STRING, TOKEN, Parameter
from webapp.fhir.searching.readers import PATIENT, SEARCH, STUDY

WORDS = [parameter for parameter in DOCUMENT if parameter.paths]
OTHERS = {"masterIdentifier": {"value": "X"}, "content": [{"attachment": {"title": "nichts"}}]}
SAMPLES: dict[str, list[Any]] = {
    "Identifier": [
        {"system": "urn:a", "value": "1", "type": {"coding": [{"system": "urn:t", "code": "MR"}]}}, {"value": "2"},
    ],
    "CodeableConcept": [
        {"coding": [{"system": "urn:a", "code": "1", "display": "Entlaßbrief, ärztlich"}, {"display": "Nur so"}]},
        {"text": "nur Text"},
    ],
    "relatesTo": [{"code": "replaces", "target": {"reference": "DocumentReference/1"}},
                  {"code": "appends", "target": {"reference": "DocumentReference/2"}},
                  {"code": "signs", "target": {"identifier": {"value": "1"}}}],
    "Coding": [{"system": "urn:a", "code": "1"}, {"code": "2"}],
    "code": ["replaces", "appends"],
    "Reference": [{"reference": "{target}/1"}, {"identifier": {"system": "urn:a", "value": "9"}},
                  {"identifier": {"system": "urn:b", "value": "9"}, "type": "{target}"}, {"display": "Wer"}],
    "string": ["Entlassbrief der Inneren, Größe 5", "Brief " + "lang " * 80 + "Ende"],
    "Period": [{"start": "2026-03-01", "end": "2026-03-04"}, {"start": "2026-03-04T10:00:00Z"}, {"end": "2025"}],
    "dateTime": ["2026-03", "2026-03-04T08:00:00Z"],
}  # fmt: skip
TYPES = {"identifier": "Identifier", "format": "Coding", "language": "code", "relation": "code", "creation": "dateTime",
         "period": "Period", "meta.security": "Coding", "meta.tag": "Coding"}  # fmt: skip
BY_TYPE = {TOKEN: "CodeableConcept", REFERENCE: "Reference", STRING: "string", COMPOSITE: "relatesTo"}
ASKED = {
    TOKEN: ["1", "urn:a|1", "urn:a|", "|2", "|1", "9", "1,2", "replaces"],
    REFERENCE: ["{target}/1", "1", "http://elsewhere.example/fhir/{target}/1", "{target}/2", "1,2"],
    COMPOSITE: [
        "DocumentReference/1$replaces",
        "1$replaces",
        "1$appends",
        "2$replaces,2$appends",
        "1$signs",
        "http://elsewhere.example/fhir/DocumentReference/2$appends",
        "1$http://hl7.org/fhir/document-relationship-type|replaces",
        "1$urn:a|replaces",
    ],
    STRING: ["entlassbrief", "BRIEF", "große", "Entlassbrief der Inneren\\, Gr"],
    DATE: [
        prefix + day for prefix in ("", *PREFIXES) for day in ("2026-03", "2026-03-04", "2026-03-02", "2025", "2026")
    ],
}
MODIFIED = {
    ":not": ASKED[TOKEN], ":missing": ["true", "false"], ":identifier": ["9", "urn:a|9", "urn:b|9"],
    ".identifier": ["9"], ".name": ["1", "wer"], ".family": ["1"], ".given": ["1"],
    ":text": ["entlass", "NUR", "arztlich", "Entlassbrief\\, arzt"],
    ":of-type": ["urn:t|MR|1", "urn:t|MR|2"],
    ":contains": ["INNEREN", "grosse", "lang Ende", "nicht da"],
    ":exact": ["Entlassbrief der Inneren\\, Größe 5", "Entlassbrief"],
}  # fmt: skip


def placed(path: str, value: Any) -> Any:
    """A DocumentReference's details with that element."""
    for step in reversed(path.split(".")):
        value = [value] if step in LISTS else value
        value = {step: value}
    return value


LISTS = {
    "category",
    "securityLabel",
    "security",
    "tag",
    "event",
    "content",
    "relatesTo",
    "author",
    "encounter",
    "related",
    "identifier",
}


def samples(parameter: Parameter, path: str) -> Any:
    kind = TYPES.get(path, TYPES.get(parameter.name, BY_TYPE.get(parameter.type, "")))
    target = (*parameter.targets, "Observation")[0]
    return json.loads(json.dumps(SAMPLES[kind]).replace("{target}", target))


def stored(place: Place, parameter: Parameter) -> dict[str, Any]:
    """Documents of the place: one for each sample at each path of the parameter, and one without; id to the values."""
    values = [(path, value) for path in parameter.paths for value in samples(parameter, path)]
    details = [placed(path, value) for path, value in values]
    ids = place.add_documents([{"details": one} for one in details] + [{"details": {"description": "x"}}, {}])
    if parameter.name == "description":
        return dict(zip(map(str, ids), [value for _, value in values] + ["x", None], strict=True))
    return dict(zip(map(str, ids), [value for _, value in values] + [None, None], strict=True))


def folded(text: str) -> str:
    return text.casefold().translate(str.maketrans("äöü", "aou")).replace("ß", "ss")


def codes(value: Any) -> list[tuple[str, str]]:
    if isinstance(value, str):
        return [("", value)]
    if not isinstance(value, dict):
        return []
    items = value.get("coding", [value] if {"code", "value"} & set(value) else [])
    return [(item.get("system", ""), item.get("code", item.get("value", ""))) for item in items]


def has_token(value: Any, asked: str) -> bool:
    system, bar, code = asked.rpartition("|")
    return any((not bar or system == mine) and code in ("", theirs) for mine, theirs in codes(value))


def bounds(value: Any) -> tuple[str, str]:
    """First instant and the one behind the last of what these tests write, as text that sorts."""
    if isinstance(value, dict):
        return (
            bounds(value["start"])[0] if "start" in value else "0",
            bounds(value["end"])[1] if "end" in value else "9",
        )
    if "T" in value:
        return value, value.replace("00Z", "01Z")
    return {
        "2025": ("2025-01-01", "2026-01-01"), "2026": ("2026-01-01", "2027-01-01"),
        "2026-03": ("2026-03-01", "2026-04-01"),
        "2026-03-01": ("2026-03-01", "2026-03-02"), "2026-03-02": ("2026-03-02", "2026-03-03"),
        "2026-03-04": ("2026-03-04", "2026-03-05"),
    }[value]  # fmt: skip


def compared(value: Any, asked: str) -> bool:
    prefix, day = (asked[:2], asked[2:]) if asked[:2] in PREFIXES else ("eq", asked)
    (lo, hi), (a, b) = bounds(value), bounds(day)
    now, then = datetime.now(UTC), datetime.fromisoformat(a).replace(tzinfo=UTC)
    near_a, near_b = ((datetime.fromisoformat(end).replace(tzinfo=UTC) + way * abs(now - then) / 10).isoformat()
                      for end, way in ((a, -1), (b, 1)))  # fmt: skip
    return {
        "ap": hi > near_a and lo < near_b,
        "eq": lo >= a and hi <= b, "ne": not (lo >= a and hi <= b), "gt": hi > b, "lt": lo < a, "sa": lo >= b,
        "eb": hi <= a,
        "ge": hi > b or (lo >= a and hi <= b), "le": lo < a or (lo >= a and hi <= b),
    }[prefix]  # fmt: skip


def matches(parameter: Parameter, modifier: str, value: Any, asked: str) -> bool:
    """The meaning of FHIR R4, written once more."""
    parts = asked.replace("\\,", "\0").split(",")
    parts = [part.replace("\0", ",") for part in parts]
    if modifier == ":missing":
        return (value is None) == (asked == "true")
    if modifier == ":not":
        return not any(has_token(value, part) for part in parts)
    if value is None:
        return False
    if modifier == ":identifier" or modifier.endswith(".identifier"):
        of_type = modifier[1:].rpartition(".")[0] in ("", value.get("type")) or modifier == ":identifier"
        return of_type and any(has_token(value.get("identifier"), part) for part in parts)
    if "." in modifier:
        return False
    if modifier == ":text" or parameter.type == COMPOSITE:
        return begins(value, parts[0]) if modifier else related(value, asked)
    if modifier == ":of-type":
        typed = [item["code"] for item in value.get("type", {}).get("coding", [])]
        return any(part.split("|")[1] in typed and part.split("|")[2] == value["value"] for part in parts)
    if parameter.type == REFERENCE:
        given = value.get("reference", "")
        kind = modifier[1:] or given.partition("/")[0]
        wanted = [part.removeprefix("http://elsewhere.example/fhir/") for part in parts]
        return given != "" and any(given == (part if "/" in part else f"{kind}/{part}") for part in wanted)
    if parameter.type == STRING:
        found = {"": folded(value).startswith(folded(parts[0])), ":exact": value == parts[0]}
        return bool(found.get(modifier, folded(parts[0]) in folded(value)))
    return compared(value, asked) if parameter.type == DATE else any(has_token(value, part) for part in parts)


def begins(value: Any, asked: str) -> bool:
    texts = [value.get("text", ""), *(item.get("display", "") for item in value.get("coding", []))]
    return any(folded(text).startswith(folded(asked)) for text in texts)


def related(value: Any, asked: str) -> bool:
    given = value["target"].get("reference", ""), value["code"]
    for strange in ("http://elsewhere.example/fhir/", "http://hl7.org/fhir/document-relationship-type|"):
        asked = asked.replace(strange, "")
    pairs = [part.split("$") for part in asked.split(",")]
    return any(given in ((ident, code), (f"DocumentReference/{ident}", code)) for ident, code in pairs)


def asked_of(parameter: Parameter, modifier: str) -> list[str]:
    target = (*parameter.targets, "Observation")[0]
    if modifier[1:] in parameter.targets:
        return ["1", f"{modifier[1:]}/1", "2"]
    return [
        asked.replace("{target}", target)
        for asked in MODIFIED.get(modifier, MODIFIED.get(modifier[modifier.find(".") :], ASKED[parameter.type]))
    ]


@pytest.mark.parametrize("parameter", WORDS, ids=lambda parameter: parameter.name)
def test_every_row_finds_what_fhir_says(place: Place, caller: Caller, parameter: Parameter) -> None:
    values, wrong, checked = stored(place, parameter), {}, 0
    for modifier in ("", *parameter.modifiers, *parameter.chains):
        for asked in asked_of(parameter, modifier):
            found = caller.get("DocumentReference", query_string={parameter.name + modifier: asked, "_count": 200})
            bundle = found.get_json(force=True)
            got = {entry["resource"]["id"] for entry in bundle.get("entry", [])}
            wanted = {ident for ident, value in values.items() if matches(parameter, modifier, value, asked)}
            checked += 1
            if got != wanted or bundle["total"] != len(wanted) or "Befund-Ignored" in found.headers:
                wrong[modifier, asked] = [values[ident] for ident in got ^ wanted], found.headers.get("Befund-Ignored")
    assert wrong == {}
    assert checked > 5


@pytest.mark.parametrize("parameter", WORDS, ids=lambda parameter: parameter.name)
def test_every_row_is_a_search_parameter_of_r4_over_elements_there_are(parameter: Parameter) -> None:
    for path in parameter.paths:
        for value in samples(parameter, path):
            given = {"status": "current", "content": [{"attachment": {}}], **placed(path, value)}
            if path.startswith("content"):
                given["content"][0].setdefault("attachment", {})
            if path.startswith("relatesTo"):
                given["relatesTo"][0] = {"code": "appends", "target": {"display": "x"}} | given["relatesTo"][0]
            get_fhir_model_class("DocumentReference").model_validate(given)


def test_what_is_posted_is_found_like_what_was_imported(program: Caller) -> None:
    codes = {"facilityType": {"coding": [{"code": "KHS"}]}, "practiceSetting": {"coding": [{"code": "INNE"}]},
             "event": [{"coding": [{"code": "OP"}]}], "related": [{"reference": "Observation/5"}],
             "period": {"start": "2026-03-01", "end": "2026-03-04"}}  # fmt: skip
    sent = document(context=codes, custodian={"reference": "Organization/7"}, description="Kurzer Brief")
    made = program.post("DocumentReference", sent)
    assert made.status_code == 201, made.data
    ident = made.get_json(force=True)["id"]
    other = document(content=[{"attachment": sent["content"][0]["attachment"] | {"language": "de"}}])
    language = program.post("DocumentReference", other).get_json(force=True)["id"]
    for asked in ("facility=KHS", "setting=INNE", "event=OP", "related=Observation/5", "period=2026-03",
                  "custodian:Organization=7", "description:contains=brief", "language:missing=true"):  # fmt: skip
        assert program.ids(f"DocumentReference?{asked}") == [ident], asked
    assert program.ids("DocumentReference?language=de&facility:missing=true") == [language]
    assert program.ids("DocumentReference?facility:not=KHS") == [language]


def test_the_capability_statement_and_the_readers_are_the_table(caller: Caller) -> None:
    statement = caller.bundle("metadata")
    get_fhir_model_class("CapabilityStatement").model_validate(statement)
    told = {resource["type"]: resource.get("searchParam", []) for resource in statement["rest"][0]["resource"]}
    for kind, readers in (("DocumentReference", SEARCH), ("Patient", PATIENT), ("ImagingStudy", STUDY)):
        names = {name.partition(":")[0].partition(".")[0] for name in readers}
        assert {item["name"] for item in told[kind]} >= {name for name in names if not name.startswith("_")}
        for item in told[kind]:
            assert item["name"] in readers
            for modifier in (
                word for word in item.get("documentation", "").replace(";", ",").split(", ") if word[:1] in ":."
            ):
                assert item["name"] + modifier in readers
    resources = {resource["type"]: resource for resource in statement["rest"][0]["resource"]}
    for one in INCLUSIONS:
        element = "searchInclude" if one.way == "_include" else "searchRevInclude"
        assert one.name in resources[one.searched][element]


def test_the_documentation_has_the_table() -> None:
    lines = (ROOT / "docs" / "documents.md").read_text(encoding="utf-8").splitlines()
    for parameter in WORDS:
        chains = [chain for chain, (target, _) in parameter.chains.items() if not target]
        modifiers = " ".join(f"`{modifier}`" for modifier in (*parameter.modifiers, *chains))
        paths = ", ".join(f"`{path}`" for path in parameter.paths)
        assert f"| `{parameter.name}` | {parameter.type} | {paths} | {modifiers} |" in lines


def test_a_code_without_a_system_of_its_own_is_found_with_that_of_its_element(place: Place, caller: Caller) -> None:
    related = {"relatesTo": [{"code": "appends", "target": {"reference": "DocumentReference/1"}}]}
    language = {"content": [{"attachment": {"language": "de"}}]}
    first, second = (str(ident) for ident in place.add_documents([{"details": related}, {"details": language}]))
    system = "http://hl7.org/fhir/document-relationship-type"
    for asked, wanted in ((f"relation={system}|appends", [first]), (f"relation={system}|signs,appends", [first]),
                          ("relation=urn:x|appends", []), ("language=urn:ietf:bcp:47|de", [second])):  # fmt: skip
        assert caller.ids(f"DocumentReference?{asked}") == wanted, asked


WRITTEN_BY = [
    {"id": "p", "resourceType": "Practitioner", "name": [{"family": "Müller", "given": ["Anna", "Eva"]}],
     "identifier": [{"system": "urn:lanr", "value": "123456601"}]},
    {"id": "o", "resourceType": "Organization", "name": "Müllerklinik", "alias": ["MK"],
     "identifier": [{"value": "7"}]},
    {"id": "e", "resourceType": "Encounter", "status": "finished", "class": {"code": "IMP"},
     "identifier": [{"system": "urn:fall", "value": "F-1"}]},
]  # fmt: skip
IN_CONTAINED = {
    "author.family=muller": "p", "author:Practitioner.given=EVA": "p", "author.given=Mar": "", "author.name=mull": "po",
    "author:Practitioner.name=mull": "p", "author:Organization.name=mull": "o", "author:Organization.name=mk": "o",
    "author.identifier=urn:lanr|123456601": "p", "author:Organization.identifier=123456601": "",
    "author:Organization.identifier=7": "o", "author:identifier=7": "o", "authenticator.family=muller": "o",
    "encounter.identifier=urn:fall|F-1": "e", "encounter:Encounter.identifier=F-1": "e",
    "encounter.identifier=urn:fall|": "e", "encounter.identifier=F-2": "", "author.family=%01Practitioner": "",
    "author.family=muller&author.given=anna": "p", "author.family=muller&encounter.identifier=F-1": "",
}  # fmt: skip


def contained(ident: str) -> dict[str, Any]:
    """A document that refers to one of those it contains."""
    refers = {"reference": f"#{ident}"}
    if ident == "e":
        return {"contained": WRITTEN_BY, "context": {"encounter": [refers]}}
    return {"contained": WRITTEN_BY, "author": [refers]} | (
        {"authenticator": {"reference": "#p"}} if ident == "o" else {}
    )


@pytest.mark.parametrize("asked", IN_CONTAINED)
def test_chains_lead_into_what_a_document_contains(place: Place, caller: Caller, asked: str) -> None:
    ids = place.add_documents([{"details": contained(ident)} for ident in "poe"] + [{}])
    names = dict(zip(map(str, ids), [*"poe", "nobody's"], strict=True))
    found = caller.get(f"DocumentReference?{asked}")
    assert "Befund-Ignored" not in found.headers
    entries = found.get_json(force=True).get("entry", [])
    assert sorted(names[entry["resource"]["id"]] for entry in entries) == sorted(IN_CONTAINED[asked])


SORTED = ["type", "-type,date", "status,-date", "contenttype,-type,_id", "-description", "period,_id", "author,-_id",
          "-_lastUpdated,_id", "identifier,type,-status,date"]  # fmt: skip


@pytest.mark.parametrize("order", SORTED)
def test_documents_are_sorted_by_several_keys_page_by_page(place: Place, caller: Caller, order: str) -> None:
    given = [
        {"content_type": f"text/{'abc'[number % 3]}",
         "status": Status.ENTERED_IN_ERROR if number % 4 == 1 else Status.CURRENT,
         "details": {"type": {"coding": [{"code": str(number % 3)}, {"code": "9"}]} if number % 5 else {},
                     "description": f"Brief {number % 2}", "author": [{"reference": f"Practitioner/{number % 4}"}],
                     "identifier": [{"value": str(number // 3)}],
                     "context": {"period": {"start": f"2026-03-0{number % 3 + 1}"}} if number % 2 else {}}}
        for number in range(11)
    ]  # fmt: skip
    ids = [str(ident) for ident in place.add_documents(given)]

    def value(number: int, name: str, falling: bool) -> Any:
        one = given[number]
        end = max if falling else min
        values = {
            "date": [number], "_lastUpdated": [number], "_id": [ids[number]], "contenttype": [one["content_type"]],
            "status": [one["status"] is Status.ENTERED_IN_ERROR],
            "type": [f"{bar}{item['code']}" for item in one["details"]["type"].get("coding", []) for bar in ("", "|")],
            "description": [one["details"]["description"]], "identifier": [one["details"]["identifier"][0]["value"]],
            "author": [one["details"]["author"][0]["reference"]],
            "period": [period["start"] for period in [one["details"]["context"].get("period")] if period],
        }[name]  # fmt: skip
        return end(values) if values else None

    wanted = sorted(range(11), key=lambda number: ids[number])
    for key in reversed(order.split(",")):
        name, falling = key.removeprefix("-"), key.startswith("-")
        there = [number for number in wanted if value(number, name, falling) is not None]
        nowhere = [number for number in wanted if value(number, name, falling) is None]
        wanted = sorted(there, key=lambda number: value(number, name, falling), reverse=falling) + nowhere
        if falling:  # a sort that is turned round turns ties round too
            wanted = sorted(wanted, key=lambda n: _rank(value(n, name, True), [value(m, name, True) for m in there]))
    assert caller.ids(f"DocumentReference?_sort={order}&_count=4") == [ids[number] for number in wanted]
    one = caller.bundle(f"DocumentReference?_sort={order}&type=1&_count=2")
    assert one["total"] == sum(number % 3 == 1 and number % 5 > 0 for number in range(11))
    assert caller.bundle(f"DocumentReference?_sort={order}&_summary=count")["total"] == 11


def _rank(value: Any, others: list[Any]) -> int:
    return 10**6 if value is None else sum(other > value for other in others)


def test_patients_are_sorted_by_several_keys(place: Place, caller: Caller) -> None:
    people = [
        ("Ott", "Eva", "1970-01-01"),
        ("Abel", "Jan", "1980"),
        ("Ott", "Adam", "1990-05"),
        ("Zorn", "Uwe", "1970-01-01"),
    ]
    for number, (family, given, born) in enumerate(people):
        place.add_patient(("urn:a", str(9 - number)), name=[{"family": family, "given": [given]}], birthDate=born)

    def families(order: str) -> list[str]:
        return [item["name"][0]["given"][0] for item in caller.all(f"Patient?_sort={order}&_count=3")]

    assert families("family,given") == ["Jan", "Adam", "Eva", "Uwe"]
    assert families("birthdate,-family") == ["Uwe", "Eva", "Jan", "Adam"]
    assert families("-family,_lastUpdated") == ["Uwe", "Eva", "Adam", "Jan"]
    assert families("identifier") == ["Uwe", "Adam", "Jan", "Eva"]
    for wrong in ("family,family", "unknown", "_count", "a,b,c,d,e", ""):
        assert "_sort" not in caller.bundle(f"Patient?_sort={wrong}")["link"][0]["url"]


CHAINED = {
    "patient.family=must": "ab", "patient.family=muster": "a", "patient.family:exact=Muster": "a",
    "patient.family=x": "", "patient.name=eva": "b", "subject.given=MAX": "a", "subject:Patient.given=max,eva": "ab",
    "patient.gender=female": "b", "patient.birthdate=1970": "ab", "patient:Patient.birthdate=gt1970-03": "b",
    "patient.birthdate=ne1970-03": "b", "patient.birthdate=sa1970-03-04": "ab", "patient.birthdate=eb1970-04": "a",
    "patient.family=must&patient.given=eva": "b", "patient.family=must&type=1": "b",
    "patient.family=must&status=entered-in-error": "", "patient.family=%00": "",
}  # fmt: skip


@pytest.mark.parametrize("asked", CHAINED)
def test_documents_are_found_by_what_their_patient_is_found_by(place: Place, caller: Caller, asked: str) -> None:
    other = make_place(place.app, "Andere Praxis", "max@example.org")
    people = {
        "a": {"name": [{"family": "Muster", "given": ["Max"]}], "birthDate": "1970-03-05", "gender": "male"},
        "b": {"name": [{"family": "Müstner", "given": ["Eva"]}], "birthDate": "1970-04", "gender": "female"},
    }
    documents = [{"patient_id": place.add_patient(**person)} for person in people.values()]
    documents[1]["details"] = {"type": {"coding": [{"code": "1"}]}}
    names = dict(zip(map(str, place.add_documents([*documents, {}])), [*people, "nobody's"], strict=True))
    other.add_documents([{"patient_id": other.add_patient(**person)} for person in people.values()])
    found = caller.bundle(f"DocumentReference?{asked}")
    assert sorted(names[entry["resource"]["id"]] for entry in found.get("entry", [])) == sorted(CHAINED[asked])
    assert found["total"] == len(CHAINED[asked])


def test_a_chain_tells_of_patients_and_needs_the_right_to_search_them(place: Place) -> None:
    reader = place.program("system/DocumentReference.rs system/Patient.r")
    assert reader.get("DocumentReference?type=1").status_code == 200
    refused = reader.get("DocumentReference?patient.family=Muster")
    assert (refused.status_code, "system/Patient.s" in refused.get_data(as_text=True)) == (403, True)
    posted = reader.open("POST", "DocumentReference/_search", data={"subject:Patient.birthdate": "1970"})
    assert posted.status_code == 403


def test_a_document_is_found_by_every_address_its_file_ever_had(place: Place, caller: Caller) -> None:
    document, _ = place.add_documents([{}, {}])
    other = Caller(make_place(place.app, "Andere Praxis", "max@example.org"))
    (entry,) = caller.bundle(f"DocumentReference?_id={document}")["entry"]
    url = entry["resource"]["content"][0]["attachment"]["url"]
    addresses = {url, url.replace("expires=", "expires=1"), url.partition("?")[0], f"Binary/{document}"}
    addresses.add(f"http://localhost{place.path}/Binary/{document}")
    for address in addresses:
        asked = {"location": address}
        found = caller.get("DocumentReference", query_string=asked, headers={"Prefer": "handling=strict"})
        assert [one["resource"]["id"] for one in found.get_json(force=True)["entry"]] == [str(document)], address
        assert other.get("DocumentReference", query_string=asked).get_json(force=True)["total"] == 0
    for address in ("https://elsewhere.example/letter.pdf", f"Patient/{document}", str(document)):
        assert caller.get("DocumentReference", query_string={"location": address}).get_json(force=True)["total"] == 0
