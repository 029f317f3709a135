"""The loops of the search as machine code: numba compiles them once, keeps them beside the module, and every process
that follows loads them.

What numpy would do in some two hundred calls on short arrays is here one pass each. Each takes what belongs to one
query in the query's own order, so that its figures are the same to the last bit whatever is searched beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, ParamSpec, TypeVar, cast

import numba
import numpy as np
from numba import types
from numpy.typing import NDArray

P = ParamSpec("P")
R = TypeVar("R")
Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

LEAST_WEIGHT: Final = np.float32(1e-6)
"""Weights that are divided by are at least this: a query of words without any weight covers nothing."""


def _array(kind: Any, dimensions: int = 1) -> Any:
    """Arrays one behind the other in memory, mapped read-only or not."""
    return types.Array(kind, dimensions, "C", readonly=True)


F, N, W = (_array(kind) for kind in (types.float32, types.int64, types.int32))
FF, BB, SS, NN = _array(types.float32, 2), _array(types.int8, 2), _array(types.int16, 2), _array(types.int64, 2)
OUT = types.Array(types.float32, 1, "C")


def compiled(*arguments: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Compile for these types at import, without Python's lock held while it runs. Where nothing can be written the
    code is compiled in every process (seconds)."""

    def made(function: Callable[P, R]) -> Callable[P, R]:
        try:
            dispatcher = numba.njit(arguments, cache=True, nogil=True, error_model="numpy")(function)
        except RuntimeError:  # no folder for the cache can be written
            dispatcher = numba.njit(arguments, nogil=True, error_model="numpy")(function)
        return cast("Callable[P, R]", dispatcher)

    return made


@compiled(SS, N, BB, N)
def products_of_pairs(left: NDArray[np.int16], at: Ints, rows: NDArray[np.int8], wanted: Ints) -> Floats:
    """The dot product of row `at` on the left with row `wanted` of the table, pair by pair, exact."""
    found = np.empty(len(at), dtype=np.float32)
    for pair in range(len(at)):
        one, other, total = left[at[pair]], rows[wanted[pair]], np.int32(0)
        for dimension in range(len(one)):
            total += np.int32(one[dimension]) * np.int32(other[dimension])
        found[pair] = total
    return found


@compiled(F, N)
def descending(values: Floats, first: Ints) -> Ints:
    """The places of the values, run by run, in each run the largest first; equal ones in their order."""
    order = np.arange(len(values))
    for run in range(len(first)):
        start = first[run]
        end = first[run + 1] if run + 1 < len(first) else len(values)
        for place in range(start + 1, end):
            moved, at = order[place], place
            while at > start and values[order[at - 1]] < values[moved]:
                order[at] = order[at - 1]
                at -= 1
            order[at] = moved
    return order


@compiled(OUT, W, F, NN)
def add_postings(scores: Floats, indices: NDArray[np.int32], added: Floats, runs: Ints) -> None:
    """Add the postings from runs[:, 0] to before runs[:, 1], each runs[:, 2] times, to the scores of their wordings."""
    for run in range(len(runs)):
        times = np.float32(runs[run, 2])
        for at in range(runs[run, 0], runs[run, 1]):
            scores[indices[at]] += added[at] * times


@compiled(OUT, W, NN)
def clear_postings(scores: Floats, indices: NDArray[np.int32], runs: Ints) -> None:
    """Set what `add_postings` has added to 0 again."""
    for run in range(len(runs)):
        for at in range(runs[run, 0], runs[run, 1]):
            scores[indices[at]] = 0


@compiled(F, W, NN, N, types.int64)
def best_rows(scores: Floats, indices: NDArray[np.int32], runs: Ints, row: Ints, count: int) -> Ints:
    """The codes (rows) of the `count` best scores above 0, each code once by its best wording, the best first, equal
    ones in their order. `runs` as in `add_postings`: only these wordings are looked at."""
    found, best = np.empty(count, dtype=np.int64), np.zeros(count + 1, dtype=np.float32)
    kept, bar = 0, np.float32(0)
    for run in range(len(runs)):
        for at in range(runs[run, 0], runs[run, 1]):
            score = scores[indices[at]]
            if score < bar or score <= 0:
                continue
            code, place = row[indices[at]], 0
            while place < kept and found[place] != code:
                place += 1
            if place == kept and kept < count:
                kept += 1
            elif place == kept and (score > bar or code < found[kept - 1]):
                place = kept - 1  # in the place of the last
            elif place == kept or score <= best[place]:
                continue
            while place > 0 and (best[place - 1] < score or (best[place - 1] == score and found[place - 1] > code)):
                best[place], found[place] = best[place - 1], found[place - 1]
                place -= 1
            best[place], found[place] = score, code
            bar = best[count - 1] if kept == count else np.float32(0)
    return found[:kept].copy()


