"""The best codes of texts with their probabilities: the candidates of all searches, ranked by the ranking model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from clinical.search.encoder import Encoder, StaticEncoder
from clinical.search.features import ranking_of
from clinical.search.hits import Hits, joined
from clinical.search.native.spoken import Answers, AnswerTables, Language, Lexicon, Spoken, TextRanking
from clinical.search.ranking import Ranker
from clinical.search.retrieval import CELLS, NEAREST, Queries, asked_of, in_batches, room_of
from clinical.search.terms import Wordings
from clinical.search.traits import CodeTraits
from clinical.text import folded_words

KEPT: Final = 20
"""Codes kept of each query."""


class Scorer:
    """The ranking model over the wordings of a catalog, made ready once for the compiled loops.

    With the n-grams of a `StaticEncoder` and a graph, texts go to their codes in one call; any other encoder or index
    is asked for its vectors before. `answers`: what is not searched, for it is known (`answers`).
    """

    def __init__(
        self,
        wordings: Wordings,
        traits: CodeTraits,
        ranker: Ranker,
        encoder: Encoder,
        answers: AnswerTables | None = None,
    ) -> None:
        self.wordings, self._encoder = wordings, encoder
        self._ranking = ranking_of(wordings, traits, ranker.networks, KEPT)
        self._static = encoder if isinstance(encoder, StaticEncoder) and wordings.links is not None else None
        self._of_texts: TextRanking | None = None
        if self._static is not None:
            known = None if answers is None else Answers(answers, wordings.comparing, len(wordings))
            self._of_texts = TextRanking(self._ranking, language_of(wordings, self._static), NEAREST, known)

    @property
    def is_one_call(self) -> bool:
        """True if texts go to their codes in one call."""
        return self._of_texts is not None

    def of_words(self, folded: Sequence[Sequence[str]]) -> Hits:
        """The best KEPT codes of each text by its folded words, text by text, best first; `part` is its place."""
        if self._of_texts is None or self._static is None:
            return self.best(in_batches(folded, self._encoder, self.wordings))
        room, found = room_of(self.wordings), []
        for numbers, spoken in _batches(folded):
            best = self._of_texts.best(spoken, room, self._static.drawn)
            part = np.repeat(np.array(numbers, dtype=np.int64), best.counts)
            found.append(Hits(part, best.code, best.share, best.probability, best.wording))
        return joined(found)

    def best(self, batches: Iterable[Queries]) -> Hits:
        """The best KEPT codes of each query, query by query, best first; `part` is the query's number."""
        found, ascending, before = [], True, -1
        for queries in batches:
            best = self._ranking.best(*asked_of(queries, self.wordings))
            numbers = queries.number.tolist()
            ascending &= all(one < other for one, other in pairwise((before, *numbers)))
            before = numbers[-1]
            part = np.repeat(queries.number, best.counts)
            found.append(Hits(part, best.code, best.share, best.probability, best.wording))
        hits = joined(found)
        return hits if ascending else hits.at(np.argsort(hits.part, kind="stable"))


def language_of(wordings: Wordings, encoder: StaticEncoder) -> Language:
    """Everything that a catalog and its encoder know of words."""
    by_word, by_character = wordings.words_bm25, wordings.characters_bm25
    words = len(wordings.tables.word_idf)
    token = np.full(words, -1, dtype=np.int64)
    for word, number in wordings.vocabulary.items():
        token[number] = by_word.vocabulary.get(word, -1)
    return Language(
        Lexicon(wordings.vocabulary, words),
        Lexicon(by_character.vocabulary, len(by_character.start) - 1),
        Lexicon(encoder.vocabulary, len(encoder.table[0])),
        np.append(wordings.tables.word_idf, np.float32(wordings.rarest)),
        token,
        encoder.table,
    )


def _batches(folded: Sequence[Sequence[str]]) -> Iterator[tuple[list[int], Spoken]]:
    """The texts with a word in batches of at most CELLS words, with their places."""
    numbers, some, cells = list[int](), list[Sequence[str]](), 0
    for number, own in enumerate(folded):
        if some and cells + len(own) > CELLS:
            yield numbers, Spoken.of(some, _folds)
            numbers, some, cells = [], [], 0
        if own:
            numbers.append(number)
            some.append(own)
            cells += len(own)
    if some:
        yield numbers, Spoken.of(some, _folds)


def _folds(text: str) -> dict[str, str]:
    """The folded form of each word of a text."""
    folds: dict[str, str] = {}
    folded_words(text, folds)
    return folds
