"""The table of HL7's cases in docs/terminology.md is that of `terminology_cases.jsonl`."""

from collections import Counter

from tests import docs
from tests.bentos.test_terminology_cases import CASES

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
