"""python -m evals report DIR: one HTML page from the results of a folder, complete in itself.

Reads every result below DIR (`evals ... --out`). Of coding, for each data set, variant and target, the newest result is
shown in full: figures with 95 % intervals, reliability, risk against coverage, top-k by word overlap, chapters; where
there are several, how they developed. Of every other kind the rows of the newest. No query text gets onto the page.
"""

from __future__ import annotations

import base64
import io
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

import click
import pandas as pd

from clinical.command_line import PATH, paragraphs
from clinical.errors import SettingError, SourceError
from clinical.progress import progress
from evals.command import main_of
from evals.measures import calibration
from evals.measures.queries import LABELS, first_codes
from evals.measures.results import MeasuredResult, read_result

TEMPLATE: Final = "report.html"
COLUMNS: Final = {
    "top-1": "top_1", "top-3": "top_3", "top-10": "top_10", "3 characters": "top_1_category",
    "chapter": "top_1_chapter", "MRR": "mrr", "recall at 10": "recall_10", "F1": "f1", "steps away": "distance",
}  # fmt: skip
SUBSETS: Final = ("all", "not verbatim in the index", "nothing near in the index")
DEPTHS: Final = {"top-1": "top_1", "top-10": "top_10"}
ABOUT: Final = ("target", "tier", "encoder", "model", "prompts", "variant", "manifest", "seed", "made_at")


class Found(NamedTuple):
    """A result and the name of its file, from the folder on."""

    file: str
    result: MeasuredResult


@click.command(help=paragraphs(__doc__))
@click.argument("folder", type=PATH)
@click.option("--out", type=PATH, help="the page (DIR/report.html)")
def command(folder: Path, out: Path | None) -> None:
    """Write the page and say where it is."""
    from catalog_build.files import write_text

    target = out or folder / "report.html"
    results, others = read_results(folder)
    write_text(target, page(results, str(folder.name)))
    for other in others:
        print(f"left out: {other}", file=sys.stderr)
    print(f"{len(results)} results in {target}")


main = main_of(command, "report")


def read_results(folder: Path) -> tuple[list[Found], list[str]]:
    """(results, oldest first; why other JSON files are none). Raises SourceError where there is no result."""
    results, others = [], []
    for path in sorted(folder.rglob("*.json")):
        try:
            results.append(Found(path.relative_to(folder).as_posix(), read_result(path)))
        except SourceError as error:
            others.append(str(error))
    if not results:
        remedy = "make one with python -m evals coding ... --out FILE"
        raise SourceError(str(folder), None, "holds no result", "at least one", remedy)
    return sorted(results, key=lambda each: str(each.result.about["made_at"])), others


def page(results: Sequence[Found], title: str) -> str:
    """The HTML. Raises SettingError where matplotlib or Jinja are not installed."""
    try:
        import matplotlib  # noqa: F401
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ModuleNotFoundError as error:
        remedy = "install the extra: pip install 'befund[notebooks]'"
        raise SettingError(f"the package {error.name} is not installed", "what reports need", remedy) from None
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["short"] = short
    coding = groups([each for each in results if each.result.about["kind"] == "coding"])
    others = {each.result.about["kind"]: each for each in results if each.result.about["kind"] != "coding"}
    return environment.get_template(TEMPLATE).render(
        title=title,
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        columns=COLUMNS,
        subsets=SUBSETS,
        labels=LABELS,
        newest=[own[-1].result for own in coding.values()],
        sections=[section(name, own) for name, own in progress(coding.items(), "plots", "results")],
        others=list(others.values()),
    )


def groups(results: Sequence[Found]) -> dict[str, list[Found]]:
    """Results that measure the same thing, by what it is."""
    found: dict[str, list[Found]] = {}
    for each in results:
        about = each.result.about
        parts = [about["dataset"]["name"], about["variant"], f"tier {about['tier']}", about["target"]]
        found.setdefault(" · ".join(parts), []).append(each)
    return found


def section(name: str, own: Sequence[Found]) -> dict[str, Any]:
    """The newest result of a group as the page shows it: with its plots, and with what it was measured."""
    last = own[-1].result
    about: dict[str, Any] = {key: last.about[key] for key in ABOUT if key in last.about}
    about |= {f"data set {key}": value for key, value in last.about["dataset"].items()}
    about |= {f"code {key}": value for key, value in last.about["code"].items()}
    pictures = plots([each.result for each in own])
    return {"name": name, "found": own[-1], "pictures": pictures, "about": about, "count": len(own)}


def short(value: Any) -> str:
    """Hashes by their first twelve digits."""
    text = str(value)
    return text[:12] if len(text) >= 40 and text.isalnum() else text


# --- plots: each an SVG inside a data URI, so that a page needs no other file and no network -------------------------


