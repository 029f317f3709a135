"""Codes of diagnoses: which diagnosis each rests on, and its FHIR Condition, by the table of the workbench's script."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Literal

import orjson
from pydantic import BaseModel, ConfigDict

from clinical.contract import Certainty, Side

Resource = dict[str, Any]
_STATIC = Path(__file__).parents[1] / "static"
TABLE: Final = orjson.loads((_STATIC / "workbench" / "condition.json").read_bytes())
CONFIDENCE: Final = "urn:befund:confidence"


class FoundCode(BaseModel):
    """A code of a letter's diagnoses.

    `line`: the diagnosis it rests on, None where on none; `start`, `end`: its words there, in code points. `first`: of
    the second code of a pair, the code it stands with. `chosen`: by a person.
    """

    model_config = ConfigDict(frozen=True)

    code: str
    title: str
    certainty: Certainty | None = None
    side: Side | None = None
    confidence: Literal["high", "medium", "low", "score"] | None = None
    line: int | None = None
    start: int = 0
    end: int = 0
    first: str | None = None
    mark: Literal["", "†", "*", "!"] = ""
    chosen: bool = False


def codes_of(tiers: Sequence[dict[str, Any]], lines: Sequence[str], first: int) -> list[FoundCode]:
    """The codes of the last tier; certainty and side are those of the mention that a code rests on, which the first
    tier tells. `lines` were asked about together, the first of them being diagnosis number `first`."""
    mentions: list[dict[str, Any]] = next((tier["mentions"] for tier in tiers if tier.get("mentions")), [])
    listed = {entry["code"]: entry for tier in reversed(tiers) for entry in tier.get("codes", [])}
    last = [entry["code"] for entry in tiers[-1].get("codes", [])]
    entries = [*(listed[code] for code in last), *(tiers[0].get("beyond") or [])]
    seen: set[str] = set()
    found = []
    for entry in entries:
        if entry["code"] in seen:
            continue
        span = entry.get("evidence") or {}
        said = [one for one in mentions if span and _meet(one["span"], span)]
        line, start, end = _placed(span, lines)
        found.append(FoundCode(
            code=entry["code"], title=entry["description"], confidence=entry["confidence"],
            certainty=entry.get("certainty") or (said[0]["certainty"] if said else None),
            side=entry.get("side") or (said[0]["side"] if said else None),
            line=None if line is None else first + line, start=start, end=end,
            first=entry["pair"] if entry.get("pair") in seen else None,
        ))  # fmt: skip
        seen.add(entry["code"])
    return found


def condition(code: FoundCode | None, version: str | None, subject: Resource, words: str, more: Resource) -> Resource:
    """The Condition of a code, or of a diagnosis without one; `more` are its further elements."""
    resource: Resource = {"resourceType": "Condition", **more, "subject": subject}
    if code is None:
        return resource | {"code": {"text": words}}
    for element, kind, known in (("clinicalStatus", "clinical", "clinical"),
                                 ("verificationStatus", "ver-status", "verified")):  # fmt: skip
        if status := TABLE[known].get(code.certainty):
            resource[element] = {"coding": [{"system": TABLE["status"] + kind, "code": status}]}
    marks = [
        {"url": url, "valueCoding": {"system": system, "code": value}}
        for name, (url, system) in TABLE["markers"].items()
        if (value := getattr(code, name))
    ]
    if code.confidence and not code.chosen:
        marks.append({"url": CONFIDENCE, "valueCode": code.confidence})
    coding: Resource = {"extension": marks} if marks else {}
    coding |= {"system": TABLE["system"]} | ({"version": version} if version else {})
    coding |= {"code": code.code, "display": code.title, "userSelected": code.chosen}
    return resource | {"code": {"coding": [coding]} | ({"text": words} if words else {})}


def _meet(one: dict[str, int], other: dict[str, int]) -> bool:
    return one["start"] < other["end"] and other["start"] < one["end"]


def _placed(span: dict[str, int], lines: Sequence[str]) -> tuple[int | None, int, int]:
    """The line that a place of the query is on, and its words there."""
    at = 0
    for number, line in enumerate(lines):
        if span and at <= span["start"] <= at + len(line):
            return number, span["start"] - at, min(span["end"] - at, len(line))
        at += len(line) + 1
    return None, 0, 0
