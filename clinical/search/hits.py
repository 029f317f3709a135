"""Codes found by parts of a text, as columns: selected, weighted, joined and merged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinical.search.encoder import Vectors
from clinical.search.runs import Ints, run_starts


class Hits(NamedTuple):
    """Codes found by parts, one row each: `share` orders, `probability` is what it means."""

    part: Ints  # (h,) place of the part
    code: Ints  # (h,) catalog number
    share: Vectors  # (h,)
    probability: Vectors  # (h,)
    wording: Ints  # (h,) number of the code's best wording

    def at(self, rows: Ints | NDArray[np.bool_] | slice) -> Hits:
        """Some of the rows, in that order."""
        return Hits(self.part[rows], self.code[rows], self.share[rows], self.probability[rows], self.wording[rows])

    def weighed(self, weight: Vectors | float) -> Hits:
        """The same hits, believed less."""
        return self._replace(share=self.share * weight, probability=self.probability * weight)


def joined(some: Sequence[Hits]) -> Hits:
    """One behind the other; of none, no hits."""
    if len(some) == 1:
        return some[0]
    if not some:
        numbers, values = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32)
        return Hits(numbers, numbers, values, values, numbers)
    return Hits(
        np.concatenate([hits.part for hits in some]),
        np.concatenate([hits.code for hits in some]),
        np.concatenate([hits.share for hits in some]),
        np.concatenate([hits.probability for hits in some]),
        np.concatenate([hits.wording for hits in some]),
    )


def merged(hits: Hits) -> Hits:
    """The best hit of each code over all parts, most probable first; equally probable ones by their share."""
    ordered = hits.at(np.lexsort((-hits.share, -hits.probability)))
    return ordered.at(_first_of_each(ordered.code))


def merged_by_part(hits: Hits) -> Hits:
    """The best hit of each code for each part; part by part, best first."""
    ordered = hits.at(np.lexsort((-hits.share, hits.part)))
    keys = ordered.part * (int(hits.code.max(initial=0)) + 1) + ordered.code
    return ordered.at(_first_of_each(keys))


def _first_of_each(keys: Ints) -> Ints:
    """The rows where each key stands first, ascending."""
    order = np.argsort(keys, kind="stable")
    first = np.zeros(len(keys), dtype=bool)
    first[order[run_starts(keys[order])]] = True
    return np.flatnonzero(first)
