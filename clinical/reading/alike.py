"""Test if a wording has a word: as it is, alike at its beginning, or as a part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

ALIKE: Final = 5
"""Characters that words have in common at their beginning when one is a form or a compound of the other."""


def says(worded: Sequence[str], word: str) -> bool:
    """True if one of the folded words is the word, begins like it, or one of both is a part of the other."""
    return any(
        other == word
        or (min(len(word), len(other)) >= ALIKE and (other[:ALIKE] == word[:ALIKE] or word in other or other in word))
        for other in worded
    )
