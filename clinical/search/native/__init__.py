"""The loops of the search as machine code: C without Python in it, compiled once, called with arrays of numpy."""

from clinical.search.native.compiled import AskedWords, Comparing, KnownWordings, OfCodes, descending
from clinical.search.native.graph import Graph, GraphRoom, Links
from clinical.search.native.looking import LookedAt, Looking, LookingRoom, Postings, SpelledWords, WordTokens
from clinical.search.native.ranked import AllRanked, Networks, Ranked, Ranking, Room, Traits, Vectors

__all__ = [
    "AllRanked",
    "AskedWords",
    "Comparing",
    "Graph",
    "GraphRoom",
    "KnownWordings",
    "Links",
    "LookedAt",
    "Looking",
    "LookingRoom",
    "Networks",
    "OfCodes",
    "Postings",
    "Ranked",
    "Ranking",
    "Room",
    "SpelledWords",
    "Traits",
    "Vectors",
    "WordTokens",
    "descending",
]
