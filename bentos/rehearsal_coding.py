"""The rehearsal model's rules for coding: clauses become findings, the best candidate of each is taken.

A clause is what stands between punctuation and the words that join diagnoses ("mit", "bei", "und", "wegen"); what it
claims is decided by trigger words (`clinical.assertions`); a candidate is taken where the search is sure enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clinical.assertions import assertion_of
from clinical.prompts import CODES_MAX, FINDINGS_MAX

SURE, LIKELY, POSSIBLE = 0.8, 0.5, 0.3
"""Probabilities of the search from which a candidate is high, medium or low; below, a finding gives no code."""

_JOINT = re.compile(
    r"[.;:!?,()\n/]|\b(?:und|sowie|oder|mit|bei|wegen|wg|infolge|durch|aufgrund|nach|kommt|klagt|über|zeigt|besteht"
    r"|außerdem|ergibt|erhält|ist|sind|wird|war|hat|hatte)\b",
    re.I,
)
_EMPTY = re.compile(
    r"^(?:\W|\b(?:ein\w*|der|die|das|des|dem|den|im|in|am|an|auf|zu[rm]?|von|vom|für|seit|vor|aktuell|bekannt\w*|jetzt"
    r"|kein\w*|ohne|z|n|v|a|dd|st|zustand|verdacht|ausschluss|patient\w*|herrn?|frau|mann|\d+|jährig\w*|jahre\w*"
    r"|tagen?|wochen?|monaten?|jahren|ihre\w*|sein\w*|sie|er|es|sich|praxis|mutter|vater|anamnestisch|tägl\w*"
    r"|anhalt|hinweise?)\b)+",
    re.I,
)
_NOUN = re.compile(r"\b[A-ZÄÖÜ][\wäöüß-]{2,}|\b[A-Z]{2,}\b")
_NO_FINDING = re.compile(
    r"^(?:Patient\w*|Praxis|Frau|Mann|Herrn?|Untersuchung|Kontrolle|Behandlung|Therapie|Medikation|Operation|Tag\w*"
    r"|Jahr\w*|Woche\w*|Monat\w*|Hausarzt|Quartal|Klinik|Uhr|Facharzt|Zuweisung|Überweisung|Vorstellung|Diagnosen?"
    r"|Anamnese|Befund|Procedere|Grüße\w*|Kollege\w*|Kollegin\w*|Zeit\w*|Arzt|Ärztin)$"
)
_ABBREVIATION = re.compile(r"\b(?:z|n|v|a|art|chron|ca|bds|re|li|dr|wg)$", re.I)
MAX_WORDS = 8


def find(question: Mapping[str, Any]) -> dict[str, Any]:
    """Findings of the text, those that stand first."""
    text = str(question["text"])
    found = [_finding(text, start, end) for start, end in _clauses(text)]
    unique = {(item["phrase"].casefold(), item["assertion"]): item for item in reversed(found)}
    in_order = reversed(tuple(unique.values()))
    ordered = sorted(in_order, key=lambda item: item["assertion"] in ("excluded", "family"))
    return {"findings": ordered[:FINDINGS_MAX]}


def _finding(text: str, start: int, end: int) -> dict[str, str]:
    quote = text[start:end]
    return {"quote": quote, "phrase": " ".join(quote.split()), "assertion": assertion_of(text, start, end)}


def _clauses(text: str) -> Iterator[tuple[int, int]]:
    """Places of what may be a finding: clauses that hold a noun, without the empty words at their start."""
    start = 0
    for match in _JOINT.finditer(text):
        if match.group() == "." and _ABBREVIATION.search(text[: match.start()]):
            continue
        yield from _trimmed(text, start, match.start())
        start = match.end()
    yield from _trimmed(text, start, len(text))


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    empty = _EMPTY.match(text[start:end])
    start += empty.end() if empty else 0
    clause = text[start:end].rstrip()
    words = clause.split()
    if len(words) > MAX_WORDS:
        clause = clause[: clause.index(words[MAX_WORDS - 1]) + len(words[MAX_WORDS - 1])]
    nouns = [noun for noun in _NOUN.findall(clause) if not _NO_FINDING.match(noun)]
    if nouns:
        yield start, start + len(clause)


def select(question: Mapping[str, Any]) -> dict[str, Any]:
    """For each finding the candidate that the search is surest of; nothing where it is not sure at all."""
    chosen = []
    for finding in question["findings"]:
        best = _best(question["candidates"], finding["number"])
        if best is not None:
            chosen.append(_choice(finding, best))
    chosen.sort(key=lambda choice: ("high", "medium", "low").index(choice["confidence"]))
    return {"codes": chosen[:CODES_MAX], "summary": _summary(chosen)}


def _best(candidates: Sequence[Mapping[str, Any]], number: int) -> Mapping[str, Any] | None:
    """A code that the text names itself has no `match` and is taken at once."""
    own = [item for item in candidates if number in item["findings"]]
    named = [item for item in own if "match" not in item]
    likely = [item for item in own if item.get("match", 0.0) >= POSSIBLE]
    return next(iter(named), None) or max(likely, key=lambda item: item["match"], default=None)


def _choice(finding: Mapping[str, Any], candidate: Mapping[str, Any]) -> dict[str, Any]:
    match = candidate.get("match", 1.0)
    return {
        "finding": finding["number"],
        "reasoning": f"Im Text: „{finding['quote'][:120]}“; die Katalogsuche führt zu diesem Kode.",
        "code": candidate["code"],
        "confidence": "high" if match >= SURE else "medium" if match >= LIKELY else "low",
    }


def _summary(chosen: Sequence[Any]) -> str:
    count = {0: "Kein Kode", 1: "Ein Kode"}.get(len(chosen), f"{len(chosen)} Kodes")
    return f"{count} nach festen Regeln gewählt (Probebetrieb ohne Sprachmodell)."


def look_around(question: Mapping[str, Any]) -> dict[str, Any]:
    """One round: open the best candidates, to see their notes."""
    best = (_best(question["candidates"], finding["number"]) for finding in question["findings"])
    opened = list(dict.fromkeys(item["code"] for item in best if item is not None))[:4]
    return {"thought": "", "searches": [], "open": opened, "done": True}


def recommend(question: Mapping[str, Any]) -> dict[str, Any]:
    """The selection again, without what the search is not sure of as long as something surer is there."""
    selection = select(question)
    sure = [choice for choice in selection["codes"] if choice["confidence"] != "low"]
    codes = sure or selection["codes"]
    return {"codes": codes, "summary": _summary(codes)}
