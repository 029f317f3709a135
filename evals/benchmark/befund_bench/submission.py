"""A submission: JSON lines, one answer a line, checked line by line before anything is scored.

    {"id": "lists-test-0001", "codes": ["I10.90", "E11.90"]}

The ids say which task and split a line belongs to; of each task and split that is answered every text has to be. A
malformed code would only count as a miss; so every fault is named, with what to do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from .data import BenchmarkError, TaskRow, split_of, texts
from .tasks import CLAIMS, DEPTH, FIELDS, LISTS, TASKS

CODE: Final = re.compile(r"[A-Z]\d{2}(?:\.\d{1,2})?")
LIKE_A_CODE: Final = re.compile(r"([A-Za-z]\d{2})\.?(\d{0,2})[-!*+]*")
SHOWN: Final = 20
"""Faults that are printed; the rest is counted."""
ECHOED: Final = 40

Source = Callable[[str, str], Sequence[TaskRow]]
"""Task and split to the rows of their texts."""
Fault = tuple[str, str]
"""A fault that was found, and what to do."""


class SubmissionFault(NamedTuple):
    """A fault of a line (None: of the file) and what to do. `fatal`: with it nothing can be scored."""

    line: int | None
    found: str
    remedy: str
    fatal: bool = True

    def __str__(self) -> str:
        where = f"line {self.line}: " if self.line else ""
        return f"{'' if self.fatal else 'note: '}{where}{self.found}; {self.remedy}"


def faults_of(path: Path, source: Source = texts) -> list[SubmissionFault]:
    """Everything that is wrong with a submission, in the order of its lines; BenchmarkError where it has no lines."""
    lines = list(_lines(path))
    known = _known(lines, source)
    seen: dict[str, int] = {}
    faults: list[SubmissionFault] = []
    for number, row in lines:
        if isinstance(row, SubmissionFault):
            faults.append(row)
            continue
        name = row["id"]
        if name in seen:
            found = f"a second answer to {name}, after line {seen[name]}"
            faults.append(SubmissionFault(number, found, "leave one of them"))
        elif name not in known:
            faults.append(SubmissionFault(number, f"no text is called {name[:ECHOED]!r}", "take the ids of the texts"))
        else:
            faults += _of_answer(number, row, known[name])
        seen.setdefault(name, number)
    for task, split in dict.fromkeys(map(split_of, known)):
        missing = [name for name in known if split_of(name) == (task, split) and name not in seen]
        if missing:
            found = f"no answer to {len(missing)} texts of {task}, {split}, the first {missing[0]}"
            faults.append(SubmissionFault(None, found, "answer each, with an empty list where there is nothing"))
    return faults


def read_submission(path: Path, source: Source = texts) -> dict[tuple[str, str], list[Mapping[str, Any]]]:
    """(task, split) -> the answers in the order of its texts. Raises BenchmarkError naming the first fault and how
    many there are."""
    fatal = [one for one in faults_of(path, source) if one.fatal]
    if fatal:
        more = f" (and {len(fatal) - 1} more faults: `check` names them)" if len(fatal) > 1 else ""
        raise BenchmarkError(f"{path.name}, {fatal[0]}{more}")
    answers = {row["id"]: row for _, row in _lines(path) if not isinstance(row, SubmissionFault)}
    asked = dict.fromkeys(split_of(name) for name in answers)
    return {both: [answers[row["id"]] for row in source(*both)] for both in asked}


def report_of(faults: Sequence[SubmissionFault]) -> str:
    """The faults, a line each, or that there is none."""
    lines = [str(one) for one in faults[:SHOWN]]
    lines += [f"... and {len(faults) - SHOWN} more"] if len(faults) > SHOWN else []
    fatal = sum(one.fatal for one in faults)
    return "\n".join([*lines, f"{fatal} faults" if fatal else "this can be scored"])


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any] | SubmissionFault]]:
    """Number and row of each line that is not empty, or what keeps it from being one."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no UTF-8"
        raise BenchmarkError(f"{path} cannot be read: {why}; name a file of JSON lines in UTF-8") from None
    if not any(line.strip() for line in lines):
        raise BenchmarkError(f"{path.name} has no answers; write a line for each text, {_example('codes')}")
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield number, _row(number, line)


def _row(number: int, line: str) -> dict[str, Any] | SubmissionFault:
    try:
        row = json.loads(line)
    except ValueError:
        return SubmissionFault(number, "is no JSON", f"write {_example('codes')}")
    if not isinstance(row, dict) or not isinstance(row.get("id"), str):
        return SubmissionFault(number, "has no id", f"write {_example('codes')}")
    return row


