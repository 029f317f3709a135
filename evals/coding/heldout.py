"""python -m evals heldout SOURCE --fold K --out FILE.tsv: the synonyms of a fold as queries with their codes.

The fold of a text is `sha1(text) % 20`; the right codes are the primary code and those coded together with it. Near-
duplicates of a text may lie in other folds: `evals coding` has the figures of queries to which no indexed wording is
near as a set of their own.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from catalog_build.build import index_wordings
from catalog_build.files import write_text
from catalog_build.official import Source, Synonym, read_source
from catalog_build.synonyms import fold
from catalog_build.training.suggesting import suggester_of
from clinical.command_line import PATH, paragraphs
from clinical.icd import Catalog
from clinical.reading import SearchIndex
from clinical.search import Encoder
from evals.command import main_of
from evals.data.cards import write_card
from evals.data.examples import Example


def held_out(source: Source, number: int) -> list[Example]:
    """The synonyms of fold `number` (0 to 19) in the order of the file, each with its primary and further codes."""
    return [Example(each.text, frozenset([each.code, *each.secondary])) for each in _of_fold(source, number)]


def reindexed(
    index: SearchIndex, source: Source, texts: Sequence[Synonym], catalog: Catalog, encoder: Encoder
) -> SearchIndex:
    """An index of these wordings with the trained weights of another: without a fold, by another encoder, of a year."""
    wordings = index_wordings(source, texts, encoder)
    manifest = replace(index.manifest, year=source.year, codes=len(catalog), wordings=len(wordings))
    made = (catalog, wordings, encoder, index.ranker, manifest, index.expansion)
    return SearchIndex(*made, confidence=index.confidence, suggester=suggester_of(catalog, wordings, encoder))


def _of_fold(source: Source, number: int) -> list[Synonym]:
    return [each for each in source.synonyms if fold(each.raw) == number]


@click.command(help=paragraphs(__doc__))
@click.argument("source", type=PATH)
@click.option("--fold", "number", type=int, default=0)
@click.option("--out", type=PATH, required=True)
def command(source: Path, number: int, out: Path) -> None:
    """Write the file and say how many queries it holds."""
    files = read_source(source)
    chosen = _of_fold(files, number)
    rows = [(each.text, ",".join([each.code, *each.secondary])) for each in chosen]
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter="\t", quoting=csv.QUOTE_NONE, quotechar=None, lineterminator="\n")
    writer.writerows([("query", "codes"), *rows])
    write_text(out, text.getvalue())
    write_card(
        out, f"fold-{number}", f"icd10gm{files.year}",
        source="synonyms of the source's alphabetical index or Alpha-ID", licence="that of the source",
        about=f"the synonyms of fold {number} with the codes they are coded with",
        faults=("wordings of an index, not what people type; near-duplicates may lie in other folds",),
    )  # fmt: skip
    print(f"{len(rows)} queries of fold {number} in {out}")


main = main_of(command, "heldout")
