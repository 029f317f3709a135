"""The best codes of queries with their probabilities: the candidates of all searches, ranked by the ranking model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from clinical.search.features import ranking_of
from clinical.search.hits import Hits, joined
from clinical.search.ranking import Ranker
from clinical.search.retrieval import Queries, asked_of
from clinical.search.terms import Wordings
from clinical.search.traits import CodeTraits

KEPT: Final = 20
"""Codes kept of each query."""


class Scorer:
    """The ranking model over the wordings of a catalog, made ready once for the compiled loops."""

    def __init__(self, wordings: Wordings, traits: CodeTraits, ranker: Ranker) -> None:
        self._wordings = wordings
        self._ranking = ranking_of(wordings, traits, ranker.networks, KEPT)

    def best(self, batches: Iterable[Queries]) -> Hits:
        """The best KEPT codes of each query, query by query, best first; `part` is the query's number."""
        found = []
        for queries in batches:
            best = self._ranking.best(*asked_of(queries, self._wordings))
            part = np.repeat(queries.number, best.counts)
            found.append(Hits(part, best.code, best.share, best.probability, best.wording))
        if len(found) == 1 and len(found[0].part) and bool((np.diff(found[0].part) >= 0).all()):
            return found[0]
        hits = joined(found)
        return hits.at(np.argsort(hits.part, kind="stable"))
