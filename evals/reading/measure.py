"""python -m evals reading --catalog DIR --inputs FILE: texts that state several things, as tier 1 answers them.

By class of text and for ALL of them: the share of the statements that is shown, of the shown codes that is right, and
of what is denied or of others that is shown all the same (`evals.measures.texts`); what is there and read as not there,
and the other way round; how many mentions without a code somebody stated, by reason. Each is a row of the table; with
`--out` a line for each text as well, so that `python -m evals compare` tests two results in pairs. Claims of marked
mentions are measured by `python -m evals claims`, generated texts by `python -m evals gate`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from clinical.coding import tier_one
from clinical.command_line import PATH, paragraphs
from clinical.contract import ResearchRequest
from clinical.reading import SearchIndex
from evals.command import CATALOG, JSON, main_of
from evals.measures.intervals import share
from evals.measures.results import MeasuredResult, Row, printed, row
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
    rows += reason_rows(reasons(index, read))
    words = f"python -m evals reading --inputs {inputs}"
    result = MeasuredResult.of("reading", words, rows, texts, manifest=index.manifest.digest)
    if out:
        result.write(out)
    print(json.dumps(result.rows.to_dict("records")) if as_json else printed(rows))


main = main_of(command, "reading")


def reasons(index: SearchIndex, rows: Iterable[Mapping[str, Any]]) -> dict[str, Counter[str]]:
    """Counts by the reason that the ledger of a text gives for a mention without a code: mentions, and `stated`, those
    that touch a statement of the written input."""
    counts: dict[str, Counter[str]] = {}
    for given in rows:
        text = given["text"]
        stated = [(at, at + len(said["text"])) for said in given["codes"] if (at := text.find(said["text"])) >= 0]
        event = tier_one(ResearchRequest(query=text, details=True), index.catalog, index.read(text))
        for one in event.mentions or ():
            if one.reason is not None:
                own = counts.setdefault(one.reason, Counter())
                own["mentions"] += 1
                own["stated"] += any(start < one.span.end and one.span.start < end for start, end in stated)
    return counts


def reason_rows(counts: Mapping[str, Mapping[str, int]]) -> Iterator[Row]:
    """The share that somebody stated, by reason, the most frequent first."""
    for name, own in sorted(counts.items(), key=lambda each: -each[1]["mentions"]):
        yield from row("stated_without_code", name, own["mentions"], share(own["stated"], own["mentions"]))
