"""python -m evals heldout SOURCE --fold K --out FILE.tsv: the synonyms of a fold as queries with their codes.

The fold of a text is `sha1(text) % 20`; the right codes are the primary code and those coded together with it.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Sequence
from pathlib import Path

from catalog_build.bfarm import Source, Synonym, read_source
from catalog_build.synonyms import fold
from clinical.errors import BefundError
from evals.datasets import Example


def held_out(source: Source, number: int) -> list[Example]:
    """The synonyms of fold `number` (0 to 19) in the order of the file, each with its primary and further codes."""
    return [Example(each.text, frozenset([each.code, *each.secondary])) for each in _of_fold(source, number)]


def _of_fold(source: Source, number: int) -> list[Synonym]:
    return [each for each in source.synonyms if fold(each.raw) == number]


def main(arguments: Sequence[str]) -> int:
    """Write the file and say how many queries it holds."""
    parser = argparse.ArgumentParser(prog="python -m evals heldout", description=__doc__)
    parser.add_argument("source", type=Path, help="folder or zip with BfArM's files")
    parser.add_argument("--fold", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(arguments)
    try:
        synonyms = _of_fold(read_source(options.source), options.fold)
    except BefundError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    rows = [(each.text, ",".join([each.code, *each.secondary])) for each in synonyms]
    with options.out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", quoting=csv.QUOTE_NONE, quotechar=None, lineterminator="\n")
        writer.writerows([("query", "codes"), *rows])
    print(f"{len(rows)} queries of fold {options.fold} in {options.out}")
    return 0
