"""Cases of HL7's terminology ecosystem tests that a server of one code system can be asked, with ICD-10-GM in place of
the systems that the originals post: `terminology_cases.jsonl`, by the name of the original; `note` where ours differs.
"""

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from bentos.api.terminology import BASE
from tests.bentos.test_terminology import codes, issues, values

ONE_API = True

CASES = [
    json.loads(line) for line in Path(__file__).with_name("terminology_cases.jsonl").read_text("utf-8").splitlines()
]
TYPES = {bool: "valueBoolean", int: "valueInteger", str: "valueString"}
OBJECTS = {"valueSet": "resource", "coding": "valueCoding", "codeableConcept": "valueCodeableConcept"}


def body_of(parameters: dict[str, Any]) -> dict[str, Any]:
    """The Parameters resource of a case."""
    rows = [{"name": name, OBJECTS.get(name) or TYPES[type(value)]: value} for name, value in parameters.items()]
    return {"resourceType": "Parameters", "parameter": rows}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_a_case_of_the_ecosystem(api: httpx2.Client, case: dict[str, Any]) -> None:
    expected = case["expected"]
    answer = api.post(f"{BASE}/{case['path']}", json=body_of(case["parameters"]))
    assert answer.status_code == expected.get("status", 200), answer.text
    found = answer.json()
    if "status" in expected:
        said = [(each["severity"], each["details"]["coding"][0]["code"]) for each in found["issue"]]
        assert said == [tuple(each) for each in expected["issues"]]
        return
    if "codes" in expected:
        assert codes(found) == expected["codes"]
    assert set(expected.get("includes", ())) <= set(codes(found)) if "includes" in expected else True
    if "total" in expected:
        assert found["expansion"]["total"] == expected["total"]
    if "result" in expected:
        assert values(found)["result"] is expected["result"]
        assert issues(found) == [tuple(each) for each in expected["issues"]]
    if "values" in expected:
        assert values(found).items() >= expected["values"].items()
    if "places" in expected:
        assert [each["expression"][0] for each in values(found)["issues"]["issue"]] == expected["places"]
