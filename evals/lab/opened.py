"""Opens the inputs of the lab's calls: an artifact, loaded once, and texts or a data set of any usual shape."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeAlias

import pandas as pd

from clinical.errors import SourceError
from clinical.reading import SearchIndex
from clinical.search import checksum
from evals.data.cards import Dataset, read_card, read_dataset
from evals.data.examples import Example, well_formed
from evals.lab.artifact import Lab
from evals.reading.inputs import input_of, is_input, read_inputs

Artifact: TypeAlias = str | Path | SearchIndex | None
"""A folder, an index already loaded, or None for the artifact of `make up` (BEFUND_CATALOG, else var/catalog)."""
Data: TypeAlias = str | Path | pd.DataFrame | Sequence[Example] | Sequence[Mapping[str, Any]]
"""A TSV or JSON lines file, a table with the columns query (or text) and codes, or examples; of texts that state
several things a JSON lines file, an author's `.txt`, a table or a list of objects with statements
(`evals.reading.inputs`)."""
AT_ONCE: Final = 2
"""Indexes that stay loaded: two are compared; a full catalog takes about 350 MB."""


def opened(catalog: Artifact = None) -> SearchIndex:
    """The index of an artifact. Raises ArtifactMissing or ArtifactMismatch."""
    if isinstance(catalog, SearchIndex):
        return catalog
    folder = Path(catalog).expanduser().resolve() if catalog else Lab.open().catalog
    manifest = folder / "manifest.json"
    return _loaded(folder, manifest.stat().st_mtime_ns if manifest.is_file() else 0)


@lru_cache(maxsize=AT_ONCE)
def _loaded(folder: Path, _written: int) -> SearchIndex:
    """`_written`: an artifact that was built again is loaded again."""
    return SearchIndex.load(folder)


def texts_of(texts: str | Iterable[Any] | None) -> pd.Series:
    """Texts as a Series of objects, with the index that they came with; a single text is a Series of one."""
    if isinstance(texts, pd.Series):
        return texts.astype(object)
    values = [texts] if isinstance(texts, str) else list(texts) if texts is not None else []
    return pd.Series(values, dtype=object)


def data_of(data: Data) -> Dataset:
    """Examples, and what is known of where they are from. Raises SourceError where there are none."""
    if isinstance(data, str | Path):
        return read_dataset(Path(data).expanduser())
    examples = _rows(data) if isinstance(data, pd.DataFrame) else [Example(*one) for one in data]
    if not examples:
        raise SourceError("the table", None, "holds no queries", "at least one row", "give another")
    rows = [[one.query, sorted(one.codes), one.kind] for one in examples]
    digest = hashlib.sha256(json.dumps(rows, ensure_ascii=False).encode()).hexdigest()
    return Dataset(examples, digest, None, "table")


def inputs_of(data: Data) -> tuple[list[dict[str, Any]], dict[str, Any]] | None:
    """Texts that state several things, and what is known of where they are from (name, version, sha256, rows); None for
    queries. Raises SourceError naming the first line that is none."""
    if isinstance(data, str | Path):
        path = Path(data).expanduser()
        if path.suffix != ".txt" and not (path.suffix == ".jsonl" and _states(path)):
            return None
        rows, known = read_inputs(path), Dataset([], checksum(path), read_card(path), path.name)
        if not rows:
            raise SourceError(path.name, None, "holds no texts with codes", "at least one", "give another")
    else:
        given = data.to_dict("records") if isinstance(data, pd.DataFrame) else list(data)
        if not given or not is_input(given[0]):
            return None
        rows = [input_of(_told(row), "the table", number) for number, row in enumerate(given, start=1)]
        digest = hashlib.sha256(json.dumps(rows, ensure_ascii=False, default=str).encode()).hexdigest()
        known = Dataset([], digest, None, "table")
    return rows, known.about | {"rows": len(rows)}


def _states(path: Path) -> bool:
    """Return True when the first line of a file is an object with statements."""
    try:
        with path.open(encoding="utf-8") as file:
            return is_input(json.loads(next((line for line in file if line.strip()), "null")))
    except (OSError, ValueError):
        return False


def _told(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row without the gaps that a table puts where an object has no such field."""
    return {name: value for name, value in row.items() if not (isinstance(value, float) and value != value)}


def codes_of(value: object) -> frozenset[str]:
    """Right codes of one text: a string (commas between several) or any collection of strings; a gap has none."""
    if isinstance(value, str):
        return frozenset(code.strip() for code in value.split(",") if code.strip())
    return frozenset(map(str, value)) if isinstance(value, Iterable) else frozenset()


def _rows(table: pd.DataFrame) -> list[Example]:
    text = "query" if "query" in table else "text"
    if not {text, "codes"} <= set(table.columns):
        found = f"columns {', '.join(map(str, table.columns[:20]))}"
        raise SourceError("the table", None, found, "query and codes", "rename its columns")
    kinds = table["kind"] if "kind" in table else [""] * len(table)
    examples = []
    for number, (query, codes, kind) in enumerate(zip(table[text], table["codes"], kinds, strict=True), start=1):
        right = codes_of(codes)
        if not isinstance(query, str) or not query.strip() or not right:
            remedy = "fill or drop the row: table.dropna()"
            raise SourceError("the table", number, "an empty query or no codes", "both", remedy)
        well_formed(sorted(right), "the table", number)
        examples.append(Example(query, right, kind if isinstance(kind, str) else ""))
    return examples
