"""python -m evals nearest --catalog DIR: flat, HNSW and IVF over the artifact's vectors, by how many there are.

For each size and kind: seconds to build, milliseconds of a search for the 100 nearest (processor time, one thread), and
the share of them that the exact scan finds too. Queries are vectors of the index, moved a little.
"""

from __future__ import annotations

import time
from pathlib import Path

import click
import numpy as np

from clinical.command_line import paragraphs
from clinical.search import SearchIndex, Vectors, built, nearest
from evals.command import CATALOG, main_of

SIZES = (7_000, 20_000, 50_000, 1_000_000)
QUERIES, COUNT, MOVED, SEED = 150, 100, 0.03, 2026


@click.command(help=paragraphs(__doc__))
@CATALOG
def command(catalog: Path) -> None:
    """Measure and print a line each."""
    import faiss

    faiss.omp_set_num_threads(1)
    wordings = SearchIndex.load(catalog).wordings
    every = wordings.vectors(np.arange(len(wordings)))
    print(f"{'wordings':>9}  kind  build s  search ms  recall")
    for size in sorted({min(size, len(every)) for size in SIZES}):
        for line in measured(every, size):
            print(line)


main = main_of(command, "nearest")


def measured(every: Vectors, size: int) -> list[str]:
    """A line for each kind of index over `size` of the vectors."""
    chance = np.random.default_rng(SEED)
    vectors = every[chance.permutation(len(every))[:size]]
    noise = chance.normal(0, MOVED, (min(QUERIES, size), every.shape[1]))
    queries = np.asarray(vectors[: len(noise)] + noise, dtype=np.float32)
    lines, exact = [], None
    for kind in ("flat", "hnsw", "ivf"):
        begun = time.process_time()
        index = built(vectors, kind)
        done = time.process_time()
        numbers = nearest(index, queries, min(COUNT, size))[1]
        spent = 1_000 * (time.process_time() - done) / len(queries)
        exact = numbers if exact is None else exact
        recall = np.mean([np.isin(own, right).mean() for own, right in zip(numbers, exact, strict=True)])
        lines.append(f"{size:9,}  {kind:4}  {done - begun:7.1f}  {spent:9.2f}  {recall:.3f}")
    return lines
