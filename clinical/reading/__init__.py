"""From a text to mentions with codes: the artifact, spans, claims, cover, confidence."""

from clinical.reading.candidate import Candidate, Mentioned, Understood
from clinical.reading.confidence import COLUMNS, Confidence, ConfidenceNetwork, Regression, is_begun
from clinical.reading.elsewhere import Elsewhere
from clinical.reading.experience import OF_EXPERIENCE, Experience
from clinical.reading.index import CONFIDENCE, TAGGER, TOGETHER, SearchIndex
from clinical.reading.kinds import CodeKinds
from clinical.reading.reranking import OF_HIT, Reranker, columns_of_hits

__all__ = [
    "COLUMNS",
    "CONFIDENCE",
    "OF_EXPERIENCE",
    "OF_HIT",
    "TAGGER",
    "TOGETHER",
    "Candidate",
    "CodeKinds",
    "Confidence",
    "ConfidenceNetwork",
    "Elsewhere",
    "Experience",
    "Mentioned",
    "Regression",
    "Reranker",
    "SearchIndex",
    "Understood",
    "columns_of_hits",
    "is_begun",
]
