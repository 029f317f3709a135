"""python -m evals notebooks --catalog DIR [--source DIR]: run the notebooks, keep executed copies, HTML and pictures.

Each notebook runs on its own: one that fails is named at the end, with exit code 1, and the others are there. What one
needs beside the catalog stands below its question; where that is not named it is left out, with a sentence. Two run at
once (`--at-once`), each on one core; what measures time runs alone, after the others. Sizes
(how many queries, texts, tries) are small unless given by `--size QUERIES=600` or `--full`, those of the documentation.
`--docs` writes the page that lists questions, answers and pictures from the executed copies, without running anything;
it does not replace a larger run by a smaller one unless `--smaller` allows it.
"""

from __future__ import annotations

import datetime
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final, NamedTuple

import click

from clinical.command_line import PATH, Command, Several, paragraphs
from clinical.errors import SettingError
from clinical.search import Manifest
from evals.command import main_of
from evals.lab.artifact import Lab
from evals.lab.pages import NOTEBOOKS, Sizes, save_html, save_pictures, sizes_of, write_page

ROOT: Final = NOTEBOOKS.parent
REPORTS: Final = ROOT / "var" / "reports"
SMALL: Final = Sizes()
ALONE: Final = ("09_speed",)
"""Measure time: nothing of ours runs beside them."""
AT_ONCE: Final = 2
"""Two cores have even small machines; two kernels with the full catalog take 2.5 GB."""
NEEDS: Final = "Needs `CATALOG`"
CELL_SECONDS: Final = 3_600
"""A cell that takes longer hangs: the slowest trains an encoder on the full catalog, some minutes."""


@click.command(cls=Command, help=paragraphs(__doc__))
@click.option("--catalog", type=PATH, help="the artifact folder")
@click.option("--source", type=PATH, help="folder or zip with the files that the artifact was made from")
@click.option("--holdout", type=PATH, help="artifact of the same files built with --train --holdout K")
@click.option("--earlier", cls=Several, type=PATH, metavar="PATH...", help="files of earlier years")
@click.option("--data", type=PATH, help="own queries with their codes: a file, or a folder with queries.tsv")
@click.option("--size", "sizes", cls=Several, metavar="NAME=N...", help="sizes, such as QUERIES=600 TRIES=40")
@click.option("--full", is_flag=True, help="the sizes of the documentation where none is given")
@click.option("--only", cls=Several, metavar="NN...", help="numbers of notebooks, such as 01 03")
@click.option("--at-once", type=click.IntRange(1), default=AT_ONCE, help=f"notebooks that run side by side ({AT_ONCE})")
@click.option("--out", type=PATH, default=REPORTS, help="folder for the results (var/reports)")
@click.option("--docs", type=PATH, metavar="DIR", help="write notebooks.md and pictures/ there, run nothing")
@click.option("--smaller", is_flag=True, help="with --docs: also where a larger run was written before")
def command(
    only: Sequence[str],
    out: Path,
    docs: Path | None,
    smaller: bool,
    sizes: Sequence[str],
    full: bool,
    at_once: int,
    **named: Any,
) -> int:
    """Run what is asked for; 0, 1 where a notebook failed, 2 for input that cannot be used."""
    if docs is not None:
        print(write_page(_chosen(only), out, docs, smaller))
        return 0
    if named["catalog"] is None:
        remedy = "name one: --catalog DIR (make notebooks CATALOG=DIR)"
        raise SettingError("no artifact is named", "an artifact folder", remedy)
    Manifest.load(named["catalog"])
    earlier = named.pop("earlier")
    parameters = _parameters(named, earlier)
    lab = Lab.open(**{name.lower(): path for name, path in parameters.items()})
    chosen = _chosen(only)
    ready = [path for path in chosen if not lacks(path, lab)]
    for path in chosen:
        if path not in ready:
            print(f"{path.stem} left out: it {lacks(path, lab)}", file=sys.stderr)
    failed = run(ready, out, parameters, sizes_of(sizes, full, NOTEBOOKS), about_of(lab), at_once)
    if failed:
        print(f"failed: {', '.join(failed)}; the executed copies in {out} show where", file=sys.stderr)
    return 1 if failed else 0


main = main_of(command, "notebooks")


def _parameters(named: Mapping[str, Path | None], earlier: Sequence[Path]) -> dict[str, str]:
    """Absolute paths: a kernel runs in the folder of its notebook."""
    given = {name.upper(): str(path.resolve()) for name, path in named.items() if path is not None}
    return given | {"EARLIER": os.pathsep.join(str(path.resolve()) for path in earlier)}


def _chosen(numbers: Sequence[str]) -> list[Path]:
    """The notebooks of these numbers, all without one. Raises SettingError for a number that there is none of."""
    there = sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))
    unknown = [number for number in numbers if not any(path.name.startswith(f"{number}_") for path in there)]
    if unknown:
        expected = ", ".join(path.name[:2] for path in there)
        raise SettingError(f"there is no notebook {', '.join(unknown)}", expected, "name other numbers")
    return [path for path in there if not numbers or path.name[:2] in numbers]


