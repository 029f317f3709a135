"""Arrays in safetensors files: the same bytes for the same arrays, read as one memory mapping shared by all workers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clinical.errors import ArtifactMismatch, ArtifactMissing

_DTYPES: Final = {
    "I8": np.int8,
    "U8": np.uint8,
    "U16": np.uint16,
    "F16": np.float16,
    "F32": np.float32,
    "I32": np.int32,
    "I64": np.int64,
    "U64": np.uint64,
}
_NAMES: Final = {np.dtype(kind): name for name, kind in _DTYPES.items()}
LINE: Final = 64
"""Bytes that a processor fetches from memory at once."""


def write_tensors(path: Path, tensors: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]) -> None:
    """Write a safetensors file with its metadata in the order of their names, readable as any file of the process.

    The library writes metadata in random order and files for their owner alone; the same build gives the same bytes,
    and who serves an artifact need not be who built it. Tensors that fill whole lines of memory stand first, from the
    beginning of a line on: a row of 192 bytes then lies in three of them and not in four.
    """
    own = {name: np.ascontiguousarray(tensors[name]) for name in sorted(tensors)}
    names = sorted(own, key=lambda name: (own[name].nbytes % LINE > 0, -own[name].itemsize))
    places = dict(zip(names, pairwise(accumulate((own[name].nbytes for name in names), initial=0)), strict=True))
    header: dict[str, Any] = {"__metadata__": dict(sorted(metadata.items()))}
    for name, one in own.items():
        header[name] = {"data_offsets": places[name], "dtype": _NAMES[one.dtype], "shape": one.shape}
    written = json.dumps(header, separators=(",", ":")).encode()
    written += b" " * (-(8 + len(written)) % LINE)
    path.write_bytes(b"".join([len(written).to_bytes(8, "little"), written, *(own[name].data for name in names)]))


def map_tensors(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """Memory-map every tensor of a safetensors file: (arrays by name, metadata).

    The library copies into memory when it loads for numpy; workers should share one read-only mapping instead. The
    header is its documented format: eight bytes of length, then JSON with type, shape and byte range.
    """
    try:
        mapped = np.memmap(path, dtype=np.uint8, mode="r").view(np.ndarray)  # the subclass costs 2 us at every slice
    except FileNotFoundError:
        raise ArtifactMissing(f"there is no {path.name} in {path.parent}", "a finished artifact") from None
    except ValueError:
        raise ArtifactMismatch(f"{path.name} is empty", "a safetensors file") from None
    try:
        size = int.from_bytes(mapped[:8].tobytes(), "little")
        header: dict[str, Any] = json.loads(mapped[8 : 8 + size].tobytes())
        metadata = header.pop("__metadata__", {})
        return {name: _tensor(mapped[8 + size :], entry) for name, entry in header.items()}, metadata
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ArtifactMismatch(f"{path.name} is damaged or cut off", "a safetensors file") from None


def _tensor(data: NDArray[np.uint8], entry: Mapping[str, Any]) -> NDArray[Any]:
    start, end = entry["data_offsets"]
    return data[start:end].view(_DTYPES[entry["dtype"]]).reshape(entry["shape"])
