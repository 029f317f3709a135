"""Sex and age of the patient, where the text states them beyond doubt.

Used against the sex and age limits of codes (fields 20-24 of the official metadata). Conservative on purpose: two
different statements, or none, give None, and None limits nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

DAYS_PER_YEAR = 365

_FEMALE = re.compile(
    r"\b(?:patientin|frau|schwangeren?|mädchens?|weiblich\w*|rentnerin|gravida|mutterpass|wöchnerin)\b|♀", re.I
)
_MALE = re.compile(r"\b(?:patient(?:en)?|herrn?|mann(?:es)?|jungen?|knaben?|männlich\w*|rentner)\b|♂", re.I)
_NEUTRAL = re.compile(r"\bpatienten(?:akte|daten|verfügung)\b|\b(?:jede|alle)\w* patienten\b", re.I)
_YEARS = re.compile(r"\b(\d{1,3})\s*[-‐–]?\s*(?:jährig\w*|jähr\.|jahre\s+alt\w*|j\.\s*alt)", re.I)
_SMALL = re.compile(r"\b(\d{1,3})\s*[-‐–]?\s*(?:(tag|woche|monat)\w*\s+alt\w*|(tägig|wöchig|monatig)\w*)", re.I)
_UNIT_DAYS = {"t": 1, "w": 7, "m": 30}
"""By the first letter: Tag, tägig; Woche, wöchig; Monat, monatig."""

Sex = Literal["M", "W"]


@dataclass(frozen=True, slots=True)
class StatedPatient:
    """Sex and age of the patient stated in the text; `age_days` is completed years times 365 where years are
    stated."""

    sex: Sex | None = None
    age_days: int | None = None

    @classmethod
    def by(cls, text: str) -> StatedPatient:
        """Read sex and age off a text."""
        return cls(_sex(text), _age(text))


def _sex(text: str) -> Sex | None:
    text = _NEUTRAL.sub(" ", text)
    female, male = _FEMALE.search(text), _MALE.search(text)
    if bool(female) == bool(male):
        return None
    return "W" if female else "M"


def _age(text: str) -> int | None:
    ages = {int(years) * DAYS_PER_YEAR for years in _YEARS.findall(text)}
    for number, unit, adjective in _SMALL.findall(text):
        ages.add(int(number) * _UNIT_DAYS[(unit or adjective)[0].lower()])
    return ages.pop() if len(ages) == 1 else None
