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


def lengths(first: Ints, total: int) -> Ints:
    """Lengths of the runs that begin at `first`, `total` elements in all."""
    ends = np.empty_like(first)
    ends[:-1] = first[1:]
    ends[-1:] = total
    return ends - first
