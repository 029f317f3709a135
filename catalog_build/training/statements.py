"""Training of the models of a letter's statements, question and parts of entries on annotated letters.

A statement belongs to a list where the author marked an entry in it; to the plans where most of it is marked
(`clinical.letters.StatementFeatures`). It asks where half of it is marked as the question, or half of the question
stands in it (`question_of`). A part of an entry among diagnoses begins one where a mark begins in it (`part_features`).
What is optional is not learned. Measured by `python -m catalog_build statements --measure`: every author by a model of
the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeVar

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
Lesson = TypeVar("Lesson")
Authors = Mapping[str, Sequence[LabelledLetter]]


class StatementLesson(NamedTuple):
    """The statements of a letter: features of each, right lists and whether they are learned, both (n, lists)."""

    rows: tuple[tuple[int, ...], ...]
    right: NDArray[np.bool_]
    learned: NDArray[np.bool_]


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


def lesson(letter: LabelledLetter) -> StatementLesson | None:
    """A letter as a lesson; None where no place of it is known."""
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
    return StatementLesson(tuple(map(tuple, placed.features.rows())), right, learned)


def train_statements(letters: Iterable[LabelledLetter]) -> HashedRegression:
    """The model of annotated letters."""
    return _of_statements(known(lesson, letters))


def _of_statements(lessons: Sequence[StatementLesson]) -> HashedRegression:
    right = np.concatenate([one.right for one in lessons])
    learned = np.concatenate([one.learned for one in lessons])
    return regression([row for one in lessons for row in one.rows], right, learned, STRENGTH)


def left_out(authors: Authors) -> dict[str, tuple[int, int, int]]:
    """Right, wrong and missing statements of each list, each author judged by a model of the others."""
    sums = {name: [0, 0, 0] for name in LISTS}
    for model, one in by_others(authors, lambda letters: known(lesson, letters), _of_statements):
        likely = model.judge(one.rows)
        for column, field in enumerate(LISTS):
            kept = one.learned[:, column]
            said, right = likely[kept, column] >= LIKELY[field], one.right[kept, column]
            for at, count in enumerate((said & right, said & ~right, ~said & right)):
                sums[field][at] += int(count.sum())
    return {name: (right, wrong, missing) for name, (right, wrong, missing) in sums.items()}


# --- the question -----------------------------------------------------------------------------------------------------


class QuestionLesson(NamedTuple):
    """The statements of a letter: features of each, whether it asks, and whether that is learned, both (n,)."""

    rows: list[list[int]]
    asks: NDArray[np.bool_]
    learned: NDArray[np.bool_]


def question_lesson(letter: LabelledLetter) -> QuestionLesson | None:
    """A letter as a lesson; None where no place of it is known."""
    placed = PlacedStatements.of(letter)
    if placed is None:
        return None
    asks, optional = np.zeros((2, len(placed.features.statements)), dtype=np.bool_)
    for value in (one for one in letter.values if one.field == "fragestellung"):
        for n, length, size, shared in placed.shared(value):
            if shared >= MOSTLY * min(length, size):
                (optional if value.optional else asks)[n] = True
    features = placed.features
    return QuestionLesson(question_rows(features, features.rows(), letter.kind), asks, asks | ~optional)


def train_questions(letters: Iterable[LabelledLetter]) -> HashedRegression:
    """The model of annotated letters."""
    return _of_questions(known(question_lesson, letters))


def _of_questions(lessons: Sequence[QuestionLesson]) -> HashedRegression:
    asks = np.concatenate([one.asks for one in lessons])[:, None]
    learned = np.concatenate([one.learned for one in lessons])[:, None]
    return regression([row for one in lessons for row in one.rows], asks, learned, STRENGTH)


def questions_left_out(authors: Authors) -> tuple[int, int, int]:
    """Right, wrong and missing questions, each author judged by a model of the others: right where the likeliest
    statement is one that was marked."""
    right = wrong = missing = 0
    for model, one in by_others(authors, lambda letters: known(question_lesson, letters), _of_questions):
        likely = model.judge(one.rows)[:, 0]
        said = bool(asking(likely))
        is_right = said and bool(one.asks[likely.argmax()])
        right += is_right
        wrong += said and not is_right and bool(one.learned[likely.argmax()])
        missing += bool(one.asks.any()) and not is_right
    return right, wrong, missing


# --- parts of entries -------------------------------------------------------------------------------------------------


class PartLesson(NamedTuple):
    """A part of an entry: its hashed features, and whether a diagnosis begins in it."""

    row: list[int]
    begins: bool


def part_lessons(letter: LabelledLetter) -> Iterator[PartLesson]:
    """The parts of a letter's entries under headings of diagnoses; none where the layout moved its columns."""
    reader = RulesReader(letter.text)
    sheet = reader.sheet
    places = moved(letter.text, sheet.text)
    if places is None:
        return
    marks = [
        (places[value.start], places[value.end - 1] + 1, value.optional)
        for value in letter.values
        if value.field == "diagnosen"
    ]
    bare = [at for at, char in enumerate(sheet.text) if not char.isspace()]
    text = "".join(sheet.text[at] for at in bare)
    for section in (one for one in reader.lists.sections if one.field == "diagnosen"):
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
                    yield PartLesson(row, any(begun >= first - 1 for begun, _, _ in inside))


