"""Whether a wording says a word: what its code is told by, and what it leaves out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

ALIKE: Final = 5
"""Characters that words have in common at their beginning when one is a form or a compound of the other."""


def says(worded: Sequence[str], word: str) -> bool:
    """Whether one of the folded words is the word, begins like it, or is a part of it."""
    return any(
        other == word
        or (min(len(word), len(other)) >= ALIKE and (other[:ALIKE] == word[:ALIKE] or word in other or other in word))
        for other in worded
    )
