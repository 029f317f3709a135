"""python -m evals reading --catalog DIR: mentions, claims and codes of texts, as tier 1 reads them.

Mentions and claims on generated texts, by kind and claim, and the worth of labels there; wordings that alone are high,
in lists and sentence frames; short texts with denials and relatives (`offered.tsv`); claims of marked mentions of
the authors kept for reporting, with both errors and what is read instead; of our own written inputs what is there and
read as not there, and the other way round; with `--inputs FILE`, the same of these, the codes that are shown
of them, by class, and how many mentions without a code somebody stated, by reason. Each is a row of the table; with
`--out`, a line for each text as well, so that `python -m evals compare` tests two results in pairs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import pandas as pd

from clinical.command_line import PATH, paragraphs
from clinical.contract import TIER1_MAX_CODES
from clinical.reading import SearchIndex
from evals.command import CATALOG, JSON, main_of
from evals.measures.intervals import share
from evals.measures.results import MeasuredResult, Row, printed, row
from evals.measures.texts import rows_of
from evals.reading import claimed, gated, reasons
from evals.reading.inputs import frame_of, given, read_inputs
from evals.reading.judged import shown
from evals.reading.offered import offered
from evals.reading.probes import in_lists, in_sentences, sure_wordings

SEED, TEXTS, WORDINGS = 2026, 400, 160
ALONE = {"first_code_right": "first", "among_ten": "ten", "shown": "found"}


@click.command(help=paragraphs(__doc__))
@CATALOG
@click.option("--inputs", type=PATH, help="written inputs with claims, one JSON object a line; or an author's .txt")
@click.option("--texts", type=click.IntRange(0), default=TEXTS, help="generated texts")
@click.option("--wordings", type=click.IntRange(0), default=WORDINGS, help="wordings set into lists and frames")
@click.option("--out", type=PATH, help="also write the rows as a result")
@JSON
def command(catalog: Path, inputs: Path | None, texts: int, wordings: int, out: Path | None, as_json: bool) -> None:
    """Measure and print."""
    index = SearchIndex.load(catalog)
    read = read_inputs(inputs) if inputs else []
    rows = [*_generated(index, texts), *_alone(index, wordings), *_offered(index)]
    told = asked(index, read) if inputs else None
    if inputs:
        rows += [*claimed.rows_of(inputs.name, claimed.claimed(read)), *of_inputs(index, read, told)]
    words = "python -m evals reading" + (f" --inputs {inputs}" if inputs else "")
    result = MeasuredResult.of("reading", words, rows, told, manifest=index.manifest.digest, seed=SEED)
    if out:
        result.write(out)
    print(json.dumps(result.rows.to_dict("records")) if as_json else printed(rows))


main = main_of(command, "reading")


def _generated(index: SearchIndex, texts: int) -> list[Row]:
    return gated.rows_of(gated.measured(index, texts)) if texts else []


def _alone(index: SearchIndex, count: int) -> Iterator[Row]:
    """Wordings that alone are high: still shown, in lists by separator and length, and in sentences."""
    wordings = sure_wordings(index, count, SEED) if count else []
    if wordings:
        for where, shares in (("list", in_lists(index, wordings, SEED)), ("frame", in_sentences(index, wordings))):
            for name, value in shares.items():
                yield from row(f"shown_in_{where}", name, len(wordings), value)


def _offered(index: SearchIndex) -> Iterator[Row]:
    found = offered(index)
    yield from row("stated_kept", "offered.tsv", found.stated, share(found.kept, found.stated))
    yield from row("absent_offered", "offered.tsv", found.absent, share(len(found.leaked), found.absent))


def of_inputs(
    index: SearchIndex, inputs: Sequence[Mapping[str, Any]], texts: pd.DataFrame | None = None
) -> Iterator[Row]:
    """Written inputs by class and for ALL, then each statement by itself, as if somebody had marked the mentions.
    `texts`: their table, where it has been made (`frame_of`)."""
    yield from rows_of(asked(index, inputs) if texts is None else texts)
    alone = given(inputs, lambda text: [(hit.code, hit.confidence) for hit in index.search(text, TIER1_MAX_CODES)])
    for measure, part in ALONE.items():
        said = alone["statements"]
        yield from row(measure, "each statement by itself", said, share(alone[part], said))
    yield from reasons.rows_of(reasons.reasons(index, inputs))


def asked(index: SearchIndex, inputs: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """The table of the inputs as tier 1 shows them (`frame_of`)."""
    return frame_of(inputs, lambda text: shown(index, text))
