"""python -m evals benchmark [--catalog DIR]: German ICD-10-GM coding measured on our own public texts, with baselines.

Tasks: everyday phrasings, and lists, notes and claims made of them (`evals/benchmark/data`, with its card). Without
--catalog the starter catalog is built in a temporary folder, so that a clone of the project is all it takes. A system
of your own: answer each line of texts.jsonl by {"id": ..., "codes": [best first]} and name the file with --answers.

top-1: the first code is right for a diagnosis that the text states. recall: of the stated diagnoses, those with a right
code among the first ten. precision: of as many codes as diagnoses are stated, those that are right (R-precision).
denied: texts of claims where one of these codes belongs to what is denied, over, or of relatives; low is good.
Intervals are 95 %: Wilson's, for shares of texts; the bootstrap over texts for the others.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click

from catalog_build.files import write_json
from clinical.command_line import PATH, paragraphs
from clinical.errors import SourceError
from clinical.icd import EXAMPLE
from clinical.reading import SearchIndex
from evals.benchmark.systems import DEPTH, Ranked, systems
from evals.benchmark.texts import HERE, TASKS, TEXTS, BenchmarkText, read, write
from evals.command import JSON, main_of
from evals.data.examples import well_formed
from evals.measures.intervals import Measure, mean, share

BASELINES: Final = HERE / "baselines.json"
"""The table that the project publishes: the starter catalog, all systems."""
MEASURES: Final = ("top_1", "recall_10", "precision", "denied")
STARTER: Final = HERE.parents[1] / "catalog_build" / "starter"


@click.command(help=paragraphs(__doc__))
@click.option("--catalog", type=PATH, help="an artifact folder (without it: the starter catalog)")
@click.option("--answers", type=PATH, help="answers of a system of your own, JSON lines")
@click.option("--out", type=PATH, help="also write the result as JSON")
@click.option("--make", is_flag=True, help="write texts.jsonl and its card again, measure nothing")
@JSON
def command(catalog: Path | None, answers: Path | None, out: Path | None, make: bool, as_json: bool) -> None:
    """Measure and print."""
    if make:
        write()
        print(f"{len(read())} texts in {TEXTS}")
        return
    texts = read()
    if answers is not None:
        result = {"systems": {answers.stem: figures(texts, answers_of(answers, texts))}}
    else:
        result = measured(catalog, texts)
    if out:
        write_json(out, result)
    print(json.dumps(result) if as_json else table(result))


main = main_of(command, "benchmark")


def measured(catalog: Path | None, texts: Sequence[BenchmarkText]) -> dict[str, Any]:
    """Every system on every task, and on what."""
    if catalog is None:
        from catalog_build.build import build_artifact
        from catalog_build.options import BuildOptions

        with tempfile.TemporaryDirectory(prefix="befund-benchmark-") as folder:
            build_artifact(STARTER, Path(folder) / "starter", BuildOptions())
            return measured(Path(folder) / "starter", texts)
    index = SearchIndex.load(catalog)
    card = json.loads(TEXTS.with_suffix(".card.json").read_text("utf-8"))
    on = {"codes": index.manifest.codes, "wordings": index.manifest.wordings, "encoder": index.manifest.encoder}
    asked = [one.text for one in texts]
    found = {name: figures(texts, list(system(asked))) for name, system in systems(index).items()}
    return {"texts": {key: card[key] for key in ("name", "version", "rows", "sha256")}, "catalog": on, "systems": found}


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


def answers_of(path: Path, texts: Sequence[BenchmarkText]) -> list[Ranked]:
    """The answers of another system in the order of the texts. Raises SourceError for a line that is none, and for
    texts without an answer."""
    found: dict[str, Ranked] = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        try:
            row = json.loads(line)
            name, codes = row["id"], [str(code) for code in row["codes"]]
        except (ValueError, KeyError, TypeError):
            expected = f'{{"id": "lists-001", "codes": ["{EXAMPLE}"]}}'
            raise SourceError(path.name, number, "is no answer", expected, "mend the line") from None
        found[name] = well_formed(codes, path.name, number)
    missing = [one.id for one in texts if one.id not in found]
    if missing:
        found_text = f"no answer to {len(missing)} texts, the first {missing[0]}"
        raise SourceError(
            path.name, None, found_text, "one for each text", 'add them; "codes": [] where there are none'
        )
    return [found[one.id] for one in texts]


def table(result: Mapping[str, Any]) -> str:
    """A line for each system and task, as docs/benchmark.md has it."""
    lines = ["| system | task | top-1 | recall at 10 | precision | denied shown |", "|---|---|---|---|---|---|"]
    for name, tasks in result["systems"].items():
        for task, values in tasks.items():
            cells = " | ".join(_cell(values[measure]) for measure in MEASURES)
            lines.append(f"| {name} | {task} | {cells} |")
    return "\n".join(lines)


def _cell(value: Sequence[float] | None) -> str:
    return f"{value[0]:.3f} ({value[1]:.3f}-{value[2]:.3f})" if value else ""
