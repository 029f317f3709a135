"""Training of the models of a letter's statements, question and parts of entries on annotated letters.

A statement belongs to a list where the author marked an entry in it; to the plans where most of it is marked
(`clinical.letters.StatementFeatures`). It asks where half of it is marked as the question, or half of the question
stands in it (`question_of`). A part of an entry among diagnoses begins one where a mark begins in it (`part_features`).
What is optional is not learned. Measured by `python -m catalog_build statements --measure`: every author by a model of
the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from catalog_build.training.letters import LabelledLetter, LabelledValue
from clinical.letters import (
    BEGINS,
    LIKELY,
    LISTS,
    ROWS,
    HashedRegression,
    LetterLayout,
    RulesReader,
    StatementFeatures,
    asking,
    entry_parts,
    part_features,
    question_rows,
    statements_of,
)

STRENGTH: Final = 0.5
"""Inverse of the penalty on large weights."""
PARTS_STRENGTH: Final = 1.0
"""The same of parts."""
MOSTLY: Final = 0.5
"""Share of a statement that is marked as a plan from which it is one."""
Authors = Mapping[str, Sequence[LabelledLetter]]


class Lesson(NamedTuple):
    """The statements of a letter, or the parts of its entries: hashed features of each, right classes and whether they
    are learned, both (n, classes)."""

    rows: Sequence[Sequence[int]]
    right: NDArray[np.bool_]
    learned: NDArray[np.bool_]


LessonOf = Callable[[LabelledLetter], Lesson | None]


class PlacedStatements(NamedTuple):
    """The statements of a letter with their features, and for each code point of the letter its place in its layout."""

    features: StatementFeatures
    places: Sequence[int]

    @classmethod
    def of(cls, letter: LabelledLetter) -> PlacedStatements | None:
        """None where the layout moved the letter's columns, so that no place is known any more."""
        sheet = LetterLayout(letter.text)
        places = moved(letter.text, sheet.text)
        if places is None:
            return None
        return cls(StatementFeatures(sheet, statements_of(sheet), letter.data["dokument"]["datum"]), places)

    def shared(self, value: LabelledValue) -> Iterator[tuple[int, int, int, int]]:
        """Of each statement that a value stands in: its number, its length, the value's, and what they share."""
        start, end = self.places[value.start], self.places[value.end - 1] + 1
        for n, one in enumerate(self.features.statements):
            shared = min(end, one.start + len(one.text)) - max(start, one.start)
            if shared > 0:
                yield n, len(one.text), end - start, shared


def lesson(letter: LabelledLetter) -> Lesson | None:
    """The statements of a letter, with the lists as classes; None where no place of it is known."""
    placed = PlacedStatements.of(letter)
    if placed is None:
        return None
    right = np.zeros((len(placed.features.statements), len(LISTS)), dtype=np.bool_)
    learned = np.ones_like(right)
    for value in letter.values:
        if value.field not in LISTS:
            continue
        column = LISTS.index(value.field)
        for n, length, size, shared in placed.shared(value):
            belongs = shared >= MOSTLY * length if value.field == "procedere" else shared >= size / 2
            if belongs and not value.optional:
                right[n, column] = True
            elif not right[n, column]:
                learned[n, column] = False
    learned |= right
    return Lesson(placed.features.rows(), right, learned)


def train_statements(letters: Iterable[LabelledLetter]) -> HashedRegression:
    """The model of annotated letters."""
    return fitted(known(lesson, letters))


def left_out(authors: Authors) -> dict[str, NDArray[np.int64]]:
    """(3,): right, wrong and missing statements of each list, each author judged by a model of the others."""
    sums = {name: np.zeros(3, dtype=np.int64) for name in LISTS}
    for model, one in by_others(authors, lesson):
        likely = model.judge(one.rows)
        for column, field in enumerate(LISTS):
            kept = one.learned[:, column]
            said, right = likely[kept, column] >= LIKELY[field], one.right[kept, column]
            sums[field] += [(said & right).sum(), (said & ~right).sum(), (~said & right).sum()]
    return sums


# --- the question -----------------------------------------------------------------------------------------------------


def question_lesson(letter: LabelledLetter) -> Lesson | None:
    """The statements of a letter, which ask or do not; None where no place of it is known."""
    placed = PlacedStatements.of(letter)
    if placed is None:
        return None
    asks, optional = np.zeros((2, len(placed.features.statements), 1), dtype=np.bool_)
    for value in (one for one in letter.values if one.field == "fragestellung"):
        for n, length, size, shared in placed.shared(value):
            if shared >= MOSTLY * min(length, size):
                (optional if value.optional else asks)[n] = True
    features = placed.features
    return Lesson(question_rows(features, features.rows(), letter.kind), asks, asks | ~optional)


def train_questions(letters: Iterable[LabelledLetter]) -> HashedRegression:
    """The model of annotated letters."""
    return fitted(known(question_lesson, letters))


