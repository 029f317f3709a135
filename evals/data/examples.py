"""Queries with their right codes, from TSV or JSON lines.

TSV: a header with the columns `query` and `codes` (comma-separated); `kind`, where there is one, names the kind of
input; others are ignored. JSON lines: objects with `text` or `query`, `codes` (a list), and perhaps `kind`; a line with
`"clean": false` is left out. Codes may be statements as `evals.reading.inputs` has them: all their codes are right.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from clinical.errors import SourceError
from clinical.icd import CODE_PATTERN, EXAMPLE, category, parse


class Example(NamedTuple):
    """A text, the codes that are right for it, and what kind of input it is ("" where the file does not say)."""

    query: str
    codes: frozenset[str]
    kind: str = ""


def read_examples(path: Path) -> list[Example]:
    """All examples of a file. Raises SourceError naming the line that is not one, or what keeps it from being read."""
    reader = _json_lines if path.suffix == ".jsonl" else _tsv
    try:
        examples = [Example(query, frozenset(codes), kind) for query, codes, kind in reader(path)]
    except OSError as error:
        found = f"cannot be read: {error.strerror or error}"
        raise SourceError(str(path), None, found, "TSV or JSON lines", "check the path") from None
    except (UnicodeDecodeError, csv.Error):
        raise SourceError(path.name, None, "is no text in UTF-8", "TSV or JSON lines", "save it as UTF-8") from None
    if not examples:
        raise SourceError(path.name, None, "holds no queries", "at least one line", "name another file")
    return examples


def _tsv(path: Path) -> Iterator[tuple[str, list[str], str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        if not {"query", "codes"} <= set(rows.fieldnames or ()):
            found = f"the columns {', '.join(rows.fieldnames or ()) or 'of no line'}"
            remedy = "save it as TSV (tabs between the columns) whose first line names them"
            raise SourceError(path.name, 1, found, "the columns query and codes", remedy)
        for number, row in enumerate(rows, start=2):
            codes = [code.strip() for code in (row["codes"] or "").split(",") if code.strip()]
            if not row["query"] or not codes:
                raise SourceError(path.name, number, "an empty query or no codes", "both", "fill or delete the line")
            yield row["query"], well_formed(codes, path.name, number), row.get("kind") or ""


def _json_lines(path: Path) -> Iterator[tuple[str, list[str], str]]:
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            try:
                row = json.loads(line)
                text, codes = str(row.get("text") or row["query"]), _codes(row["codes"])
                clean, kind = row.get("clean", True), str(row.get("kind") or row.get("class") or "")
            except (ValueError, KeyError, AttributeError, TypeError):
                found = "is not an object with text and codes"
                raise SourceError(path.name, number, found, '{"text": ..., "codes": [...]}', "mend the line") from None
            if clean:
                yield text, well_formed(codes, path.name, number), kind


ECHOED: Final = 12
"""Characters of a malformed code that are shown: enough to find it, too few for a text in the wrong column."""


def well_formed(codes: Iterable[str], file: str, line: int) -> list[str]:
    """The codes as they are. Raises SourceError for one that no catalog can have, since it would only count as a miss:
    as the classification prints it (`I10.9-`), without its dot, or cut."""
    checked = list(codes)
    for code in checked:
        if CODE_PATTERN.fullmatch(code) is None:
            meant = parse(code)
            remedy = f"write {meant}" if meant else "mend or delete the line"
            raise SourceError(
                file,
                line,
                f"the malformed code {code[:ECHOED]!r}",
                f"a code such as {category(EXAMPLE)} or {EXAMPLE}",
                remedy,
            )
    return checked


def _codes(said: object) -> list[str]:
    """Right codes of a line. Raises ValueError, KeyError or TypeError where there are none."""
    if not isinstance(said, list) or not said:
        raise ValueError("codes")
    if all(isinstance(one, dict) for one in said):
        return [str(code) for one in said for code in (*one["codes"], *one.get("also", ()))]
    if not all(isinstance(code, str) for code in said):
        raise ValueError("codes")
    return said
