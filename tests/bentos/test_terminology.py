"""FHIR terminology over HTTP: look up, validate, expand, compare; in JSON and XML, with the API's keys and limits."""

from typing import Any

import httpx2
import pytest
from fhir.resources.R4B import get_fhir_model_class

from bentos.api.terminology import BASE, NO_STORE
from bentos.keys.keys import KeyLimits, Keys
from bentos.terminology import SYSTEM
from clinical.fhir import from_xml
from clinical.reading.index import SearchIndex
from clinical.settings import Settings
from tests.bentos.conftest import running
from tests.caches import kept_by_caches

ONE_API = True

OLDER = "http://fhir.de/CodeSystem/dimdi/icd-10-gm"
ALL = f"{SYSTEM}?fhir_vs"
TYPES = {bool: "valueBoolean", int: "valueInteger", str: "valueString"}
OBJECTS = {"valueSet": "resource", "tx-resource": "resource", "coding": "valueCoding"}
OBJECTS |= {"codeableConcept": "valueCodeableConcept"}


def asked(api: httpx2.Client, path: str, **parameters: str) -> dict:
    """The resource of a GET; a valid one of its kind."""
    answer = api.get(f"{BASE}/{path}", params=parameters)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/fhir+json; charset=utf-8"
    assert answer.headers["cache-control"] == NO_STORE["Cache-Control"]
    resource = answer.json()
    get_fhir_model_class(resource["resourceType"]).model_validate(resource)
    return resource


def posted(api: httpx2.Client, path: str, /, **parameters: Any) -> httpx2.Response:
    """The answer to a Parameters resource."""
    rows = [{"name": name, OBJECTS.get(name) or TYPES[type(value)]: value} for name, value in parameters.items()]
    return api.post(f"{BASE}/{path}", json={"resourceType": "Parameters", "parameter": rows})


def values(resource: dict) -> dict:
    """Parameters by name, the last of a name."""
    return {
        row["name"]: next((row[key] for key in row if key not in ("name", "part")), None)
        for row in resource["parameter"]
    }


def issues(resource: dict) -> list[tuple[str, str]]:
    """Severity and kind of every issue."""
    found = values(resource).get("issues", {"issue": []})["issue"]
    return [(each["severity"], each["details"]["coding"][0]["code"]) for each in found]


def told(resource: dict) -> dict[str, list]:
    """The properties of a $lookup."""
    found: dict[str, list] = {}
    for row in resource["parameter"]:
        if row["name"] == "property":
            name, value = (next(part[key] for key in part if key != "name") for part in row["part"])
            found.setdefault(name, []).append(value)
    return found


def codes(resource: dict) -> list[str]:
    """The codes of an expansion."""
    return [each["code"] for each in resource["expansion"].get("contains", [])]


def test_the_statements_name_what_the_server_does(api: httpx2.Client) -> None:
    statement = asked(api, "metadata")
    kinds = {each["type"]: each for each in statement["rest"][0]["resource"]}
    assert statement["fhirVersion"] == "4.0.1"
    assert {one["name"] for one in kinds["CodeSystem"]["operation"]} == {"lookup", "validate-code", "subsumes"}
    system = asked(api, "metadata", mode="terminology")["codeSystem"][0]
    assert system["uri"] == SYSTEM
    assert [(each["code"], each["isDefault"]) for each in system["version"]] == [("2026", True)]


def test_a_code_system_is_found_and_read(api: httpx2.Client) -> None:
    found = asked(api, "CodeSystem", url=OLDER, version="2026")
    assert found["total"] == 1
    one = found["entry"][0]["resource"]
    assert asked(api, f"CodeSystem/{one['id']}") == one
    assert asked(api, "CodeSystem", url=SYSTEM, version="1999")["total"] == 0
    assert asked(api, "ValueSet", url=f"{SYSTEM}?fhir_vs=isa/E11")["total"] == 1
    assert api.get(f"{BASE}/CodeSystem/none").json()["resourceType"] == "OperationOutcome"


@pytest.mark.parametrize("system", [SYSTEM, OLDER])
def test_a_code_is_looked_up(api: httpx2.Client, index: SearchIndex, system: str) -> None:
    found = asked(api, "CodeSystem/$lookup", system=system, code="E11.90")
    code = index.catalog.get("E11.90")
    assert code is not None
    assert values(found)["display"] == code.title
    assert values(found)["version"] == "2026"
    about = told(found)
    assert about["parent"] == ["E11.9"]
    assert about["terminal"] == [True]
    assert about["use-295"] == ["P"]
    assert about["chapter"] == ["04"]
    assert set(told(asked(api, "CodeSystem/$lookup", system=system, code="E11", property="child"))) == {"child"}


