"""The code catalog: one frozen value per ICD-10-GM code, and the tree they form."""

from clinical.icd.catalog import CODE_PATTERN, Catalog, Code, Kind, Note, Sex, parent_of, parse

__all__ = [
    "CODE_PATTERN",
    "Catalog",
    "Code",
    "Kind",
    "Note",
    "Sex",
    "parent_of",
    "parse",
]
