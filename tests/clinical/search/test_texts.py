"""Texts that go to their codes in one call get what they get step by step, to the last bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinical.reading import SearchIndex
from clinical.search import Hits, Scorer, Wordings, built, read_queries
from clinical.search.native import compiled
from clinical.search.retrieval import CELLS
from clinical.text import folded_words

TEXTS = [
    "Bluthochdruck",
    "akute Bronchitis mit Fieber, akute Bronchitis",
    "😀",
    "",
    "Z. n. Appendektomie",
    "Gürtelrose am Ä. ſ ﬁ ΔF508 日本",
    "qq qqqq",
    "x",
    "phthth rhrh",
    "WPW-Syndrom",
    "chronische Niereninsuffizienz Stadium 3 bei Diabetes mellitus Typ 2 und arterieller Hypertonie",
    "Gürtelrose",
]


@pytest.fixture(scope="module")
def scorer(index: SearchIndex) -> Scorer:
    """Over the wordings of the starter catalog in a graph, which such a small one has not by itself."""
    own = index.wordings
    vectors = np.asarray(own.tables.rows * own.tables.scales[:, None], dtype=np.float32)
    wordings = Wordings(own.tables, own.words_bm25, own.characters_bm25, built(vectors, "hnsw"))
    return Scorer(wordings, index.traits, index.ranker, index.encoder)


def of_texts(scorer: Scorer, texts: list[str]) -> Hits:
    return scorer.of_words([folded_words(text) for text in texts])


def step_by_step(index: SearchIndex, scorer: Scorer, texts: list[str]) -> Hits:
    return scorer.best(read_queries(texts, index.encoder, scorer.wordings))


def assert_same(one: Hits, other: Hits) -> None:
    for name, own, others in zip(Hits._fields, one, other, strict=True):
        np.testing.assert_array_equal(own, others, name)


def test_texts_in_one_call_get_what_they_get_step_by_step(index: SearchIndex, scorer: Scorer) -> None:
    texts = [*TEXTS, *(index.wordings.text(number) for number in range(0, len(index.wordings), 41))]
    found = of_texts(scorer, texts)
    assert len(set(found.part.tolist())) > len(texts) - 5
    assert_same(found, step_by_step(index, scorer, texts))


def test_more_words_than_are_searched_together_are_searched_one_after_another(
    index: SearchIndex, scorer: Scorer
) -> None:
    texts = ["Herz " * size for size in (1, 300, 2, 400, CELLS + 9)] + ["Husten"] * (CELLS + 5)
    assert_same(of_texts(scorer, texts), step_by_step(index, scorer, texts))


@settings(deadline=None, max_examples=60)
@given(texts=st.lists(st.text(max_size=30), max_size=4))
def test_any_texts_do(index: SearchIndex, scorer: Scorer, texts: list[str]) -> None:
    assert_same(of_texts(scorer, texts), step_by_step(index, scorer, texts))


def test_a_text_gets_what_it_gets_alone(scorer: Scorer) -> None:
    together = of_texts(scorer, TEXTS)
    for number, text in enumerate(TEXTS):
        alone, own = of_texts(scorer, [text]), together.at(together.part == number)
        assert_same(alone, own._replace(part=np.zeros_like(own.part)))


def test_without_memory_it_says_so(scorer: Scorer, monkeypatch: pytest.MonkeyPatch) -> None:
    real = compiled.loops()
    monkeypatch.setattr("clinical.search.native.spoken.loops", lambda: real._replace(search=lambda *_: -1))
    with pytest.raises(MemoryError):
        of_texts(scorer, ["Husten"])
