"""Baselines: each takes texts and gives codes, best first, from the same wordings as Befund has.

Each ranks codes by their best wording. BM25 is bm25s (Lù 2024, arXiv 2407.03618) over folded words, and over their
character 4-grams; TF-IDF scikit-learn's, words, cosine; plain vectors the nearest wordings by Befund's encoder alone,
without its ranking model, reading or rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clinical.reading import SearchIndex
from clinical.text import folded_words

DEPTH: Final = 10
GRAM: Final = 4
BEFUND: Final = "Befund, tier 1"

Ranked: TypeAlias = list[str]
System: TypeAlias = Callable[[Sequence[str]], Iterator[Ranked]]


def systems(index: SearchIndex) -> dict[str, System]:
    """Name to system, each made when it is asked."""
    texts = [index.wordings.text(number) for number in range(len(index.wordings))]
    return {
        "BM25, words": lambda queries: _bm25(index, folded_words, texts, queries),
        "BM25, character 4-grams": lambda queries: _bm25(index, _grams, texts, queries),
        "TF-IDF, words": lambda queries: _tfidf(index, texts, queries),
        "plain vectors": lambda queries: _vectors(index, queries),
        BEFUND: lambda queries: _befund(index, queries),
    }


def _grams(text: str) -> list[str]:
    bordered = [f"<{word}>" for word in folded_words(text)]
    return [word[at : at + GRAM] for word in bordered for at in range(max(1, len(word) - GRAM + 1))]


def _bm25(
    index: SearchIndex, tokens: Callable[[str], list[str]], texts: Sequence[str], queries: Sequence[str]
) -> Iterator[Ranked]:
    import bm25s

    vocabulary: dict[str, int] = {}
    numbers = [[vocabulary.setdefault(token, len(vocabulary)) for token in tokens(text)] for text in texts]
    found = bm25s.BM25(backend="numpy")
    found.index((numbers, vocabulary), show_progress=False)
    for query in queries:
        known = [token for token in tokens(query) if token in vocabulary]
        yield _best(index, found.get_scores(known)) if known else []


def _tfidf(index: SearchIndex, texts: Sequence[str], queries: Sequence[str]) -> Iterator[Ranked]:
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectoriser = TfidfVectorizer(analyzer=folded_words)
    table = vectoriser.fit_transform(texts)
    for query in queries:
        yield _best(index, np.asarray((table @ vectoriser.transform([query]).T).todense()).ravel())


def _vectors(index: SearchIndex, queries: Sequence[str]) -> Iterator[Ranked]:
    wordings = index.wordings
    every = wordings.vectors(np.arange(len(wordings)))
    for row in index.encoder.encode(list(queries)):
        yield _best(index, every @ (row / max(float(np.linalg.norm(row)), 1e-9)))


def _befund(index: SearchIndex, queries: Sequence[str]) -> Iterator[Ranked]:
    yield from ([hit.code for hit in hits] for hits in index.search_many(queries, DEPTH))


def _best(index: SearchIndex, scores: NDArray[Any]) -> Ranked:
    """The codes of the best wordings; a wording that scores nothing is no find."""
    of_code = np.maximum.reduceat(np.asarray(scores, dtype=np.float64), index.wordings.starts)
    order = np.argsort(-of_code, kind="stable")[:DEPTH]
    return _named(index, (place for place in order if of_code[place] > 0))


def _named(index: SearchIndex, places: Iterable[int]) -> Ranked:
    return [index.catalog.codes[index.wordings.codes[place]].code for place in places]
