"""python -m evals benchmark [--catalog DIR]: German ICD-10-GM coding measured on our own public texts, with baselines.

Tasks: everyday phrasings, and lists, notes and claims made of them (`evals/benchmark/data`, with its card). Without
--catalog the starter catalog is built in a temporary folder, so that a clone of the project is all it takes. --test
asks six texts: does everything run? A system of your own: answer each line of texts.jsonl by {"id": ..., "codes": [best
first]} and name the file with --answers; --check names every line of it that is malformed. --encoder adds a model of
sentence-transformers, its nearest wording alone.

top-1: the first code is right for a diagnosis that the text states. recall: of the stated diagnoses, those with a right
code among the first ten. precision: of as many codes as diagnoses are stated, those that are right (R-precision).
denied: texts of claims where one of these codes belongs to what is denied, over, or of relatives; low is good.
Intervals are 95 %: Wilson's, for shares of texts; the bootstrap over texts for the others.
"""

from __future__ import annotations

import datetime
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click

from catalog_build.files import write_json
from clinical.command_line import PATH, paragraphs
from clinical.progress import progress
from clinical.reading import SearchIndex
from evals.benchmark import leaderboard
from evals.benchmark.submission import faults_of, read_submission, report_of
from evals.benchmark.systems import DEPTH, Ranked, systems
from evals.benchmark.texts import CARD, HERE, TASKS, TEXTS, BenchmarkText, read, write
from evals.command import JSON, main_of
from evals.measures.intervals import Measure, mean, share

TRIED: Final = 6
"""Texts of a trial: two of lists and claims, one of the others."""
STARTER: Final = HERE.parents[1] / "catalog_build" / "starter"


@click.command(help=paragraphs(__doc__))
@click.option("--catalog", type=PATH, help="an artifact folder (without it: the starter catalog)")
@click.option("--answers", type=PATH, help="answers of a system of your own, JSON lines")
@click.option("--check", "checked", type=PATH, help="name every fault of such a file, and score nothing")
@click.option("--encoder", type=PATH, help="a sentence-transformers model as another baseline")
@click.option("--test", "trial", is_flag=True, help=f"ask {TRIED} texts: does everything run?")
@click.option("--publish", "published", is_flag=True, help="write leaderboard.csv and the table of docs/benchmark.md")
@click.option("--out", type=PATH, help="also write the result as JSON")
@click.option("--make", is_flag=True, help="write texts.jsonl and its card again, measure nothing")
@JSON
def command(
    catalog: Path | None,
    answers: Path | None,
    checked: Path | None,
    encoder: Path | None,
    trial: bool,
    published: bool,
    out: Path | None,
    make: bool,
    as_json: bool,
) -> int:
    """Measure and print."""
    if trial and published:
        raise click.UsageError("--test measures nothing that can be published")
    if make:
        write()
        print(f"{len(read())} texts in {TEXTS}")
        return 0
    texts = tried(read()) if trial else read()
    if checked is not None:
        faults = faults_of(checked, texts)
        print(report_of(faults))
        return int(any(one.fatal for one in faults))
    if answers is not None:
        card = json.loads(CARD.read_text("utf-8"))
        found = {answers.stem: figures(texts, read_submission(answers, texts))}
        result = {"texts": {key: card[key] for key in NAMED}, "systems": found}
    else:
        result = measured(catalog, texts, encoder)
    if out:
        write_json(out, result)
    rows = leaderboard.rows_of(result, f"{datetime.date.today():%Y-%m-%d}")
    if published:
        old = leaderboard.read() if leaderboard.FILE.is_file() else rows
        leaderboard.publish(leaderboard.joined(old, rows))
    print(json.dumps(result) if as_json else leaderboard.table(rows))
    return 0


main = main_of(command, "benchmark")


NAMED: Final = ("name", "version", "rows", "sha256")


def tried(texts: Sequence[BenchmarkText]) -> list[BenchmarkText]:
    """TRIED texts, of every task."""
    several = ("lists", "claims")
    return [one for task in TASKS for one in [own for own in texts if own.task == task][: 1 + (task in several)]]


def measured(catalog: Path | None, texts: Sequence[BenchmarkText], encoder: Path | None = None) -> dict[str, Any]:
    """Every system on every task, and on what."""
    if catalog is None:
        from catalog_build.build import build_artifact
        from catalog_build.options import BuildOptions

        with tempfile.TemporaryDirectory(prefix="befund-benchmark-") as folder:
            build_artifact(STARTER, Path(folder) / "starter", BuildOptions())
            return measured(Path(folder) / "starter", texts, encoder)
    index = SearchIndex.load(catalog)
    card = json.loads(TEXTS.with_suffix(".card.json").read_text("utf-8"))
    on = {"codes": index.manifest.codes, "wordings": index.manifest.wordings, "encoder": index.manifest.encoder}
    asked = [one.text for one in texts]
    made = progress(systems(index, encoder).items(), "benchmark", "systems")
    found = {name: figures(texts, list(system(asked))) for name, system in made}
    return {"texts": {key: card[key] for key in NAMED}, "catalog": on, "systems": found}


def figures(texts: Sequence[BenchmarkText], answers: Sequence[Ranked]) -> dict[str, dict[str, Measure | None]]:
    """Task -> measure -> [value, low, high]; None where a task has none."""
    return {
        task: _task([(one, own) for one, own in zip(texts, answers, strict=True) if one.task == task]) for task in TASKS
    }


def _task(pairs: Sequence[tuple[BenchmarkText, Ranked]]) -> dict[str, Measure | None]:
    claims = [(one, own[: len(one.right)]) for one, own in pairs if one.absent]
    found = [sum(bool(set(each) & set(own[:DEPTH])) for each in one.right) / len(one.right) for one, own in pairs]
    among = [sum(_right(code, one.right) for code in own[: len(one.right)]) / len(one.right) for one, own in pairs]
    denied = sum(any(_right(code, one.absent) for code in own) for one, own in claims)
    return {
        "top_1": share(sum(bool(own[:1]) and _right(own[0], one.right) for one, own in pairs), len(pairs)),
        "recall_10": mean(found),
        "precision": mean(among),
        "denied": share(denied, len(claims)),
    }


def _right(code: str, sets: Sequence[Sequence[str]]) -> bool:
    return any(code in each for each in sets)