def train_parts(lessons: Iterable[PartLesson]) -> HashedRegression:
    """The model of the parts of annotated entries."""
    every = list(lessons)
    right = np.array([[one.begins] for one in every])
    return regression([one.row for one in every], right, np.ones_like(right), PARTS_STRENGTH)


def parts_left_out(authors: Authors) -> tuple[int, int]:
    """(right, all) parts, each author judged by a model of the others."""
    parts = by_others(authors, lambda letters: [one for each in letters for one in part_lessons(each)], train_parts)
    right = [(model.judge([one.row])[0, 0] >= BEGINS) == one.begins for model, one in parts]
    return sum(right), len(right)


# --- of all three -----------------------------------------------------------------------------------------------------


def known(lesson_of: Callable[[LabelledLetter], Lesson | None], letters: Iterable[LabelledLetter]) -> list[Lesson]:
    """The lessons of letters, without those of which no place is known."""
    return [one for one in map(lesson_of, letters) if one is not None]


def by_others(
    authors: Authors,
    lessons_of: Callable[[Sequence[LabelledLetter]], list[Lesson]],
    fitted: Callable[[Sequence[Lesson]], HashedRegression],
) -> Iterator[tuple[HashedRegression, Lesson]]:
    """Each lesson with a model of the other authors'."""
    lessons = {name: lessons_of(letters) for name, letters in authors.items()}
    for name, own in lessons.items():
        if own:
            model = fitted([one for other, those in lessons.items() if other != name for one in those])
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


def regression(
    rows: Sequence[Sequence[int]], right: NDArray[np.bool_], learned: NDArray[np.bool_], strength: float
) -> HashedRegression:
    """A logistic regression for each class: hashed features of the items (n), and which items are right for each class
    and learned from, both (n, classes)."""
    seen = matrix(rows)
    weights = np.zeros((ROWS, right.shape[1]), dtype=np.float32)
    for column in range(right.shape[1]):
        kept = learned[:, column]
        fitted = LogisticRegression(C=strength, solver="liblinear", fit_intercept=False, max_iter=200)
        fitted.fit(seen[kept], right[kept, column])
        weights[:, column] = fitted.coef_[0]
    return HashedRegression(weights)


def matrix(rows: Sequence[Sequence[int]]) -> csr_matrix:
    """Hashed features as a sparse matrix (statements, ROWS)."""
    ends = np.cumsum([0, *map(len, rows)])
    every = np.concatenate([np.array(row, dtype=np.int32) for row in rows])
    return csr_matrix((np.ones(len(every), dtype=np.float32), every, ends), shape=(len(rows), ROWS))
