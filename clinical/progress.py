"""Progress of long work: a bar at a terminal and in a notebook, one line a minute in a log, with the time that is left.

tqdm (extra `build`) counts and reckons; it is imported when work begins, for serving has none. `note` says in a line
what a part of the work is, or what came of it.
"""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, TextIO

if TYPE_CHECKING:
    from tqdm import tqdm

MINUTE: Final = 60.0
"""Seconds between two lines of a log, and before the first: work of a shorter time says nothing."""
LINE: Final = "{desc}: {n_fmt} of {total_fmt} {unit}, {elapsed} gone, {remaining} left{postfix}"


def progress(work: Iterable[Any] | None = None, what: str = "", unit: str = "", **given: Any) -> tqdm[Any]:
    """`work`, counted as it is gone through; without it a bar to be updated by hand. `given`: tqdm's own options."""
    from tqdm import tqdm

    if sys.stderr.isatty() or in_notebook():
        return tqdm(work, desc=what, unit=unit, leave=False, **given)
    lines: Any = Lines(sys.stderr)
    every = {"mininterval": MINUTE, "miniters": 1, "delay": MINUTE}
    return tqdm(work, desc=what, unit=unit, file=lines, bar_format=LINE, ascii=True, **{**every, **given})


def in_notebook() -> bool:
    """True if this is the kernel of a notebook. Where nobody looks at its cells, TQDM_DISABLE=1 leaves the bars out."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


class Lines(io.TextIOBase):
    """Stream for tqdm that writes each bar drawn over the same line as a line of its own."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._last = stream, ""

    def write(self, text: str) -> int:
        """One drawn bar, or what clears it."""
        line = text.strip()
        if line and line != self._last:
            self._last = line
            note(line, self._stream)
        return len(text)

    def flush(self) -> None:
        self._stream.flush()


def note(text: str, stream: TextIO | None = None) -> None:
    """A line on stderr with the time of day."""
    print(time.strftime("%H:%M:%S"), text, file=stream or sys.stderr, flush=True)
