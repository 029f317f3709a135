"""python -m evals reading --catalog DIR --inputs FILE: texts that state several things, as tier 1 answers them.

By class of text and for ALL of them: the share of the statements that is shown, of the shown codes that is right, and
of what is denied or of others that is shown all the same (`evals.measures.texts`); what is there and read as not there,
and the other way round. Each is a row of the table; with `--out` a line for each text as well, so that `python -m evals
compare` tests two results in pairs. Claims of marked mentions are measured by `python -m evals claims`.
"""

from __future__ import annotations

import json
from pathlib import Path

import click

from clinical.command_line import PATH, paragraphs
from clinical.reading import SearchIndex
from evals.command import CATALOG, JSON, main_of
from evals.measures.results import MeasuredResult, printed
from evals.measures.texts import rows_of
from evals.reading import claims
from evals.reading.inputs import frame_of, read_inputs
from evals.reading.judged import shown


@click.command(help=paragraphs(__doc__))
@CATALOG
@click.option("--inputs", type=PATH, required=True, help="one JSON object a line; or an author's .txt")
@click.option("--out", type=PATH, help="also write the rows as a result")
@JSON
def command(catalog: Path, inputs: Path, out: Path | None, as_json: bool) -> None:
    """Measure and print."""
    index, read = SearchIndex.load(catalog), read_inputs(inputs)
    texts = frame_of(read, lambda text: shown(index, text))
    rows = [*claims.written_rows(inputs.name, claims.of_written(read)), *rows_of(texts)]
    words = f"python -m evals reading --inputs {inputs}"
    result = MeasuredResult.of("reading", words, rows, texts, manifest=index.manifest.digest)
    if out:
        result.write(out)
    print(json.dumps(result.rows.to_dict("records")) if as_json else printed(rows))


main = main_of(command, "reading")
