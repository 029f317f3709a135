"""HL7's terminology cases, and the table of the documentation that counts them."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests import docs
from tests.bentos.test_terminology import codes, issues, posted, values

ONE_API = True

CASES = [
    json.loads(line) for line in Path(__file__).with_name("terminology_cases.jsonl").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_a_case_of_the_ecosystem(api: httpx2.Client, case: dict[str, Any]) -> None:
    expected = case["expected"]
    answer = posted(api, case["path"], **case["parameters"])
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


# --- The table of HL7's cases in docs/terminology.md is that of `terminology_cases.jsonl` ----------------------------


PAGE = docs.ROOT / "docs" / "terminology.md"


def table() -> str:
    """A line for each suite of HL7's: the cases, and how ours differ."""
    lines = ["| suite | asked | as HL7 expects | |", "|---|---|---|---|"]
    for suite, asked in Counter(case["suite"] for case in CASES).items():
        own = [case for case in CASES if case["suite"] == suite]
        notes = [f"{case['case']}: {note}" for case in own if (note := case["expected"].get("note"))]
        lines.append(f"| {suite} | {asked} | {asked - len(notes)} | {'; '.join(notes)} |")
    noted = sum("note" in case["expected"] for case in CASES)
    return "\n".join([*lines, f"| all | {len(CASES)} | {len(CASES) - noted} ({1 - noted / len(CASES):.0%}) | |"])


def test_the_table_is_that_of_the_cases() -> None:
    shown = PAGE.read_text("utf-8").partition("<!-- cases -->\n")[2].partition("\n<!-- /cases -->")[0]
    assert shown == table()


def test_no_case_is_there_twice() -> None:
    assert [name for name, times in Counter(case["case"] for case in CASES).items() if times > 1] == []
