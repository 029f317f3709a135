"""Tagger of mentions: the words of a text that name a disease, finding, procedure or state, with begin and end.

A small convolutional tagger (Collobert et al. 2011, window approach) over hashed character n-grams of each word
(Bojanowski et al. 2017), its shape, and the marks around it; it gives each word the probabilities of standing outside,
of beginning and of continuing a mention (Ramshaw and Marcus 1995). It knows no encoder and no catalog, so that the
same weights serve every artifact. Training is in `catalog_build.training.finder`.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from clinical.errors import ArtifactMismatch
from clinical.search import ArraySizes, Bound, Vectors, check, map_tensors, require, write_tensors
from clinical.text import Token, words

Row = TypeVar("Row")

FORMAT: Final = "befund-finder-1"
BUCKETS: Final = 8_192
"""Rows of the table of n-grams; a word with its n-grams is the mean of its rows."""
MARKS: Final = " ,;:/+\n.()-–?\"'•"
"""Marks between words that are features of the tagger, before and behind each word."""
SHAPES: Final = 10
REACH: Final = 2
"""Words on either side that one layer sees; two layers see twice as far."""
DENSE: Final = SHAPES + 2 * (len(MARKS) + 1)


@dataclass(frozen=True)
class Seen:
    """The words of a text as the tagger sees them: places (w, 2) in code points, n-gram rows one behind the other
    with the place where each word's begin (w,), and shape and marks (w, DENSE)."""

    places: NDArray[np.int64]
    grams: NDArray[np.int64]
    first: NDArray[np.int64]
    dense: Vectors


def see(text: str, written: Sequence[Token] | None = None) -> Seen:
    """Read a text for the tagger; a text without words gives empty arrays. `written`: its words, where known."""
    found = words(text) if written is None else written
    bounds = [0, *(at for word in found for at in (word.start, word.end)), len(text)]
    gaps = [text[start:end] for start, end in zip(bounds[::2], bounds[1::2], strict=True)]
    folded, grams = _each([word.text for word in found], _grams)
    sizes = np.array([len(own) for own in grams], dtype=np.int64)[folded]
    spelled, shapes = _each([text[word.start : word.end] for word in found], _shape)
    between, marks = _each(gaps, _marks)
    dense = np.zeros((len(found), DENSE), dtype=np.float32)
    if found:
        beside = np.array(marks, dtype=np.float32)[between]
        dense[:, :SHAPES] = np.array(shapes, dtype=np.float32)[spelled]
        dense[0, SHAPES - 1] = 1
        dense[:, SHAPES : SHAPES + len(MARKS) + 1] = beside[:-1]
        dense[:, SHAPES + len(MARKS) + 1 :] = beside[1:]
    places = np.array(bounds[1:-1], dtype=np.int64).reshape(-1, 2)
    every = np.array([gram for at in folded.tolist() for gram in grams[at]], dtype=np.int64)
    return Seen(places, every, np.cumsum(sizes) - sizes, dense)


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


WINDOW: Final = 2 * REACH + 1
BOUNDS: Final = {
    "table": Bound("float16", (BUCKETS, "E")),
    "first": Bound("float16", ("inputs", "H")),
    "first_bias": Bound("float16", ("H",)),
    "second": Bound("float16", ("windows", "H")),
    "second_bias": Bound("float16", ("H",)),
    "last": Bound("float16", ("H", 3)),
    "last_bias": Bound("float16", (3,)),
}


@dataclass(frozen=True)
class Finder:
    """The tagger's weights, all float32; E: width of the n-gram table, H: hidden width, k: 2 * REACH + 1."""

    table: Vectors  # (BUCKETS, E)
    first: Vectors  # (k * (E + DENSE), H)
    first_bias: Vectors  # (H,)
    second: Vectors  # (k * H, H)
    second_bias: Vectors  # (H,)
    last: Vectors  # (H, 3)
    last_bias: Vectors  # (3,)

    def probabilities(self, seen: Seen) -> Vectors:
        """Of each word: outside, beginning, inside a mention; shape (words, 3)."""
        if not len(seen.first):
            return np.zeros((0, 3), dtype=np.float32)
        sums = np.add.reduceat(self.table[seen.grams], seen.first, axis=0)
        sizes = np.diff(seen.first, append=len(seen.grams)).astype(np.float32)
        hidden = np.concatenate([sums / sizes[:, None], seen.dense], axis=1)
        hidden = np.maximum(_windows(hidden) @ self.first + self.first_bias, 0)
        hidden = np.maximum(_windows(hidden) @ self.second + self.second_bias, 0)
        logits = hidden @ self.last + self.last_bias
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares: Vectors = powers / powers.sum(axis=1, keepdims=True)
        return shares

    def save(self, path: Path) -> None:
        """Write one safetensors file, in half precision: tags are the same, at half the size."""
        arrays = {name: getattr(self, name).astype(np.float16) for name in self.__dataclass_fields__}
        write_tensors(path, arrays, {"format": FORMAT})

    @classmethod
    def load(cls, path: Path) -> Finder:
        """Read what `save` wrote. Raises ArtifactMismatch for weights of another shape."""
        arrays, metadata = map_tensors(path)
        if metadata.get("format") != FORMAT or len(arrays.get("table", ())) != BUCKETS:
            remedy = "train it again: python -m catalog_build train SOURCE --out FOLDER"
            raise ArtifactMismatch(f"{path.name} was trained for another reading", FORMAT, remedy)
        check(path.name, arrays, BOUNDS, sizes := ArraySizes())
        size = sizes.known
        right = (size["inputs"], size["windows"]) == (WINDOW * (size["E"] + DENSE), WINDOW * size["H"])
        require(right, f"the layers of {path.name} do not fit", f"windows of {WINDOW} words")
        return cls(**{name: np.array(array, dtype=np.float32) for name, array in arrays.items()})


def _windows(rows: Vectors) -> Vectors:
    """Each row with REACH neighbours on both sides: shape (words, (2 * REACH + 1) * width)."""
    padded = np.pad(rows, ((REACH, REACH), (0, 0)))
    return np.concatenate([padded[at : at + len(rows)] for at in range(2 * REACH + 1)], axis=1)


def mentions(shares: Vectors, least: float, longest: int) -> list[tuple[int, int, float]]:
    """(first word, last word, probability) of every run of words that is a mention at least so probably.

    The number of runs is linear in the words: at most `longest` for each.
    """
    found: list[tuple[int, int, float]] = []
    begins, inside = shares[:, 1].tolist(), [*shares[:, 2].tolist(), 0.0]
    for first, chance in enumerate(begins):
        last = first
        while chance >= least and last < min(len(begins), first + longest):
            whole = chance * (1 - inside[last + 1])
            if whole >= least:
                found.append((first, last, whole))
            last += 1
            chance *= inside[last]
    return found


def labels(seen: Seen, said: Sequence[tuple[int, int]]) -> NDArray[np.int64]:
    """0 outside, 1 beginning, 2 inside, of each word, for mentions from start to end: shape (words,)."""
    found = np.zeros(len(seen.first), dtype=np.int64)
    for start, end in said:
        rows = np.flatnonzero((seen.places[:, 0] >= start) & (seen.places[:, 1] <= end))
        found[rows] = 2
        found[rows[:1]] = 1
    return found
