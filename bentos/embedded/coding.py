"""The rehearsal model's rules for coding: clauses become findings, the best candidate of each is taken.

A clause is what stands between punctuation and the words that join diagnoses ("mit", "bei", "und", "wegen"); what it
claims is decided by trigger words (`clinical.language.Reading`); a candidate is taken where the search is sure
enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from bentos.embedded.budget import Budget
from bentos.embedded.trigger_words import either
from clinical.coding import CODES_MAX, FINDINGS_MAX
from clinical.language import Reading

SURE, LIKELY, POSSIBLE = 0.8, 0.5, 0.3
"""Probabilities of the search from which a candidate is high, medium or low; below, a finding gives no code."""
CERTAIN, NEVER = 0.9, 2.0
"""Bars for a finding that tier 1 shows nothing for."""

_JOINT = re.compile(
    r"[.;:!?,()\n/]|\b(?:und|sowie|oder|mit|bei|wegen|wg|infolge|durch|aufgrund|nach|kommt|klagt|über|zeigt|besteht"
    r"|außerdem|ergibt|erhält|ist|sind|wird|war|hat|hatte)\b",
    re.I,
)
_EMPTY = re.compile(
    r"^(?:\W|\b(?:ein\w*|der|die|das|des|dem|den|im|in|am|an|auf|zu[rm]?|von|vom|für|seit|vor|aktuell|bekannt\w*|jetzt"
    rf"|{either('@denying', '@exclusion', '@differential', '@state_after', '@relative', '@earlier')}"
    r"|n|v|a|verdacht|patient\w*|herrn?|frau|mann|\d+|jährig\w*|jahre\w*"
    r"|tagen?|wochen?|monaten?|jahren|ihre\w*|sein\w*|sie|er|es|sich|praxis|tägl\w*|anhalt|hinweise?)\b)+",
    re.I,
)
"""What stands before a finding in its clause, and is no part of its name, whatever it claims."""
_NOUN = re.compile(r"\b[A-ZÄÖÜ][\wäöüß-]{2,}|\b[A-Z]{2,}\b")
_NO_FINDING = re.compile(
    r"^(?:Patient\w*|Praxis|Frau|Mann|Herrn?|Untersuchung|Kontrolle|Behandlung|Therapie|Medikation|Operation|Tag\w*"
    r"|Jahr\w*|Woche\w*|Monat\w*|Hausarzt|Quartal|Klinik|Uhr|Facharzt|Zuweisung|Überweisung|Vorstellung|Diagnosen?"
    r"|Anamnese|Befund|Procedere|Grüße\w*|Kollege\w*|Kollegin\w*|Zeit\w*|Arzt|Ärztin)$"
)
_ABBREVIATION = re.compile(r"\b(?:z|n|v|a|art|chron|ca|bds|re|li|dr|wg)$", re.I)
_LONGEST = 6
"""Characters that hold every abbreviation and what must not be a part of it."""
MAX_WORDS = 8


def find(question: Mapping[str, Any], budget: Budget) -> dict[str, Any]:
    """Findings of the text, those that stand first."""
    read = Reading.of(str(question["text"]))
    found = [_finding(read, start, end) for start, end in budget.each(_clauses(read.text))]
    unique = {(item["phrase"].casefold(), item["assertion"]): item for item in reversed(found)}
    in_order = reversed(tuple(unique.values()))
    ordered = sorted(in_order, key=lambda item: item["assertion"] in ("excluded", "family"))
    return {"findings": ordered[:FINDINGS_MAX]}


def _finding(read: Reading, start: int, end: int) -> dict[str, str]:
    quote = read.text[start:end]
    return {"quote": quote, "phrase": " ".join(quote.split()), "assertion": read.claim(start, end).assertion}


def _clauses(text: str) -> Iterator[tuple[int, int]]:
    """Places of what may be a finding: clauses that hold a noun, without the empty words at their start."""
    start = 0
    for match in _JOINT.finditer(text):
        if match.group() == "." and _ABBREVIATION.search(text[max(0, match.start() - _LONGEST) : match.start()]):
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


def select(question: Mapping[str, Any], budget: Budget) -> dict[str, Any]:
    """What `recommend` takes, and for other findings of one word the candidate that the search is certain of."""
    return _chosen(question, CERTAIN, budget)


def _chosen(question: Mapping[str, Any], bar: float, budget: Budget) -> dict[str, Any]:
    """What the text names itself, and what tier 1 shows, since it has weighed the whole text. Where that is nothing at
    all, for each finding the candidate that the search is surest of.

    A clause is no diagnosis: what its words alone lead to was right half as often as what tier 1 shows (evals/LOG.md).
    """
    candidates = [item for item in question["candidates"] if item["findings"]]
    shown = [item for item in candidates if "instant" in item or "match" not in item]
    chosen = []
    for finding in budget.each(question["findings"]):
        best = _best(_of(candidates, finding), POSSIBLE if not shown else bar)
        alone = not shown or len(finding["phrase"].split()) == 1
        chosen += [_choice(finding, item) for item in _of(shown, finding) or (best if alone else [])]
    chosen.sort(key=lambda choice: ("high", "medium", "low").index(choice["confidence"]))
    return {"codes": chosen[:CODES_MAX], "summary": _summary(chosen)}


def _of(candidates: Iterable[Mapping[str, Any]], finding: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [item for item in candidates if finding["number"] in item["findings"]]


def _best(candidates: Iterable[Mapping[str, Any]], bar: float) -> list[Mapping[str, Any]]:
    likely = [item for item in candidates if item.get("match", 0.0) >= bar]
    return sorted(likely, key=lambda item: -item["match"])[:1]


def _choice(finding: Mapping[str, Any], candidate: Mapping[str, Any]) -> dict[str, Any]:
    match = candidate.get("instant", candidate.get("match", 1.0))
    return {
        "finding": finding["number"],
        "reasoning": f"Im Text: „{finding['quote'][:120]}“; die Katalogsuche führt zu diesem Kode.",
        "code": candidate["code"],
        "confidence": "high" if match >= SURE else "medium" if match >= LIKELY else "low",
    }


def _summary(chosen: Sequence[Any]) -> str:
    count = {0: "Kein Kode", 1: "Ein Kode"}.get(len(chosen), f"{len(chosen)} Kodes")
    return f"{count} nach festen Regeln gewählt (Probebetrieb ohne Sprachmodell)."


def look_around(question: Mapping[str, Any], budget: Budget) -> dict[str, Any]:
    """One round: open the best candidates, to see their notes."""
    opened = [choice["code"] for choice in select(question, budget)["codes"]][:4]
    return {"thought": "", "searches": [], "open": opened, "done": True}


def recommend(question: Mapping[str, Any], budget: Budget) -> dict[str, Any]:
    """Tier 1's codes as far as claims and rules of the classification let them stand; see `_chosen`."""
    return _chosen(question, NEVER, budget)
