"""Rows that lie in runs (the wordings of a code, the codes of a query): where runs begin, and one value for each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def run_starts(keys: Ints) -> Ints:
    """The places where runs of equal keys begin."""
    begins = np.empty(len(keys), dtype=bool)
    begins[:1] = True
    np.not_equal(keys[1:], keys[:-1], out=begins[1:])
    return np.flatnonzero(begins)


def ranges(starts: Ints, sizes: Ints) -> tuple[Ints, Ints]:
    """start, start + 1, ... for each start, one behind the other; and the place where each of these runs begins."""
    ends = np.cumsum(sizes)
    first = ends - sizes
    return np.repeat(starts - first, sizes) + np.arange(int(ends[-1]) if len(ends) else 0), first


def first_largest(column: NDArray[np.float32], first: Ints) -> Ints:
    """The place of the first largest value of each run."""
    of = np.repeat(np.arange(len(first)), lengths(first, len(column)))
    places = np.flatnonzero(column == np.maximum.reduceat(column, first)[of])
    return places[run_starts(of[places])]


def lengths(first: Ints, total: int) -> Ints:
    """How long the runs are that begin there, of `total` in all."""
    return np.diff(first, append=total)
