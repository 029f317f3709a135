"""Answers of a model as tiers 2 and 3 show them: choices of codes it was shown, entries, a summary of one line."""

from __future__ import annotations

from collections.abc import Sequence

from clinical.coding.case import Case
from clinical.coding.prompts import CODES_MAX, Selection
from clinical.coding.rules import Correction, Proposal

NOTHING_FOUND = "Im Text wurde keine kodierbare Diagnose erkannt."
NOTHING_LEFT = "Kein Kode erfüllt die Vorgaben; bitte den Text prüfen."
SUMMARY_MAX = 1_200
REASONING_MAX = 400


def proposals(case: Case, selection: Selection) -> tuple[Proposal, ...]:
    """Codes that the model chose from those it was shown; any others are dropped."""
    chosen = []
    for choice in selection.codes[:CODES_MAX]:
        offer, finding = case.offers.get(choice.code), case.finding(choice.finding)
        if offer is not None and finding is not None:
            reasoning = one_line(choice.reasoning)[:REASONING_MAX]
            chosen.append(Proposal(offer, finding, choice.confidence, reasoning))
    return tuple(chosen)


def entries(outcome: Correction, details: bool) -> tuple:  # type: ignore[type-arg]
    """The entries of an event, best first."""
    return tuple(item.entry(details) for item in outcome.proposals)


def summary(selection: Selection, outcome: Correction) -> str:
    """The model's summary and what the rules removed; a tier left with no code says so instead."""
    words: Sequence[str] = (one_line(selection.summary),) if outcome.proposals else (NOTHING_LEFT,)
    return " ".join(word for word in (*words, *outcome.removed) if word)[:SUMMARY_MAX]


def one_line(text: str) -> str:
    """Model words as they may be shown: one line, no control characters."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())
