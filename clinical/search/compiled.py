"""The loops of the search as machine code: the functions of `loops.c`, for arrays of numpy.

Every array is checked before its address is handed over, so that a wrong one is a TypeError. Python's lock is not held
while a function runs.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinical.errors import SettingError
from clinical.search.native import LIBRARY, Unwritable, compile_into, is_current

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

_FLOAT, _LONG, _INT = np.dtype(np.float32), np.dtype(np.int64), np.dtype(np.int32)
_SHORT, _BYTE = np.dtype(np.int16), np.dtype(np.int8)
_POINTER, _NUMBER = ctypes.c_void_p, ctypes.c_int64


def load(library: Path) -> ctypes.CDLL:
    """The library, made first where it is missing or of another source: a second, once. Where its folder cannot be
    written it is made for this process alone, at every start. Raises SettingError where it cannot be made."""
    try:
        if not is_current(library):
            compile_into(library)
        return ctypes.CDLL(str(library))
    except Unwritable:
        with tempfile.TemporaryDirectory(prefix="befund-") as folder:
            return load(Path(folder, library.name))
    except subprocess.CalledProcessError as error:
        raise _refused(error.stderr.decode(errors="replace").strip()[-300:]) from None
    except (OSError, subprocess.SubprocessError) as error:
        raise _refused(str(error)) from None


def _refused(found: str) -> SettingError:
    remedy = "install one (Debian: apt-get install gcc libc6-dev), or take a package that was made for this system"
    return SettingError(f"the loops of the search cannot be compiled: {found}", "a C compiler", remedy)


class _Loops(NamedTuple):
    products_of_pairs: Any
    descending: Any
    look_at: Any
    align: Any


@cache
def _loops() -> _Loops:
    """The functions of the library, loaded when the first index is; never in a request."""
    library = load(LIBRARY)

    def declared(name: str, *kinds: type[Any]) -> Any:
        function = getattr(library, name)
        function.argtypes, function.restype = kinds, None
        return function

    return _Loops(
        declared("products_of_pairs", *[_POINTER] * 2, _NUMBER, *[_POINTER] * 2, _NUMBER, _POINTER),
        declared("descending", _POINTER, _NUMBER, _POINTER, _NUMBER, _POINTER),
        declared("look_at", *[_POINTER] * 3, _NUMBER, _POINTER, _NUMBER, _POINTER, _NUMBER, *[_POINTER] * 5),
        declared("align", *[_POINTER] * 4, _NUMBER, *[_POINTER] * 4),
    )


def _at(array: NDArray[Any], kind: np.dtype[Any]) -> int:
    """The address of an array of this kind whose values lie one behind the other."""
    if array.dtype != kind or not array.flags.c_contiguous:
        raise TypeError(f"an array of {array.dtype} where the compiled loops take {kind}, without gaps")
    address: int = array.ctypes.data
    return address


def products_of_pairs(left: NDArray[np.int16], at: Ints, rows: NDArray[np.int8], wanted: Ints) -> Floats:
    """The dot product of row `at` on the left with row `wanted` of the table, pair by pair, exact."""
    found = np.empty(len(at), dtype=np.float32)
    _loops().products_of_pairs(
        _at(left, _SHORT), _at(rows, _BYTE), left.shape[1], _at(at, _LONG), _at(wanted, _LONG), len(at),
        _at(found, _FLOAT),
    )  # fmt: skip
    return found


def descending(values: Floats, first: Ints) -> Ints:
    """The places of the values, run by run, in each run the largest first; equal ones in their order."""
    order = np.empty(len(values), dtype=np.int64)
    _loops().descending(_at(values, _FLOAT), len(values), _at(first, _LONG), len(first), _at(order, _LONG))
    return order


class _Postings(ctypes.Structure):
    _fields_ = (("indices", _POINTER), ("added", _POINTER), ("most", _NUMBER))


class _Catalog(ctypes.Structure):
    _fields_ = (
        *(("words", _Postings), ("characters", _Postings)),
        *(("row", _POINTER), ("starts", _POINTER), ("ends", _POINTER), ("wordings", _NUMBER)),
    )


class Postings(NamedTuple):
    """A BM25: the wording of each posting, what it adds to its score, and how many codes are put forward by it."""

    indices: NDArray[np.int32]
    added: Floats
    most: int


class LookedAt(NamedTuple):
    """What to look at for one query: `wording` ascending; both BM25s' best value for each code of theirs, ascending."""

    wording: Ints
    by_word: Floats
    by_character: Floats


