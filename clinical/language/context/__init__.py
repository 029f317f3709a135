"""Negation, certainty, temporality and experiencer: the table of trigger words and their scopes."""

from clinical.language.context.governing import Governed, governed, head_of
from clinical.language.context.occurrences import Occurrence, ends_item, occurrences
from clinical.language.context.patterns import Element, Gap, Mark, Words, elements_of, read_groups
from clinical.language.context.triggers import (
    AXES,
    DEFAULTS,
    Axis,
    denying_words,
    group,
    written_groups,
)

__all__ = [
    "AXES",
    "DEFAULTS",
    "Axis",
    "Element",
    "Gap",
    "Governed",
    "Mark",
    "Occurrence",
    "Words",
    "denying_words",
    "elements_of",
    "ends_item",
    "governed",
    "group",
    "head_of",
    "occurrences",
    "read_groups",
    "written_groups",
]
