"""python -m evals report DIR: one HTML page from the results of a folder, complete in itself.

Reads every result below DIR (`evals coding --out`, `evals extraction --out`). For each data set, variant and target the
newest result is shown in full: figures with 95 % intervals, reliability, risk against coverage, top-k by word overlap,
chapters; where there are several, how they developed. No query text gets onto the page.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from clinical.command_line import PATH, paragraphs
from clinical.errors import SettingError, SourceError
from clinical.progress import progress
from evals.command import main_of
from evals.reports.files import write_text
from evals.reports.results import read_result

TEMPLATE = "report.html"
COLUMNS = (
    ("top-1", "top_1"), ("top-3", "top_3"), ("top-10", "top_10"), ("3 characters", "top_1_category"),
    ("chapter", "top_1_chapter"), ("MRR", "mrr"), ("recall at 10", "recall_10"), ("F1", "f1"),
    ("steps away", "distance"),
)  # fmt: skip
ABOUT = ("target", "tier", "encoder", "model", "prompts", "variant", "manifest", "seed", "made_at")

Result = dict[str, Any]


@click.command(help=paragraphs(__doc__))
@click.argument("folder", type=PATH)
@click.option("--out", type=PATH, help="the page (DIR/report.html)")
def command(folder: Path, out: Path | None) -> None:
    """Write the page and say where it is."""
    target = out or folder / "report.html"
    results, others = read_results(folder)
    write_text(target, page(results, str(folder.name)))
    for other in others:
        print(f"left out: {other}", file=sys.stderr)
    print(f"{len(results)} results in {target}")


main = main_of(command, "report")


def read_results(folder: Path) -> tuple[list[Result], list[str]]:
    """(results, oldest first; why other JSON files are none). Raises SourceError where there is no result."""
    results, others = [], []
    for path in sorted(folder.rglob("*.json")):
        try:
            result = read_result(path)
        except SourceError as error:
            others.append(str(error))
            continue
        if result["kind"] in ("coding", "extraction"):
            results.append(result | {"file": path.relative_to(folder).as_posix()})
    if not results:
        remedy = "make one with python -m evals coding ... --out FILE"
        raise SourceError(str(folder), None, "holds no result", "at least one", remedy)
    return sorted(results, key=lambda result: str(result["made_at"])), others


def page(results: Sequence[Result], title: str) -> str:
    """The HTML. Raises SettingError where matplotlib or Jinja are not installed."""
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined

        from evals.reports import report_plots
    except ModuleNotFoundError as error:
        remedy = "install the extra: pip install 'befund[notebooks]'"
        raise SettingError(f"the package {error.name} is not installed", "what reports need", remedy) from None
    place = FileSystemLoader(Path(__file__).parent)
    environment = Environment(
        loader=place, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["short"] = short
    coding = groups([result for result in results if result["kind"] == "coding"])
    bar = progress(coding.items(), "plots", "results")
    return environment.get_template(TEMPLATE).render(
        title=title,
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        columns=COLUMNS,
        newest=[own[-1] for own in coding.values()],
        sections=[section(name, own, report_plots) for name, own in bar],
        extraction=[result for result in results if result["kind"] == "extraction"][-1:],
    )


def groups(results: Sequence[Result]) -> dict[str, list[Result]]:
    """Results that measure the same thing, by what it is."""
    found: dict[str, list[Result]] = {}
    for result in results:
        parts = [result["dataset"]["name"], result["variant"], f"tier {result['tier']}", result["target"]]
        found.setdefault(" · ".join(parts), []).append(result)
    return found


def section(name: str, own: Sequence[Result], plots: Any) -> dict[str, Any]:
    """What the page shows of one group: its newest result, its plots, and what it was measured with."""
    last = own[-1]
    wanted: list[tuple[str, Callable[[Result], str], bool]] = [
        ("reliability: is the probability of the first code true?", plots.reliability, "calibration" in last),
        (
            "risk against coverage: what is wrong if only the surest are answered",
            plots.risk_coverage,
            "calibration" in last,
        ),
        ("found by word overlap with the index", plots.by_overlap, last["answered"] > 0),
        ("top-1 by chapter", plots.chapters, bool(last["macro_chapter"]["groups"])),
    ]
    pictures = [(caption, draw(last)) for caption, draw, there in wanted if there]
    history = [result for result in own if result["answered"]]
    if len(history) > 1:
        pictures.append(("the same over time", plots.history(history)))
    about = {key: last[key] for key in ABOUT if key in last}
    about |= {f"data set {key}": value for key, value in last["dataset"].items()}
    about |= {f"code {key}": value for key, value in last["code"].items()}
    return {"name": name, "result": last, "pictures": pictures, "about": about, "count": len(own)}


def short(value: Any) -> str:
    """Hashes by their first twelve digits."""
    text = str(value)
    return text[:12] if len(text) >= 40 and text.isalnum() else text
