"""Procedures stated in sentences: those done, where the sentence says when or that it was done."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clinical.claims import Claim, either
from clinical.letters.reader.entries import OPERATION, Procedure, procedure_of
from clinical.letters.reader.narrative.passages import Body, Sentence
from clinical.letters.reader.narrative.phrases import PlacedWord, phrase
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


def told_procedures(body: Body) -> list[Procedure]:
    """Procedures with their day, each once, in the order of the letter."""
    found: dict[str, Procedure] = {}
    for sentence in body.sheet.budget.each(body.telling):
        if "?" in sentence.text[-2:]:
            continue
        for one in _acts(body, sentence):
            found.setdefault(one.name.casefold(), one)
    return list(found.values())


def _acts(body: Body, sentence: Sentence) -> Iterator[Procedure]:
    words = body.words(sentence)
    taken = 0
    for n, word in enumerate(words):
        if n < taken or not word.text[0].isupper() or not _is_act(word) or _NO_ACT.search(word.text):
            continue
        left, right = phrase(words, n, taken, _names_nothing)
        taken = right + 1
        start, end = words[left].start, words[right].end
        clause = _clause(sentence.text, start, end)
        claim = body.claim(sentence, word.start, word.end)
        means = _MEANS.search(sentence.text[:start]) is not None
        if (
            claim.is_of_another
            or (_is_denied(claim) and not means)
            or claim.temporality == "hypothetical"
            or claim.certainty != "certain"
            or _PLANNED.search(clause)
        ):
            continue
        day = _day(sentence.text, start, end)
        if day is not None or _DONE.search(clause) or _FOUND.match(sentence.text[end : end + 60]):
            named = procedure_of(sentence.text[start:end])
            if _GENERAL.fullmatch(named.name):
                continue
            yield Procedure(named.name, day or named.day)


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
_MEANS = re.compile(r"\b(?:durch|mittels|nach)\s(?:\w+\s)?$")
"""Prepositions before a procedure by which something was found or excluded: the procedure itself took place."""
_ACT = re.compile(r"(?:[\w-]*injektion(?:en)?|Anlage|Einlage|[\w-]*operation)\b", re.IGNORECASE)


def _is_act(word: PlacedWord) -> bool:
    return (OPERATION.search(word.text) or _ACT.fullmatch(word.text)) is not None


_FOUND = re.compile(r"(?:\s(?:am|vom)\s[\d. ]{6,10})?\s(?:war|ist|zeigte|ergab|bestätigte|blieb)\b")
"""Verbs behind a procedure that introduce its result: it was done."""
_DONE = re.compile(r"\b(?:durchgeführt|erfolgte[n]?|vorgenommen|implantiert|angelegt|operiert|unterzog)\b")


def _names_nothing(word: str) -> bool:
    return False


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
