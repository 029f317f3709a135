"""Values of fixed lists: which explicit word of the text is evidence for them, and which circumstances void it."""

from clinical.grounding.enumerations.choices import (
    find_choice,
    is_denied_choice,
    named_choice,
    sex_of,
)
from clinical.grounding.enumerations.circumstances import Circumstances, says

__all__ = [
    "Circumstances",
    "find_choice",
    "is_denied_choice",
    "named_choice",
    "says",
    "sex_of",
]