@compiled(N, N, F, F, N, N, N)
def looked_at(
    near: Ints, extra: Ints, by_word: Floats, by_character: Floats, row: Ints, starts: Ints, ends: Ints
) -> tuple[Ints, Floats, Floats]:
    """The wordings to look at (the near ones, and the best one of each extra code), ascending; and both BM25s' best
    value for each code of theirs, ascending. Numbers below 0 are none."""
    near = near[near >= 0]
    codes = np.unique(np.concatenate((row[near], extra)))
    added = np.empty(len(extra), dtype=np.int64)
    words, characters = np.zeros(len(codes), dtype=np.float32), np.zeros(len(codes), dtype=np.float32)
    many, wanted = 0, np.sort(extra)
    for number in range(len(codes)):
        code = codes[number]
        largest, at = np.float32(-1), starts[code]
        for wording in range(starts[code], ends[code]):
            words[number] = max(words[number], by_word[wording])
            characters[number] = max(characters[number], by_character[wording])
            if by_word[wording] + by_character[wording] > largest:
                largest, at = by_word[wording] + by_character[wording], wording
        place = np.searchsorted(wanted, code)
        if place < len(wanted) and wanted[place] == code:
            added[many] = at
            many += 1
    return np.unique(np.concatenate((near, added[:many]))), words, characters


@compiled(NN, N, SS, F, N, N, N, W, BB, F)
def word_matches(
    words: Ints, length: Ints, vectors: NDArray[np.int16], scales: Floats,
    query: Ints, wording: Ints, word_start: Ints, word: NDArray[np.int32], rows: NDArray[np.int8], row_scales: Floats,
) -> Floats:  # fmt: skip
    """Squared cosine of each word of each wording with each word of its query, 0 where it is below: (words of all
    wordings one behind the other, words of the longest query). A pair of words is compared once for each query.

    `words` (Q, W): numbers of the queries' words, rows of `vectors` and `scales`; `length` of each query; `query` and
    `wording` as gathered; `word` from `word_start` on: the words of the wordings, rows of `rows` and `row_scales`.
    """
    total = 0
    for place in range(len(wording)):
        total += word_start[wording[place] + 1] - word_start[wording[place]]
    found = np.zeros((total, words.shape[1]), dtype=np.float32)
    seen_by, seen_at = np.full(len(rows), -1, dtype=np.int64), np.empty(len(rows), dtype=np.int64)
    at = 0
    for place in range(len(wording)):
        own = query[place]
        for position in range(word_start[wording[place]], word_start[wording[place] + 1]):
            other = word[position]
            if seen_by[other] == own:
                found[at] = found[seen_at[other]]
            else:
                seen_by[other], seen_at[other] = own, at
                for number in range(length[own]):
                    of_query, product = words[own, number], np.int32(0)
                    for dimension in range(rows.shape[1]):
                        product += np.int32(vectors[of_query, dimension]) * np.int32(rows[other, dimension])
                    cosine = np.float32(product) * scales[of_query] * row_scales[other]
                    found[at, number] = cosine * cosine if cosine > 0 else np.float32(0)
            at += 1
    return found


@compiled(FF, NN, N, F, F, N, N, N, W, F, F)
def alignment(
    match: Floats, words: Ints, length: Ints, idf: Floats, weight: Floats,
    query: Ints, wording: Ints, word_start: Ints, word: NDArray[np.int32], word_idf: Floats, word_weight: Floats,
) -> tuple[Floats, Floats]:  # fmt: skip
    """What `word_matches` says of each wording: (words of the longest query, wordings) the best match of each word of
    the query; and (6, wordings) how much of the query and of the wording is covered, by IDF and by the encoder's
    weight, and the worst matched word of each: in this order query, wording, query, wording, query, wording."""
    by_word = np.zeros((words.shape[1], len(wording)), dtype=np.float32)
    found = np.empty((6, len(wording)), dtype=np.float32)
    at = 0
    for place in range(len(wording)):
        own, end = query[place], at + word_start[wording[place] + 1] - word_start[wording[place]]
        first, zero = word_start[wording[place]] - at, np.float32(0)
        total_idf, total_weight, by_idf, by_weight, worst = zero, zero, zero, zero, np.float32(np.inf)
        for row in range(at, end):
            best = zero
            for number in range(length[own]):
                best = max(best, match[row, number])
                by_word[number, place] = max(by_word[number, place], match[row, number])
            other = word[first + row]
            total_idf, by_idf = total_idf + word_idf[other], by_idf + best * word_idf[other]
            total_weight, by_weight = total_weight + word_weight[other], by_weight + best * word_weight[other]
            worst = min(worst, best)
        found[1, place] = by_idf / max(total_idf, LEAST_WEIGHT)
        found[3, place] = by_weight / max(total_weight, LEAST_WEIGHT)
        found[5, place] = worst
        total_idf, total_weight, by_idf, by_weight, worst = zero, zero, zero, zero, np.float32(np.inf)
        for number in range(length[own]):
            of_query, best = words[own, number], by_word[number, place]
            total_idf, by_idf = total_idf + idf[of_query], by_idf + best * idf[of_query]
            total_weight, by_weight = total_weight + weight[of_query], by_weight + best * weight[of_query]
            worst = min(worst, best)
        found[0, place] = by_idf / max(total_idf, LEAST_WEIGHT)
        found[2, place] = by_weight / max(total_weight, LEAST_WEIGHT)
        found[4, place] = worst
        at = end
    return by_word, found
