"""python -m evals benchmark [--catalog DIR]: Befund and the baselines on the benchmark of this project, `befund-bench`.

The benchmark is the package in `evals/benchmark`: tasks, texts, checker, scores, baselines (docs/benchmark.md). This
command makes its data out of the authors' files into a temporary folder, and adds Befund and plain vectors. Without
--catalog the starter catalog is built: it has few of the codes of these texts. --test asks six texts of each task: does
everything run? --make writes card.json again, and with --out FOLDER the data. --publish writes leaderboard.csv and the
tables of docs/benchmark.md.
"""

from __future__ import annotations

import datetime
import json
import tempfile
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

import click

from catalog_build.files import write_json, write_text
from clinical.command_line import PATH, paragraphs
from clinical.errors import SettingError
from clinical.progress import progress
from clinical.reading import SearchIndex
from evals.benchmark import making, systems
from evals.benchmark.befund_bench import baselines, leaderboard
from evals.benchmark.befund_bench.__main__ import Found, measured
from evals.benchmark.befund_bench.data import CARD, TRIED, TaskRow, checked, texts, tried
from evals.benchmark.befund_bench.tasks import SPLITS, TASKS
from evals.command import JSON, main_of

PAGE: Final = making.ROOT / "docs" / "benchmark.md"
BEGIN, END = "<!-- leaderboard -->", "<!-- /leaderboard -->"
STARTER: Final = making.ROOT / "catalog_build" / "starter"
TRAIN, CATALOG, NONE = "train", "catalog", "none"
SEARCHED: Final = (TRAIN, CATALOG, NONE)
"""Data that the baselines search."""


@click.command(help=paragraphs(__doc__))
@click.option("--catalog", type=PATH, help="an artifact folder (without it: the starter catalog)")
@click.option("--task", "tasks", type=click.Choice(list(TASKS)), multiple=True, help="this task alone; several times")
@click.option("--split", type=click.Choice(SPLITS), default="test", help="of the texts (test)")
@click.option("--encoder", type=PATH, help="a sentence-transformers model as another baseline")
@click.option(
    "--baselines", "searched", type=click.Choice(SEARCHED), default=TRAIN,
    help="over the wordings of the benchmark's own split train (as it is), of the catalog, or none at all",
)  # fmt: skip
@click.option("--test", "trial", is_flag=True, help=f"ask {TRIED} texts of each task: does everything run?")
@click.option("--publish", "published", is_flag=True, help="write leaderboard.csv and the tables of docs/benchmark.md")
@click.option("--make", is_flag=True, help="write the card again; with --out the data into that folder")
@click.option("--out", type=PATH, help="also write the rows as JSON")
@JSON
def command(
    catalog: Path | None,
    tasks: Sequence[str],
    split: str,
    trial: bool,
    make: bool,
    out: Path | None,
    published: bool,
    as_json: bool,
    **how: Any,
) -> int:
    """Measure and print."""
    if trial and published:
        raise click.UsageError("--test measures nothing that can be published")
    with tempfile.TemporaryDirectory(prefix="befund-bench-") as temporary:
        folder = out if make and out else Path(temporary)
        files = making.write(folder)
        if make:
            write_json(CARD, making.made_card(files))
            print(f"{CARD.name} is that of {len(files)} files")
            return 0
        if other := checked(folder):
            raise SettingError(f"{', '.join(islice(other, 3))} are not those of the card", "the card's", "--make")
        index = SearchIndex.load(catalog or _starter(Path(temporary)))
        asked = {task: texts(task, split, folder) for task in tasks or TASKS}
        found = everything(folder, index, {task: tried(rows) if trial else rows for task, rows in asked.items()}, **how)
    rows = leaderboard.rows_of(found, split, f"{datetime.date.today():%Y-%m-%d}")
    if out:
        write_json(out, rows)
    if published:
        publish(leaderboard.joined(leaderboard.read(), rows))
    print(json.dumps(rows) if as_json else leaderboard.tables(rows, split))
    return 0


main = main_of(command, "benchmark")


def _starter(folder: Path) -> Path:
    """The starter catalog, built there."""
    from catalog_build.build import BuildOptions, build_artifact

    build_artifact(STARTER, folder / "starter", BuildOptions())
    return folder / "starter"


def everything(
    folder: Path, index: SearchIndex, asked: Mapping[str, Sequence[TaskRow]], encoder: Path | None, searched: str
) -> Found:
    """Every system on these rows of each task; `searched`: the wordings that the baselines have."""
    name, trained = f"catalog, {len(index.catalog)} codes", searched != CATALOG
    coding = baselines.of_codes(baselines.train_wordings(folder) if trained else systems.wordings_of(index), encoder)
    found: Found = {}
    for task, rows in progress(asked.items(), "benchmark", "tasks"):
        if searched != NONE:
            own = baselines.systems_of(task, coding, folder)
            found |= measured(task, rows, own, TRAIN if trained or task not in baselines.RANKED else name)
        found |= measured(task, rows, systems.systems_of(task, index), name)
    return found


def publish(rows: Sequence[leaderboard.TableRow], path: Path = leaderboard.FILE, page: Path = PAGE) -> None:
    """Write the rows and the page's tables."""
    leaderboard.write(rows, path)
    text = page.read_text("utf-8")
    before, behind = text.split(BEGIN)[0], text.split(END)[1]
    write_text(page, f"{before}{BEGIN}\n\n{leaderboard.tables(rows)}\n\n{END}{behind}")
