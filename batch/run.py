"""A batch that may be killed at any moment: finished parts lie beside the output, and are never done again.

`OUTPUT.parts/` holds `run.json` (what is coded by what: input, catalog, options) and one Parquet file for each run of
rows, named by the first row and their number. A part appears whole or not at all (it is renamed into place); the
output is put together from the parts when they cover every row once. A second run beside the first is refused.
"""

from __future__ import annotations

import fcntl
import json
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise, takewhile
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from batch import files as batch_files
from clinical.errors import SettingError
from clinical.progress import progress

RECORD: Final = "run.json"
_PART: Final = re.compile(r"(\d{12})-(\d{6})\.parquet")


@dataclass(frozen=True)
class OutputPart:
    """Coded rows from `first` on."""

    path: Path
    first: int
    rows: int

    @property
    def end(self) -> int:
        return self.first + self.rows


class Run:
    """The work on one output. Enter it to hold it against a second run."""

    def __init__(self, output: Path, record: Mapping[str, Any]) -> None:
        self.output, self.record = output, dict(record)
        self.folder = output.with_name(f"{output.name}.parts")
        self._lock: IO[str] | None = None

    def __enter__(self) -> Run:
        """Begin, or go on with what is there. Raises SettingError where that is of another input or catalog."""
        written = self.folder / RECORD
        if self.output.exists() and not written.exists():
            shutil.rmtree(self.folder, ignore_errors=True)  # what a kill in the last moment of a finished run left
            raise SettingError(f"{self.output} exists already", "a new file", "name another --out, or delete it")
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = (self.folder / "lock").open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SettingError(f"another run is writing {self.output}", "one run at a time", "wait for it") from None
        if written.exists():
            self._compare(json.loads(written.read_text("utf-8")))
        else:
            _replace(written, json.dumps(self.record, indent=1).encode())
        for left in self.folder.glob("*.tmp"):
            left.unlink()
        return self

    def __exit__(self, *_: object) -> None:
        if self._lock is not None:
            self._lock.close()

    def _compare(self, before: Mapping[str, Any]) -> None:
        changed = [name for name in self.record if before.get(name) != self.record[name]]
        if changed:
            found = f"{self.folder} was begun with another {', another '.join(changed)}"
            remedy = "go on with what it was begun with, or delete that folder to begin again"
            raise SettingError(found, "the same input, catalog and options", remedy)

    def parts(self) -> list[OutputPart]:
        """Finished parts of the output, in the order of the rows."""
        matches = [(path, _PART.fullmatch(path.name)) for path in self.folder.iterdir()]
        parts = [OutputPart(path, int(match[1]), int(match[2])) for path, match in matches if match]
        return sorted(parts, key=lambda part: part.first)

    def sound(self) -> list[OutputPart]:
        """The parts that can be read, of the length their names say; others (power failed) are deleted."""
        for part in self.parts():
            try:
                if pq.read_metadata(part.path).num_rows == part.rows:
                    continue
            except (pa.ArrowInvalid, OSError):
                pass
            part.path.unlink()
        return self.parts()

    def add(self, table: pa.Table) -> int:
        """Keep coded rows, in runs of consecutive ones; returns how many."""
        rows = table["row"].to_numpy()
        order = np.argsort(rows, kind="stable")
        if (np.diff(order) != 1).any():
            table, rows = table.take(order), rows[order]
        borders = np.r_[0, np.flatnonzero(np.diff(rows) != 1) + 1, len(rows)]
        for start, end in pairwise(borders):
            if end > start:
                self._write(table.slice(start, end - start), int(rows[start]))
        return len(rows)

    def _write(self, table: pa.Table, first: int) -> None:
        sink = pa.BufferOutputStream()
        pq.write_table(table, sink, compression="zstd")
        _replace(self.folder / f"{first:012d}-{len(table):06d}.parquet", sink.getvalue())

    def finish(self, rows: int) -> Counter[str]:
        """Put the output together and delete the parts; rows by status. RuntimeError where a row is lost or twice."""
        parts = self.parts()
        ends = [0, *(part.end for part in parts)]
        if [part.first for part in parts] != ends[:-1] or ends[-1] != rows:
            raise RuntimeError(f"the parts in {self.folder} do not cover the rows once")
        counts: Counter[str] = Counter()
        batch_files.write(_counted(parts, counts), self.output, self.record)
        (self.folder / RECORD).unlink()
        shutil.rmtree(self.folder)
        return counts


def left(tables: Iterable[pa.Table], done: Iterable[tuple[int, int]]) -> Iterator[pa.Table]:
    """The rows of `tables` (numbered, ascending) that lie in none of the `done` ranges (first, end)."""
    ranges, at = sorted(done), 0
    for table in tables:
        first = table["row"][0].as_py()
        end = first + len(table)
        while at < len(ranges) and ranges[at][1] <= first:
            at += 1
        keep = np.ones(len(table), dtype=bool)
        for start, stop in takewhile(lambda each: each[0] < end, islice(ranges, at, None)):  # noqa: B023
            keep[max(0, start - first) : stop - first] = False
        if keep.any():
            yield table if keep.all() else table.filter(keep)


def _counted(parts: Sequence[OutputPart], counts: Counter[str]) -> Iterator[pa.Table]:
    for part in progress(parts, "putting together", "parts"):
        table = pq.read_table(part.path, memory_map=False, use_threads=False)
        counts.update(table["status"].to_pylist())
        yield table.drop_columns(["row"])


def _replace(path: Path, data: bytes | pa.Buffer) -> None:
    unfinished = path.with_name(f"{path.name}.tmp")
    unfinished.write_bytes(data)
    unfinished.replace(path)
