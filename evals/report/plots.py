"""Plots of notebooks and reports: one style, and shares with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

from evals.measures.intervals import Measure

STYLE: Final[Any] = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.constrained_layout.use": True,
    "figure.dpi": 100,
    "figure.figsize": (8.0, 4.0),
    "font.size": 10.0,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "savefig.dpi": 100,
}


def style() -> None:
    """Use the style from here on."""
    plt.rcParams.update(STYLE)


def shares(axis: Axes, names: Sequence[str], measures: Sequence[Measure], label: str | None = None) -> None:
    """One point a name with its 95 % interval, first name on top."""
    places = range(len(names))
    values = [measure[0] for measure in measures]
    errors = [[value - low for value, low, _ in measures], [high - value for value, _, high in measures]]
    axis.errorbar(values, places, xerr=errors, fmt="o", capsize=3, label=label)
    axis.set_yticks(places, names)
    if not axis.yaxis_inverted():
        axis.invert_yaxis()


def curve(axis: Axes, places: Sequence[float], measures: Sequence[Measure], label: str | None = None) -> None:
    """A line through measures with the band of their 95 % intervals."""
    (line,) = axis.plot(places, [value for value, _, _ in measures], marker="o", label=label)
    lows, highs = [low for _, low, _ in measures], [high for _, _, high in measures]
    axis.fill_between(places, lows, highs, alpha=0.2, color=line.get_color())


def plain_logarithmic(axis: Axis) -> None:
    """Numbers at 1, 2 and 5 of each decade of a logarithmic axis, without powers."""
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(ScalarFormatter())
    axis.set_minor_formatter(NullFormatter())
