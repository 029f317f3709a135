"""Groups of codes by their place in the classification: ranges of categories, and predicates on a code.

Every range of the project stands here. Chapters: XVIII (R) symptoms, XIX (S, T) injuries and poisonings, XX (V to Y)
external causes, XXI (Z) factors that influence the health status.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from clinical.icd.catalog import Code
from clinical.icd.spelling import category
from clinical.icd.titles import adds_unspecified, named_vaguely, words_aftermath

_REST: Final = ".9"
"""The fourth character for what is not specified."""


@dataclass(frozen=True, slots=True)
class CategoryRange:
    """Categories from `first` to `last`, both included."""

    first: str
    last: str

    def __contains__(self, code: str) -> bool:
        return self.first <= category(code) <= self.last

    def among(self, codes: Iterable[Code]) -> list[bool]:
        """True for each of the codes that is in it, in a fraction of the time of asking for one after another."""
        first, last = self.first, self.last
        return [first <= code.code[:3] <= last for code in codes]


FAMILY_HISTORY: Final = CategoryRange("Z80", "Z84")
PERSONAL_HISTORY: Final = CategoryRange("Z85", "Z87")
TREATED_TUMOURS: Final = CategoryRange("Z85", "Z85")
"""Malignant tumours in the patient's own history."""
BESIDE_NOTES: Final = {
    "Z81": (CategoryRange("R45", "R46"),),
    "Z82": (
        CategoryRange("G00", "G99"),
        CategoryRange("H54", "H54"),
        CategoryRange("I00", "I99"),
        CategoryRange("J40", "J47"),
        CategoryRange("M00", "M99"),
        CategoryRange("Q00", "Q99"),
        CategoryRange("R25", "R29"),
        CategoryRange("R56", "R56"),
    ),
    "Z84.8": (CategoryRange("O00", "P96"), CategoryRange("T15", "T98")),
    "Z86.1": (CategoryRange("B95", "B98"), CategoryRange("U80", "U85")),
    "Z86.6": (CategoryRange("R56", "R56"),),
}
"""Categories that codes of the past or of the family stand for beside those that their notes name: of Z82 those of
Z82.0 to Z82.7 of the WHO's ICD-10, of which the German Z82 is made; symptoms by which a disease of the past or of a
relative is told (cramps, a suicide), germs, and what only Z84.8 is left for (an allergy, a sister's pre-eclampsia)."""
SYMPTOMS: Final = CategoryRange("R00", "R99")
INJURIES: Final = CategoryRange("S00", "T99")
HEALTH_FACTORS: Final = CategoryRange("Z00", "Z99")
"""Chapter XXI: states, history, contacts with the health services."""
_LASTING_CATEGORIES: Final = """
    B18 B20-B24 D66-D68 D80-D84 E03 E04 E10-E14 E20-E28 E66 E78 E79 E83 E84 E88 F00-F03 F20 F31 F40-F42 F60 F61
    F70-F79 F80-F84 F90 G10-G14 G20 G21 G25 G30-G32 G35 G40 G43 G47 G60-G63 G80 H18 H35 H40 H52 H53 H90 H91
    I05-I15 I25 I27 I34-I39 I42 I44 I45 I48 I50 I65 I70 I83 I85-I87 I89 J30 J31 J33 J41-J45 J47 J84 K21 K50 K51
    K58 K74 K90 L20 L40 L80 M05-M08 M10 M15-M21 M30-M36 M40-M43 M45 M47 M48 M72 M80-M82 N18 N31 N40 N60
    N95 Q00-Q99
"""
_LASTING: Final = tuple(
    CategoryRange(*(one.split("-") if "-" in one else (one, one))) for one in _LASTING_CATEGORIES.split()
)
"""Diseases that do not end."""
_SEQUELAE: Final = frozenset(
    ("B90", "B91", "B92", "B94", "E64", "E68", "G09", "I69", "O97", "T90", "T91", "T92", "T93", "T94", "T95")
)


def is_unspecified(code: Code) -> bool:
    """True if a code leaves something open by its fourth character, or by words that its title adds; the calibration of
    the confidence is fitted on this."""
    return adds_unspecified(code.title) or code.code.endswith(_REST)


def says_kind(vague: Code, other: Code) -> bool:
    """True if another category of the same group says the kind of the disease that this one leaves open ("Diabetes
    mellitus, Typ 2" beside "Nicht näher bezeichneter Diabetes mellitus")."""
    disease = named_vaguely(vague.title) if vague.block == other.block and vague.code != other.code else None
    return disease is not None and disease in other.title


def is_aftermath(code: Code) -> bool:
    """True for what is past: personal history and states of chapter XXI, sequelae, old infarction."""
    if code.code in HEALTH_FACTORS:
        return code.code not in FAMILY_HISTORY
    return category(code.code) in _SEQUELAE or words_aftermath(code.title)


def lasts(code: Code) -> bool:
    """True for a disease that does not end: a year beside it is that in which it began."""
    return any(code.code in own for own in _LASTING)
