"""The loops of the search as machine code: C without Python in it, compiled once, called with arrays of numpy."""

from clinical.search.native.compiled import AskedWords, Comparing, KnownWordings, OfCodes, descending, distances
from clinical.search.native.graph import Graph, GraphRoom, Links
from clinical.search.native.looking import LookedAt, Looking, LookingRoom, Postings, SpelledWords, WordTokens

__all__ = [
    "AskedWords",
    "Comparing",
    "Graph",
    "GraphRoom",
    "KnownWordings",
    "Links",
    "LookedAt",
    "Looking",
    "LookingRoom",
    "OfCodes",
    "Postings",
    "SpelledWords",
    "WordTokens",
    "descending",
    "distances",
]
