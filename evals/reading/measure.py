"""python -m evals reading --catalog DIR --inputs FILE: texts that state several things, as tier 1 answers them.

With `--printed N` in place of a file: N texts of each form in which systems print diagnoses, with official titles,
codes and the letters of German outpatient coding. With `--forms` the file's inputs in each form of typing and copying
(`evals.forms`), a class each.

By class of text and for ALL of them: the share of the statements that is shown, of the shown codes that is right, and
of what is denied or of others that is shown all the same (`evals.measures.texts`); what is there and read as not there,
and the other way round. Each is a row of the table; with `--out` a line for each text as well, so that `python -m evals
compare` tests two results in pairs. Claims of marked mentions are measured by `python -m evals claims`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import click

from clinical.command_line import PATH, paragraphs
from clinical.reading import SearchIndex
from evals.command import CATALOG, JSON, main_of
from evals.forms import in_forms
from evals.measures.results import MeasuredResult
from evals.measures.results import printed as table
from evals.measures.texts import rows_of
from evals.reading import claims
from evals.reading.generated import printed_diagnoses
from evals.reading.inputs import frame_of, read_inputs
from evals.reading.judged import shown

SEED: Final = 2026


@click.command(help=paragraphs(__doc__))
@CATALOG
@click.option("--inputs", type=PATH, help="one JSON object a line; or an author's .txt")
@click.option("--printed", type=click.IntRange(1), help="so many texts of each form of printed diagnoses")
@click.option("--forms", is_flag=True, help="the inputs without commas, wrapped, in capitals and so on")
@click.option("--out", type=PATH, help="also write the rows as a result")
@JSON
def command(
    catalog: Path, inputs: Path | None, printed: int | None, forms: bool, out: Path | None, as_json: bool
) -> None:
    """Measure and print."""
    if (inputs is None) == (printed is None):
        raise click.UsageError("what is read: --inputs FILE, or --printed N")
    if forms and not inputs:
        raise click.UsageError("--forms rewrites the inputs of a file: give --inputs FILE")
    index = SearchIndex.load(catalog)
    read = read_inputs(inputs) if inputs else printed_diagnoses(index, printed or 0, SEED)
    texts = frame_of(in_forms(read) if forms else read, lambda text: shown(index, text))
    name = inputs.name if inputs else "printed"
    claimed = [] if forms else claims.written_rows(name, claims.of_written(read))
    rows = [*claimed, *rows_of(texts)]
    asked = f"--inputs {inputs}{' --forms' * forms}" if inputs else f"--printed {printed}"
    words = f"python -m evals reading {asked}"
    result = MeasuredResult.of("reading", words, rows, texts, manifest=index.manifest.digest)
    if out:
        result.write(out)
    print(json.dumps(result.rows.to_dict("records")) if as_json else table(rows))


main = main_of(command, "reading")