def plots(own: Sequence[MeasuredResult]) -> dict[str, str]:
    """Caption to picture of the newest of some results of the same, and of all of them over time."""
    last, found = own[-1], dict[str, str]()
    probability, right = first_codes(last.queries) if last.queries is not None and "rank" in last.queries else ([], [])
    if probability:
        found["reliability: is the probability of the first code true?"] = _drawn(
            lambda axis: _reliability(axis, last, calibration.reliability(probability, right))
        )
        caption = "risk against coverage: what is wrong if only the surest are answered"
        found[caption] = _drawn(lambda axis: _risk_coverage(axis, last, calibration.risk_coverage(probability, right)))
    if last.figure("top_1"):
        found["found by word overlap with the index"] = _drawn(lambda axis: _by_overlap(axis, last.rows))
        by_chapter = last.rows[last.rows["set"].str.startswith("chapter ") & (last.rows["measure"] == "top_1")]
        high = max(2.2, 0.24 * len(by_chapter) + 0.8)
        found["top-1 by chapter"] = _drawn(lambda axis: _chapters(axis, by_chapter), (5.2, high))
    history = [each for each in own if each.figure("top_1")]
    if len(history) > 1:
        wide = max(5.2, 0.8 * len(history))
        found["the same over time"] = _drawn(lambda axis: _history(axis, history), (wide, 3.2))
    return found


def _drawn(draw: Callable[[Any], None], size: tuple[float, float] = (5.2, 3.6)) -> str:
    """The SVG of one plot as a data URI; the same plot gives the same bytes."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from evals.report.plots import STYLE

    with mpl.rc_context(STYLE | {"svg.hashsalt": "befund", "svg.fonttype": "path"}):
        figure = Figure(figsize=size)
        draw(figure.subplots())
        file = io.BytesIO()
        figure.savefig(file, format="svg", metadata={"Date": None})
    return "data:image/svg+xml;base64," + base64.b64encode(file.getvalue()).decode()


def _reliability(axis: Any, result: MeasuredResult, bins: Sequence[dict[str, Any]]) -> None:
    """Share right by probability, with intervals; the size of a point is the number of queries."""
    axis.plot([0, 1], [0, 1], color="0.6", linestyle="--", label="as often as said")
    places, values = [each["probability"] for each in bins], [each["right"] for each in bins]
    ends = [[value - low for value, low, _ in values], [high - value for value, _, high in values]]
    axis.errorbar(places, [value for value, _, _ in values], yerr=ends, fmt="none", capsize=3, color="C0")
    largest = max(each["n"] for each in bins)
    sizes = [20 + 180 * each["n"] / largest for each in bins]
    axis.scatter(places, [value for value, _, _ in values], s=sizes, color="C0", zorder=3)
    axis.set(xlabel="probability of the first code", ylabel="share right", xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
    error, low, high = result.figure("calibration_error") or (0, 0, 0)
    axis.set_title(f"calibration error {error:.3f} ({low:.3f} to {high:.3f})", fontsize=10)
    axis.legend(loc="upper left")


def _risk_coverage(axis: Any, result: MeasuredResult, curve: tuple[Any, Any]) -> None:
    """Share of wrong first codes when only the surest share of queries is answered."""
    coverage, risk = curve
    axis.step([0, *coverage], [risk[0], *risk], where="pre")
    axis.set(xlabel="share of queries answered, surest first", ylabel="first code wrong", xlim=(0, 1.01))
    axis.set_ylim(0, max(0.05, 1.1 * max(risk)))
    area, low, high = result.figure("area_under_risk_coverage") or (0, 0, 0)
    axis.set_title(f"area under the curve {area:.3f} ({low:.3f} to {high:.3f})", fontsize=10)


def _by_overlap(axis: Any, every: pd.DataFrame) -> None:
    """Top-1 and top-10 by how many words the query shares with a wording of its code."""
    from evals.report.plots import curve

    rows = every[every["set"].str.startswith("overlap ")]
    for label, measure in DEPTHS.items():
        own = rows[rows["measure"] == measure]
        curve(axis, range(len(own)), own[["value", "low", "high"]].to_numpy().tolist(), label, of=own["n"].tolist())
    names = [f"{name.removeprefix('overlap ')}\nn {n}" for name, n in zip(own["set"], own["n"], strict=True)]
    axis.set_xticks(range(len(own)), names)
    axis.set(xlabel="word overlap with the best wording of the right code", ylabel="share found", ylim=(0, 1.03))
    axis.legend(loc="lower right")


def _chapters(axis: Any, every: pd.DataFrame) -> None:
    """Top-1 by chapter, those with the most queries first."""
    from evals.report.plots import shares

    rows = every.sort_values("n", ascending=False, kind="stable")
    shares(axis, rows["set"].tolist(), rows[["value", "low", "high"]].to_numpy().tolist(), of=rows["n"].tolist())
    axis.set(xlabel="top-1", xlim=(-0.02, 1.02))
    axis.tick_params(axis="y", labelsize=8)


def _history(axis: Any, results: Sequence[MeasuredResult]) -> None:
    """Top-1 and top-10 of the same data set and variant over the results of a folder, oldest first."""
    from evals.report.plots import curve

    for label, measure in DEPTHS.items():
        sizes = [int(each.about["dataset"]["rows"]) for each in results]
        curve(axis, range(len(results)), [each.figure(measure) or (0, 0, 0) for each in results], label, of=sizes)
    days = [str(each.about["made_at"])[:16].replace("T", "\n") for each in results]
    axis.set_xticks(range(len(results)), days, fontsize=7)
    axis.set_ylabel("share found")
    axis.margins(y=0.15)
    axis.legend(loc="best")