def questions_left_out(authors: Authors) -> tuple[int, int, int]:
    """Right, wrong and missing questions, each author judged by a model of the others: right where the likeliest
    statement is one that was marked."""
    right = wrong = missing = 0
    for model, one in by_others(authors, question_lesson):
        likely = model.judge(one.rows)[:, 0]
        said = bool(asking(likely))
        is_right = said and bool(one.right[likely.argmax()])
        right += is_right
        wrong += said and not is_right and bool(one.learned[likely.argmax()])
        missing += bool(one.right.any()) and not is_right
    return right, wrong, missing


# --- parts of entries -------------------------------------------------------------------------------------------------


def part_lesson(letter: LabelledLetter) -> Lesson | None:
    """The parts of a letter's entries under headings of diagnoses, in which one begins or not; None where it has none,
    or the layout moved its columns."""
    reader = RulesReader(letter.text)
    sheet = reader.sheet
    places = moved(letter.text, sheet.text)
    if places is None:
        return None
    marks = [
        (places[value.start], places[value.end - 1] + 1, value.optional)
        for value in letter.values
        if value.field == "diagnosen"
    ]
    bare = [at for at, char in enumerate(sheet.text) if not char.isspace()]
    text = "".join(sheet.text[at] for at in bare)
    rows, begins = list[list[int]](), list[bool]()
    for section in (one for one in sheet.sections if one.field == "diagnosen"):
        begun = int(np.searchsorted(bare, sheet.starts[section.at]))
        for entry, listed in reader.lists.listed(section):
            found = text.find("".join(entry.split()), begun)
            parts = entry_parts(entry)
            if found < 0 or len(parts) < 2:
                continue
            at = np.cumsum([not char.isspace() for char in entry]) - 1 + found
            for row, (start, end) in zip(part_features(entry, parts, listed), parts, strict=True):
                first, last = bare[at[start]], bare[at[end - 1]]
                inside = [mark for mark in marks if mark[0] <= last and mark[1] > first]
                if not any(optional for _, _, optional in inside):
                    rows.append(row)
                    begins.append(any(begun >= first - 1 for begun, _, _ in inside))
    right = np.array(begins)[:, None]
    return Lesson(rows, right, np.ones_like(right)) if rows else None


def train_parts(letters: Iterable[LabelledLetter]) -> HashedRegression:
    """The model of the parts of annotated entries."""
    return fitted(known(part_lesson, letters), PARTS_STRENGTH)


def parts_left_out(authors: Authors) -> tuple[int, int]:
    """(right, all) parts, each author judged by a model of the others."""
    parts = by_others(authors, part_lesson, PARTS_STRENGTH)
    right = [said for model, one in parts for said in ((model.judge(one.rows) >= BEGINS) == one.right).flat]
    return sum(right), len(right)


# --- of all three -----------------------------------------------------------------------------------------------------


def known(lesson_of: LessonOf, letters: Iterable[LabelledLetter]) -> list[Lesson]:
    """The lessons of letters, without those of which no place is known."""
    return [one for one in map(lesson_of, letters) if one is not None]


def by_others(
    authors: Authors, lesson_of: LessonOf, strength: float = STRENGTH
) -> Iterator[tuple[HashedRegression, Lesson]]:
    """Each lesson with a model of the other authors'."""
    lessons = {name: known(lesson_of, letters) for name, letters in authors.items()}
    for name, own in lessons.items():
        if own:
            model = fitted([one for other, those in lessons.items() if other != name for one in those], strength)
            yield from ((model, one) for one in own)


def moved(text: str, straightened: str) -> list[int] | None:
    """For each code point its place in the straightened text; None where more than spaces changed."""
    before = [at for at, char in enumerate(text) if not char.isspace()]
    behind = [at for at, char in enumerate(straightened) if not char.isspace()]
    if len(before) != len(behind):
        return None
    places = [0] * (len(text) + 1)
    for old, new in zip(before, behind, strict=True):
        places[old] = new
    return places


def fitted(lessons: Sequence[Lesson], strength: float = STRENGTH) -> HashedRegression:
    """A logistic regression for each class."""
    rows = [row for one in lessons for row in one.rows]
    right, learned = (np.concatenate(parts) for parts in zip(*(one[1:] for one in lessons), strict=True))
    every = np.concatenate([np.array(row, dtype=np.int32) for row in rows])
    ends = np.cumsum([0, *map(len, rows)])
    seen = csr_matrix((np.ones(len(every), dtype=np.float32), every, ends), shape=(len(rows), ROWS))
    weights = np.zeros((ROWS, right.shape[1]), dtype=np.float32)
    for column in range(right.shape[1]):
        kept = learned[:, column]
        model = LogisticRegression(C=strength, solver="liblinear", fit_intercept=False, max_iter=200)
        weights[:, column] = model.fit(seen[kept], right[kept, column]).coef_[0]
    return HashedRegression(weights)
