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
BESIDE: Final = 0.18
"""Of the room between two names, how far a further series is drawn below the one before it."""


def style() -> None:
    """Use the style from here on."""
    plt.rcParams.update(STYLE)


def shares(
    axis: Axes, names: Sequence[str], measures: Sequence[Measure], label: str | None = None, *, of: int | Sequence[int]
) -> None:
    """One point a name with its 95 % interval, first name on top. `of`: what each share is of, for all or by name; it
    stands behind the names, or behind the label where several are drawn beside each other."""
    shift = BESIDE * len(axis.containers) if label else 0.0
    places = [number + shift for number in range(len(names))]
    values = [measure[0] for measure in measures]
    errors = [[value - low for value, low, _ in measures], [high - value for value, _, high in measures]]
    axis.errorbar(values, places, xerr=errors, fmt="o", capsize=3, label=label and counted(label, of))
    each = [of] * len(names) if isinstance(of, int) else of
    told = names if label else [counted(name, one) for name, one in zip(names, each, strict=True)]
    axis.set_yticks(range(len(names)), told)
    if not axis.yaxis_inverted():
        axis.invert_yaxis()


def curve(
    axis: Axes, places: Sequence[float], measures: Sequence[Measure], label: str = "", *, of: int | Sequence[int]
) -> None:
    """A line through measures with the band of their 95 % intervals. `of`: what each measure is of, for all or by
    place; it stands in the legend."""
    (line,) = axis.plot(places, [value for value, _, _ in measures], marker="o", label=counted(label or None, of))
    lows, highs = [low for _, low, _ in measures], [high for _, _, high in measures]
    axis.fill_between(places, lows, highs, alpha=0.2, color=line.get_color())
    axis.legend()


def counted(label: str | None, of: int | Sequence[int]) -> str:
    """The label with how much it is of: `top-1 (n = 120)`, `top-1 (n = 8 to 120)`, without a label `n = 120`."""
    least, most = (of, of) if isinstance(of, int) else (min(of, default=0), max(of, default=0))
    told = f"n = {least:,}" if least == most else f"n = {least:,} to {most:,}"
    return told if label is None else f"{label} ({told})"


def plain_logarithmic(axis: Axis) -> None:
    """Numbers at 1, 2 and 5 of each decade of a logarithmic axis, without powers."""
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(ScalarFormatter())
    axis.set_minor_formatter(NullFormatter())
