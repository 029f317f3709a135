"""Drugs told in sentences: what the patient takes, with its dose or how it is taken; not what was stopped."""

from __future__ import annotations

import re

from bentos.embedded.entries import TOLD_DRUG
from bentos.embedded.prose.passages import Body

_TAKES = re.compile(
    r"medikation|medikament|nimmt|wendet|einnehm|einnahme|erhält|verordn|dauertherapie|weitergeben|eingestellt|unter\b|"
    r"therapie mit|behandelt mit|umgestellt|begonnen|weiter(?:hin|führ)|immunsuppress|antikoag|bisher|tgl|täglich|"
    r"\d-\d-\d|\d\s?x",
    re.IGNORECASE,
)
_STOPPED = re.compile(
    r"abgesetzt|gestoppt|sistiert|nicht vertragen|unverträglich|allergi|i\.\s?v\.|intravenös|perfusor|infusion|"
    r"präoperativ|intraoperativ|kontrastmittel|hatte\w*\s.*eingenommen|früher\b",
    re.IGNORECASE,
)
_PARTS = re.compile(r";\s|\.\s")
_SCHEME = re.compile(r"\d\s?-\s?\d\s?-\s?\d|\d\s?x|tgl|tägl|abends|morgens|zur Nacht|Bedarf|wöch|Woche|Reserve")


def told_drugs(body: Body, strict: bool) -> list[str]:
    """Drugs with their dose, each once. `strict` (letters): only in sentences that say how or that they are taken."""
    found: dict[str, str] = {}
    for sentence in body.sheet.budget.each(body.telling):
        text = sentence.text
        if strict and (sentence.examined or not _TAKES.search(text)):
            continue
        for part in _PARTS.split(text):
            if strict and _STOPPED.search(part):
                continue
            for match in TOLD_DRUG.finditer(part):
                drug = match[0].strip(" .,")
                if not strict or _SCHEME.search(part[match.start() : match.end() + 14]):
                    found.setdefault(drug.casefold(), drug)
    return list(found.values())
