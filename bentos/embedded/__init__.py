"""What answers the project's own questions where no language model is configured: plain rules."""

from bentos.embedded.budget import Budget
from bentos.embedded.extraction import remarks_of, second_opinion
from bentos.embedded.model import RULES, RehearsalModel

__all__ = [
    "RULES",
    "Budget",
    "RehearsalModel",
    "remarks_of",
    "second_opinion",
]
