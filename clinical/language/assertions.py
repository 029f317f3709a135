"""What a text claims of a mention: present, suspected, history, excluded or family, by trigger words.

A German NegEx (Chapman et al. 2001, doi 10.1006/jbin.2001.1029; German triggers after Cotik et al. 2016): a trigger
governs the mentions of its own clause, before it or behind it. It judges codes written in a text, for which no
model is asked, and is the rehearsal model's whole understanding of claims.
"""

from __future__ import annotations

import re

from clinical.contract import Assertion

_RELATIVES = "mutter|vater|schwester|bruder|oma|opa|tante|onkel|großmutter|großvater|eltern|geschwister|sohn|tochter"
_AGO = r"vor (?:\w+ )?(?:\d+|ein\w*|zwei|drei|vielen|einigen)[\s½¼]+(?:jahr|monat|woche)\w*"
_NO = r"kein\w*|ohne|nicht|weder|noch|ausschlu(?:ss|ß)(?:\s+(?:von|ein\w+))?|negativ für|frei von"
_PAST = r"z\.?\s?n\.?|zustand nach|st\.?\s?n\.|status nach|anamnestisch|früher\w*|ehemals"
_MAYBE = (
    r"v\.?\s?a\.?|verdacht(?:s\w*)? (?:auf|einer?|eines)|dd|differen[tz]ialdiagnos\w*"
    r"|fraglich\w*|möglich\w*|mutmaßlich\w*|vermutlich\w*|am ehesten"
)


def _triggers(**patterns: str) -> tuple[tuple[Assertion, re.Pattern[str]], ...]:
    return tuple((name, re.compile(rf"\b(?:{pattern})(?!\w)", re.I)) for name, pattern in patterns.items())  # type: ignore[misc]


_BEFORE = _triggers(
    family=rf"familienanamnes\w*|familiär\w* belast\w*|(?:{_RELATIVES})s?",
    excluded=_NO,
    history=f"{_PAST}|{_AGO}",
    suspected=_MAYBE,
)
_BEHIND = _triggers(
    family=r"in der familie|bei (?:der )?(?:mutter|schwester)|beim? (?:vater|bruder)|in der familienanamnese",
    excluded="ausgeschlossen|nicht nachweisbar|nicht nachgewiesen|wird verneint|verneint|liegt nicht vor",
    history=r"in der (?:eigen)?anamnese|abgeheilt|ausgeheilt|im kindesalter",
    suspected="nicht (?:sicher )?ausgeschlossen|nicht auszuschließen|vermutet|fraglich|möglich",
)
WRAPPED_LINE = 50
"""A line at least this long that ends without a mark goes on in the next; a shorter one is an item of a list."""

_ABBREVIATION = re.compile(r"\b(?:z|n|v|a|st|bds|li|re|ca|art|ggf|bzw|dr|prof|chron|akut)\.\s?$", re.I)
CLAUSE_REACH = 600
"""Characters of a clause that are read on each side of a mention: a text without a boundary stays linear to read."""
_LONGEST = 9
"""Characters that hold every abbreviation with its dot and what must not be a part of it."""
_BOUNDARY = re.compile(
    r"[.;!?\n]|,\s*(?:aber|jetzt|nun|aktuell|bekannt\w*|es besteht)\b|\b(?:aber|jedoch|sondern|jetzt|aktuell)\b", re.I
)


def assertion_of(text: str, start: int, end: int) -> Assertion:
    """What `text` claims of its part from `start` to `end` (code points)."""
    before = text[_clause_start(text, start) : start]
    behind = text[end : _clause_end(text, end)]
    if any(name == "suspected" and pattern.search(behind) for name, pattern in _BEHIND):
        return "suspected"
    for name, pattern in _BEFORE:
        if pattern.search(before):
            return name
    for name, pattern in _BEHIND:
        if pattern.search(behind):
            return name
    return "present"


def _clause_start(text: str, start: int) -> int:
    """Behind the last boundary before `start`."""
    last = max(0, start - CLAUSE_REACH)
    for match in _BOUNDARY.finditer(text, last, start):
        if not _joins(text, match):
            last = match.end()
    return last


def _clause_end(text: str, end: int) -> int:
    """At the first boundary behind `end`."""
    last = min(len(text), end + CLAUSE_REACH)
    return next((match.start() for match in _BOUNDARY.finditer(text, end, last) if not _joins(text, match)), last)


def _joins(text: str, match: re.Match[str]) -> bool:
    """Whether a mark ends no clause: the dot of an abbreviation or a number, the line break of wrapped prose."""
    if match.group() == "\n":
        return match.start() - (text.rfind("\n", 0, match.start()) + 1) >= WRAPPED_LINE
    if match.group() == ".":
        near = text[max(0, match.end() - _LONGEST) : match.end()]
        return bool(_ABBREVIATION.search(near)) or text[match.end() : match.end() + 1].isalnum()
    return False