def test_a_code_that_is_asked_for_again_is_told_the_same_in_json_and_xml(api: httpx2.Client) -> None:
    path = f"{BASE}/CodeSystem/$lookup"
    for code in ("E11.90", "I10.90", "E11.90"):
        told_of_it = asked(api, "CodeSystem/$lookup", system=SYSTEM, code=code)
        assert values(told_of_it)["code"] == code
        answer = api.get(path, params={"system": SYSTEM, "code": code, "_format": "xml"})
        assert answer.headers["content-type"] == "application/fhir+xml; charset=utf-8"
        assert from_xml(answer.content) == told_of_it, "made anew, and read back"


def test_an_unknown_code_is_no_answer(api: httpx2.Client) -> None:
    answer = api.get(f"{BASE}/CodeSystem/$lookup", params={"system": SYSTEM, "code": "E11.99"})
    assert answer.status_code == 404
    assert answer.json()["issue"][0]["details"]["coding"][0]["code"] == "not-found"


@pytest.mark.parametrize(
    ("written", "result", "said"),
    [
        ("E11.90", True, []),
        ("e11.90", True, [("information", "code-rule")]),
        ("E11", True, [("warning", "code-comment")]),
        ("E11.90 G", True, [("information", "code-rule")]),
        ("E1190", False, [("error", "invalid-code")]),
        ("E11.9X", False, [("error", "invalid-code")]),
    ],
)
def test_a_code_is_valid_or_not_however_it_is_written(
    api: httpx2.Client, written: str, result: bool, said: list[tuple[str, str]]
) -> None:
    found = asked(api, "CodeSystem/$validate-code", url=SYSTEM, code=written)
    assert values(found)["result"] is result
    assert issues(found) == said
    assert (values(found).get("normalized-code") == "E11.90") == (result and said == [("information", "code-rule")])


def test_marks_are_read_and_wrong_ones_named(api: httpx2.Client, index: SearchIndex) -> None:
    star = next(code for code in index.catalog if code.kind == "asterisk" and code.terminal)
    right = asked(api, "CodeSystem/$validate-code", url=SYSTEM, code=star.marked)
    wrong = asked(api, "CodeSystem/$validate-code", url=SYSTEM, code=f"{star.code}!")
    assert values(right)["result"] is values(wrong)["result"] is True
    assert issues(right) == [("information", "code-rule"), ("information", "code-comment")]
    assert issues(wrong)[0] == ("warning", "code-rule")


def test_a_wrong_display_is_a_warning_with_the_right_one(api: httpx2.Client) -> None:
    given = {"url": SYSTEM, "code": "E11.90", "display": "Schnupfen"}
    lenient = asked(api, "CodeSystem/$validate-code", **given)
    strict = asked(api, "CodeSystem/$validate-code", **given, **{"lenient-display-validation": "false"})
    assert (values(lenient)["result"], issues(lenient)) == (True, [("warning", "invalid-display")])
    assert (values(strict)["result"], issues(strict)) == (False, [("error", "invalid-display")])
    assert values(lenient)["display"] in values(lenient)["message"]


def test_a_concept_is_valid_if_one_of_its_codings_is_in_the_set(api: httpx2.Client) -> None:
    local, known = {"system": "http://example.org/local", "code": "x"}, {"system": SYSTEM, "code": "E11.90"}
    right, found = (
        posted(api, "ValueSet/$validate-code", url=f"{ALL}=isa/E11", codeableConcept={"coding": [coding]}).json()
        for coding in (known, local)
    )
    assert values(right)["result"] is True
    assert values(found)["result"] is False
    assert issues(found) == [("error", "not-in-vs"), ("error", "not-found"), ("information", "this-code-not-in-vs")]
    assert values(found)["x-unknown-system"] == "http://example.org/local"


def test_a_version_that_is_not_loaded_is_named(api: httpx2.Client) -> None:
    found = asked(api, "CodeSystem/$validate-code", url=SYSTEM, code="E11.90", version="1999")
    assert values(found)["result"] is False
    assert values(found)["x-caused-by-unknown-system"] == f"{SYSTEM}|1999"
    assert "Valid versions: 2026" in values(found)["message"]


@pytest.mark.parametrize(
    ("first", "second", "outcome"),
    [
        ("E11", "E11.90", "subsumes"),
        ("E11.90", "E11", "subsumed-by"),
        ("E11", "E11", "equivalent"),
        ("E11", "I10", "not-subsumed"),
    ],
)
def test_codes_subsume_each_other_or_not(api: httpx2.Client, first: str, second: str, outcome: str) -> None:
    found = asked(api, "CodeSystem/$subsumes", system=SYSTEM, codeA=first, codeB=second)
    assert values(found)["outcome"] == outcome


