"""The plots of a report, each as an SVG inside a data URI: a page needs no other file and no network."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from evals.reports import plots

Result = dict[str, Any]
SIZE = (5.2, 3.6)
NAMES = {"top_1": "top-1", "top_3": "top-3", "top_5": "top-5", "top_10": "top-10"}


def drawn(draw: Callable[[Axes], None], size: tuple[float, float] = SIZE) -> str:
    """The SVG of one plot as a data URI; the same plot gives the same bytes."""
    with mpl.rc_context(plots.STYLE | {"svg.hashsalt": "befund", "svg.fonttype": "path"}):
        figure = Figure(figsize=size)
        draw(figure.subplots())
        file = io.BytesIO()
        figure.savefig(file, format="svg", metadata={"Date": None})
    return "data:image/svg+xml;base64," + base64.b64encode(file.getvalue()).decode()


def reliability(result: Result) -> str:
    """Share right by probability, with intervals; the size of a point is the number of queries."""
    bins, about = result["calibration"]["reliability"], result["calibration"]

    def draw(axis: Axes) -> None:
        axis.plot([0, 1], [0, 1], color="0.6", linestyle="--", label="as often as said")
        places, values = [each["probability"] for each in bins], [each["right"] for each in bins]
        below = [value - low for value, low, _ in values]
        above = [high - value for value, _, high in values]
        axis.errorbar(places, [value for value, _, _ in values], yerr=[below, above], fmt="none", capsize=3, color="C0")
        largest = max(each["n"] for each in bins)
        sizes = [20 + 180 * each["n"] / largest for each in bins]
        axis.scatter(places, [value for value, _, _ in values], s=sizes, color="C0", zorder=3)
        for each, place in zip(bins, places, strict=True):
            axis.annotate(
                str(each["n"]), (place, 0), (0, 3), textcoords="offset points", ha="center", fontsize=7, color="0.4"
            )
        axis.set(xlabel="probability of the first code", ylabel="share right", xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
        error, low, high = about["ece"]
        axis.set_title(f"calibration error {error:.3f} ({low:.3f} to {high:.3f})", fontsize=10)
        axis.legend(loc="upper left")

    return drawn(draw)


def risk_coverage(result: Result) -> str:
    """How often the first code is wrong when only the surest share of queries is answered."""
    points, area = result["calibration"]["risk_coverage"], result["calibration"]["aurc"]

    def draw(axis: Axes) -> None:
        axis.step([0, *(x for x, _ in points)], [points[0][1], *(y for _, y in points)], where="pre")
        axis.set(xlabel="share of queries answered, surest first", ylabel="first code wrong", xlim=(0, 1.01))
        axis.set_ylim(0, max(0.05, 1.1 * max(y for _, y in points)))
        axis.set_title(f"area under the curve {area[0]:.3f} ({area[1]:.3f} to {area[2]:.3f})", fontsize=10)

    return drawn(draw)


def by_overlap(result: Result) -> str:
    """Top-1 and top-10 by how many words the query shares with a wording of its code."""
    buckets = {name: values for name, values in result["by_overlap"].items() if values["top_1"]}

    def draw(axis: Axes) -> None:
        for key in ("top_1", "top_10"):
            plots.curve(axis, range(len(buckets)), [values[key] for values in buckets.values()], NAMES[key])
        names = [f"{name.replace('-', ' to ')}\nn {values['n']}" for name, values in buckets.items()]
        axis.set_xticks(range(len(buckets)), names)
        axis.set(xlabel="word overlap with the best wording of the right code", ylabel="share found", ylim=(0, 1.03))
        axis.legend(loc="lower right")

    return drawn(draw)


def chapters(result: Result) -> str:
    """Top-1 by chapter, those with the most queries first."""
    groups = sorted(result["macro_chapter"]["groups"].items(), key=lambda item: -item[1]["n"])

    def draw(axis: Axes) -> None:
        names = [f"{name} (n {values['n']})" for name, values in groups]
        plots.shares(axis, names, [values["top_1"] for _, values in groups])
        axis.set(xlabel="top-1", xlim=(-0.02, 1.02))
        axis.tick_params(axis="y", labelsize=8)

    return drawn(draw, (5.2, max(2.2, 0.24 * len(groups) + 0.8)))


def history(results: Sequence[Result]) -> str:
    """Top-1 and top-10 of the same data set and variant over the results of a folder, oldest first."""

    def draw(axis: Axes) -> None:
        for key in ("top_1", "top_10"):
            plots.curve(axis, range(len(results)), [result[key] for result in results], NAMES[key])
        axis.set_xticks(
            range(len(results)), [result["made_at"][:16].replace("T", "\n") for result in results], fontsize=7
        )
        axis.set_ylabel("share found")
        axis.margins(y=0.15)
        axis.legend(loc="best")

    return drawn(draw, (max(5.2, 0.8 * len(results)), 3.2))
