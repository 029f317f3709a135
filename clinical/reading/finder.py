"""Tagger of mentions: the words of a text that name a disease, finding, procedure or state, with begin and end.

A small convolutional tagger (Collobert et al. 2011, window approach) over hashed character n-grams of each word
(Bojanowski et al. 2017), its shape, and the marks around it; it gives each word the probabilities of standing outside,
of beginning and of continuing a mention (Ramshaw and Marcus 1995). It knows no encoder and no catalog, so that the
same weights serve every artifact. Training is in `catalog_build.training.finder`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from clinical.errors import ArtifactMismatch
from clinical.search import ArraySizes, Bound, Vectors, check, map_tensors, require, write_tensors
from clinical.text import BUCKETS, DENSE, Seen

FORMAT: Final = "befund-finder-1"
REACH: Final = 2
"""Words on either side that one layer sees; two layers see twice as far."""
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
