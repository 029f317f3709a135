"""python -m batch INPUT --catalog DIR --out OUTPUT: ICD-10-GM codes for every text of a file.

INPUT is Parquet, CSV (comma, semicolon or tab) or TSV, with a header. OUTPUT is Parquet or CSV, one row for each row
and in their order: id, status, codes, confidences, probabilities (best first); with --details (Parquet) also titles,
wordings, starts, ends, claims, sides. --columns NAME... keeps columns of the input. No text is written unless
--keep-text, or a kept column is one.
A row that cannot be coded says so in its status: missing, empty, too-long (over 2,000 characters), bad-utf-8,
malformed; nothing-found where no word is known. Stopped at any moment, the same command goes on where it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click
import pyarrow as pa

from batch.coder import OURS, STATUSES, Coder
from batch.files import WRITABLE, TextFile
from batch.run import Run, left
from batch.workers import cores, in_processes, in_ray
from clinical import __version__
from clinical.command_line import INTERRUPTED, PATH, Command, Several, entry, paragraphs
from clinical.errors import SettingError
from clinical.progress import progress
from clinical.search import Manifest, checksum


@dataclass(frozen=True)
class Job:
    """Job of batch coding: input, catalog, output and options. `ray`: None, `local` or the address of a cluster.
    `workers` None: one for each core, of a cluster for each that is free."""

    source: TextFile
    catalog: Path
    output: Path
    limit: int = 10
    keep_text: bool = False
    details: bool = False
    workers: int | None = 1
    ray: str | None = None

    def record(self, rows: int) -> dict[str, Any]:
        """Facts that must be the same when a run is resumed; the number of workers need not be."""
        details = {"details": True} if self.details else {}
        kept = {"kept": list(self.source.kept)} if self.source.kept else {}
        return {
            "input": {"size": self.source.path.stat().st_size, "sha256": checksum(self.source.path), "rows": rows},
            "columns": {"text": self.source.column, "id": self.source.id_column} | kept,
            "catalog": Manifest.load(self.catalog).digest,
            "options": {"limit": self.limit, "keep_text": self.keep_text} | details,
            "version": __version__,
        }


@click.command(cls=Command, help=paragraphs(__doc__))
@click.argument("input", type=PATH)
@click.option("--catalog", type=PATH, required=True, help="the artifact folder")
@click.option("--out", type=PATH, required=True, help="a new .parquet or .csv file")
@click.option("--column", default="text", help="the column of the texts (default: text)")
@click.option("--id-column", help="the column of the ids (default: the number of the row, from 1)")
@click.option("--columns", cls=Several, metavar="NAME...", help="input columns that the output keeps, as they are")
@click.option("--limit", type=click.IntRange(1, 20), default=10, help="most codes of a text (default: 10)")
@click.option("--keep-text", is_flag=True, help="write the texts into the output as well")
@click.option("--details", is_flag=True, help="also titles, wordings, places, claims and sides (.parquet)")
@click.option("--workers", type=click.IntRange(1), help="processes (default: one a core, of a cluster a free one)")
@click.option("--ray", metavar="ADDRESS", help="run on a Ray cluster: its address, auto, or local")
def command(**options: Any) -> int:
    """Code a file."""
    try:
        job = _job(**options)
        counts = run(job, disable=False)
    except KeyboardInterrupt:
        click.echo(f"stopped; the same command goes on where it was ({options['out']}.parts)", err=True)
        return INTERRUPTED
    click.echo(summary(counts, job.output))
    return 0


main = entry(command, "python -m batch")


def _job(
    input: Path, column: str, id_column: str | None, columns: Sequence[str], catalog: Path, out: Path, **how: Any
) -> Job:
    if out.suffix not in WRITABLE:
        raise SettingError(f"--out ends in {out.suffix!r}", " or ".join(WRITABLE), "name another file")
    if how["details"] and out.suffix != ".parquet":
        raise SettingError("--details writes lists of texts", "an --out that ends in .parquet", "name one")
    if not out.resolve().parent.is_dir():
        raise SettingError(f"there is no folder {out.parent}", "one that exists", "make it")
    taken = [name for name in columns if name in OURS]
    if taken:
        remedy = "rename it in the input, or leave it out"
        raise SettingError(f"--columns {', '.join(taken)}: the output has its own", "other names", remedy)
    source = TextFile(input.resolve(), column, id_column, tuple(dict.fromkeys(columns)))
    Manifest.load(catalog.resolve()).verify(catalog.resolve())
    return Job(source, catalog.resolve(), out.resolve(), **how)


def run(job: Job, disable: bool = True, each: Callable[[int], object] = int) -> Counter[str]:
    """Code what is left of a job and put the output together; rows by status.

    `each` is called with the number of rows done after every part. `disable`: nothing is said on the way.
    """
    rows = job.source.count()
    with Run(job.output, job.record(rows)) as work:
        done = [(part.first, part.end) for part in work.sound()]
        ready = sum(end - first for first, end in done)
        with progress(None, "coding", "rows", total=rows, initial=ready, smoothing=0.1, disable=disable) as bar:
            if ready < rows:
                with closing(_work(job, work, partial(_tables, job.source, done))) as steps:
                    for added in steps:
                        ready += added
                        bar.update(added)
                        each(ready)
        return work.finish(rows)


def _work(job: Job, work: Run, tables: Callable[[], Iterator[pa.Table]]) -> Generator[int]:
    """Code and keep; the number of rows after each step. The workers are ended with it."""
    coder = Coder(str(job.catalog), job.limit, job.keep_text, job.details)
    if job.ray is not None:
        coded = in_ray(coder, tables, job.workers, job.ray)
    else:
        coded = in_processes(coder, tables(), job.workers or cores())
    with closing(coded):
        for table in coded:
            yield work.add(table)


def _tables(source: TextFile, done: Sequence[tuple[int, int]]) -> Iterator[pa.Table]:
    return left(source.tables(), done)


def summary(counts: Counter[str], output: Path) -> str:
    """One line: how many rows, and how many of each status."""
    known = [f"{counts[status]:,} {status}" for status in STATUSES if counts[status]]
    return f"{output.name}: {counts.total():,} rows: {', '.join(known)}"


if __name__ == "__main__":
    raise SystemExit(main(None))
