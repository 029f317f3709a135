"""All reviews ever imported into a folder: kept by content, so that importing twice loses and doubles nothing.

`reviews.jsonl` holds a line per review with its id (of text, codes, reviewer and date), and the file and line it came
from. Everything else in the folder is made from it again. A text belongs to the evaluation or to the training for good:
the hash of its words decides, whoever imports what in which order, so that no synonym is measured on itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Final, Literal

from catalog_build.own_synonyms import spelled
from clinical.errors import SourceError
from evals.feedback.reviews import Review
from evals.reports.files import write_text
from evals.reports.intervals import Measure, share

REVIEWS: Final = "reviews.jsonl"
EVALUATED: Final = 4
"""One text in four measures, three may become synonyms: with 400 texts, 100 give a share to about 10 points."""

Side = Literal["training", "evaluation"]


@dataclass(frozen=True, slots=True)
class Kept:
    """A review, the file it was first imported from, and the id of its content."""

    id: str
    file: str
    review: Review

    @property
    def place(self) -> str:
        """Where its line stands, for a person."""
        return f"{self.file}, line {self.review.line}"


def kept(file: str, review: Review) -> Kept:
    """The same content has the same id, in whatever file, line or order of codes it comes."""
    said = [review.query, sorted(review.accepted), sorted(review.rejected), review.reviewer, review.date]
    return Kept(hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16], file, review)


def side_of(text: str) -> Side:
    """By the words alone: two spellings of one text are on one side."""
    number = int(hashlib.sha256(" ".join(spelled(text)).encode()).hexdigest(), 16)
    return "training" if number % EVALUATED else "evaluation"


def read(folder: Path) -> list[Kept]:
    """Every review of the folder, in the order of import; none where nothing was imported yet."""
    path = folder / REVIEWS
    if not path.is_file():
        return []
    try:
        return [_row(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
    except (ValueError, TypeError, KeyError):
        raise SourceError(str(path), None, "is no list of reviews", "the file as written", "restore it") from None


def _row(row: dict[str, Any]) -> Kept:
    said = row["review"]
    codes = {key: tuple(said[key]) for key in ("accepted", "rejected")}
    return Kept(row["id"], row["file"], Review(**said | codes))


def added(before: Sequence[Kept], file: str, reviews: Iterable[Review]) -> list[Kept]:
    """What was there, then the reviews whose content is new."""
    rows = {each.id: each for each in before}
    for review in reviews:
        new = kept(file, review)
        rows.setdefault(new.id, new)
    return list(rows.values())


def write(folder: Path, rows: Iterable[Kept]) -> None:
    """Replace the file in one step."""
    write_text(folder / REVIEWS, "".join(json.dumps(asdict(row), ensure_ascii=False) + "\n" for row in rows))


def agreement(rows: Iterable[Kept]) -> tuple[int, Measure | None]:
    """(pairs of named reviewers who coded the same words, [share with the same codes, low, high]); the last review of
    a person counts."""
    said: dict[tuple[str, ...], dict[str, frozenset[str]]] = {}
    for row in rows:
        if row.review.reviewer:
            said.setdefault(spelled(row.review.query), {})[row.review.reviewer] = frozenset(row.review.accepted)
    pairs = [one == other for own in said.values() for one, other in combinations(own.values(), 2)]
    return len(pairs), share(sum(pairs), len(pairs)) if pairs else None
