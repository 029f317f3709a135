"""The patient's sex as a letter states it: by label, beside the name, by salutation, by Patientin and Patient."""

from __future__ import annotations

import re

from bentos.embedded.letter import Sheet
from bentos.embedded.names import Name, another_first, ticked_salutation, ticked_word
from bentos.embedded.parties import segments
from bentos.embedded.trigger_words import ends_in_relative

_WOMAN = re.compile(
    r"\bPatientin\b|\bMädchen\b|\bPat(?:ientin)?in\b|\bVersicherte:|\bgemeinsame Pat\b|\bdie (?:o\.\s?g\.\s)?Pat\.",
    re.IGNORECASE,
)
_MAN = re.compile(
    r"\b(?:der|den|dem|des|unsere?[nmrs]?|Ihre?[nmrs]?|mein|dieser|folgende[nmr]?|gemeinsamen|genannten|meinen|"
    r"diesen)\s(?:o\.\s?g\.\s|oben "
    r"genannten\s|gemeinsamen\s|deutschsprachigen\s)?Pat(?:ient(?:en)?\b(?!in)|\.(?!in))"
    r"|\b(?:Junge|Knabe|Bub)\b|\b(?:Ihre[nm]|unsere[nm])\s(?:kleinen|jungen|gemeinsamen)\sPatienten\b|"
    r"\bHerr Pat|\bder Pat\.|\b(?:über|von)\s(?:o\.\s?g\.|obgenannten|oben genannten)\sPatienten\b"
)
_SEX_CELL = re.compile(
    r"^\(?\s?(?:(w|weibl\.?|weiblich|f|♀|frau)|(m|männl\.?|männlich|♂|herrn?))\s?\)?$", re.IGNORECASE
)
_SEX_NEAR = re.compile(r"[\s,;(|/](?:(weiblich|w|W|♀)|(männlich|m|M|♂))(?=[\s,;)|]|$)")


_SEX_BEHIND_DAY = re.compile(
    r"(?:\d{1,2}\.\s?\d{1,2}\.\s?(?:\d{4}|\d{2})|\d{4}-\d\d-\d\d)\)?[\s/,;|(]{1,6}(?:(w|W|weibl\w*)|(m|M|"
    r"männl\w*))\b(?![/.])"
)


def stated_sex(sheet: Sheet, name: Name | None, lines: range) -> str | None:
    """m or w as stated: by label, beside the name, by the patient's own salutation, by Patientin and Patient."""
    said = (
        ticked_word(sheet.value("geschlecht") or "")
        or ticked_salutation(sheet.lines[:60])
        or sheet.value("anrede")
        or ""
    )
    if found := re.match(r"\(?(?:(w\b|weib|f\b|frau)|(m\b|männ|herr))", said.strip().lower()):
        return "w" if found[1] else "m"
    for n in lines:
        for cell in segments(sheet.lines[n : n + 1]):
            named = name is not None and name.last in sheet.lines[n]
            one = _SEX_CELL.match(cell) or (_SEX_NEAR.search(cell) if named else None)
            if one:
                return "w" if one[1] else "m"
    for n in lines:
        if n < len(sheet.lines) and (beside := _SEX_BEHIND_DAY.search(sheet.lines[n][:200])):
            return "w" if beside[1] else "m"
    if name is not None and (mine := _saluted(sheet, name)):
        return mine
    women, men = (len(_WOMAN.findall(sheet.text)), len(_MAN.findall(sheet.text)))
    return "w" if women > 2 * men else "m" if men > 2 * women else None


def _saluted(sheet: Sheet, name: Name) -> str | None:
    pattern = re.compile(
        rf"\b(Herrn?|Hr\.|Hrn\.|Frau|Fr\.|"
        rf"Sig\.)\s+(?:[^\s,.;:]{{1,20}}[.\s]\s?){{0,4}}?(?i:{re.escape(name.last)})(?![\w-])"
    )
    mine = (name.first or "").split()[:1]
    votes = [
        found[1].startswith("F")
        for found in pattern.finditer(sheet.text)
        if not ends_in_relative(sheet.text[max(0, found.start() - 30) : found.start()])
        and not (mine and another_first(found[0], name, mine[0]))
    ]
    return None if not votes else "w" if 2 * sum(votes) > len(votes) else "m"
