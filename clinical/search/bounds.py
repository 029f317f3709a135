"""Checks on the arrays of an artifact before anything is looked up in them.

A checksum says that a file is the one that its manifest names, not that its numbers lead anywhere: what one array says
is a place in another, and the compiled loops look there without asking. So each file has a table of its arrays, with
type, shape and bounds, and each bound is one pass over one array, once, at load.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson
from numpy.typing import NDArray

from clinical.errors import ArtifactMismatch

REMEDY: Final = "build it again: python -m catalog_build build SOURCE --out DIR"

Size = int | str
"""A number, or the name of one that other arrays of the artifact have too; `N+1`: one more."""


@dataclass(frozen=True, slots=True)
class Bound:
    """One array: `kind` (a type of numpy) and `shape`. Values lie from `low` to below `high`; `ascending` ones never
    fall; `starts` says where the runs begin that fill an array of that size: from 0, ascending, up to it. Fractions are
    always finite."""

    kind: str
    shape: tuple[Size, ...]
    low: int | None = None
    high: Size | None = None
    ascending: bool = False
    starts: Size | None = None


@dataclass
class ArraySizes:
    """The sizes of an artifact by name, as its arrays are found to have them. None may be 0."""

    known: dict[str, int] = field(default_factory=dict)

    def of(self, size: Size) -> int | None:
        """The number; None for one that is not known yet."""
        name, _, more = size.partition("+") if isinstance(size, str) else ("", "", "")
        if isinstance(size, int):
            return size
        return self.known[name] + int(more or 0) if name in self.known else None

    def take(self, size: Size, found: int) -> bool:
        """True if an array may have this size; a name without a known size takes this one."""
        if isinstance(size, str) and self.of(size) is None:
            name, _, more = size.partition("+")
            self.known[name] = found - int(more or 0)
            return self.known[name] > 0
        return self.of(size) == found


def check(file: str, arrays: Mapping[str, NDArray[Any]], bounds: Mapping[str, Bound], sizes: ArraySizes) -> None:
    """Raises ArtifactMismatch naming the first array of the file that is missing, strange or out of its bounds."""
    for name in arrays.keys() ^ bounds.keys():
        there = "holds another array than it should" if name in arrays else "lacks an array"
        raise _wrong(f"{file} {there}: {name}", ", ".join(bounds))
    for name, bound in bounds.items():
        _check_shape(f"{name} of {file}", arrays[name], bound, sizes)
    for name, bound in bounds.items():
        _check_values(f"{name} of {file}", arrays[name], bound, sizes)


def require(holds: bool | np.bool_, what: str, expected: str) -> None:
    """Raises ArtifactMismatch where it does not hold."""
    if not holds:
        raise _wrong(what, expected)


def text_of(letters: NDArray[np.uint8], what: str) -> str:
    """A text that is kept as bytes. Raises ArtifactMismatch where it is none."""
    try:
        return letters.tobytes().decode()
    except UnicodeDecodeError:
        raise _wrong(f"{what} is no text", "UTF-8") from None


def json_of(path: Path) -> Any:
    """The value of a JSON file. Raises ArtifactMismatch where it is none."""
    try:
        return orjson.loads(path.read_bytes())
    except orjson.JSONDecodeError:
        raise _wrong(f"{path.name} is not JSON", "a file as the build writes it") from None


def check_numbers(numbers: Iterable[Any], below: int, what: str) -> None:
    """Raises ArtifactMismatch unless all are whole numbers from 0 to below that one."""
    found = np.array(list(numbers))
    fits = not found.size or (found.dtype.kind == "i" and found.min() >= 0 and found.max() < below)
    require(fits, f"{what} holds a number that leads nowhere", f"whole numbers below {below}")


def _check_shape(what: str, array: NDArray[Any], bound: Bound, sizes: ArraySizes) -> None:
    right = array.dtype == np.dtype(bound.kind) and array.flags.c_contiguous and array.flags.aligned
    require(right, f"{what} is of {array.dtype}", f"{bound.kind} without gaps")
    fits = len(array.shape) == len(bound.shape) and all(map(sizes.take, bound.shape, array.shape))
    require(fits, f"{what} has the shape {array.shape}", f"({', '.join(map(str, bound.shape))}) of {sizes.known}")


def _check_values(what: str, array: NDArray[Any], bound: Bound, sizes: ArraySizes) -> None:
    if array.dtype.kind == "f":
        require(np.isfinite(array).all(), f"{what} holds what is no number", "finite numbers")
    if bound.starts is not None:
        total = sizes.of(bound.starts)
        right = array[0] == 0 and array[-1] == total and (array[1:] >= array[:-1]).all()
        require(right, f"{what} does not say where runs begin", f"ascending numbers from 0 to {total}")
    if bound.ascending:
        require((array[1:] >= array[:-1]).all(), f"{what} falls", "ascending numbers")
    if bound.high is not None and array.size:
        low, high = bound.low or 0, sizes.of(bound.high)
        least, most = (array[0], array[-1]) if bound.ascending else (array.min(), array.max())
        right = high is not None and least >= low and most < high
        require(right, f"{what} holds {least} to {most}", f"numbers from {low} to below {high}")


def _wrong(found: str, expected: str) -> ArtifactMismatch:
    return ArtifactMismatch(found, expected, REMEDY)
