"""From a phrase to codes: wordings, vectors, retrieval, ranking, and the artifact that holds them."""

from clinical.search.encoder import Encoder, StaticEncoder, TransformerEncoder, Vectors, vocabulary_of
from clinical.search.features import Candidates, candidates
from clinical.search.index import CONFIDENCE, FINDER, TOGETHER, Candidate, Mentioned, SearchIndex, Understood
from clinical.search.manifest import Manifest, checksum
from clinical.search.neighbours import built, nearest
from clinical.search.ranking import NONE_COLUMNS, WIDTH, Ranker, summary
from clinical.search.reading.confidence import COLUMNS, CodeKinds, Confidence, Regression, is_begun
from clinical.search.reading.elsewhere import NONE, Elsewhere
from clinical.search.reading.finder import BUCKETS, DENSE, REACH, Finder, Seen, labels, see
from clinical.search.retrieval import read_queries
from clinical.search.runs import Ints
from clinical.search.tensors import map_tensors
from clinical.search.terms import Wordings
from clinical.search.traits import CodeTraits, traits_of
from clinical.search.words.expansion import Expansion

__all__ = [
    "BUCKETS",
    "COLUMNS",
    "CONFIDENCE",
    "DENSE",
    "FINDER",
    "NONE",
    "NONE_COLUMNS",
    "REACH",
    "TOGETHER",
    "WIDTH",
    "Candidate",
    "Candidates",
    "CodeKinds",
    "CodeTraits",
    "Confidence",
    "Elsewhere",
    "Encoder",
    "Expansion",
    "Finder",
    "Ints",
    "Manifest",
    "Mentioned",
    "Ranker",
    "Regression",
    "SearchIndex",
    "Seen",
    "StaticEncoder",
    "TransformerEncoder",
    "Understood",
    "Vectors",
    "Wordings",
    "built",
    "candidates",
    "checksum",
    "is_begun",
    "labels",
    "map_tensors",
    "nearest",
    "read_queries",
    "see",
    "summary",
    "traits_of",
    "vocabulary_of",
]
