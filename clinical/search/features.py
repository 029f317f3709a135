"""Features of each candidate code of a query: the columns that the ranking model reads, by name.

Three views of the same wordings are joined: vectors (meaning), BM25 over words and over character n-grams (form), and
a soft alignment of the query's words with the words of each wording: which of them have a counterpart on the other
side, weighted by IDF and by the encoder's own weight (after Kusner et al. 2015, relaxed word mover's distance).

The columns are computed by `native/ranking.c`, one query after another. What a query gets does not depend on the
queries beside it, to the last bit: products of vectors are exact (`cosines`), sums run over what belongs to the query
alone, in its own order.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from clinical.search.encoder import Vectors
from clinical.search.native.ranked import Networks, Ranking, Traits
from clinical.search.neighbours import SEARCH_DEPTH
from clinical.search.retrieval import Queries, asked_of
from clinical.search.runs import Ints
from clinical.search.terms import Wordings
from clinical.search.traits import TRAITS, CodeTraits

RELATIVE: Final = (
    "similarity", "mass_soft", "mass_sharp", "second", "title", "centre", "words_bm25", "characters_bm25",
    "query_covered", "wording_covered", "alignment", "weighted_alignment", "query_covered_by_all",
)  # fmt: skip
"""These columns are repeated, behind all others, as their distance to the best candidate of the same query."""

COLUMNS: Final = (
    *RELATIVE,
    "mass_share", "category_share", "parent_share", "words_bm25_share", "characters_bm25_share",
    "best_query_covered", "best_wording_covered", "worst_query_word", "worst_wording_word", "best_weighted_covered",
    "length_ratio", "weight_difference", "hits", "rank", "verbatim",
    *TRAITS,
    "query_words", "query_rarity", "query_weight",
)  # fmt: skip
"""The names of the columns in their order; a trained model keeps them and refuses others."""


class Candidates(NamedTuple):
    """Candidate codes of Q queries, query by query."""

    codes: Ints  # (c,) catalog numbers
    columns: Vectors  # (c, len(COLUMNS) + len(RELATIVE))
    wordings: Ints  # (c,) the best wording of each
    first: Ints  # (Q,) where the candidates of each query begin

    def column(self, name: str) -> Vectors:
        """One of COLUMNS: shape (c,)."""
        return self.columns[:, COLUMNS.index(name)]

    def relative(self, name: str) -> Vectors:
        """One of RELATIVE as its distance to the best candidate of the query, 0 or less: shape (c,)."""
        return self.columns[:, len(COLUMNS) + RELATIVE.index(name)]


def candidates(queries: Queries, wordings: Wordings, traits: CodeTraits) -> Candidates:
    """All codes that one of the three searches puts forward for each query, with their columns."""
    found = ranking_of(wordings, traits).every(*asked_of(queries, wordings))
    ends = np.cumsum(found.counts)
    return Candidates(found.code, found.columns, found.wording, ends - found.counts)


def ranking_of(wordings: Wordings, traits: CodeTraits, networks: Networks | None = None, kept: int = 0) -> Ranking:
    """Make the ranking of a catalog; with the networks of a ranking model it gives the best `kept` codes."""
    own = Traits(
        tuple(getattr(traits, name) for name in TRAITS),
        traits.category, traits.parent, traits.categories, traits.parents,
    )  # fmt: skip
    return Ranking(
        wordings.looking, wordings.comparing, wordings.links, own, wordings.codes, networks, SEARCH_DEPTH, kept
    )
