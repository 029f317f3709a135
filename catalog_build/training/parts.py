"""Training of the model of an entry's parts (`clinical.letters.part_features`) on annotated letters.

A part of an entry among diagnoses begins one where a mark begins in it. What is optional is not learned. Measured by
`python -m catalog_build statements --measure`: every author by a model of the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from catalog_build.training.letters import LabelledLetter
from catalog_build.training.statements import moved, regression
from clinical.letters import BEGINS, HashedRegression, RulesReader, entry_parts, part_features

STRENGTH: Final = 1.0
"""Inverse of the penalty on large weights."""
FIELD: Final = "diagnosen"


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
        if value.field == FIELD
    ]
    bare = [at for at, char in enumerate(sheet.text) if not char.isspace()]
    text = "".join(sheet.text[at] for at in bare)
    for section in (one for one in reader.lists.sections if one.field == FIELD):
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
    return regression([one.row for one in every], right, np.ones_like(right), STRENGTH)


def parts_left_out(authors: Mapping[str, Sequence[LabelledLetter]]) -> tuple[int, int]:
    """(right, all) parts, each author judged by a model of the others."""
    lessons = {name: [one for letter in letters for one in part_lessons(letter)] for name, letters in authors.items()}
    right = every = 0
    for name, own in lessons.items():
        if not own:
            continue
        model = train_parts(one for other, those in lessons.items() if other != name for one in those)
        said = model.judge([one.row for one in own])[:, 0] >= BEGINS
        right += int((said == [one.begins for one in own]).sum())
        every += len(own)
    return right, every
