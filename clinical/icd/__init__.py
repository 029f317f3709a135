"""The catalog and every fact about codes: the tree, spelling, ranges, titles, history, limits on age."""

from clinical.icd.catalog import NOT_USED, PAIR_NOTE, Catalog, Code, Kind, Note, Sex
from clinical.icd.groups import (
    CIRCUMSTANCES,
    EXAMINATIONS,
    EXTERNAL_CAUSES,
    FAMILY_HISTORY,
    HEALTH_FACTORS,
    INJURIES,
    INJURY_OF_NO_SITE,
    POISONINGS,
    SYMPTOMS,
    TREATED_TUMOURS,
    TREATMENTS,
    is_aftermath,
    is_residual,
    is_unspecified,
)
from clinical.icd.history import NONE, family_history_codes, personal_history_codes
from clinical.icd.limits import outside
from clinical.icd.spelling import CODE_PATTERN, EXAMPLE, EXAMPLE_PAIR, REFERENCE, category, covers, parent_of, parse
from clinical.icd.titles import adds_unspecified, ends_unspecified, has_no_site, is_catch_all, is_default, is_other
from clinical.icd.years import Transition, transitions

__all__ = [
    "CIRCUMSTANCES",
    "CODE_PATTERN",
    "EXAMINATIONS",
    "EXAMPLE",
    "EXAMPLE_PAIR",
    "EXTERNAL_CAUSES",
    "FAMILY_HISTORY",
    "HEALTH_FACTORS",
    "INJURIES",
    "INJURY_OF_NO_SITE",
    "NONE",
    "NOT_USED",
    "PAIR_NOTE",
    "POISONINGS",
    "REFERENCE",
    "SYMPTOMS",
    "TREATED_TUMOURS",
    "TREATMENTS",
    "Catalog",
    "Code",
    "Kind",
    "Note",
    "Sex",
    "Transition",
    "adds_unspecified",
    "category",
    "covers",
    "ends_unspecified",
    "family_history_codes",
    "has_no_site",
    "is_aftermath",
    "is_catch_all",
    "is_default",
    "is_other",
    "is_residual",
    "is_unspecified",
    "outside",
    "parent_of",
    "parse",
    "personal_history_codes",
    "transitions",
]
