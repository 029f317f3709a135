"""Training of the model of a letter's statements (`clinical.letters.StatementFeatures`) on annotated letters.

A statement belongs to a list where the author marked an entry in it; to the plans where most of it is marked. What is
optional is not learned. Measured by `python -m catalog_build statements --measure`: every author by a model that has
not seen them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from catalog_build.training.letters import LabelledLetter
from clinical.letters import LIKELY, LISTS, ROWS, HashedRegression, LetterLayout, StatementFeatures, statements_of

STRENGTH: Final = 0.5
"""Inverse of the penalty on large weights."""
MOSTLY: Final = 0.5
"""Share of a statement that is marked as a plan from which it is one."""


class StatementLesson(NamedTuple):
    """The statements of a letter: features of each, right lists and whether they are learned, both (n, lists)."""

    rows: tuple[tuple[int, ...], ...]
    right: NDArray[np.bool_]
    learned: NDArray[np.bool_]


def lesson(letter: LabelledLetter) -> StatementLesson | None:
    """A letter as a lesson; None where its layout moved its columns, so that no place is known any more."""
    sheet = LetterLayout(letter.text)
    places = moved(letter.text, sheet.text)
    if places is None:
        return None
    found = statements_of(sheet)
    right = np.zeros((len(found), len(LISTS)), dtype=np.bool_)
    learned = np.ones_like(right)
    for value in letter.values:
        if value.field not in LISTS:
            continue
        column, start, end = LISTS.index(value.field), places[value.start], places[value.end - 1] + 1
        for n, one in enumerate(found):
            shared = min(end, one.start + len(one.text)) - max(start, one.start)
            if shared <= 0:
                continue
            belongs = shared >= MOSTLY * len(one.text) if value.field == "procedere" else shared >= (end - start) / 2
            if belongs and not value.optional:
                right[n, column] = True
            elif not right[n, column]:
                learned[n, column] = False
    learned |= right
    rows = StatementFeatures(sheet, found, letter.data["dokument"]["datum"]).rows()
    return StatementLesson(tuple(map(tuple, rows)), right, learned)


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


def train_statements(letters: Iterable[LabelledLetter]) -> HashedRegression:
    """The model of annotated letters."""
    return _fitted([one for one in map(lesson, letters) if one is not None])


def _fitted(lessons: Sequence[StatementLesson]) -> HashedRegression:
    right = np.concatenate([one.right for one in lessons])
    learned = np.concatenate([one.learned for one in lessons])
    return regression([row for one in lessons for row in one.rows], right, learned, STRENGTH)


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


def left_out(authors: Mapping[str, Sequence[LabelledLetter]]) -> dict[str, tuple[int, int, int]]:
    """Right, wrong and missing statements of each list, each author judged by a model of the others."""
    lessons = {name: [one for one in map(lesson, letters) if one is not None] for name, letters in authors.items()}
    sums = {name: [0, 0, 0] for name in LISTS}
    for name, own in lessons.items():
        model = _fitted([one for other, those in lessons.items() if other != name for one in those])
        for one in own:
            likely = model.judge(one.rows)
            for column, known in enumerate(LISTS):
                kept = one.learned[:, column]
                said, right = likely[kept, column] >= LIKELY[known], one.right[kept, column]
                for at, count in enumerate((said & right, said & ~right, ~said & right)):
                    sums[known][at] += int(count.sum())
    return {name: (right, wrong, missing) for name, (right, wrong, missing) in sums.items()}
