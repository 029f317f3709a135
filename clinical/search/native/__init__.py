"""The loops of the search as machine code: C without Python in it, compiled once, called with arrays of numpy."""

from clinical.search.native.compiled import (
    AskedWords,
    Comparing,
    KnownWordings,
    LookedAt,
    Looking,
    OfCodes,
    Postings,
    descending,
    distances,
)

__all__ = [
    "AskedWords",
    "Comparing",
    "KnownWordings",
    "LookedAt",
    "Looking",
    "OfCodes",
    "Postings",
    "descending",
    "distances",
]
