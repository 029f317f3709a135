"""python -m evals gate --catalog DIR: has quality dropped? Compares with the results kept in `evals/results`.

Coding: our own everyday phrasings (`evals/data/everyday.tsv`) on the starter catalog, as they are, with a typo each,
and in other spellings. The gate fails where top-1, top-10 or MRR is worse on the same queries by more than chance
(paired: exact McNemar test, paired bootstrap, p < 0.05), where precision or coverage of a label or the calibration
error is worse (p < 0.01, whole categories drawn), or where more queries fail. Reading: it fails where, of our written
inputs, less of what they state is shown, less of what is shown is right, or labels are worth less than the 95 %
interval kept allows; where claims of the marked mentions of the authors kept for reporting are wrong more often than it
allows; or where of the inputs more that is there is read as not there, or more that is not there as there.
Extraction: it fails where more negatives of a class pass than before, or where more positives are removed
than the 95 % interval of their share before allows.
`make evals` runs it. A change that is wanted is accepted with `--accept`, which rewrites the kept results.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import click

from catalog_build.training.authors import CLAIMS
from clinical.command_line import PATH, paragraphs
from clinical.errors import SourceError
from clinical.reading import SearchIndex
from evals.coding.measure import result_of, run
from evals.coding.targets import SearchTarget
from evals.command import main_of
from evals.data.cards import read_dataset
from evals.letters.generator import letters
from evals.letters.grounding import labelled, labelled_rows
from evals.measures.paired import changes, label_changes, pairs_of
from evals.measures.results import MeasuredResult, Row, read_result
from evals.measures.texts import rows_of
from evals.reading import claims
from evals.reading.inputs import WRITTEN, frame_of, read_inputs
from evals.reading.judged import shown
from evals.report.compare import line_of

HERE = Path(__file__).parent
QUERIES, RESULTS = HERE / "data" / "everyday.tsv", HERE / "results"
PARTS: Final = ("none", "typo", "spelling", "reading", "letters")
"""The variants of evals.coding.measure that are kept, reading, and letters."""
WATCHED: Final = ("top_1", "top_10", "mrr")
SURE: Final = 0.01
"""For labels: a dozen are tested beside the three measures, and at 0.05 every other gate would fail by chance."""
NEVER_MORE = frozenset({"lies_kept", *claims.WRONG})
LOWER_IS_BETTER = frozenset(
    {"truths_removed", "claim_there_as_not", "claim_not_as_there", "silent", "absent_shown"}
) | {f"claim_read_as_{claim}" for claim in CLAIMS}
"""Measures of which none may grow at all, and those that may grow as far as the kept interval allows; all others may
fall as far as it allows."""
TRIES, LETTERS, SEED = 60, 60, 2026
REMEDY: Final = """quality dropped. Which queries flipped:
python -m evals coding --catalog DIR --queries {queries} --variant VARIANT --out NEW.json
python -m evals compare {folder}/NAME.json NEW.json
If the change is wanted, keep its results: make evals ACCEPT=1, and say in the commit why."""


@click.command(help=paragraphs(__doc__))
@click.option("--catalog", type=PATH, required=True, help="artifact of the starter catalog")
@click.option("--queries", type=PATH, default=QUERIES, help="another data set")
@click.option("--results", type=PATH, default=RESULTS, help="folder of the kept results")
@click.option("--only", type=click.Choice(PARTS), multiple=True, help="this part; may be repeated")
@click.option("--accept", is_flag=True, help="keep what is measured now, in place of what was kept")
def command(catalog: Path, queries: Path, results: Path, only: Sequence[str], accept: bool) -> int:
    """0: no drop; 1: a drop, each named; 2: it cannot be measured."""
    found = dict(measured(catalog, queries, only or PARTS))
    kept = {} if accept else {name: _kept(results / f"{name}.json") for name in found}
    drops = [drop for name in kept for drop in drops_of(name, kept[name], found[name])]
    if accept:
        for name, result in found.items():
            result.write(results / f"{name}.json", texts=True)
        print(f"kept: {', '.join(f'{results / name}.json' for name in found)}")
    elif drops:
        print("\n".join(["", *drops, REMEDY.format(folder=results, queries=queries)]), file=sys.stderr)
    return 1 if drops else 0


main = main_of(command, "gate")


def _kept(path: Path) -> MeasuredResult:
    if not path.is_file():
        raise SourceError(path.name, None, "is not there", "a kept result", "keep what is measured now: --accept")
    return read_result(path)


def measured(catalog: Path, queries: Path, parts: Sequence[str]) -> Iterator[tuple[str, MeasuredResult]]:
    """A result for each part: by name of the data set and the variant, `reading`, and `letters`."""
    variants = [part for part in parts if part not in ("reading", "letters")]
    if variants or "reading" in parts:
        index, data = SearchIndex.load(catalog), read_dataset(queries)
        for variant in variants:
            target = SearchTarget(index)
            outcomes = run(index, data.examples, variant, target)
            yield f"{data.about['name']}-{variant}", result_of(outcomes, index, data, variant=variant, target=target)
        if "reading" in parts:
            yield "reading", MeasuredResult.of("reading", "make evals", _reading(index), manifest=index.manifest.digest)
    if "letters" in parts:
        rows = labelled_rows(labelled(letters(LETTERS, SEED), TRIES, SEED))
        yield "letters", MeasuredResult.of("letters", "make evals", rows, letters=LETTERS, seed=SEED)


def _reading(index: SearchIndex) -> list[Row]:
    """Our written inputs, and claims of the authors kept for reporting."""
    inputs = read_inputs(WRITTEN)
    rows = [*rows_of(frame_of(inputs, lambda text: shown(index, text)))]
    rows += claims.written_rows("written", claims.of_written(inputs))
    return [*rows, *claims.measured_rows(claims.of_authors())]


def drops_of(name: str, before: MeasuredResult, after: MeasuredResult) -> list[str]:
    """Each fall of quality as a sentence; prints the comparison. Raises SourceError for other queries."""
    print(f"{name}: kept {before.about['made_at'][:10]}, now {after.about['made_at'][:10]}")
    return list((_codes if before.about["kind"] == "coding" else _figures)(name, before, after))


def _codes(name: str, before: MeasuredResult, after: MeasuredResult) -> Iterator[str]:
    pairs = pairs_of(before, after, (f"{name}.json", "now"))
    kept, now = (int(side["failed"].sum()) for side in pairs)
    if now > kept:
        yield f"{name}: {now} queries failed, {kept} before"
    watched = [change for change in changes(pairs) if change.name in WATCHED]
    labels = label_changes(pairs)
    for change in (*watched, *labels):
        print(f"  {line_of(change)}")
        if change.better < 0 and (change.p < SURE or (change.real and change in watched)):
            yield f"{name}: {change.name} {change.before:.3f} -> {change.after:.3f}, p {change.p:.4f}"


def _figures(name: str, before: MeasuredResult, after: MeasuredResult) -> Iterator[str]:
    """Rows outside the interval that was kept for them."""
    both = before.rows.merge(after.rows, on=["measure", "set"], suffixes=("", "_now"))
    print(f"  {len(both)} figures compared")
    for kept in both.to_dict("records"):
        now, measure = kept["value_now"], kept["measure"]
        if measure in NEVER_MORE:
            worse = now > kept["value"]
        else:
            worse = now > kept["high"] if measure in LOWER_IS_BETTER else now < kept["low"]
        if worse:
            said = f"{kept['value']:.3f} ({kept['low']:.3f}-{kept['high']:.3f}) before"
            yield f"{name}: {measure} of {kept['set']} {now:.3f}, {said}"
