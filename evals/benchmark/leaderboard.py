"""The table that the project publishes: `leaderboard.csv`, a row for each system, task and measure.

`docs/benchmark.md` shows it; `python -m evals benchmark --publish` measures every system, writes both, and keeps the
rows of other systems that were scored on the same texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pandas as pd

from catalog_build.files import write_text
from evals.benchmark.texts import HERE

FILE: Final = HERE / "leaderboard.csv"
PAGE: Final = HERE.parents[1] / "docs" / "benchmark.md"
KEYS: Final = ("texts", "system", "task", "measure")
VALUES: Final = ("value", "low", "high")
COLUMNS: Final = (*KEYS, *VALUES, "date", "catalog")
BEGIN, END = "<!-- leaderboard -->", "<!-- /leaderboard -->"
MEASURES: Final = ("top_1", "recall_10", "precision", "denied")
HEAD: Final = "| system | task | top-1 | recall at 10 | precision | denied shown |\n|---|---|---|---|---|---|"


def rows_of(result: Mapping[str, Any], date: str = "") -> pd.DataFrame:
    """A result of `evals benchmark` as rows. `texts`: version and checksum of the texts, `catalog`: its encoder."""
    texts = f"{result['texts']['version']}-{result['texts']['sha256'][:12]}"
    catalog = (result.get("catalog") or {}).get("encoder", "")
    rows = [
        (texts, name, task, measure, *value, date, catalog)
        for name, tasks in result["systems"].items()
        for task, values in tasks.items()
        for measure, value in values.items()
        if value is not None
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def read(path: Path = FILE) -> pd.DataFrame:
    """The published rows."""
    return pd.read_csv(path, keep_default_na=False, dtype=dict.fromkeys(VALUES, "float64"))


def joined(old: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    """The rows of both on the texts of the new ones; of a system in both the new ones, in the place of the old."""
    kept = old[old["texts"].isin(new["texts"])]
    names = list(dict.fromkeys([*kept["system"], *new["system"]]))
    both = pd.concat([kept[~kept["system"].isin(new["system"])], new], ignore_index=True)
    place = both["system"].map(names.index)
    return both.iloc[place.sort_values(kind="stable").index].reset_index(drop=True)


def table(rows: pd.DataFrame) -> str:
    """The rows as the page shows them: a line for each system and task."""
    lines = [HEAD]
    for (system, task), own in rows.groupby(["system", "task"], sort=False):
        found = own.set_index("measure")[list(VALUES)]
        cells = " | ".join(_cell(found.loc[name]) if name in found.index else "" for name in MEASURES)
        lines.append(f"| {system} | {task} | {cells} |")
    return "\n".join(lines)


def _cell(value: Any) -> str:
    return f"{value['value']:.3f} ({value['low']:.3f}-{value['high']:.3f})"


def publish(rows: pd.DataFrame, path: Path = FILE, page: Path = PAGE) -> None:
    """Write the rows and the page's table."""
    write_text(path, rows.to_csv(index=False, lineterminator="\n"))
    text = page.read_text("utf-8")
    before, behind = text.split(BEGIN)[0], text.split(END)[1]
    write_text(page, f"{before}{BEGIN}\n\n{table(rows)}\n\n{END}{behind}")
