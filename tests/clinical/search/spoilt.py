"""python -m tests.clinical.search.spoilt ARTIFACT FOLDER FILE...: files of an artifact with each of their arrays spoilt
in turn, the checksum right. What becomes of each is a line: `refused` at load with a sentence, `harmless` where texts
are read on, or the error. In a process of its own, since what goes wrong may be its last."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

from clinical.errors import ArtifactMismatch
from clinical.reading.index import SearchIndex
from clinical.search.manifest import Manifest, checksum
from clinical.search.neighbours import built
from clinical.search.tensors import map_tensors, write_tensors

TEXTS = (
    "Diabetes mellitus Typ 2",
    "V. a. Pneumonie rechts, Z. n. Appendektomie; Hypertonie",
    "xqzt",
    "Bronchtis 3. SSW",
)
LINKS = ("neighbors", "offsets", "levels", "cum_nneighbor_per_level")
Arrays = dict[str, NDArray[Any]]


def spoilt(array: NDArray[Any]) -> Iterator[tuple[str, NDArray[Any]]]:
    """The array out of its bounds, in each of the ways that its type has."""
    if array.dtype.kind == "f":
        values: dict[str, Any] = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}
    else:
        limits = np.iinfo(array.dtype)
        values = {"least": limits.min, "most": limits.max, "past": min(limits.max, int(array.max(initial=0)) + 1)}
        values |= {"below": -1} if limits.min < 0 else {}
    ends = (0, array.size - 1) if array.dtype.kind in "iu" and array.itemsize > 1 else ()
    for name, value in values.items():
        for place in (array.size // 2, *(ends if name == "most" else ())):
            changed = array.copy()
            changed.reshape(-1)[place] = value
            yield f"{name} at {place}", changed
    yield "shorter", np.ascontiguousarray(array[:-1])
    yield "longer", np.concatenate([array, array[-1:]])
    yield "another type", array.astype(np.float32 if array.dtype.kind in "iu" else np.int32)
    yield "reversed", np.ascontiguousarray(array[::-1])
    yield "empty", array[:0]


def variants(artifact: Path, name: str) -> Iterator[tuple[str, bytes]]:
    """Content of the file with one array spoilt, and which and how."""
    path = artifact / name
    if path.suffix == ".npy":
        array = np.load(path)
        for how, changed in spoilt(array):
            yield how, _bytes(lambda place, new=changed: np.save(place.open("wb"), new), path.name)
    elif path.suffix == ".safetensors":
        arrays, (_, metadata) = load_file(path), map_tensors(path)
        for array_name, array in arrays.items():
            for how, changed in spoilt(array):
                new = arrays | {array_name: changed}
                yield f"{array_name} {how}", _bytes(lambda place, new=new: write_tensors(place, new, metadata), name)
            without = {other: arrays[other] for other in arrays if other != array_name}
            yield f"{array_name} left out", _bytes(lambda place, new=without: write_tensors(place, new, metadata), name)
    else:
        yield from _links(artifact)


def _links(artifact: Path) -> Iterator[tuple[str, bytes]]:
    """An HNSW index of the artifact's wordings, as a larger catalog has; its links spoilt."""
    tables, _ = map_tensors(artifact / "wordings.safetensors")
    rows = np.asarray(tables["rows"] * tables["scales"][:, None], dtype=np.float32)
    index = built(rows, "hnsw")
    yield "nothing", _of(index)
    for name in LINKS:
        vector = getattr(index.hnsw, name)
        array = faiss.vector_to_array(vector).copy()
        for how, changed in spoilt(array):
            if how != "another type":
                faiss.copy_array_to_vector(changed.astype(array.dtype), vector)
                yield f"{name} {how}", _of(index)
        faiss.copy_array_to_vector(array, vector)
    for name in ("entry_point", "max_level"):
        own = getattr(index.hnsw, name)
        for value in (-1, len(rows), 2**31 - 1):
            setattr(index.hnsw, name, value)
            yield f"{name} {value}", _of(index)
        setattr(index.hnsw, name, own)
    yield "of fewer wordings", _of(built(rows[:-1], "flat"))
    yield "of fewer numbers", _of(built(np.ascontiguousarray(rows[:, :-1]), "flat"))
    yield "of another kind", _of(faiss.IndexFlatIP(rows.shape[1]))
    inverted = built(rows, "ivf")
    yield "lists", _of(inverted)
    faiss.rev_swig_ptr(inverted.invlists.get_ids(0), 1)[0] = 2**40
    yield "a list leads far", _of(inverted)
    whole = _of(built(rows, "flat"))
    for cut in (0, 3, 100, len(whole) // 2, len(whole) - 1):
        yield f"cut at {cut}", whole[:cut]


def _of(index: Any) -> bytes:
    data: bytes = faiss.serialize_index(index).tobytes()
    return data


def _bytes(write: Any, name: str) -> bytes:
    place = Path(sys.argv[2], f"new-{name}")
    write(place)
    return place.read_bytes()


def outcome(folder: Path) -> str:
    """The outcome of loading and reading."""
    try:
        index = SearchIndex.load(folder)
    except ArtifactMismatch as error:
        return f"refused: {error}"
    for text in TEXTS:
        index.read(text)
        assert index.suggester is not None
        index.suggester.suggest(text)
    return "harmless"


def main(artifact: Path, folder: Path, names: Sequence[str]) -> None:
    """Print a line for each variant of each file, before it is tried and behind it."""
    for path in artifact.rglob("*"):
        if path.is_file() and path.relative_to(artifact).parts[0] != "checks":
            place = folder / "artifact" / path.relative_to(artifact)
            place.parent.mkdir(parents=True, exist_ok=True)
            os.link(path, place)
    manifest, own = Manifest.load(artifact), folder / "artifact"
    for name in names:
        for how, content in variants(artifact, name):
            print(name, how, sep="\t", end="\t", flush=True)
            (own / name).unlink()
            (own / name).write_bytes(content)
            (own / "manifest.json").unlink()
            replace(manifest, files={**manifest.files, name: checksum(own / name)}).save(own)
            try:
                print(outcome(own), flush=True)
            except Exception as error:  # noqa: BLE001 - the test says which
                print(f"{type(error).__name__}: {error}".replace("\n", " "), flush=True)
        (own / name).unlink()
        os.link(artifact / name, own / name)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
