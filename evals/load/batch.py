"""Texts a second and memory of batch coding (`python -m evals load batch`).

A file of that many short texts is made (wordings of the catalog, cut to one to four words, with small words around
them, no two of a chunk alike) and coded as `python -m batch` does it, for at most so many seconds. Speed is over
the time between the first part and the last, without the start; rows_per_core_second divides by the processor time of
the program and its workers, and so leaves out what else the machine does. Memory (MB of 10^6 bytes) is what the
program and all its workers have for themselves (resident, without the files they map: the index is mapped, and how much
of it is resident is the system's choice); first when SETTLED rows are done, last when the time is over.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from batch import __main__ as batch
from batch.files import CHUNK, TextFile
from clinical.progress import progress
from clinical.search import map_tensors
from evals.load.servers import over_family, processor_seconds
from evals.measures.results import Row, row

SEED: Final = 2026
SETTLED: Final = 10_000
"""Rows after which memory is taken for the first time: every worker has its index and has coded some chunks."""
AROUND: Final = ("{}",) * 6 + (
    "V. a. {}", "{} links", "{} bds.", "bek. {}", "akut {}", "{} re.", "chron. {}", "Z. n. {}",
)  # fmt: skip


class Enough(Exception):
    """Raised when the time is over; the remaining rows are not coded."""


class Sight(NamedTuple):
    """Seconds since the first part, rows done, MB, and processor time of the program and its workers."""

    seconds: float
    rows: int
    memory: float
    processor: float


@dataclass
class BatchWatch:
    """Callback of a batch run: records time, rows, memory and processor time after each part."""

    seconds: float
    seen: list[Sight] = field(default_factory=list)
    _begun: float = 0.0

    def __call__(self, rows: int) -> None:
        """Called by the run. Raises Enough when the time is over."""
        self._begun = self._begun or time.perf_counter()
        past = time.perf_counter() - self._begun
        self.seen.append(Sight(past, rows, memory_mb(), processor_seconds()))
        if past >= self.seconds:
            raise Enough

    def rows(self) -> Iterator[Row]:
        """Rows a second and MB, of the rows that fitted into the time."""
        first, last = self.seen[0], self.seen[-1]
        settled = next((each.memory for each in self.seen if each.rows >= SETTLED), last.memory)
        coded = last.rows - first.rows
        for measure, value in (
            ("rows_per_second", coded / max(last.seconds - first.seconds, 1e-9)),
            ("rows_per_core_second", coded / max(last.processor - first.processor, 1e-9)),
            ("memory_settled_mb", settled),
            ("memory_at_end_mb", last.memory),
            ("memory_most_mb", max(each.memory for each in self.seen)),
        ):
            yield from row(measure, "batch", last.rows, value)


def measured(catalog: Path, rows: int, seconds: float, workers: int) -> Iterator[Row]:
    """So many rows, or those that fit into the time."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "texts.parquet"
        write_texts(catalog, source, rows)
        watch = BatchWatch(seconds)
        job = batch.Job(TextFile(source), catalog, Path(folder) / "codes.parquet", workers=workers)
        with suppress(Enough):
            batch.run(job, disable=False, each=watch)
        yield from watch.rows()


def write_texts(catalog: Path, path: Path, rows: int) -> None:
    """A Parquet file with the column `text`, written a chunk at a time."""
    schema = pa.schema([("text", pa.string())])
    wordings = _wordings(catalog)
    with pq.ParquetWriter(path, schema) as writer, progress(None, "texts", "rows written", total=rows) as bar:
        for chunk in _chunks(wordings, rows):
            writer.write_table(pa.table({"text": chunk}, schema=schema))
            bar.update(len(chunk))


def _wordings(catalog: Path) -> list[str]:
    tables, _ = map_tensors(catalog / "wordings.safetensors")
    text, starts = tables["text"].tobytes(), tables["text_start"].tolist()
    return [text[start:end].decode() for start, end in pairwise(starts)]


def _chunks(wordings: Sequence[str], rows: int) -> Iterator[list[str]]:
    chance = random.Random(SEED)  # noqa: S311 - reproducible, not secret
    for start in range(0, rows, CHUNK):
        texts: set[str] = set()
        while len(texts) < min(CHUNK, rows - start):
            some = " ".join(chance.choice(wordings).split()[: chance.randint(1, 4)])[:60]
            texts.add(chance.choice(AROUND).format(some))
        yield chance.sample(sorted(texts), len(texts))


def memory_mb() -> float:
    """Resident memory of this process and its workers without mapped files and shared memory."""
    return sum(over_family(_own_bytes)) / 1e6


def _own_bytes(process: psutil.Process) -> float:
    memory = process.memory_info()
    return float(memory.rss - getattr(memory, "shared", 0))
