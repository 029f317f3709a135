"""befund-bench COMMAND: a benchmark of German clinical text.

card                       what the data are, their tasks, sizes and faults
texts TASK SPLIT           the texts of a task, JSON lines; those of test have no answers
check FILE                 name every fault of a submission, by line
score FILE                 score a submission
run [--task TASK ...]      measure the baselines (--test: six texts of each task)
table                      the published table
agreement FIRST SECOND     agreement of two people who marked the same texts
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from . import leaderboard
from .baselines import Baseline, of_codes, read_wordings, systems_of, train_wordings
from .coders import agreement
from .data import DATA, TRIED, BenchmarkError, TaskRow, card, texts, tried
from .marked import marked_texts
from .model import LanguageModelBaseline
from .scoring import Measured, score
from .submission import Source, faults_of, read_submission, report_of
from .tasks import SPLITS, TASKS

Found = dict[tuple[str, str, str], Mapping[str, Measured]]
"""(system, its wordings, task) -> measures."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 1 where a submission has faults, 2 where something that was given is wrong."""
    given = _parser().parse_args(arguments)
    try:
        return int(_COMMANDS[given.command](given) or 0)
    except BenchmarkError as error:
        print(f"befund-bench: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "befund-bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA, help=argparse.SUPPRESS)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("card")
    some = commands.add_parser("texts")
    some.add_argument("task", choices=TASKS)
    some.add_argument("split", choices=SPLITS)
    for name in ("check", "score"):
        one = commands.add_parser(name)
        one.add_argument("file", type=Path)
    one.add_argument("--name", help="name of the system (the file's)")
    one.add_argument("--csv", type=Path, help="add the rows to this leaderboard")
    running = commands.add_parser("run")
    running.add_argument("--task", choices=TASKS, action="append", help="this task alone; may be given several times")
    running.add_argument("--split", choices=SPLITS, default="dev")
    running.add_argument("--test", action="store_true", help=f"{TRIED} texts of each task: does everything run?")
    running.add_argument("--wordings", type=Path, help="codes and words of a catalog, a tab between them")
    running.add_argument("--encoder", type=Path, help="a sentence-transformers model as another baseline")
    running.add_argument("--base-url", help="an OpenAI-compatible server, such as http://localhost:8000/v1")
    running.add_argument("--model", help="the model of that server")
    running.add_argument("--key-env", default="OPENAI_API_KEY", help="the variable that holds its key")
    running.add_argument("--only-model", action="store_true", help="no other baseline")
    running.add_argument("--csv", type=Path, help="add the rows to this leaderboard")
    commands.add_parser("table")
    both = commands.add_parser("agreement")
    both.add_argument("first", type=Path)
    both.add_argument("second", type=Path)
    return parser


def _card(given: argparse.Namespace) -> None:
    print(json.dumps(card(), ensure_ascii=False, indent=1))


def _texts(given: argparse.Namespace) -> None:
    for row in texts(given.task, given.split, given.data):
        shown = row if given.split != "test" else {name: value for name, value in row.items() if name != "answer"}
        print(json.dumps(shown, ensure_ascii=False))


def _check(given: argparse.Namespace) -> int:
    faults = faults_of(given.file, lambda task, split: texts(task, split, given.data))
    print(report_of(faults))
    return int(any(one.fatal for one in faults))


def _score(given: argparse.Namespace) -> None:
    def source(task: str, split: str) -> list[TaskRow]:
        return texts(task, split, given.data)

    for split, found in scored(given.file, source, given.name or given.file.stem).items():
        report(found, split, given.csv)


def scored(path: Path, source: Source, name: str) -> dict[str, Found]:
    """The scores of a submission by split. Raises BenchmarkError where it has a fault."""
    by_split: dict[str, Found] = {}
    for (task, split), own in read_submission(path, source).items():
        by_split.setdefault(split, {})[name, "its own", task] = score(task, source(task, split), own)
    return by_split


def _run(given: argparse.Namespace) -> None:
    if (given.base_url is None) != (given.model is None):
        raise BenchmarkError("--base-url and --model go together")
    wordings = read_wordings(given.wordings) if given.wordings else train_wordings(given.data)
    named = given.wordings.stem if given.wordings else "train"
    coding = of_codes(wordings, given.encoder)
    found: Found = {}
    for task in given.task or TASKS:
        rows = texts(task, given.split, given.data)
        systems = {} if given.only_model else systems_of(task, coding, given.data)
        found |= measured(task, tried(rows) if given.test else rows, systems, named)
        if given.model:
            model = LanguageModelBaseline(given.base_url, given.model, os.environ.get(given.key_env, ""))
            found |= measured(task, tried(rows) if given.test else rows, {given.model: model}, "none")
            if model.failed:
                print(f"{task}: {model.failed} answers of {given.model} could not be used", file=sys.stderr)
    report(found, given.split, None if given.test else given.csv)


def measured(task: str, rows: Sequence[TaskRow], systems: Mapping[str, Baseline], wordings: str = "") -> Found:
    """Every system on the rows of a task."""
    return {(name, wordings, task): score(task, rows, list(system(rows))) for name, system in systems.items()}


def report(found: Found, split: str, csv: Path | None = None) -> None:
    """Print a line for each measure; add the rows to a leaderboard where one is named."""
    for (system, wordings, task), measures in found.items():
        for name, (value, low, high) in measures.items():
            print(f"{task:11} {system:26} {wordings:10} {name:13} {value:.3f} ({low:.3f}-{high:.3f})")
    if csv is not None:
        rows = leaderboard.rows_of(found, split, f"{datetime.date.today():%Y-%m-%d}")
        leaderboard.write(leaderboard.joined(leaderboard.read(csv), rows), csv)


def _table(given: argparse.Namespace) -> None:
    print(leaderboard.tables(leaderboard.read()))


def _agreement(given: argparse.Namespace) -> None:
    first, second = marked_texts(given.first), marked_texts(given.second)
    if len(first) != len(second):
        raise BenchmarkError(f"{given.first.name} has {len(first)} texts, {given.second.name} {len(second)}")
    for name, (value, low, high) in agreement(first, second, [str(at) for at in range(len(first))]).items():
        print(f"{name:15} {value:.3f} ({low:.3f}-{high:.3f})")


_COMMANDS = {
    "card": _card, "texts": _texts, "check": _check, "score": _score, "run": _run, "table": _table,
    "agreement": _agreement,
}  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(main())
