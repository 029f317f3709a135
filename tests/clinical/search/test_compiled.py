"""The compiled loops say what plain ones say, and need no folder that can be written."""

import subprocess
import sys
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinical.search.compiled import add_postings, best_rows, clear_postings, descending, looked_at

WORDINGS, CODES = 12, 5
ROW = np.array([0, 0, 1, 1, 1, 2, 2, 3, 3, 3, 4, 4])
STARTS = np.array([0, 2, 5, 7, 10])
ENDS = np.array([2, 5, 7, 10, 12])

scores = st.lists(st.sampled_from([0.0, 0.5, 1.0, 1.5]), min_size=WORDINGS, max_size=WORDINGS)
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


@given(st.lists(st.tuples(numbers, st.integers(1, 3)), max_size=4))
def test_postings_are_added_as_often_as_their_token_stands_there_and_leave_nothing(tokens):
    indices = np.array([number for some, _ in tokens for number in some], dtype=np.int32)
    ends = np.cumsum([len(some) for some, _ in tokens], dtype=np.int64)
    runs = np.array(
        [(end - len(some), end, times) for end, (some, times) in zip(ends, tokens, strict=True)], dtype=np.int64
    ).reshape(-1, 3)
    found, added = np.zeros(WORDINGS, dtype=np.float32), np.full(len(indices), 0.5, dtype=np.float32)
    add_postings(found, indices, added, runs)
    expected = [sum(some.count(number) * times for some, times in tokens) / 2 for number in range(WORDINGS)]
    assert found.tolist() == expected
    clear_postings(found, indices, runs)
    assert not found.any()


@given(scores, st.permutations(range(WORDINGS)), st.integers(1, CODES + 1))
def test_the_best_codes_are_those_of_the_best_wordings(values, order, count):
    best = {code: max(values[n] for n in own) for code, own in groupby(range(WORDINGS), key=lambda n: int(ROW[n]))}
    expected = sorted((code for code, score in best.items() if score > 0), key=lambda code: (-best[code], code))
    indices = np.array([*order, *order], dtype=np.int32)  # a wording that two tokens find is met twice
    found = best_rows(np.array(values, dtype=np.float32), indices, np.array([[0, len(indices), 1]]), ROW, count)
    assert found.tolist() == expected[:count]


@given(scores, scores, st.lists(st.integers(-1, WORDINGS - 1), max_size=6, unique=True), st.sets(st.integers(0, 4)))
def test_near_wordings_and_the_best_of_each_further_code_are_looked_at(by_word, by_character, near, extra):
    codes = sorted({int(ROW[number]) for number in near if number >= 0} | extra)
    both = [one + other for one, other in zip(by_word, by_character, strict=True)]
    best = {code: max(range(STARTS[code], ENDS[code]), key=lambda number: both[number]) for code in codes}
    found, words, characters = looked_at(
        np.array(near, dtype=np.int64),
        np.array([*extra, *extra], dtype=np.int64),  # one that both BM25s name
        np.array(by_word, dtype=np.float32),
        np.array(by_character, dtype=np.float32),
        *(ROW, STARTS, ENDS),
    )
    assert found.tolist() == sorted({number for number in near if number >= 0} | {best[code] for code in extra})
    assert words.tolist() == [max(by_word[STARTS[code] : ENDS[code]]) for code in codes]
    assert characters.tolist() == [max(by_character[STARTS[code] : ENDS[code]]) for code in codes]


STARTED_WITHOUT_A_CACHE = """
import sys
from pathlib import Path
import numba.core.caching as caching
from numba.core import event
def refused(*_): raise RuntimeError("cannot cache function: no locator available")
caching.FunctionCache.__init__ = refused
compiled = event.RecordingListener()
event.register("numba:compile", compiled)
from bentos.api.startup import load_index
from clinical.settings import Settings
index = load_index(Settings(catalog=Path(sys.argv[1])))
at_start = len(compiled.buffer)
found = index.read("Husten und Fieber, kein Asthma, Hustn seit zwei Tagen", 10)
print(at_start > 0, len(compiled.buffer) - at_start, len(found.codes) > 0)"""


def test_where_no_folder_can_be_written_the_loops_are_compiled_at_the_start_and_never_in_a_request(starter_artifact):
    """The same at the first start of all, with an empty folder: nobody's request waits for a compiler."""
    order = [sys.executable, "-c", STARTED_WITHOUT_A_CACHE, str(starter_artifact)]
    done = subprocess.run(order, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout.split() == ["True", "0", "True"], done.stderr[-2000:]


def test_a_mapped_array_that_cannot_be_written_is_read_all_the_same():
    values = np.array([1, 2], dtype=np.float32)
    values.flags.writeable = False
    assert descending(values, np.array([0])).tolist() == [1, 0]
    with pytest.raises(TypeError):
        descending(np.array([1.0, 2.0]), np.array([0]))
