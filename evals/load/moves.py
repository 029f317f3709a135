"""Counts how often a query moves between files of the project: every call into another file, and every return from it.

A reader who follows the query by hand opens a file as often. Frames of libraries between two of ours are passed over.
"""

import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, Final

from clinical.reading import SearchIndex
from clinical.settings import ROOT
from evals.measures.results import Row, row

PACKAGE: Final = str(ROOT / "clinical") + "/"
ASKED: Final = {
    "one word": "Zuckerkrankheit",
    "a note of 82 characters": "Pat. mit Diabetes mellitus Typ 2, art. Hypertonie, Z. n. Herzinfarkt, kein Fieber.",
}


def measured(catalog: Path) -> Iterator[Row]:
    """Moves, and the files they lead to, of texts asked before, so that nothing is counted that is done once."""
    index = SearchIndex.load(catalog)
    for name, text in ASKED.items():
        index.search(text)
        moves, files = counted(partial(index.search, text))
        yield from row("moves", name, len(text), moves)
        yield from row("files", name, len(text), len(files))


def counted(call: Callable[[], Any]) -> tuple[int, set[str]]:
    """The moves of one call, and the files they lead to."""
    moves, files = 0, set[str]()

    def seen(frame: FrameType, event: str, _: Any) -> None:
        nonlocal moves
        here = frame.f_code.co_filename
        if event in ("call", "return") and here.startswith(PACKAGE):
            files.add(here)
            moves += _caller(frame) not in ("", here)

    sys.setprofile(seen)
    try:
        call()
    finally:
        sys.setprofile(None)
    return moves, files


def _caller(frame: FrameType) -> str:
    """The nearest file of ours that the frame was called from; "" where there is none."""
    back = frame.f_back
    while back is not None and not back.f_code.co_filename.startswith(PACKAGE):
        back = back.f_back
    return back.f_code.co_filename if back else ""