def test_an_implicit_set_is_expanded_page_by_page(api: httpx2.Client, index: SearchIndex) -> None:
    own = [code.code for code in index.catalog if code.code.startswith("E11")]
    whole = asked(api, "ValueSet/$expand", url=f"{SYSTEM}?fhir_vs=isa/E11")
    pages = [asked(api, "ValueSet/$expand", url=f"{ALL}=isa/E11", offset=str(at), count="3") for at in (0, 3)]
    assert codes(whole) == own
    assert [each for page in pages for each in codes(page)] == own[:6]
    assert {page["expansion"]["total"] for page in (whole, *pages)} == {len(own)}


def test_a_filter_suggests(api: httpx2.Client) -> None:
    found = asked(api, "ValueSet/$expand", url=ALL, filter="diab", count="5")
    assert codes(found)[0] == "E11.90"
    inside = asked(api, "ValueSet/$expand", url=f"{SYSTEM}?fhir_vs=isa/O24", filter="diab")
    assert codes(inside)
    assert all(code.startswith("O24") for code in codes(inside))


def included(*parts: dict, exclude: tuple[dict, ...] = ()) -> dict:
    """A value set of these parts of the system."""
    parts = tuple({"system": SYSTEM, **part} for part in parts)
    rest = {"exclude": [{"system": SYSTEM, **part} for part in exclude]} if exclude else {}
    return {"resourceType": "ValueSet", "url": "http://example.org/vs", "compose": {"include": list(parts), **rest}}


def by(name: str, op: str, value: str) -> dict:
    """A filter."""
    return {"property": name, "op": op, "value": value}


@pytest.mark.parametrize(
    ("value_set", "expected"),
    [
        (included({"filter": [by("concept", "descendent-of", "E11.9")]}), ["E11.90", "E11.91"]),
        (included({"filter": [by("concept", "regex", r"E11\.9\d")]}), ["E11.90", "E11.91"]),
        (included({"filter": [by("concept", "in", "E11.90,I10.90")]}), ["E11.90", "I10.90"]),
        (included({"filter": [by("concept", "is-a", "E11.9"), by("terminal", "=", "true")]}), ["E11.90", "E11.91"]),
        (included({"concept": [{"code": "I10.90"}, {"code": "none"}]}), ["I10.90"]),
        (included({"concept": [{"code": "E11.90"}]}, {"concept": [{"code": "I10.90"}]}), ["E11.90", "I10.90"]),
        (
            included({"filter": [by("concept", "is-a", "E11.9")]}, exclude=({"concept": [{"code": "E11.90"}]},)),
            ["E11.9", "E11.91"],
        ),
    ],
)
def test_a_posted_set_is_expanded(api: httpx2.Client, value_set: dict, expected: list[str]) -> None:
    assert codes(posted(api, "ValueSet/$expand", valueSet=value_set).json()) == expected
    assert codes(api.post(f"{BASE}/ValueSet/$expand", json=value_set).json()) == expected


def test_a_set_that_a_request_brings_along_is_imported(api: httpx2.Client) -> None:
    brought = included({"concept": [{"code": "E11.90"}, {"code": "I10.90"}]})
    wanted = {"resourceType": "ValueSet", "compose": {"include": [{"valueSet": [brought["url"]], "system": SYSTEM, "filter": [by("chapter", "=", "04")]}]}}  # fmt: skip  # noqa: E501
    answer = posted(api, "ValueSet/$expand", **{"valueSet": wanted, "tx-resource": brought})
    assert codes(answer.json()) == ["E11.90"]
    alone = api.post(f"{BASE}/ValueSet/$expand", json=wanted)
    assert alone.status_code == 404, "what one request brought along is gone with it"


@pytest.mark.parametrize(
    "wrong",
    [
        by("concept", "is-a", ""),
        by("colour", "=", "red"),
        by("concept", "regex", "(((("),
        by("terminal", "~", "true"),
    ],
)
def test_a_filter_that_says_nothing_is_refused(api: httpx2.Client, wrong: dict) -> None:
    answer = api.post(f"{BASE}/ValueSet/$expand", json=included({"filter": [wrong]}))
    assert answer.status_code == 400
    assert answer.json()["issue"][0]["expression"] == ["ValueSet.compose.include[0].filter[0]"]


def test_an_expression_that_others_take_for_ever_over_is_answered(api: httpx2.Client) -> None:
    hostile = included({"filter": [by("concept", "regex", "(.?){60}(.*)*X")]})
    assert codes(api.post(f"{BASE}/ValueSet/$expand", json=hostile, timeout=5).json()) == []


