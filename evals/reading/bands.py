"""What `high` and `medium` are worth in generated texts, by kind of text: precision with clustered intervals, coverage,
and what the codes are believed to be, on average."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from catalog_build.training.texts import NOT_CODED, Text, WrittenMention
from clinical.search import NONE, Elsewhere, SearchIndex
from evals.reports.intervals import clustered, share

LEVELS: Final = ("high", "medium")


class ShownCode(NamedTuple):
    """A code that is shown, how surely, and whether the text means it."""

    kind: str
    level: str
    code: str
    probability: float
    right: bool


def shown_of(index: SearchIndex, texts: Sequence[Text]) -> list[ShownCode]:
    """Every code of high or medium confidence; right is what some mention that it overlaps means."""
    meant, found = _Meant(index), []
    for text in texts:
        for hit in index.search(text.text, 10):
            if hit.confidence != "low":
                near = [said for said in text.said if said.start < hit.end and hit.start < said.end]
                right = any(hit.code in meant.codes(said) for said in near)
                found.append(ShownCode(text.kind, hit.confidence, hit.code, hit.probability, right))
    return found


def bands(index: SearchIndex, texts: Sequence[Text]) -> dict[str, dict[str, Any]]:
    """By kind of text and for `all`: `stated` mentions that ask for a code, the share of them that is shown, and for
    each level its number of codes, their precision [value, low, high] and the mean of their probabilities."""
    found, meant, result = shown_of(index, texts), _Meant(index), {}
    for kind in (*sorted({text.kind for text in texts}), "all"):
        own = [one for one in found if kind in (one.kind, "all")]
        stated = sum(bool(meant.codes(said)) for text in texts if kind in (text.kind, "all") for said in text.said)
        right = sum(one.right for one in own)
        result[kind] = {"stated": stated, "coverage": share(min(right, stated), stated)} | {
            level: _band([one for one in own if one.level == level]) for level in LEVELS
        }
    return result


def _band(own: Sequence[ShownCode]) -> dict[str, Any]:
    believed = round(sum(one.probability for one in own) / len(own), 4) if own else None
    precision = clustered([one.right for one in own], [one.code[:3] for one in own])
    return {"codes": len(own), "precision": precision, "believed": believed}


class _Meant:
    """The codes that a mention of a generated text asks for."""

    def __init__(self, index: SearchIndex) -> None:
        self._catalog, self._elsewhere = index.catalog, Elsewhere(index.catalog, index.wordings)

    def codes(self, said: WrittenMention) -> set[str]:
        if said.claim == "excluded" or said.code == NOT_CODED:
            return set()
        if said.claim == "present" or said.claim == "suspected":
            return {said.code}
        target = self._elsewhere.family if said.claim == "family" else self._elsewhere.past
        number = int(target[self._catalog.number(said.code)])
        return {self._catalog.codes[number].code} if number != NONE else set()


def lines(found: dict[str, dict[str, Any]]) -> list[str]:
    """The table."""
    rows = ["kind         stated  shown   high: codes  right                believed   medium: codes  right"]
    for kind, own in found.items():
        cells = [f"{kind:12s} {own['stated']:6d}  {own['coverage'][0] if own['coverage'] else 0:.3f}"]
        for level in LEVELS:
            band = own[level]
            right = "{:.3f} ({:.3f}-{:.3f})".format(*band["precision"]) if band["precision"] else "-" * 5
            cells.append(f"{band['codes']:6d}  {right:20s} {band['believed'] or 0:.3f}")
        rows.append("   ".join(cells))
    return rows
