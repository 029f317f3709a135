"""Many queries at once: each gets what it gets alone, whatever stands beside it, in every process."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from clinical.reading.index import SearchIndex
from clinical.search.features import Candidates, candidates
from clinical.search.retrieval import CELLS, read_queries
from clinical.search.runs import ranges, run_starts

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
