"""python -m evals suggest --catalog DIR --queries FILE: is a right code among the first that are suggested?

Each query is cut to its first 3, 4, 5, 6, 8 and 12 characters, as somebody types it; a shorter one is asked as it is.
Right is any of its codes among eight (`in_8`), and 1 / rank of the first (`mrr_8`); for the time of one call in
process, 50th and 99th percentile in milliseconds. `--whole` asks the queries as they are: for a set of beginnings.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import click

from clinical.command_line import PATH, paragraphs
from clinical.reading import SearchIndex
from clinical.search import Suggester
from evals.command import CATALOG, JSON, main_of
from evals.data.cards import read_dataset
from evals.data.examples import Example
from evals.measures.intervals import mean, share
from evals.measures.results import ALL, MeasuredResult, Row, percentiles, printed, row

CUTS: Final = (3, 4, 5, 6, 8, 12)
SHOWN: Final = 8


@click.command(help=paragraphs(__doc__))
@CATALOG
@click.option("--queries", type=PATH, required=True, help="TSV with query and codes, or JSON lines")
@click.option("--whole", is_flag=True, help="ask the queries as they are, uncut")
@JSON
@click.option("--out", type=PATH, help="also write the result")
def command(catalog: Path, queries: Path, whole: bool, as_json: bool, out: Path | None) -> None:
    """Measure and print."""
    index, data = SearchIndex.load(catalog), read_dataset(queries)
    if index.suggester is None:
        raise click.UsageError("the artifact holds no suggestions: build it again")
    rows = list(rows_of(index.suggester, data.examples, (None,) if whole else CUTS))
    about = {"manifest": index.manifest.digest, "dataset": data.about}
    result = MeasuredResult.of("suggest", f"python -m evals suggest --queries {data.file}", rows, **about)
    if out:
        result.write(out)
    print(json.dumps({"about": result.about, "rows": result.rows.to_dict("records")}) if as_json else printed(rows))


main = main_of(command, "suggest")


def rows_of(suggester: Suggester, examples: Sequence[Example], cuts: Sequence[int | None] = CUTS) -> Iterator[Row]:
    """The rows of every cut (None: uncut), and the times of all calls."""
    spent: list[float] = []
    for cut in cuts:
        ranks = []
        for example in examples:
            typed, began = example.query[:cut].rstrip(), time.perf_counter()
            found = suggester.suggest(typed, SHOWN)
            spent.append(1_000 * (time.perf_counter() - began))
            right = (rank for rank, each in enumerate(found, 1) if each.code.code in example.codes)
            ranks.append(next(right, 0))
        name = ALL if cut is None else f"{cut} characters"
        yield from row(f"in_{SHOWN}", name, len(ranks), share(sum(rank > 0 for rank in ranks), len(ranks)))
        yield from row("in_3", name, len(ranks), share(sum(0 < rank <= 3 for rank in ranks), len(ranks)))
        yield from row(f"mrr_{SHOWN}", name, len(ranks), mean([1 / rank if rank else 0.0 for rank in ranks]))
    yield from percentiles("milliseconds_p{}", "calls", spent)
