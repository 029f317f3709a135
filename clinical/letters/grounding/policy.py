"""Policy for a value without evidence: it does not reach the caller, and is named (contract, section 4).

The judgement (`validator`) and this policy are apart: a finding keeps its value and its reason whatever follows of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from clinical.contract import Arztbrief, Evidence, FieldState, Match, ReviewNote, Zuweisung
from clinical.letters.fields import Fields

Reason = Literal["no_such_day", "not_in_text", "no_keyword", "not_a_value"]
"""Reasons of removal: an impossible or incomplete date; not evidenced; no explicit word; not of the fixed
list."""


class Verdict(NamedTuple):
    """Verdict on one value: kept with its place and kind of match, or removed with a reason.

    `path` as in the answer of the model (`diagnosen[2]`, `patient.plz`); `value` is what is kept (dates in ISO form) or
    what was removed, as the model gave it. `start`, `end`: code points of the text, None if removed.
    """

    path: str
    value: str
    match: Match | None = None
    start: int = 0
    end: int = 0
    reason: Reason | None = None
    words: tuple[str, ...] = ()
    """Of a removed value of free text: its words and numbers that stand nowhere in the letter in any form."""
    denied: bool = False
    """Removed, and the letter says that it is not so."""

    @property
    def kept(self) -> bool:
        return self.reason is None


@dataclass(frozen=True, slots=True)
class Grounded:
    """A document in which every value is evidenced, the list of what was removed, and where what remains stands."""

    data: Zuweisung | Arztbrief
    removed: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    states: tuple[FieldState, ...] = ()
    review: tuple[ReviewNote, ...] = ()


def apply(findings: tuple[Verdict, ...], document: type[Zuweisung] | type[Arztbrief], fields: Fields) -> Grounded:
    """The policy: what is not evidenced is null or leaves its list, and named (decisions, "removed_by_grounding")."""
    policy = _Policy(document, fields)
    for finding in findings:
        policy.take(finding)
    return policy.close()


_PLACE = re.compile(r"(?P<list>[a-z]+)\[(?P<number>\d+)\](?:\.(?P<inner>[a-z]+))?")


class _Policy:
    def __init__(self, document: type[Zuweisung] | type[Arztbrief], fields: Fields) -> None:
        self.document, self.fields = document, fields
        self.data: dict[str, Any] = {}
        self.removed: list[str] = []
        self.evidence: list[Evidence] = []
        self.states: list[FieldState] = []
        self.items: dict[str, dict[int, list[Verdict]]] = {}

    def take(self, finding: Verdict) -> None:
        place = _PLACE.fullmatch(finding.path)
        if place:
            self._open_list(place["list"])
            self.items[place["list"]].setdefault(int(place["number"]), []).append(finding)
        elif finding.kept:
            self._put(finding.path, finding.value)
            self._evidence(finding.path, finding)
        else:
            self._gone(finding.path, finding)
            self.removed.append(f"{finding.path}: {finding.value}")

    def _gone(self, path: str, finding: Verdict) -> None:
        state: Literal["denied", "removed"] = "denied" if finding.denied else "removed"
        self.states.append(FieldState(path=path, state=state, value=finding.value, words=finding.words))

    def _open_list(self, name: str) -> None:
        if name not in self.items:
            self.items[name] = {}
            self.removed.append(name)  # holds the list's place in the order of the schema until its entries are known

    def _put(self, path: str, value: str) -> None:
        outer, _, inner = path.partition(".")
        if inner:
            self.data.setdefault(outer, {})[inner] = value
        else:
            self.data[outer] = value

    def _evidence(self, path: str, finding: Verdict) -> None:
        assert finding.match is not None  # noqa: S101 - a kept finding has a match
        self.evidence.append(Evidence(path=path, start=finding.start, end=finding.end, match=finding.match))
        self.states.append(FieldState(path=path, state="stated"))

    def close(self) -> Grounded:
        for name, items in self.items.items():
            entries, lines = self._plain(name, items) if name in self.fields else self._objects(name, items)
            self.data[name] = entries
            at = self.removed.index(name)
            self.removed[at : at + 1] = lines
        data = self.document.model_validate(self.data)
        return Grounded(data, tuple(self.removed), tuple(self.evidence), tuple(self.states))

    def _plain(self, name: str, items: dict[int, list[Verdict]]) -> tuple[list[str], list[str]]:
        entries: list[str] = []
        gone = 0
        for (finding,) in items.values():
            if finding.kept:
                self._evidence(f"{name}[{len(entries)}]", finding)
                entries.append(finding.value)
            else:
                self._gone(name, finding)
                gone += 1
        return entries, [f"{name}: {gone}"] if gone else []

    def _objects(self, name: str, items: dict[int, list[Verdict]]) -> tuple[list[dict[str, str]], list[str]]:
        """An object without an evidenced value that its list requires is none: no procedure without its name."""
        required = {path.rpartition(".")[2] for path, row in self.fields.items() if row.part == name and row.required}
        entries: list[dict[str, str]] = []
        lines: list[str] = []
        gone = 0
        for findings in items.values():
            inner = {finding.path.rpartition(".")[2]: finding for finding in findings}
            refused = next((inner[key] for key in inner if key in required and not inner[key].kept), None)
            if refused or not any(one.kept for one in findings):
                self._gone(name, refused or findings[0])
                gone += 1
                continue
            path = f"{name}[{len(entries)}]"
            entries.append({key: finding.value for key, finding in inner.items() if finding.kept})
            for key, finding in inner.items():
                if finding.kept:
                    self._evidence(f"{path}.{key}", finding)
                else:
                    self._gone(f"{path}.{key}", finding)
                    lines.append(f"{path}.{key}: {finding.value}")
        return entries, ([f"{name}: {gone}"] if gone else []) + lines