class Looking:
    """What does not change from query to query: both BM25s, the code (row) of each wording, and where the wordings of
    each code start and end. The arrays are kept with their addresses."""

    def __init__(self, words: Postings, characters: Postings, row: Ints, starts: Ints, ends: Ints) -> None:
        _loops()  # where they cannot be had, no index is loaded
        self._kept = (words, characters, row, starts, ends)
        both = (_Postings(_at(one.indices, _INT), _at(one.added, _FLOAT), one.most) for one in (words, characters))
        self._catalog = _Catalog(*both, _at(row, _LONG), _at(starts, _LONG), _at(ends, _LONG), len(row))
        self._address, self._most = ctypes.addressof(self._catalog), words.most + characters.most

    def scores(self) -> Floats:
        """Room for both BM25s' score of every wording, all 0; `at` leaves nothing in it."""
        return np.zeros((2, self._catalog.wordings), dtype=np.float32)

    def at(self, near: Ints, words: Ints, characters: Ints, scores: Floats) -> LookedAt:
        """The near wordings (numbers below 0 are none), and the best one of each code that a BM25 puts forward.

        `words`, `characters` (runs, 3): the postings of the query's tokens, from, to before, and how often each.
        """
        size = len(near) + self._most
        room, wording, counts = (np.empty(count, dtype=np.int64) for count in (size + self._most, size, 2))
        by_word, by_character = np.empty((2, size), dtype=np.float32)
        _loops().look_at(
            self._address, _at(scores, _FLOAT), _at(words, _LONG), len(words), _at(characters, _LONG), len(characters),
            _at(near, _LONG), len(near), _at(room, _LONG), _at(wording, _LONG),
            _at(by_word, _FLOAT), _at(by_character, _FLOAT), _at(counts, _LONG),
        )  # fmt: skip
        wordings, codes = counts.tolist()
        return LookedAt(wording[:wordings], by_word[:codes], by_character[:codes])


class _Asked(ctypes.Structure):
    _fields_ = (
        *(("words", _POINTER), ("length", _POINTER), ("vectors", _POINTER)),
        *(("scales", _POINTER), ("idf", _POINTER), ("weight", _POINTER)),
        *(("longest", _NUMBER), ("dimensions", _NUMBER)),
    )


class _Vocabulary(ctypes.Structure):
    _fields_ = (
        *(("word_start", _POINTER), ("word", _POINTER), ("rows", _POINTER)),
        *(("scales", _POINTER), ("idf", _POINTER), ("weight", _POINTER)),
    )


class AskedWords(NamedTuple):
    """The words of Q queries, W of the longest, m distinct: `words` (Q, W) are numbers of rows of the others."""

    words: Ints
    length: Ints  # (Q,)
    vectors: NDArray[np.int16]  # (m, D)
    scales: Floats  # (m,)
    idf: Floats  # (m,)
    weight: Floats  # (m,)


class Vocabulary:
    """The words of all wordings: those of a wording begin at its `word_start` in `word`, whose numbers are rows of the
    others. The arrays are kept with their addresses."""

    def __init__(
        self, word_start: Ints, word: NDArray[np.int32], rows: NDArray[np.int8],
        scales: Floats, idf: Floats, weight: Floats,
    ) -> None:  # fmt: skip
        self._kept = (word_start, word, rows, scales, idf, weight)
        floats = (_at(array, _FLOAT) for array in (scales, idf, weight))
        self._vocabulary = _Vocabulary(_at(word_start, _LONG), _at(word, _INT), _at(rows, _BYTE), *floats)
        self._address, self._start = ctypes.addressof(self._vocabulary), word_start

    def seen(self) -> NDArray[np.int32]:
        """Room for what `aligned` has seen, all -1; it leaves nothing in it."""
        return np.full(len(self._kept[2]), -1, dtype=np.int32)

    def aligned(self, asked: AskedWords, query: Ints, wording: Ints, seen: NDArray[np.int32]) -> tuple[Floats, Floats]:
        """Of each pair of a query and a wording (those of one query one behind the other): (W, pairs) the best match
        of each word of the query, as squared cosine, 0 where the cosine is below; and (6, pairs) how much of the query
        and of the wording is covered, by IDF and by the encoder's weight, and the worst matched word of each: in this
        order query, wording, query, wording, query, wording."""
        words, length, vectors, scales, idf, weight = asked
        longest = words.shape[1]
        by_word = np.zeros((longest, len(wording)), dtype=np.float32)
        found = np.empty((6, len(wording)), dtype=np.float32)
        most = int((self._start[wording + 1] - self._start[wording]).sum())
        match = np.empty(most * longest, dtype=np.float32)
        floats = (_at(array, _FLOAT) for array in (scales, idf, weight))
        own = _Asked(
            _at(words, _LONG), _at(length, _LONG), _at(vectors, _SHORT), *floats, longest, vectors.shape[1]
        )  # fmt: skip
        _loops().align(
            ctypes.addressof(own), self._address, _at(query, _LONG), _at(wording, _LONG), len(wording),
            _at(seen, _INT), _at(match, _FLOAT), _at(by_word, _FLOAT), _at(found, _FLOAT),
        )  # fmt: skip
        return by_word, found
