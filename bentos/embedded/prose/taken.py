"""Drugs told in sentences: what the patient takes, with its dose or how it is taken; not what was stopped."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bentos.embedded.drugs import TOLD_DRUG, drugs_of, is_drug
from bentos.embedded.prose.passages import Body

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
_ANNOUNCED = re.compile(r"\b(?:erhält|nimmt|bekommt|Medikation|Medikamente)\b[^.:;]{0,40}:\s(?=[^\W\d_a-zäöü])")
"""What announces a list of drugs within a sentence."""
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


def _parts(text: str) -> Iterator[tuple[int, str]]:
    """The statements of a sentence, each with the place where it begins."""
    start = 0
    for sign in _PARTS.finditer(text):
        yield start, text[start : sign.start()]
        start = sign.end()
    yield start, text[start:]
