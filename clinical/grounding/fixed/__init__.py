"""Values of fixed lists: the explicit words, the boxes, and about whom and when they are said."""

from clinical.grounding.fixed.choices import find_choice, find_keyword, find_sex, is_denied_choice, named_choice, sex_of
from clinical.grounding.fixed.circumstances import Circumstances, says
from clinical.grounding.fixed.circumstances import Kind as DocumentKind

__all__ = [
    "Circumstances",
    "DocumentKind",
    "find_choice",
    "find_keyword",
    "find_sex",
    "is_denied_choice",
    "named_choice",
    "says",
    "sex_of",
]
