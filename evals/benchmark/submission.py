"""A submission: the answers of a system to the benchmark's texts, checked line by line before anything is scored.

A file of JSON lines, one for each text: {"id": "lists-001", "codes": ["I10.90", ...]}, best first, an empty list where
the system finds nothing. A malformed code would only count as a miss; so every fault is named, with what to do.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from clinical.errors import SourceError
from clinical.icd import CODE_PATTERN, EXAMPLE, parse
from evals.benchmark.systems import DEPTH, Ranked
from evals.benchmark.texts import BenchmarkText
from evals.data.examples import ECHOED

LINE: Final = f'{{"id": "lists-001", "codes": ["{EXAMPLE}"]}}'
SHOWN: Final = 20
"""Faults that are printed; the rest is counted."""


class SubmissionFault(NamedTuple):
    """What is wrong with a line (None: with the file) and what to do. `fatal`: without it nothing can be scored."""

    line: int | None
    found: str
    remedy: str
    fatal: bool = True

    def __str__(self) -> str:
        where = f"line {self.line}: " if self.line else ""
        return f"{'' if self.fatal else 'note: '}{where}{self.found}; {self.remedy}"


def faults_of(path: Path, texts: Sequence[BenchmarkText]) -> list[SubmissionFault]:
    """Everything that is wrong with a submission, in the order of its lines. Raises SourceError for a file that cannot
    be read."""
    known, seen = {one.id for one in texts}, dict[str, int]()
    faults: list[SubmissionFault] = []
    for number, row in _rows(path):
        if isinstance(row, SubmissionFault):
            faults.append(row)
            continue
        name = row["id"]
        if name in seen:
            faults.append(
                SubmissionFault(number, f"a second answer to {name}, after line {seen[name]}", "leave one of them")
            )
        elif name not in known:
            faults.append(SubmissionFault(number, f"no text is called {name[:40]!r}", "take the ids of texts.jsonl"))
        seen.setdefault(name, number)
        faults += _of_codes(number, row["codes"])
    missing = [one.id for one in texts if one.id not in seen]
    if missing:
        found = f"no answer to {len(missing)} texts, the first {missing[0]}"
        faults.append(SubmissionFault(None, found, 'add them; "codes": [] where there are none'))
    return faults


def read_submission(path: Path, texts: Sequence[BenchmarkText]) -> list[Ranked]:
    """The answers in the order of the texts. Raises SourceError naming the first fault and how many there are."""
    fatal = [one for one in faults_of(path, texts) if one.fatal]
    if fatal:
        first, more = fatal[0], len(fatal) - 1
        found = first.found + (f" (and {more} more faults: --check {path.name} names them)" if more else "")
        raise SourceError(path.name, first.line, found, f"a line for each text such as {LINE}", first.remedy)
    rows = {row["id"]: row["codes"] for _, row in _rows(path) if not isinstance(row, SubmissionFault)}
    return [list(rows[one.id]) for one in texts]


def report_of(faults: Sequence[SubmissionFault]) -> str:
    """The faults, a line each, or that there is none."""
    lines = [str(one) for one in faults[:SHOWN]]
    lines += [f"... and {len(faults) - SHOWN} more"] if len(faults) > SHOWN else []
    fatal = sum(one.fatal for one in faults)
    return "\n".join([*lines, f"{fatal} faults" if fatal else "this can be scored"])


def _of_codes(number: int, codes: Sequence[str]) -> Iterator[SubmissionFault]:
    for code in codes:
        if CODE_PATTERN.fullmatch(code) is None:
            meant = parse(code)
            remedy = f"write {meant}" if meant else f"write codes as the classification has them, such as {EXAMPLE}"
            yield SubmissionFault(number, f"the malformed code {code[:ECHOED]!r}", remedy)
    twice = sorted({code for code in codes if codes.count(code) > 1})
    if twice:
        yield SubmissionFault(
            number, f"{', '.join(islice(twice, 3))} twice", "a code counts once, at its first place", fatal=False
        )
    if len(codes) > DEPTH:
        yield SubmissionFault(number, f"{len(codes)} codes", f"the first {DEPTH} count", fatal=False)


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any] | SubmissionFault]]:
    """Number and row of each line that is not empty, or what keeps it from being one."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        found = f"cannot be read: {getattr(error, 'strerror', None) or 'no UTF-8'}"
        raise SourceError(str(path), None, found, "JSON lines in UTF-8", "check the path") from None
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield number, _row(number, line)


def _row(number: int, line: str) -> dict[str, Any] | SubmissionFault:
    try:
        row = json.loads(line)
    except ValueError:
        return SubmissionFault(number, "is no JSON", f"write {LINE}")
    if not isinstance(row, dict) or not isinstance(row.get("id"), str):
        return SubmissionFault(number, "has no id", f"write {LINE}")
    codes = row.get("codes")
    if not isinstance(codes, list) or not all(isinstance(code, str) for code in codes):
        return SubmissionFault(number, "codes are no list of strings", f"write {LINE}")
    return row
