"""Arrays in safetensors files: the same bytes for the same arrays, read as one memory mapping shared by all workers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save

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


def write_tensors(path: Path, tensors: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]) -> None:
    """Write a safetensors file with its metadata in the order of their names, readable as any file of the process.

    The library writes metadata in random order and files for their owner alone; the same build gives the same bytes,
    and who serves an artifact need not be who built it.
    """
    data = save({name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}, dict(metadata))
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size]) | {"__metadata__": dict(sorted(metadata.items()))}
    written = json.dumps(dict(sorted(header.items())), separators=(",", ":")).encode()
    written += b" " * (-len(written) % 8)  # the data begin at a multiple of eight
    path.write_bytes(len(written).to_bytes(8, "little") + written + data[8 + size :])


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
