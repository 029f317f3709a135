"""python -m evals gate --catalog DIR: has quality dropped? Compares with the results kept in `evals/results`.

Coding: our own everyday phrasings (`evals/data/everyday.tsv`) on the starter catalog, as they are, with a typo each,
and in other spellings. The gate fails where top-1, top-10 or MRR is worse on the same queries by more than chance
(paired: exact McNemar test, paired bootstrap, p < 0.05), where precision or coverage of a label or the calibration
error is worse (p < 0.01, whole categories drawn), or where more queries fail. Reading: it fails where, of
generated texts, fewer mentions are found or shown, fewer claims are right, or labels are worth less than the 95 %
interval kept allows. Extraction: it fails where more lies of a class pass than before, or where more truths are removed
than the 95 % interval of their share before allows.
`make evals` runs it. A change that is wanted is accepted with `--accept`, which rewrites the kept results.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from clinical.command_line import PATH, paragraphs
from clinical.errors import SourceError
from clinical.progress import progress
from clinical.search import SearchIndex
from evals.coding.card import Dataset, read_dataset
from evals.coding.measure import result_of, run
from evals.coding.targets import SearchTarget
from evals.command import main_of
from evals.extraction.letters import Letter, letters
from evals.extraction.lies import LIES, lies, passes
from evals.extraction.truths import TRUTHS, removed_truths
from evals.reading import gated
from evals.reports.compare import line_of
from evals.reports.intervals import share
from evals.reports.paired import changes, label_changes, pairs_of
from evals.reports.results import provenance, read_result, write_result

HERE = Path(__file__).parent
QUERIES, RESULTS = HERE / "data" / "everyday.tsv", HERE / "results"
PARTS = ("none", "typo", "spelling", "reading", "extraction")
"""The variants of evals.coding.measure that are kept, reading, and extraction."""
WATCHED = ("top_1", "top_10", "mrr")
SURE = 0.01
"""For labels: a dozen are tested beside the three measures, and at 0.05 every other gate would fail by chance."""
TRIES, LETTERS, SEED = 60, 60, 2026
REMEDY = """quality dropped. Which queries flipped:
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
    found = measured(catalog, queries, only or PARTS)
    kept = {} if accept else {name: _kept(results / f"{name}.json") for name in found}
    drops = [drop for name in kept for drop in drops_of(name, kept[name], found[name])]
    if accept:
        for name, result in found.items():
            write_result(results / f"{name}.json", result)
        print(f"kept: {', '.join(f'{results / name}.json' for name in found)}")
    elif drops:
        print("\n".join(["", *drops, REMEDY.format(folder=results, queries=queries)]), file=sys.stderr)
    return 1 if drops else 0


main = main_of(command, "gate")


def _kept(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise SourceError(path.name, None, "is not there", "a kept result", "keep what is measured now: --accept")
    return read_result(path)


def measured(catalog: Path, queries: Path, parts: Sequence[str]) -> dict[str, dict[str, Any]]:
    """A result for each part: by name of the data set and the variant, `reading`, and `extraction`."""
    found = {}
    variants = [part for part in parts if part not in ("reading", "extraction")]
    if variants or "reading" in parts:
        index, data = SearchIndex.load(catalog), read_dataset(queries)
        for variant in variants:
            found[f"{data.about['name']}-{variant}"] = _coding(index, data, variant)
        if "reading" in parts:
            found["reading"] = gated.measured(index)
    return found | ({"extraction": _extraction()} if "extraction" in parts else {})


def _coding(index: SearchIndex, data: Dataset, variant: str) -> dict[str, Any]:
    target = SearchTarget(index)
    outcomes = run(index, data.examples, variant, target)
    return result_of(outcomes, index, data, variant=variant, target=target, keep_texts=True)


def _extraction() -> dict[str, Any]:
    made = letters(LETTERS, SEED)
    with progress(None, "lies and truths", "classes", total=len(LIES) + len(TRUTHS)) as bar:
        result: dict[str, Any] = {"lies": {}, "truths": {}, "seed": SEED, "letters": LETTERS}
        for kind in LIES:
            result["lies"][kind] = _lies(kind, made)
            bar.update()
        for kind in TRUTHS:
            total, removed = removed_truths(kind, made)
            result["truths"][kind] = {"n": total, "removed": len(removed)}
            bar.update()
    return result | provenance("extraction")


def _lies(kind: str, made: list[Letter]) -> dict[str, int]:
    tried = [passes(lie) for lie in lies(kind, made, TRIES, SEED)]
    return {"n": len(tried), "passed": sum(tried)}


def drops_of(name: str, before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """What is worse now, one sentence each; prints the comparison. Raises SourceError for other queries."""
    print(f"{name}: kept {before['made_at'][:10]}, now {after['made_at'][:10]}")
    if before["kind"] == "reading":
        return gated.drops_of(before, after)
    return _fields(name, before, after) if before["kind"] == "extraction" else _codes(name, before, after)


def _codes(name: str, before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    drops = []
    if after["failed"] > before["failed"]:
        drops.append(f"{name}: {after['failed']} queries failed, {before['failed']} before")
    for change in changes(pairs_of(before, after, (f"{name}.json", "now"))):
        if change.name in WATCHED:
            print(f"  {line_of(change)}")
            if change.real and change.better < 0:
                drops.append(f"{name}: {change.name} {change.before:.3f} -> {change.after:.3f}, p {change.p:.4f}")
    for change in label_changes(pairs_of(before, after, (f"{name}.json", "now"))):
        print(f"  {line_of(change)}")
        if change.p < SURE and change.better < 0:
            drops.append(f"{name}: {change.name} {change.before:.3f} -> {change.after:.3f}, p {change.p:.4f}")
    return drops


def _fields(name: str, before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    drops = []
    for kind, row in after["lies"].items():
        allowed = before["lies"].get(kind, {"passed": 0})["passed"]
        if row["passed"] > allowed:
            drops.append(f"{name}: {row['passed']} of {row['n']} lies of the class {kind} pass, {allowed} before")
    for kind, row in after["truths"].items():
        old = before["truths"].get(kind, {"n": row["n"], "removed": 0})
        interval = share(old["removed"], old["n"])
        if interval and row["removed"] / row["n"] > interval[2]:
            drops.append(f"{name}: {row['removed']} of {row['n']} truths removed ({kind}), {old['removed']} before")
    passed, removed = (
        sum(row[key] for row in after[part].values()) for part, key in (("lies", "passed"), ("truths", "removed"))
    )
    print(f"  lies that pass {passed}, truths removed {removed}")
    return drops
