"""Test if a wording has a word: as it is, alike at its beginning, or as a part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

ALIKE: Final = 5
"""Characters that words have in common at their beginning when one is a form or a compound of the other."""


def says(worded: Sequence[str], word: str) -> bool:
    """True if one of the folded words is the word, begins like it, or one of both is a part of the other."""
    if word in worded:
        return True
    if len(word) < ALIKE:
        return False
    begins = word[:ALIKE]
    for other in worded:  # noqa: SIM110 - a generator would cost as much as what it asks
        if len(other) >= ALIKE and (other.startswith(begins) or word in other or other in word):
            return True
    return False
