"""The best codes of queries with their probabilities: the candidates of all searches, ranked by the ranking model."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
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
        found, ascending, before = [], True, -1
        for queries in batches:
            best = self._ranking.best(*asked_of(queries, self._wordings))
            numbers = queries.number.tolist()
            ascending &= all(one < other for one, other in pairwise((before, *numbers)))
            before = numbers[-1]
            part = np.repeat(queries.number, best.counts)
            found.append(Hits(part, best.code, best.share, best.probability, best.wording))
        hits = found[0] if len(found) == 1 else joined(found)
        return hits if ascending else hits.at(np.argsort(hits.part, kind="stable"))
