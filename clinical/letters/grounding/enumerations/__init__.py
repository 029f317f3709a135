"""Values of fixed lists: the explicit words of the text that evidence them, and the circumstances that void it."""

from clinical.letters.grounding.enumerations.choices import (
    find_choice,
    is_denied_choice,
    named_choice,
    named_sex,
    sex_of,
)
from clinical.letters.grounding.enumerations.circumstances import Circumstances, says
from clinical.letters.grounding.enumerations.phrases import values
