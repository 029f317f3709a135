"""Procedures stated in sentences: those done, where the sentence says when or that it was done."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clinical.claims import Claim, either
from clinical.letters.reader.entries import Procedure, names_procedure, procedure_of
from clinical.letters.reader.narrative.phrases import PlacedWord, phrase, words_of
from clinical.letters.reader.statements import JudgedStatements, LetterStatement
from clinical.text import dates_of

_PLANNED = re.compile(
    r"\b(?:geplant\w*|vorgesehen\w*|empfehlen|empfohlen|bitten?|Termin|voraussichtlich|sollte[n]?|soll|wird|werden|"
    r"indiziert|Indikation|besprochen|lehnt\w*|falls|zur|anstehende[rn]?|"
    rf"kontrolle|vor\s+(?:der|einer)|{either('@refused')})\b",
    re.IGNORECASE,
)
_NO_ACT = re.compile(
    r"revision der|intervention\b$|drainagen?$|entfernung der fäden|fadenentfernung|lymphdrainage|narbe|zugang|datum|"
    r"befund|bericht|termin|wunde|gebiet|folge|planung|vorbereitung|indikation|risiko|aufklärung|reha",
    re.IGNORECASE,
)


def acts_in(statements: JudgedStatements, statement: LetterStatement) -> Iterator[Procedure]:
    """The procedures that a sentence names as done, with the day nearest to each."""
    words = words_of(statement.text)
    taken = 0
    for n, word in enumerate(words):
        if n < taken or not word.text[0].isupper() or not _is_act(word) or _NO_ACT.search(word.text):
            continue
        left, right = phrase(words, n, taken, _names_act)
        taken = right + 1
        start, end = words[left].start, words[right].end
        clause = _clause(statement.text, start, end)
        claim = statements.claim(statement, word.start, word.end)
        if (
            claim.is_of_another
            or _is_denied(claim)
            or claim.temporality == "hypothetical"
            or claim.certainty != "certain"
            or _PLANNED.search(clause)
        ):
            continue
        named = procedure_of(statement.text[start:end])
        if not _GENERAL.fullmatch(named.name):
            yield Procedure(named.name, _day(statement.text, start, end) or named.day)


def _is_denied(claim: Claim) -> bool:
    """True if a procedure was not done; a procedure without findings was done."""
    signs = [one for one in claim.signs if one.axis == "negation"]
    return claim.is_denied and not all(one.trigger.startswith("unauffällig") for one in signs)


_GENERAL = re.compile(
    r"(?:Die\s)?(?:operation|op|injektion(?:en)?|intervention|revision|entfernung|operative (?:entfernung|versorgung)|"
    r"angiographie|punktion|biopsien?|drainage|reposition)",
    re.IGNORECASE,
)
"""General nouns that name no procedure by themselves."""
_ACT = re.compile(r"(?:[\w-]*injektion(?:en)?|Anlage|Einlage|[\w-]*operation)\b", re.IGNORECASE)


def _is_act(word: PlacedWord) -> bool:
    return names_procedure(word.text) or _ACT.fullmatch(word.text) is not None


def _names_act(word: str) -> bool:
    return word[:1].isupper() and names_procedure(word)


_PARTS = (", ", "; ", " und ")


def _clause(text: str, start: int, end: int) -> str:
    """The part between commas, semicolons and "und" in which the name stands, with its own dates."""
    first = max(text.rfind(sign, 0, start) for sign in _PARTS) + 1
    last = min((at for at in (text.find(sign, end) for sign in _PARTS) if at >= 0), default=len(text))
    return text[first:last]


def _day(text: str, start: int, end: int) -> str | None:
    """The day nearest to a name in its sentence, as ISO."""
    dates = [one for one in dates_of(text) if one.iso()]
    if not dates:
        return None
    nearest = min(dates, key=lambda one: min(abs(one.start - end), abs(start - one.end)))
    return nearest.iso()
