"""From a text to mentions with codes: the artifact, spans, claims, cover, confidence."""

from clinical.reading.candidate import Candidate, Mentioned, Understood
from clinical.reading.confidence import COLUMNS, CodeKinds, Confidence, Network, Regression, is_begun
from clinical.reading.elsewhere import Elsewhere
from clinical.reading.finder import REACH, Finder, labels
from clinical.reading.index import CONFIDENCE, FINDER, TOGETHER, SearchIndex

__all__ = [
    "COLUMNS",
    "CONFIDENCE",
    "FINDER",
    "REACH",
    "TOGETHER",
    "Candidate",
    "CodeKinds",
    "Confidence",
    "Elsewhere",
    "Finder",
    "Mentioned",
    "Network",
    "Regression",
    "SearchIndex",
    "Understood",
    "is_begun",
    "labels",
]
