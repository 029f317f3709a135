"""From a phrase to codes: wordings, vectors, retrieval, ranking, and the artifact they lie in."""

from clinical.search.encoder import Encoder, StaticEncoder, TransformerEncoder, Vectors, vocabulary_of
from clinical.search.expansion import Expansion
from clinical.search.features import Candidates, candidates
from clinical.search.index import TOGETHER, Candidate, SearchIndex
from clinical.search.manifest import Manifest, checksum
from clinical.search.ranking import NONE_COLUMNS, WIDTH, Ranker, summary
from clinical.search.retrieval import read_queries
from clinical.search.tensors import map_tensors
from clinical.search.terms import Wordings
from clinical.search.traits import CodeTraits, traits_of

__all__ = [
    "NONE_COLUMNS",
    "TOGETHER",
    "WIDTH",
    "Candidate",
    "Candidates",
    "CodeTraits",
    "Encoder",
    "Expansion",
    "Manifest",
    "Ranker",
    "SearchIndex",
    "StaticEncoder",
    "TransformerEncoder",
    "Vectors",
    "Wordings",
    "candidates",
    "checksum",
    "map_tensors",
    "read_queries",
    "summary",
    "traits_of",
    "vocabulary_of",
]
