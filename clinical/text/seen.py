"""Words of a text as small networks read them: hashed character n-grams, shape, and the marks around each word.

What reads a text as words and shapes sees it once.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from clinical.text.folding import Token, words

Row = TypeVar("Row")

BUCKETS: Final = 1 << 15
"""Rows of the tables of words and of n-grams."""
MARKS: Final = " ,;:/+\n.()-–?\"'•"
"""Marks between words that are features of a network, before and behind each word."""
SHAPES: Final = 10
GAPS: Final = 256
"""Rows of the table of what stands between two words, whole: "?", ": -", " [x] ", the end of a line."""
LONGEST_GAP: Final = 6
"""Characters of a gap that are read, runs of blanks as one."""
_BLANKS: Final = re.compile(r"[ \t]+")
_TRAILING: Final = re.compile(r"[ \t]+(?=\n)")
DENSE: Final = SHAPES + 2 * (len(MARKS) + 1)


@dataclass(frozen=True)
class Seen:
    """The words of a text as a network sees them: folded (w,), their places (w, 2) in code points, shape and marks
    (w, DENSE), rows of the gaps before and behind (w, 2)."""

    words: Sequence[str]
    places: NDArray[np.int64]
    dense: NDArray[np.float32]
    gaps: NDArray[np.int64]

    @property
    def grams(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows of each word and of its n-grams, one word's behind the other's, and where each word's begin (w,)."""
        numbers, grams = _each(self.words, _grams)
        sizes = np.array([len(own) for own in grams], dtype=np.int64)[numbers]
        every = np.array([gram for at in numbers.tolist() for gram in grams[at]], dtype=np.int64)
        return every, np.cumsum(sizes) - sizes


def see(text: str, written: Sequence[Token] | None = None) -> Seen:
    """Read a text for a network; a text without words gives empty arrays. `written`: its words, where known."""
    found = words(text) if written is None else written
    bounds = [0, *(at for word in found for at in (word.start, word.end)), len(text)]
    gaps = [text[start:end] for start, end in zip(bounds[::2], bounds[1::2], strict=True)]
    spelled, shapes = _each([text[word.start : word.end] for word in found], _shape)
    between, marked = _each(gaps, _gap)
    marks, rows = zip(*marked, strict=True)
    dense = np.zeros((len(found), DENSE), dtype=np.float32)
    if found:
        beside = np.array(marks, dtype=np.float32)[between]
        dense[:, :SHAPES] = np.array(shapes, dtype=np.float32)[spelled]
        dense[0, SHAPES - 1] = 1
        dense[:, SHAPES : SHAPES + len(MARKS) + 1] = beside[:-1]
        dense[:, SHAPES + len(MARKS) + 1 :] = beside[1:]
    places = np.array(bounds[1:-1], dtype=np.int64).reshape(-1, 2)
    whole = np.array(rows, dtype=np.int64)[between]
    return Seen([word.text for word in found], places, dense, np.stack([whole[:-1], whole[1:]], axis=1))


def _gap_row(gap: str) -> int:
    return zlib.crc32(_BLANKS.sub(" ", gap)[:LONGEST_GAP].encode("utf-8", "replace")) % GAPS


def _gap(gap: str) -> tuple[list[bool], int]:
    """The marks in a gap, and its row in the table of gaps. Blanks before the end of a line are nothing."""
    gap = _TRAILING.sub("", gap) if "\n" in gap else gap
    return _COMMON.get(gap) or (_marks(gap), _gap_row(gap))


def _each(some: Sequence[str], of: Callable[[str], Row]) -> tuple[NDArray[np.int64], list[Row]]:
    """Apply a function once to each distinct item: the index of each item's result, and all results."""
    number = {one: at for at, one in enumerate(dict.fromkeys(some))}
    return np.array([number[one] for one in some], dtype=np.int64), [of(one) for one in number]


def _grams(word: str) -> list[int]:
    bordered = f"<{word}>".encode()
    pieces = [bordered]
    for size in (3, 4, 5):
        pieces += [bordered[at : at + size] for at in range(max(0, len(bordered) - size + 1))]
    return [zlib.crc32(piece) % BUCKETS for piece in pieces]


def _shape(word: str) -> tuple[bool, ...]:
    """The shape of a word; the last place is kept for the first word of a text."""
    long = len(word)
    upper = word[0].isupper()
    return (
        *(upper, long > 1 and word.isupper(), word.islower(), word[0].isdigit(), any(c.isupper() for c in word[1:])),
        *(long == 1, 2 <= long <= 3, long >= 8, long >= 14, False),
    )


def _marks(gap: str) -> list[bool]:
    """For each of MARKS, true if it stands between two words; last, true if any other character does."""
    return [*(mark in gap for mark in MARKS), any(character not in MARKS for character in gap)]


_COMMON: Final = {
    gap: (_marks(gap), _gap_row(gap))
    for gap in (
        "",
        " ",
        ", ",
        ". ",
        ".",
        ",",
        ": ",
        ":",
        "\n",
        ".\n",
        "; ",
        " (",
        ") ",
        "-",
        "/",
        " - ",
        "\n- ",
        "\n\n",
    )
}
"""Gaps that mostly stand between two words, read once for all texts."""
