"""Reviewed codings: what people accepted and rejected for a text, read from JSON lines or CSV.

JSON lines: `{"query": ..., "accepted": [codes], "rejected": [codes], "reviewer": ..., "date": ...}`, the last three may
be missing. CSV (comma or semicolon): the same columns, several codes in one cell apart by spaces, commas or `/`.
A line that is not a review is reported by its number and left out; no error shows its text.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clinical.catalog import Catalog
from clinical.errors import SourceError

MAX_TEXT = 2_000
"""Code points of a query, as in the contract."""


@dataclass(frozen=True, slots=True)
class Review:
    """One line: a text, the codes that are right for it, and codes that are not."""

    line: int
    query: str
    accepted: tuple[str, ...]
    rejected: tuple[str, ...]
    reviewer: str | None = None
    date: str | None = None


def read_reviews(path: Path, catalog: Catalog) -> tuple[list[Review], list[str]]:
    """(reviews, what was wrong with the other lines). Raises SourceError where the file has no such lines at all."""
    reviews, faults = [], []
    for line, row in _json_rows(path) if path.suffix in (".jsonl", ".ndjson") else _csv_rows(path):
        try:
            reviews.append(_review(line, row, catalog))
        except ValueError as error:
            faults.append(f"{path.name}, line {line}: {error}")
    if not reviews:
        first = f"; the first: {faults[0]}" if faults else ""
        raise SourceError(path.name, None, f"holds no review{first}", "query, accepted, rejected", "see --help")
    return reviews, faults


def _review(line: int, row: Any, catalog: Catalog) -> Review:
    if not isinstance(row, dict):
        raise ValueError("is not an object with query, accepted, rejected")
    query = row.get("query")
    if not isinstance(query, str) or not query.strip() or len(query) > MAX_TEXT:
        raise ValueError(f"query is no text of 1 to {MAX_TEXT} characters")
    if any("\ud800" <= character <= "\udfff" for character in query):
        raise ValueError("query holds half a character (a lone surrogate)")
    if "\ufffd" in query or "\0" in query:
        raise ValueError("query is not UTF-8")
    accepted, rejected = _codes(row, "accepted", catalog), _codes(row, "rejected", catalog)
    if not accepted and not rejected:
        raise ValueError("neither an accepted nor a rejected code")
    if both := set(accepted) & set(rejected):
        raise ValueError(f"{', '.join(sorted(both))} both accepted and rejected")
    said = [str(row[key]) if row.get(key) else None for key in ("reviewer", "date")]
    return Review(line, " ".join(query.split()), accepted, rejected, *said)


def _codes(row: dict[str, Any], key: str, catalog: Catalog) -> tuple[str, ...]:
    """Codes in the order given, in the spelling of the catalog, none twice."""
    given = row.get(key) or []
    if isinstance(given, str):
        given = [code for code in re.split(r"[\s,;/]+", given) if code]
    if not isinstance(given, list) or not all(isinstance(code, str) for code in given):
        raise ValueError(f"{key} is no list of codes")
    codes = []
    for place, code in enumerate(given, start=1):
        known = catalog.parse(code)
        if known is None:
            raise ValueError(f"entry {place} of {key} is no ICD-10-GM code")
        if known not in catalog:
            raise ValueError(f"{known} of {key} is not in the catalog {catalog.version}")
        codes.append(known)
    return tuple(dict.fromkeys(codes))


def _json_rows(path: Path) -> Iterator[tuple[int, Any]]:
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                try:
                    yield number, json.loads(line)
                except (ValueError, RecursionError):
                    yield number, None


def _csv_rows(path: Path) -> Iterator[tuple[int, Any]]:
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        head = file.readline()
        file.seek(0)
        rows = csv.DictReader(file, delimiter=max(",;\t", key=head.count))
        if not {"query", "accepted"} <= set(rows.fieldnames or ()):
            found = f"columns {', '.join(rows.fieldnames or ()) or 'none'}"
            raise SourceError(path.name, 1, found, "query, accepted and rejected", "add a header line with these")
        try:
            for row in rows:
                yield rows.line_num, row
        except csv.Error as error:  # a cell without end: what follows cannot be told apart
            raise SourceError(path.name, rows.line_num, str(error), "CSV", "save it as CSV again") from None


def disagreements(reviews: Sequence[Review]) -> dict[str, list[int]]:
    """Queries of which one review accepts a code that another rejects, with the lines of all their reviews."""
    found: dict[str, list[int]] = {}
    by_query: dict[str, list[Review]] = {}
    for review in reviews:
        by_query.setdefault(review.query, []).append(review)
    for query, own in by_query.items():
        accepted = {code for review in own for code in review.accepted}
        if any(accepted & set(review.rejected) for review in own):
            found[query] = [review.line for review in own]
    return found
