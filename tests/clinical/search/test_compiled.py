"""The compiled loops say what plain ones say; the library is made where it is missing, and never in a request."""

import os
import subprocess
import sys
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinical.errors import SettingError
from clinical.search.native.compiled import AskedWords, Comparing, KnownWordings, descending, load
from clinical.search.native.library import LIBRARY, is_current
from clinical.search.native.looking import Looking, Postings, SpelledWords, WordTokens

WORDINGS, CODES = 12, 5
ROW = np.array([0, 0, 1, 1, 1, 2, 2, 3, 3, 3, 4, 4])
STARTS = np.array([0, 2, 5, 7, 10])
ENDS = np.array([2, 5, 7, 10, 12])

numbers = st.lists(st.integers(0, WORDINGS - 1), max_size=8)


@settings(deadline=None)  # the first call may wait for the compiler
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


Asked = list[tuple[list[int], int]]
"""Of each token the wordings that have it, and how often the query has the token."""


def postings_of(asked: Asked, added: float, most: int) -> Postings:
    """The postings of these tokens."""
    indices = [number for some, _ in asked for number in some]
    start = np.cumsum([0, *(len(some) for some, _ in asked)], dtype=np.int64)
    added_by = np.full(len(indices), added, dtype=np.float32)
    return Postings(np.array(indices, dtype=np.int32), added_by, start, most)


def plain_scores(asked: Asked, added: float) -> list[float]:
    return [sum(some.count(number) * times for some, times in asked) * added for number in range(WORDINGS)]


def without_tokens(count: int) -> list[list[int]]:
    return [[] for _ in range(count)]


def best_codes(scores: list[float], most: int) -> list[int]:
    best = {code: max(scores[n] for n in own) for code, own in groupby(range(WORDINGS), key=lambda n: int(ROW[n]))}
    return sorted((code for code, score in best.items() if score > 0), key=lambda code: (-best[code], code))[:most]


@settings(deadline=None)
@given(tokens, tokens, near)
def test_near_wordings_and_the_best_of_each_code_that_a_bm25_puts_forward_are_looked_at(words, characters, near):
    by_word = postings_of(words, 0.5, MOST_BY_WORD)
    by_character = postings_of(characters, 0.25, MOST_BY_CHARACTER)
    word_scores, character_scores = plain_scores(words, 0.5), plain_scores(characters, 0.25)
    extra = {*best_codes(word_scores, MOST_BY_WORD), *best_codes(character_scores, MOST_BY_CHARACTER)}
    both = [one + other for one, other in zip(word_scores, character_scores, strict=True)]
    best = {code: max(range(STARTS[code], ENDS[code]), key=lambda number: both[number]) for code in extra}
    codes = sorted({int(ROW[number]) for number in near if number >= 0} | extra)

    # words 0 to w - 1 have the tokens of the words, the others those of the characters; each as often as it is asked
    spelled = [n for n, (_, times) in enumerate([*words, *characters]) for _ in range(times)]
    asked = SpelledWords(
        np.array([spelled, spelled], dtype=np.int64),
        np.array([len(spelled), 0]),
        WordTokens.of([*([n] for n in range(len(words))), *without_tokens(len(characters))]),
        WordTokens.of([*without_tokens(len(words)), *([n] for n in range(len(characters)))]),
    )
    looking = Looking(by_word, by_character, ROW, STARTS, ENDS)
    room = looking.room()
    found = looking.at(np.array([near, near], dtype=np.int64).reshape(2, -1), asked, room)
    first, second = found.counts.tolist()
    assert found.wording[: first[0]].tolist() == sorted({number for number in near if number >= 0} | set(best.values()))
    assert found.by_word[: first[1]].tolist() == [max(word_scores[STARTS[code] : ENDS[code]]) for code in codes]
    assert found.by_character[: first[1]].tolist() == [
        max(character_scores[STARTS[code] : ENDS[code]]) for code in codes
    ]
    assert found.wording[first[0] :].tolist() == sorted(number for number in near if number >= 0), "no word: the near"
    assert len(found.by_word) == first[1] + second[1] == len(found.by_character)
    assert not room.scores.any(), "nothing stays"
    assert {*room.word.tolist(), *room.character.tolist()} == {-1}


