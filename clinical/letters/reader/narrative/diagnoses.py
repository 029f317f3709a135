"""Diagnoses in sentences, where a letter has no list of them: `Es besteht eine Gicht`, `Daneben fand sich ...`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clinical.claims import either, names_relative
from clinical.letters.layout import unmarked
from clinical.letters.reader.diseases import names_disease
from clinical.letters.reader.entries import PAST, VERB, may_be_diagnosis, names_procedure
from clinical.letters.reader.narrative.phrases import PlacedWord, phrase, words_of
from clinical.letters.reader.parts import Listed, diagnoses_of
from clinical.letters.reader.statements import JudgedStatements, LetterStatement

LONGEST = 110
"""Characters of a diagnosis stated in a sentence; more is a clause."""
MOST = 15
"""Diagnoses stated in one letter: more are findings."""
_MARK = re.compile(
    r"(?:\b(?:dringende[rnm]?|hochgradige[rnm]?)\s)?(?:\b(?:Verdacht\s(?:auf|einer?|eines)|"
    rf"V\.\s?a\.|Va\.|{PAST})\s*(?:eine[rmns]?\s|de[rm]\s|ein\s)?)$",
    re.IGNORECASE,
)
"""A suspicion or the past right before a name belongs to it."""
_IDLE = re.compile(
    r"\?\s*$|\b(?:Impfung|Screening|Prophylaxe|Risiko|Aufklärung|Vorsorge|falls|sollten?|im Falle|"
    rf"bei Auftreten|erneut\w* Auftreten|Leitlinie\w*|Merkblatt|(?i:{either('@exclusion', '@differential')}))\b"
)
_PAST_ACT = re.compile(rf"\b{PAST}\s*$", re.IGNORECASE)


def told_diagnoses(statements: JudgedStatements) -> list[str]:
    """Diagnoses of the patient in the letter's sentences, each once; not those denied, questioned or of relatives."""
    found: dict[str, str] = {}
    for statement in statements.of("diagnosen"):
        if _IDLE.search(statement.text):
            continue
        for one in _named(statements, statement):
            found.setdefault(one.casefold(), one)
    return list(found.values())[:MOST]


def _named(statements: JudgedStatements, statement: LetterStatement) -> Iterator[str]:
    if statement.opens and VERB.search(statement.text) is None and not statement.text.endswith("."):
        listed = diagnoses_of(unmarked(" " + statement.text), Listed(running=True, entries=1), statements.parts)
        yield from filter(may_be_diagnosis, listed)
        return
    for start, end in _phrases(statement.text, words_of(statement.text)):
        claim = statements.claim(statement, start, end)
        whole = statement.text[start:end]
        if names_relative(statement.text[:start]):
            continue
        if claim.assertion in ("present", "suspected", "history") and may_be_diagnosis(whole):
            yield whole


def _phrases(text: str, words: list[PlacedWord]) -> Iterator[tuple[int, int]]:
    """(start, end) of every phrase of a sentence that names a disease, with its mark of suspicion or past."""
    taken = 0
    for n, word in enumerate(words):
        if n < taken or not (names_disease(word.text) or _is_past_act(text, word)):
            continue
        left, right = phrase(words, n, taken, names_disease)
        start, end = words[left].start, words[right].end
        marked = _MARK.search(text[max(0, start - 40) : start])
        if marked:
            start -= len(marked.group())
        taken = right + 1
        if _is_vague(words, n, left):
            continue
        if end - start <= LONGEST:
            yield start, end


def _is_past_act(text: str, word: PlacedWord) -> bool:
    """True if a procedure follows a mark of the past, and so is stated like a disease: `Z. n. Appendektomie`."""
    before = text[max(0, word.start - 24) : word.start]
    return _PAST_ACT.search(before) is not None and names_procedure(word.text)


_VAGUE = frozenset(
    [
        "störung",
        "erkrankung",
        "krankheit",
        "leiden",
        "läsion",
        "infektion",
        "syndrom",
        "tumor",
        "schwäche",
        "blutung",
        "mangel",
    ]
)


def _is_vague(words: list[PlacedWord], head: int, left: int) -> bool:
    """`die Erkrankung`: a general noun without an adjective of its own names nothing."""
    return words[head].text.lower() in _VAGUE and left == head
