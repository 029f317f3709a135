"""Drugs stated in sentences: what the patient takes, with its dose or how it is taken; not what was stopped."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clinical.letters.reader.drugs import STRICT_DRUG, TOLD_DRUG, drugs_of, is_drug
from clinical.letters.reader.entries import VERB
from clinical.letters.reader.narrative.passages import Body

_TAKES = re.compile(
    r"medikation|medikament|nimmt|wendet|einnehm|einnahme|erhält|verordn|dauertherapie|weitergeben|eingestellt|unter\b|"
    r"therapie mit|behandelt mit|umgestellt|begonnen|weiter(?:hin|führ)|immunsuppress|antikoag|bisher|tgl|täglich|"
    r"\d-\d-\d|\d\s?x",
    re.IGNORECASE,
)
_STOPPED = re.compile(
    r"abgesetzt|gestoppt|sistiert|\bvertragen|unverträglich|allergi|i\.\s?v\.|intravenös|perfusor|infusion|"
    r"präoperativ|intraoperativ|kontrastmittel|hatte\w*\s.*eingenommen",
    re.IGNORECASE,
)
_STRONG = re.compile(r"\b(?:nimmt|erhält|verordnet|nehme|einnimmt|weiterhin)\b")
"""Verbs that say the drug is taken, however its scheme is told."""
_GETS = "nimmt|erhält|bekommt"
_ANNOUNCED = re.compile(rf"\b(?:{_GETS}|Medikation|Medikamente)\b[^.:;]{{0,40}}:\s(?=[^\W\d_a-zäöü])")
"""Words that announce a list of drugs within a sentence."""
_ENUMERATED = re.compile(
    rf"\b(?:{_GETS})\s(?:(?:sie|er|die|der|Pat\.|Patientin|Patient|derzeit|aktuell|zurzeit|täglich|regelmässig|"
    r"regelmäßig|weiterhin)\s){0,4}(?=[^\W\d_a-zäöü])"
)
_AND = re.compile(r",\s+(?:sowie\s|und\s)?|\s(?:und|sowie)\s(?=[^\W\d_a-zäöü])")
_SCHEMED = re.compile(
    r"[^\W\d_a-zäöü][\w-]+(?:\s[^\W\d_a-zäöü][\w-]+)?\s\d{1,4}(?:[.,]\d)?\s?\S{0,8}\s(?:\d|morgens|abends|mittags|"
    r"täglich|nachts)"
)
"""A name, a number, how often."""
_PARTS = re.compile(r";\s|\.\s")
_SCHEME = re.compile(r"\d\s?-\s?\d\s?-\s?\d|\d\s?x|tgl|tägl|abends|morgens|zur Nacht|Bedarf|wöch|Woche|Reserve")


def told_drugs(body: Body, strict: bool) -> list[str]:
    """Drugs with their dose, each once. `strict` (letters): only in sentences that say how or that they are taken."""
    found: dict[str, str] = {}
    for sentence in body.sheet.budget.each(body.telling):
        text = sentence.text
        if announced := _ANNOUNCED.search(text):
            listed = text[announced.end() :].rstrip(".").replace(" und ", ", ")
            found |= {one.casefold(): one for one in drugs_of(listed) if is_drug(one)}
            continue
        if taken := _taken(text):
            found |= {one.casefold(): one for one in taken}
            continue
        if strict and (sentence.examined or not _TAKES.search(text)):
            continue
        for start, part in _parts(text):
            if strict and _STOPPED.search(part):
                continue
            for match in TOLD_DRUG.finditer(part):
                claim = body.claim(sentence, start + match.start(), start + match.end())
                if strict and (claim.is_denied or claim.is_past):
                    continue
                drug = match[0].strip(" .,")
                if not strict or _STRONG.search(part) or _SCHEME.search(part[match.start() : match.end() + 14]):
                    found.setdefault(drug.casefold(), drug)
    return list(found.values())


def _taken(text: str) -> list[str]:
    """Drugs of an enumeration, if every piece is one by its form: `Er nimmt A 5 mg, B abends und C`."""
    begins = _ENUMERATED.search(text)
    if begins is None or _STOPPED.search(text):
        return []
    pieces = [one.strip(" .") for one in _AND.split(text[begins.end() :].rstrip("."))]
    told = len(pieces) > 1 and all(
        one[:1].isupper() and (STRICT_DRUG.match(one) or _SCHEMED.match(one)) and not VERB.search(one) for one in pieces
    )
    return pieces if told else []


def _parts(text: str) -> Iterator[tuple[int, str]]:
    """The statements of a sentence, each with the place where it begins."""
    start = 0
    for sign in _PARTS.finditer(text):
        yield start, text[start : sign.start()]
        start = sign.end()
    yield start, text[start:]
