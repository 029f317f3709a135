"""The wordings as arrays: their words, codes and vectors, and the three ways to find them, saved and loaded."""

from math import log
from pathlib import Path

import numpy as np
import pytest

from clinical.search.bm25 import Bm25, character_grams
from clinical.search.encoder import unit
from clinical.search.terms import Wordings
from clinical.text import fold
from tests.clinical.search.plain_columns import postings
from tests.fakes import HashEncoder

ROWS = [
    ("Akute Bronchitis", 2, True),
    ("Bronchialkatarrh", 2, False),
    ("Chronische Bronchitis", 5, False),
    ("Raucherbronchitis", 5, False),
    ("Migräne", 9, True),
]


@pytest.fixture(scope="module")
def wordings() -> Wordings:
    texts, codes, titles = zip(*ROWS, strict=True)
    return Wordings.build(texts, codes, titles, HashEncoder())


def test_texts_codes_and_titles_are_those_that_were_given(wordings: Wordings) -> None:
    assert [wordings.text(number) for number in range(len(wordings))] == [text for text, _, _ in ROWS]
    assert wordings.codes.tolist() == [2, 5, 9]
    assert wordings.row.tolist() == [0, 0, 1, 1, 2]
    assert wordings.code_row[[2, 5, 9, 3]].tolist() == [0, 1, 2, -1]
    assert (wordings.starts.tolist(), wordings.ends.tolist()) == ([0, 2, 4], [2, 4, 5])
    assert wordings.tables.title.tolist() == [0, 2, 4], "a code without a title has its first wording"


def test_the_words_of_each_wording_stand_in_its_run(wordings: Wordings) -> None:
    lines = list(wordings.vocabulary)
    tables = wordings.tables
    for number, (text, _, _) in enumerate(ROWS):
        run = tables.word[tables.word_start[number] : tables.word_start[number + 1]]
        assert [lines[word] for word in run] == [fold(word) for word in text.split()]


def test_a_rare_word_weighs_more_and_one_that_nobody_wrote_most(wordings: Wordings) -> None:
    bronchitis, acute, nobody = wordings.idf([fold("Bronchitis"), fold("akute"), "qqqq"])
    assert bronchitis == pytest.approx(log(6 / 2.5))
    assert acute == pytest.approx(log(6 / 1.5))
    assert nobody == pytest.approx(log(6 / 0.5))


def test_vectors_are_those_of_the_encoder_to_within_their_quantisation(wordings: Wordings) -> None:
    exact = unit(HashEncoder().encode([text for text, _, _ in ROWS]))
    np.testing.assert_allclose(wordings.vectors(np.arange(5)), exact, atol=0.004)
    similarity, numbers = wordings.nearest(exact, 2)
    assert numbers[:, 0].tolist() == [0, 1, 2, 3, 4]
    np.testing.assert_allclose(similarity[:, 0], 1, atol=0.02)


def test_a_word_that_is_in_two_wordings_is_found_in_both(wordings: Wordings) -> None:
    numbers, scores = postings(wordings.words_bm25, [fold("Bronchitis"), "qqqq"])
    assert numbers == [0, 2]
    assert min(scores) > 0
    none, _ = postings(wordings.words_bm25, ["qqqq"])
    assert none == []


def test_a_token_that_is_repeated_is_looked_up_once_and_counts_as_often(wordings: Wordings) -> None:
    once, thrice = (postings(wordings.words_bm25, [fold("Bronchitis")] * times) for times in (1, 3))
    assert thrice[0] == once[0] == [0, 2]
    assert thrice[1] == [3 * score for score in once[1]]


def test_a_part_of_a_word_is_found_by_its_characters(wordings: Wordings) -> None:
    numbers, _ = postings(wordings.characters_bm25, character_grams([fold("Bronchitiden")]))
    assert {0, 1, 2} <= set(numbers)


def test_character_grams_have_the_borders_of_the_word() -> None:
    assert character_grams(["herk", "k"]) == ["<her", "herk", "erk>", "<k>"]
    assert character_grams([]) == []


def test_a_token_in_too_many_documents_is_left_out() -> None:
    documents = [["oft", f"wort{number}"] for number in range(50)]
    index = Bm25.build(documents, common=0.05)
    assert postings(index, ["oft"])[0] == []
    assert postings(index, ["wort7"])[0] == [7]


def test_saved_and_loaded_everything_is_the_same(wordings: Wordings, tmp_path: Path) -> None:
    wordings.save(tmp_path)
    again = Wordings.load(tmp_path, int(wordings.codes[-1]) + 1)
    for name in wordings.tables.__dataclass_fields__:
        np.testing.assert_array_equal(getattr(again.tables, name), getattr(wordings.tables, name))
    for one, other in ((again.words_bm25, wordings.words_bm25), (again.characters_bm25, wordings.characters_bm25)):
        tokens = [fold("Bronchitis"), "bron"]
        assert postings(one, tokens) == postings(other, tokens)
    vectors = wordings.vectors(np.array([3]))
    np.testing.assert_array_equal(again.nearest(vectors, 3)[1], wordings.nearest(vectors, 3)[1])
