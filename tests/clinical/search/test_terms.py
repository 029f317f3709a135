"""The wordings as arrays, the three ways to find them, and many queries at once, each as it is alone."""

import os
import subprocess
import sys
from math import log
from pathlib import Path

import numpy as np
import pytest

from clinical.reading.index import SearchIndex
from clinical.search.bm25 import Bm25, character_grams
from clinical.search.encoder import unit
from clinical.search.features import Candidates, candidates
from clinical.search.retrieval import CELLS, read_queries
from clinical.search.runs import ranges, run_starts
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


def test_a_word_is_found_in_each_wording_that_has_it_and_counts_as_often_as_it_is_asked_for(wordings: Wordings) -> None:
    numbers, scores = postings(wordings.words_bm25, [fold("Bronchitis"), "qqqq"])
    assert numbers == [0, 2]
    assert min(scores) > 0
    none, _ = postings(wordings.words_bm25, ["qqqq"])
    assert none == []
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


TEXTS = [
    "Bluthochdruck",
    "akute Bronchitis mit Fieber",
    "😀",
    "Z. n. Appendektomie",
    "Gürtelrose",
    "qqqq",
    "chronische Niereninsuffizienz Stadium 3 bei Diabetes mellitus Typ 2 und arterieller Hypertonie",
    "Gürtelrose",
]


def asked(index: SearchIndex, texts: list[str]) -> dict[int, tuple[Candidates, int]]:
    """By the place of the text: the candidates of its batch, and its number in the batch."""
    found = {}
    for queries in read_queries(texts, index.encoder, index.wordings):
        some = candidates(queries, index.wordings, index.traits)
        found |= {int(text): (some, row) for row, text in enumerate(queries.number)}
    return found


def own(some: Candidates, number: int) -> dict[int, np.ndarray]:
    """Columns by code, of one query of a batch."""
    ends = [*some.first[1:], len(some.codes)]
    rows = range(some.first[number], ends[number])
    return {int(some.codes[row]): some.columns[row] for row in rows}


def test_a_query_beside_others_has_the_candidates_it_has_alone(index: SearchIndex) -> None:
    together = asked(index, TEXTS)
    assert sorted(together) == [place for place, text in enumerate(TEXTS) if text != "😀"]
    for place, (some, number) in together.items():
        ((alone, first),) = asked(index, [TEXTS[place]]).values()
        here, there = own(some, number), own(alone, first)
        assert here.keys() == there.keys()
        for code, columns in here.items():
            np.testing.assert_array_equal(columns, there[code])


def test_a_batch_is_bounded_by_its_longest_text(index: SearchIndex) -> None:
    texts = ["Herz " * size for size in (1, 2, 3, 300, 400)] + ["Husten"] * 600
    shapes = [queries.words.shape for queries in read_queries(texts, index.encoder, index.wordings)]
    assert sum(count for count, _ in shapes) == len(texts)
    assert all(count == 1 or count * width <= CELLS for count, width in shapes)


def test_texts_without_a_word_give_nothing(index: SearchIndex) -> None:
    assert list(read_queries(["", "😀", " . "], index.encoder, index.wordings)) == []


def test_runs() -> None:
    np.testing.assert_array_equal(run_starts(np.array([4, 4, 7, 4])), [0, 2, 3])
    np.testing.assert_array_equal(run_starts(np.array([], dtype=np.int64)), [])
    places, first = ranges(np.array([10, 3]), np.array([3, 2]))
    np.testing.assert_array_equal(places, [10, 11, 12, 3, 4])
    np.testing.assert_array_equal(first, [0, 3])


READ_ALONE = """
import sys
from pathlib import Path
from clinical.reading.index import SearchIndex
from clinical.search.words.shortened import Shortened
shortened = Shortened(SearchIndex.load(Path(sys.argv[1])).wordings)
for text in sys.argv[2:]:
    print([(meant, float(chance).hex()) for meant, chance in shortened.expanded(text)])
"""


def test_a_cut_word_means_the_same_to_the_last_bit_in_every_process(starter_artifact: Path) -> None:
    """The order of a set of words differs between processes, and floating-point sums depend on their order."""
    texts = [
        "Enter. durch Clostridium difficile, nicht näher bezeichnet",
        "Sonstige und nicht näher bezeichnete Gastr. und Kolitis infektiösen Ursprungs",
        "Tuberkulose der Atmungsorgane, bakte. molekularbiologisch oder histologisch gesichert",
    ]
    answers = {
        subprocess.run(
            [sys.executable, "-c", READ_ALONE, starter_artifact, *texts],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            timeout=300,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(answers) == 1
    assert b"0x1." in answers.pop()