def test_wordings_of_many_blocks_are_added_up_as_one_by_one():
    every, some = 30_000, np.random.default_rng(3)
    tokens = [np.sort(some.choice(every, size, replace=False)).astype(np.int32) for size in (9_000, 5_000, 40)]
    start = np.cumsum([0, *map(len, tokens)], dtype=np.int64)
    added = some.random(start[-1], dtype=np.float32)
    postings = Postings(np.concatenate(tokens), added, start, 25)
    nothing = Postings(np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.float32), np.zeros(1, dtype=np.int64), 15)
    scores = np.zeros(every, dtype=np.float32)
    for number, own in enumerate(tokens):  # in their order, which rounds alike
        scores[own] += added[start[number] : start[number + 1]]
    expected = np.lexsort((np.arange(every), -scores))[:25]
    rows = np.arange(every)  # each wording is a code by itself
    asked = SpelledWords(np.array([[0]]), np.array([1]), WordTokens.of([[]]), WordTokens.of([[0, 1, 2]]))
    looking = Looking(nothing, postings, rows, rows, rows + 1)
    room = looking.room()
    found = looking.at(np.full((1, 1), -1), asked, room)
    assert found.wording.tolist() == sorted(expected.tolist())
    np.testing.assert_array_equal(found.by_character, scores[np.sort(expected)])
    assert not room.scores.any()


chance = np.random.default_rng(7)
WORDS, ASKED, DIMENSIONS = 6, 4, 8


def rows(count: int) -> np.ndarray:
    return chance.integers(-127, 128, (count, DIMENSIONS)).astype(np.int8)


def vectors(count: int) -> np.ndarray:
    return chance.integers(-600, 600, (count, DIMENSIONS)).astype(np.int16)


def floats(count: int) -> np.ndarray:
    return chance.random(count, dtype=np.float32)


KNOWN = KnownWordings(
    word_start=np.array([0, 2, 3, 6, 8]),
    word=np.array([0, 1, 1, 2, 3, 0, 5, 5], dtype=np.int32),
    word_rows=rows(WORDS), word_scales=floats(WORDS) / 300, idf=floats(WORDS), weight=floats(WORDS),
    rows=rows(4), scales=floats(4) / 300, whole_weight=floats(4),
    title=np.array([1, 2]), row=np.array([0, 0, 1, 1]), centres=rows(2), centre_scales=floats(2) / 300,
)  # fmt: skip
OF_QUERIES = AskedWords(
    words=np.array([[0, 1, 4], [2, 4, 4], [3, 2, 0]]),  # the last one is what shorter queries are filled up with
    length=np.array([2, 1, 3]),
    vectors=np.append(vectors(ASKED), np.zeros((1, DIMENSIONS), dtype=np.int16), axis=0),
    scales=np.append(floats(ASKED), np.float32(0)) / 900,
    idf=np.append(floats(ASKED), np.float32(0)),
    weight=np.append(floats(ASKED), np.float32(0)),
    whole=vectors(3), whole_scales=floats(3) / 900, whole_weight=floats(3),
)  # fmt: skip


def test_codes_are_compared_to_the_last_bit_alike_alone_and_among_others_and_nothing_stays():
    comparing = Comparing(KNOWN)
    seen = comparing.seen()
    asked = [(0, [0, 1, 2]), (1, [1]), (2, [0, 2, 3])]
    query = np.array([number for number, some in asked for _ in some])
    wording = np.array([one for _, some in asked for one in some])
    together = comparing.ordered(OF_QUERIES, query, wording)
    assert [sorted(run) for run in np.split(together.wording, together.first[1:])] == [[0, 1], [2], [1], [0], [2, 3]]
    assert (np.diff(together.similarity)[[0, -1]] <= 0).all(), "the most similar wording of a code first"
    columns, best = comparing.compared(OF_QUERIES, together, seen)
    at = 0
    for number, some in asked:
        alone = comparing.ordered(OF_QUERIES, np.full(len(some), number), np.array(some))
        own, own_best = comparing.compared(OF_QUERIES, alone, seen)
        codes = slice(at, at + len(alone.first))
        np.testing.assert_array_equal(np.stack(own), np.stack(columns)[:, codes])
        np.testing.assert_array_equal(own_best, best[codes])
        at = codes.stop
    assert (seen == -1).all()
    assert np.isfinite(np.stack(columns)).all()


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
from clinical.search.native.compiled import LIBRARY, load
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
