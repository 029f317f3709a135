"""Baselines: each takes texts and gives codes, best first, from the same wordings as Befund has.

Each ranks codes by their best wording. BM25 is bm25s (Lù 2024, arXiv 2407.03618) over folded words, and over their
character 4-grams; TF-IDF scikit-learn's, words or characters, cosine; fuzzy rapidfuzz's token set ratio (Levenshtein);
plain vectors the nearest wordings by Befund's encoder alone, without its ranking model, reading or rules; a dense
encoder any model of sentence-transformers, the same way. Random codes say what chance alone gets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clinical.reading import SearchIndex
from clinical.search import TransformerEncoder
from clinical.text import folded_words

DEPTH: Final = 10
GRAM: Final = 4
SEED: Final = 2026
BEFUND: Final = "Befund, tier 1"

Ranked: TypeAlias = list[str]
System: TypeAlias = Callable[[Sequence[str]], Iterator[Ranked]]


def systems(index: SearchIndex, encoder: Path | None = None) -> dict[str, System]:
    """Name to system, each made when it is asked. `encoder`: folder of a sentence-transformers model."""
    texts = [index.wordings.text(number) for number in range(len(index.wordings))]
    dense = {"dense encoder": lambda queries: _dense(index, encoder, texts, queries)} if encoder else {}
    return {
        "random codes": lambda queries: _random(index, queries),
        "fuzzy, token set": lambda queries: _fuzzy(index, texts, queries),
        "BM25, words": lambda queries: _bm25(index, folded_words, texts, queries),
        "BM25, character 4-grams": lambda queries: _bm25(index, _grams, texts, queries),
        "TF-IDF, words": lambda queries: _tfidf(index, texts, queries, analyzer=folded_words),
        "TF-IDF, characters 2-5": lambda queries: _tfidf(index, texts, queries, analyzer="char_wb", ngram_range=(2, 5)),
        **dense,
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


def _random(index: SearchIndex, queries: Sequence[str]) -> Iterator[Ranked]:
    chance, codes = np.random.default_rng(SEED), np.array([code.code for code in index.catalog if code.terminal])
    yield from (chance.choice(codes, DEPTH, replace=False).tolist() for _ in queries)


def _fuzzy(index: SearchIndex, texts: Sequence[str], queries: Sequence[str]) -> Iterator[Ranked]:
    from rapidfuzz import fuzz, process

    folded = [" ".join(folded_words(text)) for text in texts]
    for query in queries:
        own = " ".join(folded_words(query))
        yield _best(index, process.cdist([own], folded, scorer=fuzz.token_set_ratio)[0]) if own else []


def _dense(index: SearchIndex, model: Path, texts: Sequence[str], queries: Sequence[str]) -> Iterator[Ranked]:
    encoder = TransformerEncoder(model)
    every = encoder.encode(list(texts))
    yield from (_best(index, every @ row) for row in encoder.encode(list(queries)))


def _tfidf(index: SearchIndex, texts: Sequence[str], queries: Sequence[str], **how: Any) -> Iterator[Ranked]:
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectoriser = TfidfVectorizer(**how)
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
