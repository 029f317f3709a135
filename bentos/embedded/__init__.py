"""What answers the project's own questions where no language model is configured: plain rules."""

from bentos.embedded.model import RULES, RehearsalModel

__all__ = [
    "RULES",
    "RehearsalModel",
]
