"""Drugs stated in sentences: a name with its dose or how it is taken; not what was stopped or given once."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clinical.letters.reader.drugs import drugs_of, is_drug
from clinical.letters.reader.statements import JudgedStatements

_STOPPED = re.compile(
    r"abgesetzt|gestoppt|sistiert|\bvertragen|unverträglich|allergi|i\.\s?v\.|intravenös|perfusor|infusion|"
    r"präoperativ|intraoperativ|kontrastmittel|hatte\w*\s.*eingenommen",
    re.IGNORECASE,
)
_ANNOUNCED = re.compile(
    r"\b(?:nimmt|erhält|bekommt|Medikation|Medikamente)\b[^.:;]{0,40}:\s(?=[^\W\d_a-zäöü])|^[^\W\d_]{4,14}:\s"
)
"""Words that announce a list of drugs within a sentence."""
_UNIT = (
    r"(?:mg|[µu]g|mcg|g|ml|mmol|IE|I\.E\.|E|gtt|Tr\.|Tropfen|Hub|Hübe|Beutel|Btl|Tbl|Tabl|Tabletten?|Kps|Amp|Stk)\b\.?"
    r"(?:/(?:\d+\s?)?(?:g|h|ml|Hub|Tag|Woche)\b)?(?!\s?/)"
)
_DAYTIME = r"(?:morgens|mittags|abends|nachts|früh|zur Nacht|samstags|sonntags)"
_OFTEN = (
    rf"(?:{_DAYTIME}|täglich|tgl\b\.?|tägl\b\.?|wöchentlich|monatlich|b(?:ei|\.)\s?Bed(?:arf|\.)|b\.B\.|in Reserve)"
)
_INTAKE = (
    rf"(?:\d[\d.,/½]*\s?{_UNIT}|[\d½/]{{1,4}}(?:\s?[-–]\s?[\d½/]{{1,4}}){{2,3}}(?![\d.])|"
    rf"\d\s?x\s?(?:\d[\d.,]*\s?(?:{_UNIT})?|tgl\b\.?|tägl\b\.?|täglich|pro\s\w+|/\s?\w+)?|(?:ein|zwei|drei)mal\s\w+|"
    rf"{_OFTEN}|alle\s\d+\s?(?:h|Stunden|Tage|T|Wochen|Wo|Monate)\b\.?|[sip]\.\s?[cmo]\.|max\.|bis(?=\s(?:zu\s)?\d\s?x)|"
    rf"retard\b|ret\.|forte\b|mite\b|wurde\sauf(?=\s\d)|ausgebaut|und(?=\s\d+\s?(?:{_UNIT})\s{_DAYTIME}))"
)
_DRUG = re.compile(
    r"(?<![\w-])(?!(?:Patient(?:in)?|Herrn?|Frau|Bisher|Derzeit|Aktuell|Zurzeit|Sonst|Dazu|Zusätzlich|Weiter\w*|Gabe|"
    r"Therapie|Start|Beginn|Kontrolle|Bei|Sie|Er|Die|Der|Das|Wir|Dosis)\b)[^\W\d_a-zäöü][\w®/-]{2,30}(?:\s(?!(?:und|mit|bei|in|auf|zu|von|an)\s|(?-i:[a-zäöü]+(?:t|te|ten|en))\s)(?:[^\W\d_][\w®-]{0,14}|D3|B\d\d?)){0,2}?"
    rf"(?:\s{{1,20}}\d{{1,4}}(?:[.,/]\d{{1,3}})?(?=\s{{1,20}}(?:{_INTAKE})))?(?:\s{{1,20}}{_INTAKE}){{1,8}}"
)
"""A word with a capital, one or two more, and then how strong or how it is taken."""
_PARTS = re.compile(r";\s|\.\s(?=[^\W\d_a-zäöü])")


def told_drugs(statements: JudgedStatements) -> list[str]:
    """Drugs with their dose, each once, of the statements that are likely about drugs taken now."""
    found: dict[str, str] = {}
    for statement in statements.of("medikation"):
        text = statement.text
        if announced := _ANNOUNCED.search(text):
            listed = [
                one for one in drugs_of(text[announced.end() :].rstrip(".").replace(" und ", ", ")) if is_drug(one)
            ]
            if len(listed) > 1:
                found |= {one.casefold(): one for one in listed}
                continue
        for start, part in _parts(text):
            for match in () if _STOPPED.search(part) else _DRUG.finditer(part):
                claim = statements.claim(statement, start + match.start(), start + match.end())
                if not claim.is_denied and not claim.is_past:
                    drug = match[0].strip(" .,")
                    found.setdefault(drug.casefold(), drug)
    return list(found.values())


def drugs_within(text: str) -> list[str]:
    """The drugs of a text by their form alone, each with its dose and how it is taken."""
    return [one[0].strip(" .,") for one in _DRUG.finditer(text)]


def _parts(text: str) -> Iterator[tuple[int, str]]:
    """The statements of a sentence, each with the place where it begins."""
    start = 0
    for sign in _PARTS.finditer(text):
        yield start, text[start : sign.start()]
        start = sign.end()
    yield start, text[start:]
