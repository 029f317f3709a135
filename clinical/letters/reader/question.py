"""The question of a letter: the statements that ask, or that say what was asked.

A statement is judged by the features of `StatementFeatures` and the kind of document, in which the same words ask or
answer, by a logistic regression learned from annotated letters (`catalog_build.training.statements`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from clinical.contract import DocumentType
from clinical.letters.reader.hashed import HashedRegression, hashed, shipped
from clinical.letters.reader.statements import JudgedStatements, LetterStatement, StatementFeatures

QUESTION: Final = "question.safetensors"
ASKS: Final = 0.15
"""Probability from which the likeliest statement is the question (`python -m catalog_build statements --measure`)."""
GOES_ON: Final = 0.5
"""Probability from which a statement beside the likeliest one belongs to it: `Progress? Ansprechen?`"""


_INTRODUCES: Final = re.compile(r"\bgeb(?:\.|oren)\s|\*\s?\d|\d\.\s?(?:19|20)\d\d\b")
"""Form of a sentence with the patient's birth date: it asks less than another that asks as well."""


def question_rows(features: StatementFeatures, rows: Sequence[Sequence[int]], kind: DocumentType) -> list[list[int]]:
    """The rows of the statements' hashed features, with those of the kind of document and of their marks in it."""
    found = []
    for statement, row, marks in zip(features.statements, rows, features.marks, strict=True):
        introduces = _INTRODUCES.search(statement.text) is not None
        names = [f"doc {kind}", f"introduces {introduces}", *(f"doc {kind} {mark}" for mark in marks)]
        found.append(sorted({*row, *hashed(names)}))
    return found


def asking(likely: NDArray[np.float32]) -> range:
    """The numbers of the statements that are the question, of their probabilities; empty where none is likely."""
    if not len(likely) or likely.max() < ASKS:
        return range(0)
    first = last = int(likely.argmax())
    while first > 0 and likely[first - 1] >= GOES_ON:
        first -= 1
    while last + 1 < len(likely) and likely[last + 1] >= GOES_ON:
        last += 1
    return range(first, last + 1)


def question_of(statements: JudgedStatements, kind: DocumentType, model: HashedRegression | None = None) -> str | None:
    """The question of a letter, as it stands there; None where no statement asks. `model`: in place of the shipped."""
    rows = question_rows(statements.features, statements.rows, kind)
    likely = (model or shipped(QUESTION, 1)).judge(rows)[:, 0]
    return _said(statements.all, asking(likely))


def _said(every: Sequence[LetterStatement], asked: range) -> str | None:
    return " ".join(every[n].text for n in asked) or None
