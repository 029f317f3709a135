"""python -m evals heldout SOURCE --fold K --out FILE.tsv: the synonyms of a fold as queries with their codes.

The fold of a text is `sha1(text) % 20`; the right codes are the primary code and those coded together with it. Near-
duplicates of a text may lie in other folds; `--grouped` leaves out every query to which a text that stays indexed is
near (`evals.coding.outcomes.NEAR`): the same words in another order, or four in five of them.
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
from catalog_build.synonyms import all_texts, fold, fold_of
from catalog_build.training.suggesting import suggester_of
from clinical.command_line import PATH, paragraphs
from clinical.icd import Catalog
from clinical.progress import progress
from clinical.reading import SearchIndex
from clinical.search import Encoder
from clinical.text import folded_words
from evals.coding.outcomes import NearTexts
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
@click.option("--grouped", is_flag=True, help="only queries to which no indexed text is near")
def command(source: Path, number: int, out: Path, grouped: bool) -> None:
    """Write the file and say how many queries it holds."""
    files = read_source(source)
    chosen = _of_fold(files, number)
    if grouped:
        chosen = _apart(chosen, files, number)
    rows = [(each.text, ",".join([each.code, *each.secondary])) for each in chosen]
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter="\t", quoting=csv.QUOTE_NONE, quotechar=None, lineterminator="\n")
    writer.writerows([("query", "codes"), *rows])
    write_text(out, text.getvalue())
    near = "" if grouped else "; near-duplicates may lie in other folds (--grouped leaves them out)"
    write_card(
        out, f"fold-{number}{'-grouped' if grouped else ''}", f"icd10gm{files.year}",
        source="synonyms of the source's alphabetical index or Alpha-ID", licence="that of the source",
        about=f"the synonyms of fold {number} with the codes they are coded with",
        faults=(f"wordings of an index, not what people type{near}",),
    )  # fmt: skip
    print(f"{len(rows)} queries of fold {number} in {out}")


main = main_of(command, "heldout")


def _apart(chosen: Sequence[Synonym], source: Source, number: int) -> list[Synonym]:
    """The synonyms to which no text outside their fold is near."""
    indexed = [each for each in all_texts(source) if fold_of(each) != number]
    near = NearTexts(_words(each) for each in progress(indexed, "near texts", "texts"))
    return [each for each in chosen if not near.has_near(_words(each))]


def _words(synonym: Synonym) -> frozenset[str]:
    return frozenset(folded_words(synonym.text))
