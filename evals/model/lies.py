"""The lie set: letters with a sentence that tempts a reader to state what they do not say, of twelve classes.

A bait is a value and a letter that names it of somebody else, of another time, as denied, as a condition or in an empty
box. What matters is what comes out behind grounding; what the model told, grounding taken away, says how much it is
leaned on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal, NamedTuple

from clinical.contract import DocumentType, ExtractRequest, ExtractResponse, values_of
from clinical.letters import DOCUMENTS, field_of
from evals.letters.fields import alike, normal
from evals.letters.generator import letters
from evals.letters.negatives import KEYWORDS, TRAPS, negatives
from evals.measures.intervals import share
from evals.measures.results import ALL, Row, row

CLASSES: Final = (
    "denied in the letter", "true one denied", "a relative's", "true one of a relative",
    "list value without its word", "list value by implication", *TRAPS,
)  # fmt: skip
"""Classes of negatives whose letter says something that tempts; the others only ask what a letter has not."""
LETTERS, SEED = 80, 2026
Told = Literal["passed", "removed", "not told"]


class Bait(NamedTuple):
    """A class, the value that the letter does not state, with its path, and the letter as it is asked for."""

    kind: str
    path: str
    value: str
    request: ExtractRequest


def baits(tries: int) -> list[Bait]:
    """So many of each class; always the same."""
    made = letters(LETTERS, SEED)
    return [
        Bait(kind, one.path, one.value, ExtractRequest(document_type=_type(one.path), text=one.text, evidence=True))
        for kind in CLASSES
        for one in negatives(kind, made, tries, SEED)
    ]


def _type(path: str) -> DocumentType:
    """A type of document that has the field."""
    return "arztbrief" if path.partition(".")[0] in DOCUMENTS["arztbrief"].model_fields else "zuweisung"


def told(answer: ExtractResponse, bait: Bait) -> Told:
    """Say how the bait came out: it passed grounding, the model told it and grounding removed it, or neither. What is
    told with more words than the bait's ("Leistenhernie: nein") may hold what makes it no lie, and is none."""

    def same(path: str, value: Any) -> bool:
        if field_of(path) != bait.path:
            return False
        if bait.path in KEYWORDS:
            return bool(value == bait.value)
        return alike(value, bait.value) and len(normal(value).split()) <= len(normal(bait.value).split())

    if any(same(path, value) for path, value in values_of(answer.data.model_dump())):
        return "passed"
    states = answer.states or ()
    return "removed" if any(one.state != "stated" and same(one.path, one.value or "") for one in states) else "not told"


def rows_of(who: str, asked: Sequence[Bait], answers: Sequence[ExtractResponse | None]) -> list[Row]:
    """Lies that passed and lies told, over all and by class, of the letters that were answered; how many were not."""
    judged = [(bait.kind, told(one, bait)) for bait, one in zip(asked, answers, strict=True) if one is not None]
    rows = row("failed", f"{who}: {ALL}", len(asked), float(sum(one is None for one in answers)))
    for kind in (ALL, *CLASSES):
        own = [how for each, how in judged if kind in (ALL, each)]
        rows += row("lies_passed", f"{who}: {kind}", len(own), share(own.count("passed"), len(own)))
        rows += row("lies_told", f"{who}: {kind}", len(own), share(len(own) - own.count("not told"), len(own)))
    return rows
