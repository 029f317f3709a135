"""The place of a request's own wording in a text, found without a pattern made of it.

`re` keeps the last patterns that it compiled for the whole process: one made of a name would outlive its request. Here
the patterns are fixed, for what stands between the pieces and around them; the pieces themselves are compared.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

MOST_STEPS: Final = 200_000
"""Comparisons in the search for one wording: a text that takes more is made to be slow, and what has not been found
by then is not there. A usual letter takes some hundreds."""

ANYWHERE: Final = re.compile(r"")
BLANKS: Final = re.compile(r"\s+")
WORD_EDGE: Final = re.compile(r"\b")

Piece = str | re.Pattern[str]
"""Characters as they stand, or a fixed pattern for them."""


def lowered(text: str) -> str:
    """The text in lower case, character for character: of the same length, so offsets hold.

    Two are the same here if they are for `re.IGNORECASE`, but for rare forms of Greek and Cyrillic characters.
    """
    lower = text.lower()
    if lower.isascii():
        return lower
    if len(lower) != len(text):
        lower = "".join(char.lower()[0] for char in text)
    return lower.replace("ı", "i").replace("ſ", "s").replace("ς", "σ").replace("µ", "μ")  # faster than `translate`


def find_pieces(
    text: str, pieces: Sequence[Piece], gap: re.Pattern[str] = ANYWHERE, *, before: re.Pattern[str] = ANYWHERE,
    behind: re.Pattern[str] = ANYWHERE,
) -> tuple[int, int] | None:  # fmt: skip
    """Code points of the first place where the pieces follow each other with one `gap` between each, None if nowhere.

    `before` and `behind` have to match at its begin and end, and may look at both sides. A gap takes all it can: what
    it may match must not be the beginning of a piece.
    """
    walk: list[Piece] = [before, *(one for piece in pieces for one in (piece, gap))]
    walk[-1] = behind
    steps, start = 0, _next(pieces[0], text, 0)
    while start >= 0 and steps < MOST_STEPS:
        end = start
        for piece in walk:
            steps, end = steps + 1, _end(piece, text, end)
            if end < 0:
                break
        else:
            return start, end
        start = _next(pieces[0], text, start + 1)
    return None


def _next(piece: Piece, text: str, at: int) -> int:
    if isinstance(piece, str):
        return text.find(piece, at)
    found = piece.search(text, at)
    return found.start() if found else -1


def _end(piece: Piece, text: str, at: int) -> int:
    """The end of a piece that stands there, -1 if another does."""
    if isinstance(piece, str):
        return at + len(piece) if text.startswith(piece, at) else -1
    found = piece.match(text, at)
    return found.end() if found else -1
