"""Is this value evidenced by this text, and where? And what is done with one that is not."""

from clinical.grounding.enumerations import named_choice
from clinical.grounding.free_text import Kind, find_statement
from clinical.grounding.policy import Grounded, Verdict, field_of
from clinical.grounding.second_look import looked_at_again
from clinical.grounding.validator import ground, judge, values_of

__all__ = [
    "Grounded",
    "Kind",
    "Verdict",
    "field_of",
    "find_statement",
    "ground",
    "judge",
    "looked_at_again",
    "named_choice",
    "values_of",
]
