"""Feedback without texts: how often a code was accepted and rejected, by the confidence it was shown with.

JSON lines: `{"page": ..., "date": ..., "code": ..., "confidence": ..., "accepted": N, "rejected": N}`, as the workbench
saves them for members who keep their texts; `page` is drawn by lot when the page is opened, and names nobody. There is
no data set in it and no synonym, but the question whether `high` is right as often as it was measured, answered on the
texts of a house, and the codes that are shown and thrown away.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

from clinical.catalog import Catalog
from clinical.errors import SourceError
from evals.reports.files import write_text
from evals.reports.intervals import share

FILE = "counts.tsv"
CONFIDENCES = ("high", "medium", "low", "hand")  # `hand`: added by the person, from the catalog
MOST = 1_000_000
SHOWN = 10


@dataclass(frozen=True, slots=True)
class CodeCount:
    """How often people accepted and rejected a code that was shown with this confidence."""

    page: str
    date: str
    code: str
    confidence: str
    accepted: int
    rejected: int


def is_counts(path: Path) -> bool:
    """Whether the first line that is JSON has counts in it and no text."""
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        for line in file:
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                continue
            return isinstance(row, dict) and "query" not in row and "code" in row
    return False


def read_counts(path: Path, catalog: Catalog) -> tuple[list[CodeCount], list[str]]:
    """(counts, what was wrong with the other lines). Raises SourceError where the file has none at all."""
    counts, faults = [], []
    for number, line in enumerate(path.read_text("utf-8-sig", "replace").splitlines(), start=1):
        try:
            if line.strip():
                counts.append(_count(json.loads(line), catalog))
        except (ValueError, RecursionError) as error:
            said = str(error) if type(error) is ValueError else "is no JSON"
            faults.append(f"{path.name}, line {number}: {said}")
    if not counts:
        raise SourceError(path.name, None, f"holds no counts; the first: {faults[0]}", "code, confidence, accepted")
    return counts, faults


def _count(row: Any, catalog: Catalog) -> CodeCount:
    if not isinstance(row, dict) or "query" in row:
        raise ValueError("is no object with code, confidence, accepted, rejected and without a text")
    given = row.get("code")
    code = catalog.parse(given) if isinstance(given, str) else None
    if code is None or code not in catalog:
        raise ValueError(f"code is none of the catalog {catalog.version}")
    if row.get("confidence") not in CONFIDENCES:
        raise ValueError(f"confidence is none of {', '.join(CONFIDENCES)}")
    numbers = [row.get(name, 0) for name in ("accepted", "rejected")]
    if not all(type(number) is int and 0 <= number <= MOST for number in numbers) or not sum(numbers):
        raise ValueError(f"accepted and rejected are no counts of 0 to {MOST}, one of them more than 0")
    page, date = (str(row.get(name) or "")[:36] for name in ("page", "date"))
    if not (page + date).isprintable():
        raise ValueError("page and date are no words of one line")
    return CodeCount(page, date[:10], code, row["confidence"], *numbers)


def added(out: Path, counts: Iterable[CodeCount]) -> list[CodeCount]:
    """What the folder has and these, each page, code and confidence once: of a page that was saved several times, or
    imported twice, the last. Written to `counts.tsv`."""
    fresh = list(counts)
    pages = {one.page for one in fresh}
    kept = [one for one in _kept(out / FILE) if one.page not in pages]
    merged = {(one.page, one.code, one.confidence): one for one in [*kept, *fresh]}
    rows = [merged[key] for key in sorted(merged)]
    names = [field.name for field in fields(CodeCount)]
    write_text(out / FILE, "".join("\t".join(map(str, line)) + "\n" for line in (names, *map(astuple, rows))))
    return rows


def _kept(path: Path) -> list[CodeCount]:
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t"))[1:]
    return [CodeCount(page, date, code, how, int(right), int(wrong)) for page, date, code, how, right, wrong in rows]


def table(counts: Iterable[CodeCount]) -> str:
    """Accepted and rejected by confidence, with the share that is right, then the codes rejected most often."""
    rows = list(counts)
    lines = ["confidence  accepted  rejected  right"]
    for confidence in CONFIDENCES:
        own = [one for one in rows if one.confidence == confidence]
        right, wrong = sum(one.accepted for one in own), sum(one.rejected for one in own)
        if of := share(right, right + wrong):
            middle, low, high = of
            lines.append(f"{confidence:<10}  {right:>8}  {wrong:>8}  {middle:.2f} ({low:.2f}-{high:.2f})")
    wrong_codes: dict[str, int] = {}
    for one in rows:
        if one.rejected:
            wrong_codes[one.code] = wrong_codes.get(one.code, 0) + one.rejected
    often = sorted(wrong_codes.items(), key=lambda pair: (-pair[1], pair[0]))[:SHOWN]
    lines.append("rejected most often: " + (", ".join(f"{code} {number}" for code, number in often) or "none"))
    return "\n".join(lines)
