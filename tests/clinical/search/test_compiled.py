"""The compiled loops say what plain ones say; the library is made where it is missing, and never in a request."""

import os
import subprocess
import sys
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinical.errors import SettingError
from clinical.search.compiled import AskedWords, Looking, Postings, Vocabulary, descending, load
from clinical.search.native import LIBRARY, is_current

WORDINGS, CODES = 12, 5
ROW = np.array([0, 0, 1, 1, 1, 2, 2, 3, 3, 3, 4, 4])
STARTS = np.array([0, 2, 5, 7, 10])
ENDS = np.array([2, 5, 7, 10, 12])

numbers = st.lists(st.integers(0, WORDINGS - 1), max_size=8)


@given(st.lists(st.lists(st.sampled_from([0.1, 0.2, 0.3]), min_size=1, max_size=5), min_size=1, max_size=4))
def test_each_run_is_ordered_by_itself_and_equal_ones_stay_in_their_order(runs):
    values = np.array([value for run in runs for value in run], dtype=np.float32)
    first = np.cumsum([0, *map(len, runs[:-1])])
    expected = [
        int(start) + at
        for start, run in zip(first, runs, strict=True)
        for at in sorted(range(len(run)), key=lambda at: -run[at])
    ]
    assert descending(values, first).tolist() == expected


tokens = st.lists(st.tuples(numbers, st.integers(1, 3)), max_size=4)
near = st.lists(st.integers(-1, WORDINGS - 1), max_size=6, unique=True)
MOST_BY_WORD, MOST_BY_CHARACTER = 2, 3


def postings_of(
    asked: list[tuple[list[int], int]], added: float, most: int
) -> tuple[Postings, np.ndarray, list[float]]:
    """Postings token by token, where those of each token lie, and the score of each wording by plain sums."""
    indices = [number for some, _ in asked for number in some]
    ends = np.cumsum([len(some) for some, _ in asked], dtype=np.int64)
    runs = [(end - len(some), end, times) for end, (some, times) in zip(ends, asked, strict=True)]
    scores = [sum(some.count(number) * times for some, times in asked) * added for number in range(WORDINGS)]
    postings = Postings(np.array(indices, dtype=np.int32), np.full(len(indices), added, dtype=np.float32), most)
    return postings, np.array(runs, dtype=np.int64).reshape(-1, 3), scores


def best_codes(scores: list[float], most: int) -> list[int]:
    best = {code: max(scores[n] for n in own) for code, own in groupby(range(WORDINGS), key=lambda n: int(ROW[n]))}
    return sorted((code for code, score in best.items() if score > 0), key=lambda code: (-best[code], code))[:most]


@given(tokens, tokens, near)
def test_near_wordings_and_the_best_of_each_code_that_a_bm25_puts_forward_are_looked_at(words, characters, near):
    by_word, of_words, word_scores = postings_of(words, 0.5, MOST_BY_WORD)
    by_character, of_characters, character_scores = postings_of(characters, 0.25, MOST_BY_CHARACTER)
    extra = {*best_codes(word_scores, MOST_BY_WORD), *best_codes(character_scores, MOST_BY_CHARACTER)}
    both = [one + other for one, other in zip(word_scores, character_scores, strict=True)]
    best = {code: max(range(STARTS[code], ENDS[code]), key=lambda number: both[number]) for code in extra}
    codes = sorted({int(ROW[number]) for number in near if number >= 0} | extra)

    looking = Looking(by_word, by_character, ROW, STARTS, ENDS)
    scores = looking.scores()
    found = looking.at(np.array(near, dtype=np.int64), of_words, of_characters, scores)
    assert found.wording.tolist() == sorted({number for number in near if number >= 0} | set(best.values()))
    assert found.by_word.tolist() == [max(word_scores[STARTS[code] : ENDS[code]]) for code in codes]
    assert found.by_character.tolist() == [max(character_scores[STARTS[code] : ENDS[code]]) for code in codes]
    assert not scores.any(), "nothing of a query stays"


chance = np.random.default_rng(7)
LONGEST, WORDS, ASKED, DIMENSIONS = 3, 6, 4, 8
KNOWN = {
    "word_start": np.array([0, 2, 3, 6, 8]),
    "word": np.array([0, 1, 1, 2, 3, 0, 5, 5], dtype=np.int32),
    "rows": chance.integers(-127, 128, (WORDS, DIMENSIONS)).astype(np.int8),
    "scales": np.full(WORDS, 1 / 300, dtype=np.float32),
    "idf": chance.random(WORDS, dtype=np.float32),
    "weight": chance.random(WORDS, dtype=np.float32),
}
OF_QUERIES = AskedWords(
    words=np.array([[0, 1, 4], [2, 4, 4], [3, 2, 0]]),  # the last one is what shorter queries are filled up with
    length=np.array([2, 1, 3]),
    vectors=np.concatenate([chance.integers(-600, 600, (ASKED, DIMENSIONS)), np.zeros((1, DIMENSIONS))]).astype(
        np.int16
    ),
    scales=np.full(ASKED + 1, 1 / 900, dtype=np.float32),
    idf=np.append(chance.random(ASKED, dtype=np.float32), np.float32(0)),
    weight=np.append(chance.random(ASKED, dtype=np.float32), np.float32(0)),
)


