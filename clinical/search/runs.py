"""Rows that lie in runs (the wordings of a code, the codes of a query): where runs begin, and one value for each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def run_starts(keys: Ints) -> Ints:
    """The rows where runs of equal keys begin."""
    begins = np.empty(len(keys), dtype=bool)
    begins[:1] = True
    np.not_equal(keys[1:], keys[:-1], out=begins[1:])
    return np.flatnonzero(begins)


def ranges(starts: Ints, sizes: Ints) -> tuple[Ints, Ints]:
    """start, start + 1, ... for each start, one behind the other; and where each of these runs begins."""
    ends = np.cumsum(sizes)
    first = ends - sizes
    return np.repeat(starts - first, sizes) + np.arange(int(ends[-1]) if len(ends) else 0), first


def first_largest(column: NDArray[np.float32], first: Ints) -> Ints:
    """The row with the first largest value of each run."""
    of = np.repeat(np.arange(len(first)), lengths(first, len(column)))
    largest = np.flatnonzero(column == np.maximum.reduceat(column, first)[of])
    return largest[run_starts(of[largest])]


def lengths(first: Ints, total: int) -> Ints:
    """How long the runs are that begin there, of `total` in all."""
    ends = np.empty_like(first)
    ends[:-1] = first[1:]
    ends[-1:] = total
    return ends - first


class Runs:
    """Rows in runs that belong together: reductions of a column (its last axis) to one value per run.

    What a run gives depends on its own rows alone, in their order.
    """

    def __init__(self, first: Ints, length: int) -> None:
        self.first, self.sizes = first, lengths(first, length)
        self.run = np.repeat(np.arange(len(first)), self.sizes)

    @classmethod
    def of(cls, keys: Ints) -> Runs:
        """Runs of equal keys."""
        return cls(run_starts(keys), len(keys))

    def maximum(self, column: NDArray[np.float32]) -> NDArray[np.float32]:
        """The largest value of each run."""
        result: NDArray[np.float32] = np.maximum.reduceat(column, self.first, axis=-1)
        return result

    def total(self, column: NDArray[np.float32]) -> NDArray[np.float32]:
        """The sum of each run."""
        result: NDArray[np.float32] = np.add.reduceat(column, self.first)
        return result

    def best(self, column: NDArray[np.float32]) -> Ints:
        """Number of the row with the first largest value of each run."""
        return first_largest(column, self.first)

    def second(self, descending: NDArray[np.float32]) -> NDArray[np.float32]:
        """The second value of each run of a column that descends in each run; 0 where there is only one."""
        at = np.minimum(self.first + 1, len(descending) - 1)
        return np.where(self.sizes > 1, descending[at], np.float32(0))
