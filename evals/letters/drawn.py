"""A letter as a picture: its lines, and under each kept value the colour of its field."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from clinical.contract import Evidence

WIDTH = 100
"""Characters of a drawn line; what is longer is cut off."""
_INCHES, _LEGEND = 10.0, 1.7
_ADVANCE = 0.602
"""Width of a character of DejaVu Sans Mono, matplotlib's own typewriter face, as a share of its size."""
_SIZE = 72 * _INCHES / WIDTH / _ADVANCE
_LINE = 1.5 * _SIZE / 72


def draw(text: str, evidence: Sequence[Evidence], known: Mapping[str, str] | None = None) -> Figure:
    """The letter in a typewriter's characters; a legend names the fields by their first part. `known`: colours of some
    of them, by name."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    fields = list(dict.fromkeys(one.path.split(".")[0].split("[")[0] for one in evidence))
    palette = plt.get_cmap("tab10" if len(fields) <= 10 else "tab20")  # the pairs of tab20 hardly differ
    colours = {name: (known or {}).get(name, palette(n % palette.N)) for n, name in enumerate(fields)}
    figure = plt.figure(figsize=(_INCHES + _LEGEND, _LINE * (max(len(lines), len(fields)) + 1)))
    axis = figure.add_axes((0, 0, _INCHES / (_INCHES + _LEGEND), 1))
    axis.set(xlim=(0, WIDTH), ylim=(max(len(lines), len(fields)), -1))
    axis.axis("off")
    for n, line in enumerate(lines):
        axis.text(0, n, line[:WIDTH], family="DejaVu Sans Mono", fontsize=_SIZE, va="center")
    for one in evidence:
        colour = colours[one.path.split(".")[0].split("[")[0]]
        for n, first, last in _on_lines(starts, one.start, one.end):
            axis.add_patch(Rectangle((first, n - 0.5), last - first, 1, color=colour, alpha=0.35, lw=0))
    handles = [Rectangle((0, 0), 1, 1, color=colours[name], alpha=0.35) for name in fields]
    axis.legend(handles, fields, loc="upper left", bbox_to_anchor=(1, 1), fontsize=_SIZE)  # beside the text
    return figure


def _on_lines(starts: Sequence[int], start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """(line, first character, behind the last) of a stretch, a piece for every line it touches."""
    n = bisect_right(starts, start) - 1
    while n < len(starts) - 1 and starts[n] < end:
        first, last = max(start, starts[n]), min(end, starts[n + 1] - 1)
        if first < last:
            yield n, first - starts[n], min(last - starts[n], WIDTH)
        n += 1
