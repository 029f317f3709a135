"""python -m evals bench --catalog DIR [--queries FILE] [--number N] [--seconds S] [--json]: one table, side by side.

Search: Befund, bm25s, rank_bm25, scikit-learn's TF-IDF and rapidfuzz on the same wordings answer the same queries in
turn: how often the right code comes first or among ten, and milliseconds. The queries are a TSV of `query` and `codes`:
held-out synonyms (`python -m evals heldout`, with an artifact built without them) or, without --queries, the everyday
phrasings of `evals/data`. The text API beside bare FastAPI with the same payload, and our client of a language model
beside bare calls to vLLM on CPU, where BEFUND_VLLM_VENV is set. The last column is the ratio to what is ours.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from clinical.command_line import PATH, paragraphs
from clinical.search import SearchIndex
from evals.bench.client import WITHOUT, Called, beside_vllm
from evals.bench.overhead import Answered, beside_fastapi
from evals.bench.rivals import Searched, compared
from evals.coding.datasets import read_examples
from evals.command import CATALOG, JSON, main_of

EVERYDAY = Path(__file__).parents[1] / "data" / "everyday.tsv"
SEED = 2026


@dataclass(frozen=True, slots=True)
class Bench:
    """All three parts."""

    search: list[Searched]
    api: list[Answered]
    client: list[Called]


def bench(catalog: Path, queries: Path, number: int, seconds: float) -> Bench:
    """Measure all three."""
    rows = read_examples(queries)
    chosen = random.Random(SEED).sample(rows, min(number, len(rows)))  # noqa: S311 - reproducible, not secret
    search = compared(SearchIndex.load(catalog), [(one.query, one.codes) for one in chosen])
    api = beside_fastapi(catalog, [one.query for one in chosen], seconds)
    return Bench(search, api, beside_vllm())


def table(found: Bench) -> str:
    """One table for each part."""
    ours = found.search[0]
    lines = [f"search, {ours.queries} queries           top-1   top-10   p50 ms   p99 ms   time, ours = 1"]
    for one in found.search:
        share = one.p50_ms / ours.p50_ms
        figures = f"{one.top_1:>7.3f}  {one.top_10:>7.3f}  {one.p50_ms:>7.2f}  {one.p99_ms:>7.2f}  {share:>10.1f}"
        lines.append(f"{one.system:<28}{figures}")
    lines += ["", f"{'text API':<28}{'p50 ms':>8} {'p99 ms':>8} {'streams/s':>10} {'cpu ms':>8}   cpu, ours = 1"]
    lines += [
        f"{one.server:<28}{one.p50_ms:>8.2f} {one.p99_ms:>8.2f} {one.per_second:>10.0f} {one.cpu_ms:>8.2f} "
        f"{one.cpu_ms / found.api[0].cpu_ms:>10.2f}"
        for one in found.api
    ]
    lines += ["", f"{'client of a language model':<28}{'p50 ms':>8} {'p99 ms':>8} {'cpu ms':>8}   p50, bare = 1"]
    lines += [
        f"{one.way:<28}{one.p50_ms:>8.2f} {one.p99_ms:>8.2f} {one.cpu_ms:>8.2f} "
        f"{one.p50_ms / found.client[0].p50_ms:>10.2f}"
        for one in found.client
    ] or [WITHOUT]
    return "\n".join([*lines, "", f"load of the machine: {os.getloadavg()[0]:.1f}"])


@click.command(help=paragraphs(__doc__))
@CATALOG
@click.option("--queries", type=PATH, default=EVERYDAY, help="TSV of query and codes (default: everyday phrasings)")
@click.option("--number", type=click.IntRange(min=30), default=300, show_default=True, help="queries, drawn once")
@click.option("--seconds", type=float, default=5, show_default=True, help="of each round of throughput")
@JSON
def command(catalog: Path, queries: Path, number: int, seconds: float, as_json: bool) -> None:
    """Measure and print."""
    found = bench(catalog.resolve(), queries, number, seconds)
    click.echo(json.dumps({name: _rows(rows) for name, rows in _parts(found)}) if as_json else table(found))


def _parts(found: Bench) -> list[tuple[str, Sequence[Searched | Answered | Called]]]:
    return [("search", found.search), ("api", found.api), ("client", found.client)]


def _rows(rows: Sequence[Searched | Answered | Called]) -> list[dict[str, object]]:
    return [asdict(row) for row in rows]


main = main_of(command, "bench")
