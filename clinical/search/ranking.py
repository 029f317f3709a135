"""From the columns of candidates to calibrated probabilities: a small network that ranks the list as a whole.

Several networks of two hidden layers, trained listwise (Cao et al. 2007, ListNet: cross entropy of the softmax over
the candidates of one query) and averaged. One more logit stands for "none of these", so that a text that is no
diagnosis is not pressed into one. The softmax is calibrated by isotonic regression on queries that the networks have
not seen. Training is in `catalog_build.training.ranker`; here are a few matrix products in numpy.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from clinical.errors import ArtifactMismatch
from clinical.search.bounds import ArraySizes, Bound, check, require
from clinical.search.encoder import Vectors
from clinical.search.features import COLUMNS, RELATIVE, Candidates
from clinical.search.native.ranked import Networks
from clinical.search.runs import Ints, lengths
from clinical.search.tensors import map_tensors, write_tensors

FORMAT: Final = "befund-ranker-1"
WIDTH: Final = len(COLUMNS) + len(RELATIVE)

NONE_COLUMNS: Final = ("similarity", "alignment", "query_covered_by_all", "query_words", "characters_bm25")
"""The "none of these" logit is linear in the best values of these columns over the list, and a constant."""
BOUNDS: Final = {
    "mean": Bound("float32", (WIDTH,)),
    "scale": Bound("float32", (WIDTH,)),
    "first": Bound("float32", (WIDTH, "KH")),
    "first_bias": Bound("float32", ("KH",)),
    "second": Bound("float32", ("K", "H", "G")),
    "second_bias": Bound("float32", ("K", 1, "G")),
    "last": Bound("float32", ("K", "G", 1)),
    "none": Bound("float32", (len(NONE_COLUMNS) + 1,)),
    "raw": Bound("float32", ("points",)),
    "calibrated": Bound("float32", ("points",)),
}


BLOCK: Final = 16
"""Candidates that go through the networks together. A matrix product of 16 x 50 x 256 stays on one processor core
(OpenBLAS divides what has more than 262,144 multiplications), and few rows of a list's last block are empty."""

_ONE: Final = np.zeros(1, dtype=np.int64)
_NONE_NUMBERS: Final = [COLUMNS.index(name) for name in NONE_COLUMNS]


def summary(columns: Vectors, first: Ints = _ONE) -> Vectors:
    """The inputs of the "none of these" logit, one row for each query: shape (Q, len(NONE_COLUMNS) + 1).

    `first`: the rows where the candidates of each query begin.
    """
    best = np.maximum.reduceat(columns[:, _NONE_NUMBERS], first, axis=0)
    return np.concatenate([best, np.ones((len(first), 1), dtype=np.float32)], axis=1)


