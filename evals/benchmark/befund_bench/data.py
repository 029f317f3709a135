"""Texts of the benchmark: rows of `DATA/<task>-<split>.jsonl`, with answers, which are hashed in the split test.

A row has `id`, `author`, `text`, what else the task gives (`mentions`, `kind`, `path`, `value`) and `answer`. In test
every word of an answer is a digest, salted with the id of its text: whoever scores hashes what was submitted.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from .tasks import SPLITS, TASKS

HERE: Final = Path(__file__).resolve().parent
DATA: Final = HERE / "data"
CARD: Final = HERE / "card.json"
DIGITS: Final = 12
"""Hexadecimal digits kept of a digest: two answers of one text never meet."""
TRIED: Final = 6
"""Texts of a trial of one task."""

TaskRow = dict[str, Any]
Key = Callable[[str], str]


class BenchmarkError(ValueError):
    """Something that was given is not as it has to be; the message says what was found and what to do."""


def texts(task: str, split: str, folder: Path = DATA) -> list[TaskRow]:
    """The rows of a task and split. Raises BenchmarkError for a name that is none, or where the data are not there."""
    if task not in TASKS or split not in SPLITS:
        raise BenchmarkError(f"no texts of {task!r}, {split!r}; tasks: {', '.join(TASKS)}; splits: {', '.join(SPLITS)}")
    try:
        lines = (folder / f"{task}-{split}.jsonl").read_text("utf-8").splitlines()
    except FileNotFoundError:
        raise BenchmarkError(f"no data in {folder}; install the package, or name the folder of its data") from None
    return [json.loads(line) for line in lines]


def tried(rows: Sequence[TaskRow]) -> list[TaskRow]:
    """TRIED rows from all over a task."""
    return list(rows[:: max(1, len(rows) // TRIED)][:TRIED])


def card() -> dict[str, Any]:
    """The card: version, tasks, checksums, authors, faults, what a second coder agreed to."""
    found: dict[str, Any] = json.loads(CARD.read_text("utf-8"))
    return found


def checked(folder: Path = DATA) -> list[str]:
    """Names of files that are not those of the card."""
    files: Mapping[str, str] = card()["sha256"]
    there = {path.name: digest_of(path) for path in folder.glob("*.jsonl")}
    return [name for name in sorted({*files, *there}) if files.get(name) != there.get(name)]


def digest_of(path: Path) -> str:
    """The SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def split_of(ident: str) -> tuple[str, str]:
    """Task and split of the id of a text; empty strings for one that is none."""
    task, _, rest = ident.partition("-")
    split, _, _ = rest.partition("-")
    return (task, split) if task in TASKS and split in SPLITS else ("", "")


def key_of(row: TaskRow) -> Key:
    """The function that writes a word of an answer as the row has it: plain, or hashed."""
    return (lambda word: hashed(row["id"], word)) if split_of(row["id"])[1] == "test" else str


def hashed(ident: str, word: str) -> str:
    """The digest of a word of the answer to a text."""
    return hashlib.sha256(f"{ident}|{word}".encode()).hexdigest()[:DIGITS]


def words_of(text: str) -> list[str]:
    """Words alone, in lower case: how values of fields are compared."""
    return re.findall(r"\w+", text.casefold())
