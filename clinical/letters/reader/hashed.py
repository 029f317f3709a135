"""Logistic regressions over hashed features (Weinberger et al. 2009): small models of parts of a letter.

Their weights are part of the package; they know the language of letters, no catalog.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.numpy import save_file

from clinical.quantised import quantise

ROWS: Final = 1 << 15
"""Hashed features."""
FORMAT: Final = "befund-hashed-1"


def hashed(names: Iterable[str]) -> list[int]:
    """The rows of the features of one item, each once, in order."""
    return sorted({zlib.crc32(name.encode("utf-8", "replace")) % ROWS for name in names})


@dataclass(frozen=True)
class HashedRegression:
    """Weights (rows, classes) of the hashed features."""

    weights: NDArray[np.float32]

    def judge(self, rows: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """The probability of each item (n) for each class by itself: shape (n, classes)."""
        if not rows:
            return np.zeros((0, self.weights.shape[1]), dtype=np.float32)
        sizes = np.array([len(row) for row in rows])
        every = np.concatenate([np.array(row, dtype=np.int64) for row in rows])
        sums = np.add.reduceat(self.weights[every], np.cumsum(sizes) - sizes, axis=0)
        likely: NDArray[np.float32] = 1 / (1 + np.exp(-np.clip(sums, -30, 30)))
        return likely

    def sums(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """The log-odds of each item for each class: rows (n, features) of items with equally many, to (n, classes)."""
        found = np.zeros((len(rows), self.weights.shape[1]), dtype=np.float32)
        for column in rows.T:
            found += self.weights[column]
        return found

    def save(self, path: Path) -> None:
        """Write one safetensors file, one byte a weight."""
        weights, scale = quantise(self.weights, axis=0)
        save_file({"weights": weights, "scale": scale}, path, {"format": FORMAT})

    @classmethod
    def load(cls, path: Path, classes: int, rows: int = ROWS) -> HashedRegression:
        """Read what `save` wrote. Raises ValueError for weights of another shape."""
        with safe_open(path, framework="numpy") as file:
            written = (file.metadata() or {}).get("format")
            weights = file.get_tensor("weights").astype(np.float32) * file.get_tensor("scale")
        if written != FORMAT or weights.shape != (rows, classes):
            remedy = "train it again: python -m catalog_build statements"
            raise ValueError(f"{path.name} was trained for another reading; {remedy}")
        return cls(weights)


class ReaderModels(NamedTuple):
    """Models in place of the shipped ones: of the statements, and of the parts of entries."""

    statements: HashedRegression
    parts: HashedRegression


@cache
def shipped(name: str, classes: int, rows: int = ROWS) -> HashedRegression:
    """The weights of the package by the name of their file."""
    with as_file(files("clinical.letters.reader") / name) as path:
        return HashedRegression.load(path, classes, rows)