def test_no_word_of_a_filter_or_of_a_refused_url_is_kept(api: httpx2.Client) -> None:
    wanted = included({"filter": [by("concept", "regex", r"E11\.9\d|Zwirnwald")]})
    assert codes(api.post(f"{BASE}/ValueSet/$expand", json=wanted).json()) == ["E11.90", "E11.91"]
    assert api.get(f"{BASE}/ValueSet/$expand?url=http://example.org/Zwirnwald").status_code == 404
    assert kept_by_caches("Zwirnwald") == []


def test_designations_and_properties_are_told_where_they_are_asked_for(api: httpx2.Client) -> None:
    found = asked(api, "ValueSet/$expand", url=f"{ALL}=isa/I10", includeDesignations="true", property="terminal")
    one = next(each for each in found["expansion"]["contains"] if each["code"] == "I10.90")
    assert any("Hypertonie" in each["value"] for each in one["designation"])
    assert one["extension"][0]["extension"] == [{"url": "code", "valueCode": "terminal"}, {"url": "value", "valueBoolean": True}]  # fmt: skip  # noqa: E501


def test_xml_is_spoken_both_ways(api: httpx2.Client) -> None:
    parameters = get_fhir_model_class("Parameters").model_validate(
        {
            "resourceType": "Parameters",
            "parameter": [{"name": "url", "valueUri": SYSTEM}, {"name": "code", "valueCode": "E11.90"}],
        }
    )
    headers = {"Content-Type": "application/fhir+xml", "Accept": "application/fhir+xml"}
    answer = api.post(f"{BASE}/CodeSystem/$validate-code", content=parameters.model_dump_xml(), headers=headers)
    assert answer.headers["content-type"] == "application/fhir+xml; charset=utf-8"
    assert b'<name value="result"/><valueBoolean value="true"/>' in answer.content
    bomb = b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><Parameters xmlns="http://hl7.org/fhir"><id value="&e;"/></Parameters>'  # noqa: E501
    refused = api.post(f"{BASE}/CodeSystem/$validate-code", content=bomb, headers=headers)
    assert refused.status_code == 400
    assert b"root:" not in refused.content


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b'{"resourceType": "Patient"}', b'{"resourceType":"Parameters","parameter":[1]}']
)
def test_a_body_that_is_none_is_refused(api: httpx2.Client, body: bytes) -> None:
    answer = api.post(f"{BASE}/ValueSet/$expand", content=body)
    assert answer.status_code == 400
    assert answer.json()["resourceType"] == "OperationOutcome"


def test_keys_and_limits_hold_here_too(settings: Settings, index: SearchIndex, keys: Keys) -> None:
    key = keys.create("one", KeyLimits(per_minute=1, per_day=0))
    with running(settings, index) as client:
        path = f"{BASE}/CodeSystem/$lookup?system={SYSTEM}&code=E11"
        bare = client.get(path)
        assert bare.status_code == 401
        assert bare.headers["www-authenticate"].startswith("Bearer")
        assert bare.json()["issue"][0]["code"] == "login"
        known = {"Authorization": f"Bearer {key}"}
        assert client.get(path, headers=known).status_code == 200
        over = client.get(path, headers=known)
        assert (over.status_code, over.json()["issue"][0]["code"]) == (429, "throttled")
        assert int(over.headers["retry-after"]) > 0


def test_codes_are_suggested_while_one_types(api: httpx2.Client, index: SearchIndex) -> None:
    answer = api.post("/api/codes/suggest", json={"text": "diab", "limit": 3})
    found = answer.json()
    assert found["version"] == "2026"
    assert [len(found["codes"]), found["codes"][0]["code"]] == [3, "E11.90"]
    assert api.post("/api/codes/suggest", json={"text": " "}).status_code == 422
    men = api.post("/api/codes/suggest", json={"text": "schwanger", "sex": "M", "limit": 50}).json()["codes"]
    women = api.post("/api/codes/suggest", json={"text": "schwanger", "sex": "W", "limit": 50}).json()["codes"]
    fitting, first = (
        [index.catalog.codes[index.catalog.number(each["code"])].fits("M", None) for each in found]
        for found in (men, women)
    )
    assert not first[0], "what only women have comes first where a woman is asked for"
    assert fitting == sorted(fitting, reverse=True), "the codes of women come last"
    assert not fitting[-1], "and come"


def test_a_page_asks_and_nothing_of_it_is_logged(api: httpx2.Client, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    api.post("/api/codes/suggest", json={"text": "Geheimniskrämerei"})
    api.get(f"{BASE}/ValueSet/$expand", params={"url": ALL, "filter": "Geheimniskrämerei"})
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("befund")]
    assert ours
    assert not any("Geheim" in line for line in ours)
