"""The loops of the search as machine code: C without Python in it, compiled once, called with arrays of numpy."""

from clinical.search.native.compiled import Comparing, KnownWordings
from clinical.search.native.graph import Graph, GraphRoom, Links
from clinical.search.native.looking import Looking, LookingRoom, Postings, SpelledWords, WordTokens
from clinical.search.native.ranked import AllRanked, Networks, Ranked, Ranking, Room, Traits, Vectors

__all__ = [
    "AllRanked",
    "Comparing",
    "Graph",
    "GraphRoom",
    "KnownWordings",
    "Links",
    "Looking",
    "LookingRoom",
    "Networks",
    "Postings",
    "Ranked",
    "Ranking",
    "Room",
    "SpelledWords",
    "Traits",
    "Vectors",
    "WordTokens",
]
