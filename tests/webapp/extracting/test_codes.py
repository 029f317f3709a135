"""Codes of several diagnoses that were asked about together: each on its own, with the words it rests on."""

from typing import Any

from clinical.contract import QUERY_MAX
from webapp.extracting.asking import _queries
from webapp.extracting.codes import TABLE, codes_of, condition

LINES = ["Gonarthrose rechts", "", "Diabetes mellitus Typ 2 mit Nephropathie"]


def entry(code: str, start: int, end: int, **more: Any) -> dict[str, Any]:
    said = {"code": code, "description": code, "confidence": "high", "pair": None, "certainty": None, "side": None}
    return said | {"evidence": {"start": start, "end": end}} | more


def test_the_last_tier_decides_the_codes_and_the_first_says_certainty_and_side() -> None:
    mentions = [
        {"span": {"start": 0, "end": 18}, "certainty": "G", "side": "R"},
        {"span": {"start": 20, "end": 60}, "certainty": "V", "side": None},
    ]
    tiers = [
        {"codes": [entry("E11.20", 20, 60), entry("Z99.9", 0, 5)], "mentions": mentions, "beyond": []},
        {"codes": [entry("M17.9", 0, 11), entry("E11.20", 20, 43, pair="N08.3"), entry("N08.3", 20, 43, pair="E11.20"),
                   entry("A00.0", 0, 0, evidence=None)]},
    ]  # fmt: skip
    found = {one.code: one for one in codes_of(tiers, LINES, 5)}
    assert list(found) == ["M17.9", "E11.20", "N08.3", "A00.0"]
    assert (found["M17.9"].line, found["M17.9"].side, found["M17.9"].certainty) == (5, "R", "G")
    assert (found["E11.20"].line, found["E11.20"].certainty, found["E11.20"].first) == (7, "V", None)
    assert (found["N08.3"].line, found["N08.3"].certainty, found["N08.3"].first) == (7, "V", "E11.20")
    assert LINES[0][found["M17.9"].start : found["M17.9"].end] == "Gonarthrose"
    assert found["A00.0"].line is None
    made = condition(found["N08.3"].model_copy(update={"mark": "*"}), "2026", {}, "", {})
    assert {one["url"] for one in made["code"]["coding"][0]["extension"]} >= {TABLE["markers"]["mark"][0]}


def test_diagnoses_go_in_queries_that_the_api_takes_and_keep_their_numbers() -> None:
    diagnoses = ["a\nb", "", "x" * (QUERY_MAX + 5), *(["y" * 900] * 5)]
    asked = list(_queries(diagnoses))
    assert all(len("\n".join(lines)) <= QUERY_MAX for _, lines in asked)
    assert [number + place for number, lines in asked for place in range(len(lines))] == list(range(len(diagnoses)))
    assert asked[0][1][0] == "a b"
    assert list(_queries([])) == list(_queries(["", " "])) == []