def needs_of(notebook: Path) -> str:
    """The line below a notebook's question that says what it needs; empty where there is none."""
    import nbformat

    tree: Any = nbformat.read(notebook, as_version=4)  # type: ignore[no-untyped-call]
    lines = tree.cells[0].source.splitlines() if tree.cells else []
    return next((str(line) for line in lines if line.startswith(NEEDS)), "")


def lacks(notebook: Path, lab: Lab) -> str:
    """Needs of a notebook that the lab does not meet, as it says them itself; empty where nothing is missing."""
    said = needs_of(notebook)
    named = {"`SOURCE`": lab.source is not None, "`DATA`": lab.data is not None}
    wanted = [there for name, there in named.items() if name in said]
    return "" if not wanted or any(wanted) else said[0].lower() + said[1:]


def about_of(lab: Lab) -> dict[str, Any]:
    """On what the notebooks run, without a place of this machine. Raises for an artifact or data that is not sound."""
    manifest, data = lab.manifest, lab.data
    holdout = Manifest.load(lab.holdout) if lab.holdout else None
    return {
        "catalog": "the starter catalog" if lab.starter else f"ICD-10-GM {manifest.year}",
        "codes": manifest.codes,
        "artifact": manifest.digest[:12],
        "source": lab.source_path is not None,
        "holdout": holdout.digest[:12] if holdout else None,
        "earlier": [source.year for source in lab.earlier],
        "data": data.about if data else None,
    }


class NotebookRun(NamedTuple):
    """One notebook to run, into the folder `out`, and on what."""

    notebook: Path
    out: Path
    parameters: Mapping[str, Any]
    about: Mapping[str, Any]


def run(
    notebooks: Sequence[Path],
    out: Path,
    parameters: Mapping[str, str],
    sizes: Sizes = SMALL,
    about: Mapping[str, Any] | None = None,
    at_once: int = 1,
) -> list[str]:
    """Run each with the parameters it declares, `at_once` side by side; the names of those that failed."""
    out.mkdir(parents=True, exist_ok=True)
    _quiet(at_once)
    jobs = [NotebookRun(path, out, sizes.for_notebook(path, parameters), about or {}) for path in notebooks]
    failed = []
    print(f"{len(jobs)} notebooks, {min(at_once, len(jobs))} at once, copies in {out}", flush=True)
    for number, (job, error, seconds) in enumerate(_done(jobs, at_once), start=1):
        said = f"FAILED: {error}" if error else "done"
        print(f"[{number}/{len(jobs)}] {job.notebook.stem} {said} ({seconds:.0f} s)", flush=True)
        if error:
            failed.append(job.notebook.stem)
    return sorted(failed)


def _done(jobs: Sequence[NotebookRun], at_once: int) -> Iterator[tuple[NotebookRun, str, float]]:
    """The run, what went wrong, seconds; each as it ends. In processes of their own: a kernel is stopped by Ctrl-C only
    where it was started from a main thread."""
    alone = [job for job in jobs if job.notebook.stem in ALONE]
    for some, most in (([job for job in jobs if job not in alone], at_once), (alone, 1)):
        pool = ProcessPoolExecutor(most, mp_context=get_context("spawn"))
        try:
            running = {pool.submit(_run_one, job): job for job in some}
            for future in as_completed(running):
                yield running[future], *future.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _quiet(at_once: int) -> None:
    """Kernels import this checkout, draw without a display, ask nobody for anything, and share the cores."""
    if at_once > 1:
        os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ |= {
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
        "HF_HUB_OFFLINE": "1",
        "GX_ANALYTICS_ENABLED": "false",
        "PYTHONWARNINGS": "ignore:IProgress not found",  # tqdm's bars need no widgets
        "TQDM_DISABLE": "1",  # nobody looks at a cell while it runs
    }


def _run_one(job: NotebookRun) -> tuple[str, float]:
    """Execute one and write its HTML; what went wrong, or nothing, and the seconds it took. The copy is there in either
    case, and says on what it ran."""
    import nbformat
    import papermill
    from nbclient.exceptions import DeadKernelError
    from papermill.exceptions import PapermillException

    start = time.perf_counter()
    executed = job.out / job.notebook.name
    error = ""
    try:
        papermill.execute_notebook(
            str(job.notebook),
            str(executed),
            dict(job.parameters),
            cwd=str(NOTEBOOKS),
            kernel_name="python3",
            progress_bar=False,
            execution_timeout=CELL_SECONDS,
            extra_arguments=["--log-level=CRITICAL"],  # it tells of connections and ends
        )
    except (PapermillException, DeadKernelError, TimeoutError) as problem:
        error = f"{getattr(problem, 'ename', type(problem).__name__)}: {getattr(problem, 'evalue', problem)}"
    tree: Any = nbformat.read(executed, as_version=4)  # type: ignore[no-untyped-call]
    tree.metadata["befund"] = {"on": dict(job.about), "date": f"{datetime.date.today():%Y-%m-%d}"}
    nbformat.write(tree, executed)  # type: ignore[no-untyped-call]
    save_html(tree, executed.with_suffix(".html"))
    if not error:
        save_pictures(tree, job.out / "pictures")
    return " ".join(error.split())[:300], time.perf_counter() - start
