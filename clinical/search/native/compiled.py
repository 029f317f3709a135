"""The loops of the search as machine code: the functions of the C files here, for arrays of numpy.

Every array is checked before its address is handed over, so that a wrong one is a TypeError. Python's lock is not held
while a function runs.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinical.errors import SettingError
from clinical.search.native.library import LIBRARY, Unwritable, compile_into, is_current

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

FLOAT, LONG, INT = np.dtype(np.float32), np.dtype(np.int64), np.dtype(np.int32)
SHORT, BYTE, LETTER = np.dtype(np.int16), np.dtype(np.int8), np.dtype(np.uint8)
POINTER, NUMBER = ctypes.c_void_p, ctypes.c_int64


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


class Loops(NamedTuple):
    """The functions of the library."""

    nearest: Any
    rank: Any
    add_runs: Any
    scale_to_one: Any
    tag: Any
    fill_slots: Any
    fill_answers: Any
    search: Any


@cache
def loops() -> Loops:
    """The functions of the library, loaded when the first index is; never in a request."""
    library = load(LIBRARY)

    def declared(name: str, *kinds: type[Any], restype: type[Any] | None = None) -> Any:
        function = getattr(library, name)
        function.argtypes, function.restype = kinds, restype
        return function

    return Loops(
        declared("nearest", POINTER, POINTER, NUMBER, NUMBER, NUMBER, *[POINTER] * 4),
        declared("rank", *[POINTER] * 4, NUMBER, POINTER, POINTER, restype=NUMBER),
        declared("add_runs", *[POINTER] * 3, NUMBER, POINTER, POINTER, NUMBER, POINTER, restype=NUMBER),
        declared("scale_to_one", POINTER, NUMBER, NUMBER, POINTER),
        declared("tag", *[POINTER] * 5, restype=NUMBER),
        declared("fill_slots", POINTER, POINTER, NUMBER, POINTER, NUMBER),
        declared("fill_answers", POINTER, POINTER, NUMBER, POINTER),
        declared("search", *[POINTER] * 5, NUMBER, *[POINTER] * 4, restype=NUMBER),
    )


def address_of(array: NDArray[Any], kind: np.dtype[Any]) -> int:
    """The address of an array of this kind whose values lie one behind the other."""
    if array.dtype != kind or not array.flags.c_contiguous:
        raise TypeError(f"an array of {array.dtype} where the compiled loops take {kind}, without gaps")
    address: int = array.ctypes.data
    return address


def all_at(arrays: Iterable[Any], kinds: Iterable[np.dtype[Any]]) -> list[int]:
    """The addresses of arrays of these kinds."""
    return [address_of(array, kind) for array, kind in zip(arrays, kinds, strict=True)]


def fields_of(pointers: str, numbers: str = "") -> tuple[tuple[str, Any], ...]:
    """The fields of a structure of the library: addresses, then numbers."""
    return (*((name, POINTER) for name in pointers.split()), *((name, NUMBER) for name in numbers.split()))


class _Known(ctypes.Structure):
    _fields_ = fields_of(
        "word_start word word_rows word_scales idf weight rows scales whole_weight title row centres centre_scales"
    )


class KnownWordings(NamedTuple):
    """The words of all wordings (those of a wording begin at its `word_start` in `word`, whose numbers are rows of
    `word_rows` to `weight`), the wordings themselves (N), and their codes (C)."""

    word_start: Ints
    word: NDArray[np.int32]
    word_rows: NDArray[np.int8]
    word_scales: Floats
    idf: Floats
    weight: Floats
    rows: NDArray[np.int8]  # (N, D)
    scales: Floats  # (N,)
    whole_weight: Floats  # (N,)
    title: Ints  # (C,) number of a wording
    row: Ints  # (N,) number of its code, from 0 to C
    centres: NDArray[np.int8]  # (C, D)
    centre_scales: Floats  # (C,)


class Comparing:
    """The wordings of a catalog, to compare queries with. The arrays are kept with their addresses."""

    def __init__(self, known: KnownWordings) -> None:
        self._known = known
        kinds = (LONG, INT, BYTE, FLOAT, FLOAT, FLOAT, BYTE, FLOAT, FLOAT, LONG, LONG, BYTE, FLOAT)
        self._struct = _Known(*all_at(known, kinds))
        self.address = ctypes.addressof(self._struct)

    def seen(self) -> NDArray[np.int32]:
        """Room for the words of a query that were seen, all -1; a search leaves nothing in it."""
        return np.full(len(self._known.word_rows), -1, dtype=np.int32)


def added(rows: NDArray[np.int8] | Floats, scales: Floats | None, numbers: Ints, start: Ints) -> Floats:
    """For each run of row numbers, none of them empty, the sum of these rows, each times its scale where they are int8;
    `start` (runs + 1,). Rounded as `np.add.reduceat` does."""
    runs, dimensions = len(start) - 1, rows.shape[1]
    found = np.empty((runs, dimensions), dtype=np.float32)
    table: tuple[int | None, int | None, int | None]
    if scales is None:
        table = (address_of(rows, FLOAT), None, None)
    else:
        table = (None, address_of(rows, BYTE), address_of(scales, FLOAT))
    places = (address_of(numbers, LONG), address_of(start, LONG), runs, address_of(found, FLOAT))
    if loops().add_runs(*table, dimensions, *places):
        raise MemoryError("no memory for the vectors of a text")
    return found


def scaled_to_one(rows: Floats) -> Floats:
    """Scale the rows to length 1 in their place, and return their lengths; zero rows stay zero. Rounded as
    `np.linalg.norm` does."""
    lengths = np.empty(len(rows), dtype=np.float32)
    loops().scale_to_one(address_of(rows, FLOAT), *rows.shape, address_of(lengths, FLOAT))
    return lengths
