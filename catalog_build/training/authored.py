"""Form that files of authors share: their table (`authors.tsv`), and texts divided by lines of `===`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from clinical.errors import SourceError

SPLITS: Final = ("train", "tune", "report", "heads")
"""The last: of letters, files that hold heads and feet alone, to learn from."""
DIVIDER: Final = re.compile(r"={3,}\s*")


def author_rows(folder: Path, columns: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield line and cells of each row of the folder's table; author and split are the first two of `columns`.

    Raises SourceError for a row with another number of cells or an unknown split.
    """
    for number, line in enumerate((folder / "authors.tsv").read_text("utf-8").splitlines(), 1):
        if line.startswith("#") or not line.strip():
            continue
        cells = line.split("\t")
        if len(cells) != len(columns) or cells[1] not in SPLITS:
            raise wrong_row(number, cells, columns)
        yield number, cells


def wrong_row(number: int, cells: Sequence[str], columns: Sequence[str]) -> SourceError:
    """Name a row of the table that is none."""
    return SourceError("authors.tsv", number, f"a row of {len(cells)} cells", ", ".join(columns))


def blocks(file: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines of each text of a file, with the number of the first of them."""
    block: list[str] = []
    for number, line in enumerate([*file.read_text("utf-8").split("\n"), "==="], 1):
        if DIVIDER.fullmatch(line):
            yield number - len(block), block
            block = []
        else:
            block.append(line)