def plain_alignment(query: int, wording: int) -> tuple[list[float], list[float]]:
    """What `aligned` says of one pair, word by word."""
    own = OF_QUERIES.words[query, : OF_QUERIES.length[query]]
    start, end = KNOWN["word_start"][wording : wording + 2]
    others = KNOWN["word"][start:end]
    exact = OF_QUERIES.vectors[own].astype(int) @ KNOWN["rows"][others].astype(int).T
    cosine = exact * OF_QUERIES.scales[own][:, None] * KNOWN["scales"][others]
    match = np.maximum(cosine, 0) ** 2
    left, right = match.max(axis=1), match.max(axis=0)

    def covered(best: np.ndarray, weights: np.ndarray) -> float:
        return float((best * weights).sum() / weights.sum())

    sides = ((left, OF_QUERIES, own), (right, None, others))
    weights = [
        (side.idf[at], side.weight[at]) if side else (KNOWN["idf"][at], KNOWN["weight"][at]) for _, side, at in sides
    ]
    by_idf = [covered(best, idf) for (best, _, _), (idf, _) in zip(sides, weights, strict=True)]
    by_weight = [covered(best, weight) for (best, _, _), (_, weight) in zip(sides, weights, strict=True)]
    return left.tolist(), [*by_idf, *by_weight, float(left.min()), float(right.min())]


def test_words_are_aligned_as_plain_loops_align_them():
    pairs = [(0, 0), (0, 2), (1, 1), (2, 0), (2, 3)]
    known = Vocabulary(**KNOWN)
    seen = known.seen()
    query, wording = (np.array(column) for column in zip(*pairs, strict=True))
    by_word, found = known.aligned(OF_QUERIES, query, wording, seen)
    assert (seen == -1).all(), "nothing of a query stays"
    assert found.any()
    for number, pair in enumerate(pairs):
        left, expected = plain_alignment(*pair)
        np.testing.assert_allclose(by_word[: len(left), number], left, rtol=1e-5)
        assert not by_word[len(left) :, number].any()
        np.testing.assert_allclose(found[:, number], expected, rtol=1e-5)
        alone, of_it = known.aligned(OF_QUERIES, query[number : number + 1], wording[number : number + 1], seen)
        np.testing.assert_array_equal(of_it[:, 0], found[:, number])  # to the last bit
        np.testing.assert_array_equal(alone[:, 0], by_word[:, number])


# --- the library ------------------------------------------------------------------------------------------------------


def test_the_library_that_was_loaded_is_that_of_the_source_here():
    assert is_current(LIBRARY)


def test_a_library_of_another_source_is_made_again(tmp_path):
    old = tmp_path / LIBRARY.name
    old.write_bytes(b"befund loops 00000000")
    assert not is_current(old)
    assert load(old).descending
    assert is_current(old)


def test_where_the_folder_cannot_be_written_the_library_is_made_for_the_process_alone():
    assert load(Path("/proc/self", LIBRARY.name)).descending


def test_without_a_compiler_a_library_that_is_there_is_taken_and_a_missing_one_is_one_sentence(tmp_path):
    code = """
import sys
from pathlib import Path
from clinical.errors import SettingError
from clinical.search.compiled import LIBRARY, load
load(LIBRARY)
try:
    load(Path(sys.argv[1], LIBRARY.name))
except SettingError as error:
    print(error)
"""
    environment = {**os.environ, "CC": "no-such-compiler"}
    order = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(order, capture_output=True, text=True, timeout=60, env=environment, check=True)
    assert "there is no C compiler" in done.stdout
    assert "apt-get install gcc" in done.stdout


def test_what_the_compiler_says_is_said(tmp_path, monkeypatch):
    failing = tmp_path / "cc"
    failing.write_text("#!/bin/sh\necho 'stdint.h: No such file' >&2\nexit 1\n")
    failing.chmod(0o755)
    monkeypatch.setenv("CC", str(failing))
    with pytest.raises(SettingError, match="No such file"):
        load(tmp_path / LIBRARY.name)
    assert sorted(tmp_path.iterdir()) == [failing], "a draft is left behind"


def test_a_mapped_array_that_cannot_be_written_is_read_and_one_of_another_kind_is_refused():
    values = np.array([1, 2], dtype=np.float32)
    values.flags.writeable = False
    assert descending(values, np.array([0])).tolist() == [1, 0]
    with pytest.raises(TypeError, match="float64"):
        descending(np.array([1.0, 2.0]), np.array([0]))
    with pytest.raises(TypeError, match="without gaps"):
        descending(np.zeros(8, dtype=np.float32)[::2], np.array([0]))
