"""Texts that go to their codes in one call, and words whose answer is known, get what a search finds, to the bit."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinical.reading import SearchIndex
from clinical.search import (
    ANSWERS,
    AnswerTables,
    Hits,
    Scorer,
    Wordings,
    built,
    load_answers,
    read_queries,
    save_answers,
)
from clinical.search.answers import LONGEST
from clinical.search.native import compiled
from clinical.search.retrieval import CELLS
from clinical.search.tensors import map_tensors, write_tensors
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


@pytest.fixture(scope="module")
def searched(index: SearchIndex) -> Scorer:
    """Without answers."""
    return Scorer(index.wordings, index.traits, index.ranker, index.encoder)


@pytest.fixture(scope="module")
def tables(index: SearchIndex) -> AnswerTables:
    """As the build has made them."""
    assert index.answers is not None
    return index.answers


@pytest.fixture(scope="module")
def answering(index: SearchIndex, searched: Scorer, tables: AnswerTables) -> Scorer:
    return Scorer(searched.wordings, index.traits, index.ranker, index.encoder, tables)


def entries_of(wordings: Wordings) -> list[list[str]]:
    return [*map(wordings.folded, range(len(wordings))), *([word] for word in wordings.vocabulary)]


def test_each_short_wording_and_each_word_has_the_answer_of_a_search(searched: Scorer, answering: Scorer) -> None:
    some: Sequence[list[str]] = entries_of(searched.wordings)[::7]
    assert sum(len(words) <= LONGEST for words in some) > 1_000
    assert_same(answering.of_words(some), searched.of_words(some))


def test_words_in_another_order_or_of_which_one_is_unknown_are_searched(searched: Scorer, answering: Scorer) -> None:
    some = [words[::-1] for words in entries_of(searched.wordings)[:200] if len(words) == 2]
    some += [["husten", "qqqq"], ["qqqq"], ["husten", "husten"], ["mit"], ["husten"]]
    assert_same(answering.of_words(some), searched.of_words(some))


def test_an_answer_stands_for_what_it_was_made_of(index: SearchIndex, searched: Scorer, tables: AnswerTables) -> None:
    """With other answers the same words get these: they are not searched."""
    wordings = searched.wordings
    entry = next(number for number in range(len(wordings)) if len(wordings.folded(number)) == 2)
    first, last = tables.start[entry : entry + 2].tolist()
    assert last - first > 1
    wording = tables.wording.copy()
    wording[first:last] = tables.wording[first:last][::-1]
    other = Scorer(wordings, index.traits, index.ranker, index.encoder, tables._replace(wording=wording))
    found = other.of_words([wordings.folded(entry), [*wordings.folded(entry), "akut"]])
    np.testing.assert_array_equal(found.wording[found.part == 0], wording[first:last])
    assert_same(found.at(found.part == 1), searched_second(searched, wordings.folded(entry)))


def searched_second(searched: Scorer, words: list[str]) -> Hits:
    found = searched.of_words([[], [*words, "akut"]])
    return found.at(found.part == 1)


def test_no_words_are_entered_twice(searched: Scorer, tables: AnswerTables) -> None:
    sizes = np.diff(tables.start)
    known = [tuple(words) for words, size in zip(entries_of(searched.wordings), sizes, strict=True) if size]
    assert len(known) == len(set(known))
    assert max(map(len, known)) == LONGEST


def test_answers_are_written_and_read(searched: Scorer, tables: AnswerTables, tmp_path: Path) -> None:
    save_answers(tables, tmp_path)
    read = load_answers(tmp_path, searched.wordings)
    assert read is not None
    for name, own, other in zip(AnswerTables._fields, tables, read, strict=True):
        np.testing.assert_array_equal(own, other, name)


def test_answers_of_other_code_are_not_read(searched: Scorer, tables: AnswerTables, tmp_path: Path) -> None:
    save_answers(tables, tmp_path)
    arrays, _ = map_tensors(tmp_path / ANSWERS)
    write_tensors(tmp_path / ANSWERS, arrays, {"format": "befund-answers-0"})
    assert load_answers(tmp_path, searched.wordings) is None
