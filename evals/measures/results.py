"""The one table of results: a row for each figure, with the data it is of and the command that gives it again.

Columns (`SCHEMA`): measure; set (all, a kind of input, a chapter, a length of text); kind (coding, reading, letters,
load); n; value, low and high (95 % interval, NaN without one); command; catalog (first digits of the manifest's
digest); code (version and commit). A file of results is JSON: `about` (data set, target, model, seed, ...), `rows`,
and `queries` where texts were asked one by one: how each came out, so that two results can be compared in pairs.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isnan, nan
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from catalog_build.files import readable, write_text
from clinical import __version__
from clinical.errors import SourceError
from evals.measures.intervals import Measure

VERSION: Final = 2
"""Of the files."""
SCHEMA: Final = {
    "measure": "str", "set": "str", "kind": "str", "n": "int64", "value": "float64", "low": "float64",
    "high": "float64", "command": "str", "catalog": "str", "code": "str",
}  # fmt: skip
ALL: Final = "all"
DIGITS: Final = 12
"""Of a digest, in the table."""
ROOT: Final = Path(__file__).resolve().parents[2]


class Row(NamedTuple):
    """A figure before it has its place in the table: the columns that differ within one result."""

    measure: str
    set: str
    n: int
    value: float
    low: float = nan
    high: float = nan


def row(measure: str, of: str, n: int, found: Measure | float | None) -> list[Row]:
    """The row of a measure, with or without an interval; none where there was nothing to measure."""
    if found is None:
        return []
    return [Row(measure, of, n, *(found if isinstance(found, tuple) else (float(found),)))]


def percentiles(
    measure: str, of: str, values: Sequence[float] | NDArray[np.float64], which: Sequence[int] = (50, 99)
) -> list[Row]:
    """The rows of some percentiles; `{}` in the name of the measure stands for the percentile."""
    return [Row(measure.format(one), of, len(values), float(np.percentile(values, one))) for one in which]


def table(rows: Iterable[Row], kind: str, command: str, catalog: str = "", code: str = "") -> pd.DataFrame:
    """The rows as a table of the schema. Raises ValueError for rows that are none."""
    made = pd.DataFrame(list(rows), columns=list(Row._fields))
    made = made.assign(kind=kind, command=command, catalog=catalog[:DIGITS], code=code or code_of(code_version()))
    return checked(made[list(SCHEMA)].astype(SCHEMA))


def checked(rows: pd.DataFrame) -> pd.DataFrame:
    """The table itself. Raises ValueError where it breaks the schema, names a figure twice or has a value outside its
    interval."""
    found = {name: str(kind) for name, kind in rows.dtypes.items()}
    if found != SCHEMA:
        raise ValueError(f"the columns are {found}, not {SCHEMA}")
    if (twice := rows[rows.duplicated(["measure", "set", "kind", "command", "catalog", "code"])]).size:
        raise ValueError(f"the figure {tuple(twice.iloc[0, :2])} stands there twice")
    outside = rows[(rows["low"] > rows["value"] + 1e-9) | (rows["high"] < rows["value"] - 1e-9)]
    if outside.size:
        raise ValueError(f"the figure {tuple(outside.iloc[0, :2])} lies outside its interval")
    return rows


def printed(rows: Sequence[Row]) -> str:
    """A line for each row."""
    lines = []
    for one in rows:
        interval = "" if isnan(one.low) else f"  ({one.low:.4g} to {one.high:.4g})"
        lines.append(f"{one.set:34}{one.measure:44}{one.n:>8}{one.value:>12.4g}{interval}")
    return "\n".join(lines)


def beside(rows: Iterable[Row], measures: Sequence[str] = ()) -> str:
    """A line for each set, its measures beside each other: these, or all that there are; `n` is the largest of them.
    Empty where none of them was measured."""
    found = [one for one in rows if not measures or one.measure in measures]
    if not found:
        return ""
    names = [*(measures or dict.fromkeys(one.measure for one in found))]
    told = pd.DataFrame([(one.set, one.measure, _cell(one)) for one in found], columns=["", "measure", "cell"])
    cells = told.pivot(index="", columns="measure", values="cell").reindex(told[""].unique()).reindex(columns=names)
    cells.insert(0, "n", pd.DataFrame(found).groupby("set")["n"].max())
    return str(cells.to_string(na_rep="-", index_names=False))


def _cell(one: Row) -> str:
    value = f"{one.value:.3f}" if abs(one.value) < 1_000 else f"{one.value:,.0f}"
    return value if isnan(one.low) else f"{value} ({one.low:.3f} to {one.high:.3f})"


@dataclass(frozen=True)
class MeasuredResult:
    """`about`: kind, command, manifest, data set, target, code, made_at and the like; `rows`: the table; `queries`: one
    row for each text that was asked (`evals.coding.outcomes`), None where there were none."""

    about: dict[str, Any]
    rows: pd.DataFrame
    queries: pd.DataFrame | None = None

    @classmethod
    def of(
        cls, kind: str, command: str, rows: Iterable[Row], queries: pd.DataFrame | None = None, **about: Any
    ) -> MeasuredResult:
        """A result made now, by this code; `about` says on what and with what."""
        code = code_version()
        made = datetime.now(UTC).isoformat(timespec="seconds")
        whole = {"kind": kind, "command": command, "made_at": made, "code": code, **about}
        return cls(whole, table(rows, kind, command, str(about.get("manifest", "")), code_of(code)), queries)

    def figure(self, measure: str, of: str = ALL) -> Measure | None:
        """Value, low and high of a measure; None where it was not measured."""
        found = self.rows[(self.rows["measure"] == measure) & (self.rows["set"] == of)]
        return None if found.empty else tuple(found[["value", "low", "high"]].iloc[0].tolist())

    def write(self, path: Path, texts: bool = False) -> None:
        """In one step; a line for each row and query, so that a difference of two files can be read. The texts of the
        queries stay away unless they are asked for."""
        rows = self.rows[list(Row._fields)].astype(object).where(self.rows[list(Row._fields)].notna(), None)
        lines = [f' "rows": [\n{_lines(rows.to_numpy().tolist())}\n ]']
        if self.queries is not None:
            asked = self.queries if texts else self.queries.drop(columns="text", errors="ignore")
            records = asked.astype(object).where(asked.notna(), None).to_dict("records")
            lines.append(f' "queries": [\n{_lines(records)}\n ]')
        head = readable({"version": VERSION, "about": self.about})[:-2]
        write_text(path, ",\n".join([head, *lines]) + "\n}\n")


def _lines(values: Iterable[Any]) -> str:
    return ",\n".join(f"  {json.dumps(value, ensure_ascii=False)}" for value in values)


def read_result(path: Path) -> MeasuredResult:
    """A result as `write` left it. Raises SourceError for anything else."""
    remedy = "make it with python -m evals coding ... --out FILE"
    try:
        tree = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SourceError(path.name, None, error.strerror or "cannot be read", "a result", remedy) from None
    except ValueError:
        raise SourceError(path.name, None, "is not JSON", "a result", remedy) from None
    if not isinstance(tree, dict) or tree.get("version") != VERSION or not {"about", "rows"} <= tree.keys():
        raise SourceError(path.name, None, "is no result of this version", f"version {VERSION}", remedy)
    about = tree["about"]
    try:
        rows = [
            Row(name, of, n, *(nan if one is None else one for one in found)) for name, of, n, *found in tree["rows"]
        ]
        made = table(rows, about["kind"], about["command"], about.get("manifest", ""), code_of(about["code"]))
    except (ValueError, TypeError, KeyError) as error:
        raise SourceError(path.name, None, f"has no rows of the table: {error}", "a result", remedy) from None
    return MeasuredResult(about, made, pd.DataFrame(tree["queries"]) if "queries" in tree else None)


def code_version() -> dict[str, Any]:
    """Version of the package; commit and whether files differ from it, both None outside a git checkout."""
    commit = _git("rev-parse", "HEAD") if (ROOT / ".git").exists() else None
    dirty = None if commit is None else bool(_git("status", "--porcelain", "--untracked-files=no"))
    return {"version": __version__, "commit": commit, "dirty": dirty}


def code_of(code: dict[str, Any]) -> str:
    """The same in a word: `0.9 1a2b3c4d5e6f+`, with a plus where files differ from the commit."""
    return " ".join(filter(None, (code["version"], (code["commit"] or "")[:DIGITS] + "+" * bool(code["dirty"]))))


def _git(*arguments: str) -> str | None:
    command = ["git", "-C", str(ROOT), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None