@dataclass(frozen=True)
class Ranker:
    """Networks k = 1..K over columns of width F: hidden sizes H and G; arrays are float32."""

    mean: Vectors  # (F,)
    scale: Vectors  # (F,) one over the standard deviation
    first: Vectors  # (F, K * H)
    first_bias: Vectors  # (K * H,)
    second: Vectors  # (K, H, G)
    second_bias: Vectors  # (K, 1, G)
    last: Vectors  # (K, G, 1)
    none: Vectors  # (len(NONE_COLUMNS) + 1,)
    raw: Vectors  # (points,) softmax values, ascending, and what they mean:
    calibrated: Vectors  # (points,) observed share of right codes

    def logits(self, columns: Vectors, first: Ints = _ONE) -> Vectors:
        """One logit per candidate, the mean over the networks: shape (c,). `first` as in `summary`.

        The candidates of each query are put into blocks of their own, all of one shape: a matrix product rounds by its
        shape, so that a query's logits are the same to the last bit whatever is ranked beside it.
        """
        blocks, row = _blocks(first, len(columns))
        inputs = np.zeros((blocks * BLOCK, columns.shape[1]), dtype=np.float32)
        inputs[row] = (columns - self.mean) * self.scale
        networks, width, _ = self.second.shape
        hidden = _active(inputs.reshape(blocks, BLOCK, -1) @ self.first, self.first_bias)
        hidden = hidden.reshape(blocks, BLOCK, networks, width).transpose(0, 2, 1, 3)
        hidden = _active(hidden @ self.second, self.second_bias)
        logits: Vectors = (hidden @ self.last)[..., 0].mean(axis=1).ravel()[row]
        return logits

    def softmax(self, columns: Vectors, first: Ints = _ONE) -> Vectors:
        """Share of each candidate of its query, with the none logit in the sum: shape (c,). `first` as in `summary`."""
        logits = self.logits(columns, first)
        totals = summary(columns, first)
        none = totals[:, 0] * self.none[0]
        for number in range(1, len(self.none)):  # one by one, for the same reason as above
            none += totals[:, number] * self.none[number]
        of = np.repeat(np.arange(len(first)), lengths(first, len(columns)))
        top = np.maximum(np.maximum.reduceat(logits, first), none)
        powers = np.exp(logits - top[of])
        shares: Vectors = powers / (np.add.reduceat(powers, first) + np.exp(none - top))[of]
        return shares

    @property
    def networks(self) -> Networks:
        """The same for the compiled loops (`native/ranking.c`), which give what `probabilities` does to within a few
        of the last bits: they add up in another order."""
        own = (self.mean, self.scale, self.first, self.first_bias, self.second, self.second_bias, self.last, self.none)
        rows = (np.ascontiguousarray(one) for one in own)  # fresh from training they may be views
        return Networks._make((*rows, np.array(_NONE_NUMBERS, dtype=np.int64), self.raw, self.calibrated))

    def probabilities(self, found: Candidates) -> tuple[Vectors, Vectors]:
        """(calibrated probability, raw share) of each candidate; order by the raw share, which has no plateaus."""
        share = self.softmax(found.columns, found.first)
        return np.interp(share, self.raw, self.calibrated).astype(np.float32), share

    def save(self, path: Path) -> None:
        """Write one safetensors file."""
        arrays = {name: getattr(self, name) for name in self.__dataclass_fields__}
        write_tensors(path, arrays, {"format": FORMAT, "columns": ",".join(COLUMNS)})

    @classmethod
    def load(cls, path: Path) -> Ranker:
        """Read what `save` wrote. Raises ArtifactMismatch when it was trained on other columns."""
        arrays, metadata = map_tensors(path)
        if metadata.get("format") != FORMAT or metadata.get("columns") != ",".join(COLUMNS):
            remedy = "train it again: python -m catalog_build train SOURCE --out FOLDER"
            raise ArtifactMismatch(f"{path.name} was trained on other columns", ", ".join(COLUMNS), remedy)
        check(path.name, arrays, BOUNDS, sizes := ArraySizes())
        networks = sizes.known["K"] * sizes.known["H"] == sizes.known["KH"]
        require(networks, f"the layers of {path.name} do not fit", "K networks of H and G hidden values")
        raw, calibrated = arrays["raw"], arrays["calibrated"]
        right = calibrated.min() >= 0 and calibrated.max() <= 1 and (raw[1:] >= raw[:-1]).all()
        require(right, f"{path.name} gives what is no probability", "shares from 0 to 1")
        return cls(**{name: np.array(array) for name, array in arrays.items()})


def _active(sums: Vectors, bias: Vectors) -> Vectors:
    """The rectified sums with their bias, in the place of the sums."""
    sums += bias
    return np.maximum(sums, 0, out=sums)


def _blocks(first: Ints, candidates: int) -> tuple[int, Ints]:
    """Number of blocks filled if each query begins a new one, and the row of each candidate in them."""
    sizes = lengths(first, candidates)
    counts = -(-sizes // BLOCK)
    begins = np.cumsum(counts) - counts
    return int(counts.sum()), np.arange(candidates) + np.repeat(begins * BLOCK - first, sizes)