def _known(lines: Sequence[tuple[int, Any]], source: Source) -> dict[str, TaskRow]:
    """Id to row of every text of the tasks and splits that some line names."""
    both = dict.fromkeys(split_of(row["id"]) for _, row in lines if isinstance(row, dict))
    return {row["id"]: row for task, split in both if task for row in source(task, split)}


def _example(task: str) -> str:
    return f'{{"id": "{task}-test-0001", {TASKS[task].answer}}}'


def _of_answer(number: int, row: Mapping[str, Any], text: TaskRow) -> Iterator[SubmissionFault]:
    task = split_of(text["id"])[0]
    for found, remedy in faults_of_answer(row, text):
        yield SubmissionFault(number, found, remedy or f"write {_example(task)}")
    codes = row.get("codes")
    if isinstance(codes, list):
        twice = sorted({str(code) for code in codes if codes.count(code) > 1})
        if twice:
            found = f"{', '.join(islice(twice, 3))} twice"
            yield SubmissionFault(number, found, "a code counts once, at its first place", fatal=False)
        if len(codes) > DEPTH:
            yield SubmissionFault(number, f"{len(codes)} codes", f"the first {DEPTH} count", fatal=False)


def faults_of_answer(row: Mapping[str, Any], text: TaskRow) -> Iterator[Fault]:
    """Say why an answer to a text cannot be scored, and what to do ("": as the example has it)."""
    yield from _FAULTS[split_of(text["id"])[0]](row, text)


def _codes(row: Mapping[str, Any], text: TaskRow) -> Iterator[Fault]:
    codes = row.get("codes")
    if not isinstance(codes, list) or not all(isinstance(code, str) for code in codes):
        yield "codes are no list of strings", ""
        return
    for code in codes:
        if CODE.fullmatch(code) is None:
            like = LIKE_A_CODE.fullmatch(code.strip())
            meant = like and like[1].upper() + (f".{like[2]}" if like[2] else "")
            remedy = f"write {meant}" if meant else "write codes as the classification has them, such as I10.90"
            yield f"the malformed code {code[:ECHOED]!r}", remedy


def _mentions(row: Mapping[str, Any], text: TaskRow) -> Iterator[Fault]:
    spans = row.get("mentions")
    if not isinstance(spans, list) or not all(
        isinstance(one, list) and len(one) == 2 and all(type(place) is int for place in one) for one in spans
    ):
        yield "mentions are no list of [start, end]", ""
        return
    size = len(text["text"])
    for start, end in spans:
        if not 0 <= start < end <= size:
            yield f"the place [{start}, {end}]", f"count code points from 0; this text has {size}"


def _claims(row: Mapping[str, Any], text: TaskRow) -> Iterator[Fault]:
    claims, count = row.get("claims"), len(text["mentions"])
    if not isinstance(claims, list) or len(claims) != count:
        many = len(claims) if isinstance(claims, list) else "no list of"
        yield f"{many} claims", f"write one for each of the {count} mentions, in their order"
        return
    for claim in claims:
        if claim not in CLAIMS:
            yield f"the claim {str(claim)[:ECHOED]!r}", f"take one of {', '.join(CLAIMS)}"


def _fields(row: Mapping[str, Any], text: TaskRow) -> Iterator[Fault]:
    fields, paths = row.get("fields"), FIELDS[text["kind"]]
    if not isinstance(fields, dict):
        yield "fields are no object", ""
        return
    for path, value in fields.items():
        if path not in paths:
            yield f"the field {path[:ECHOED]!r}", f"take fields of {text['kind']}: {', '.join(paths)}"
        elif path in LISTS and not (isinstance(value, list) and all(isinstance(one, str) for one in value)):
            yield f"{path} is no list of strings", f'write "{path}": ["...", "..."]'
        elif path not in LISTS and not isinstance(value, str | None):
            yield f"{path} is no string", f'write "{path}": "..." or leave it out'


def _supported(row: Mapping[str, Any], text: TaskRow) -> Iterator[Fault]:
    if not isinstance(row.get("supported"), bool):
        yield "supported is neither true nor false", ""


_FAULTS: Final[dict[str, Callable[[Mapping[str, Any], TaskRow], Iterator[Fault]]]] = {
    "wordings": _codes, "typed": _codes, "lists": _codes, "codes": _codes, "notes": _mentions, "claims": _claims,
    "extraction": _fields, "lies": _supported,
}  # fmt: skip
