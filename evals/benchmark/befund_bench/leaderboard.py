"""The published table: `leaderboard.csv`, a row for each system, task and measure, and the tables made of it.

A row says on which texts (version and checksum of the card), with which wordings, and when it was measured. New rows of
a system on a task replace its old ones; rows on other texts go.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from .data import HERE, card
from .scoring import Measured

FILE: Final = HERE / "leaderboard.csv"
COLUMNS: Final = ("texts", "split", "system", "wordings", "task", "measure", "value", "low", "high", "date")
TABLES: Final = (
    (("wordings", "top_1"), ("typed", "in_8"), ("lists", "recall_10"), ("codes", "recall_10"), ("codes", "precision"),
     ("codes", "denied")),
    (("notes", "span_f1"), ("notes", "word_f1"), ("claims", "accuracy"), ("claims", "there_as_not"),
     ("claims", "not_as_there")),
    (("extraction", "f1_single"), ("extraction", "f1_lists"), ("lies", "lies_kept"), ("lies", "truths_lost")),
)  # fmt: skip
"""Columns of each table: task and measure."""

TableRow = dict[str, str]


def texts_name() -> str:
    """Version and checksum of the texts."""
    return f"{card()['version']}-{card()['digest'][:12]}"


def rows_of(found: Mapping[tuple[str, str, str], Mapping[str, Measured]], split: str, date: str = "") -> list[TableRow]:
    """Rows of what was measured: (system, its wordings, task) -> measure -> value with its interval."""
    return [
        dict(zip(COLUMNS, (texts_name(), split, *key, measure, *map(str, value), date), strict=True))
        for key, measures in found.items()
        for measure, value in measures.items()
    ]


def read(path: Path = FILE) -> list[TableRow]:
    """The published rows; none where nothing is published yet."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def joined(old: Iterable[TableRow], new: Sequence[TableRow]) -> list[TableRow]:
    """Both, on the texts of the new ones; of a system and task in both the new ones; systems in the order they came."""
    texts, again = {row["texts"] for row in new}, {_key(row) for row in new}
    both = [row for row in old if row["texts"] in texts and _key(row) not in again] + [*new]
    order = list(dict.fromkeys((row["split"], row["system"], row["wordings"]) for row in [*both]))
    return sorted(both, key=lambda row: order.index((row["split"], row["system"], row["wordings"])))


def _key(row: TableRow) -> tuple[str, ...]:
    return tuple(row[name] for name in ("split", "system", "wordings", "task"))


def write(rows: Sequence[TableRow], path: Path = FILE) -> None:
    """Write the rows."""
    file = io.StringIO()
    writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(file.getvalue(), "utf-8")


def tables(rows: Sequence[TableRow], split: str = "test") -> str:
    """The rows of a split as Markdown tables: a line for each system."""
    own = [row for row in rows if row["split"] == split]
    return "\n\n".join(made for columns in TABLES if (made := _table(own, columns)))


def _table(rows: Sequence[TableRow], columns: Sequence[tuple[str, str]]) -> str:
    cells: dict[tuple[str, str], dict[tuple[str, str], Any]] = {}
    for row in rows:
        if (row["task"], row["measure"]) in columns:
            cells.setdefault((row["system"], row["wordings"]), {})[row["task"], row["measure"]] = _cell(row)
    if not cells:
        return ""
    head = ["system", "wordings", *(f"{task}: {measure.replace('_', ' ')}" for task, measure in columns)]
    lines = [[*names, *(own.get(column, "") for column in columns)] for names, own in cells.items()]
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *lines])


def _cell(row: TableRow) -> str:
    return f"{float(row['value']):.3f} ({float(row['low']):.2f}-{float(row['high']):.2f})"
