"""Training of the model of a letter's question (`clinical.letters.question_of`) on annotated letters.

A statement asks where half of it is marked as the question, or half of the question stands in it. What is optional is
not learned. Measured by `python -m catalog_build statements --measure`: every author by a model of the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from catalog_build.training.letters import LabelledLetter
from catalog_build.training.statements import MOSTLY, STRENGTH, moved, regression
from clinical.letters import HashedRegression, LetterLayout, StatementFeatures, asking, question_rows, statements_of

FIELD: Final = "fragestellung"


class QuestionLesson(NamedTuple):
    """The statements of a letter: features of each, whether it asks, and whether that is learned, both (n,)."""

    rows: list[list[int]]
    asks: NDArray[np.bool_]
    learned: NDArray[np.bool_]


def question_lesson(letter: LabelledLetter) -> QuestionLesson | None:
    """A letter as a lesson; None where its layout moved its columns, so that no place is known any more."""
    sheet = LetterLayout(letter.text)
    places = moved(letter.text, sheet.text)
    if places is None:
        return None
    found = statements_of(sheet)
    asks, optional = np.zeros((2, len(found)), dtype=np.bool_)
    for value in (one for one in letter.values if one.field == FIELD):
        start, end = places[value.start], places[value.end - 1] + 1
        for n, one in enumerate(found):
            shared = min(end, one.start + len(one.text)) - max(start, one.start)
            if shared >= MOSTLY * min(len(one.text), end - start):
                (optional if value.optional else asks)[n] = True
    features = StatementFeatures(sheet, found, letter.data["dokument"]["datum"])
    return QuestionLesson(question_rows(features, features.rows(), letter.kind), asks, asks | ~optional)


def train_questions(letters: Iterable[LabelledLetter]) -> HashedRegression:
    """The model of annotated letters."""
    return _fitted([one for one in map(question_lesson, letters) if one is not None])


def _fitted(lessons: Sequence[QuestionLesson]) -> HashedRegression:
    asks = np.concatenate([one.asks for one in lessons])[:, None]
    learned = np.concatenate([one.learned for one in lessons])[:, None]
    return regression([row for one in lessons for row in one.rows], asks, learned, STRENGTH)


def questions_left_out(authors: Mapping[str, Sequence[LabelledLetter]]) -> tuple[int, int, int]:
    """Right, wrong and missing questions, each author judged by a model of the others: right where the likeliest
    statement is one that was marked."""
    lessons = {
        name: [one for one in map(question_lesson, letters) if one is not None] for name, letters in authors.items()
    }
    right = wrong = missing = 0
    for name, own in lessons.items():
        model = _fitted([one for other, those in lessons.items() if other != name for one in those])
        for one in own:
            likely = model.judge(one.rows)[:, 0]
            said = bool(asking(likely))
            is_right = said and bool(one.asks[likely.argmax()])
            right += is_right
            wrong += said and not is_right and bool(one.learned[likely.argmax()])
            missing += bool(one.asks.any()) and not is_right
    return right, wrong, missing
