"""The statements of a letter - sentences and items of its lists - and the lists that each belongs to.

A statement belongs to a list by its words, its marks (dose, day, name of a procedure or disease), the heading above it,
its neighbours and its place in the letter: a logistic regression for each list over hashed features, learned from
annotated letters (`catalog_build.training.statements`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Final

import numpy as np
from numpy.typing import NDArray

from clinical.claims import Claim, Reading
from clinical.letters.labels import key
from clinical.letters.layout import HeadedLines, LetterLayout, marked
from clinical.letters.reader.diseases import has_disease
from clinical.letters.reader.drugs import STRICT_DRUG, is_dosed
from clinical.letters.reader.entries import announces, names_procedure, recommends
from clinical.letters.reader.hashed import ReaderModels, hashed, shipped
from clinical.letters.reader.sentences import sentences
from clinical.text import dates_of

LISTS: Final = ("diagnosen", "medikation", "eingriffe", "procedere")
"""The lists of a letter, in the order of the columns of what the model says."""
STATEMENTS: Final = "statements.safetensors"
SHORTEST: Final = 3
"""Characters of a statement that is read: marks of a list and lines of one letter say nothing."""
LONGEST: Final = 700
"""Characters of a statement that is read; a longer one is a table or a list without stops."""
_WRAPPED: Final = 40
"""Characters from which a line without a stop may continue in the next one."""
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*|\d+|[?!:;%]")


@dataclass(frozen=True, slots=True)
class LetterStatement:
    """A sentence or an item of a list on one line: its place in the sheet's text, and what stands around it."""

    text: str
    start: int
    line: int
    section: HeadedLines | None
    item: bool
    """True if it has a mark of its own."""
    opens: bool
    """True if it begins its line."""


def statements_of(sheet: LetterLayout) -> list[LetterStatement]:
    """The statements of a letter up to its closing formula, in their order. Linear in its length."""
    return list(_statements(sheet))


def _statements(sheet: LetterLayout) -> Iterator[LetterStatement]:
    heads = {one.at: one for one in sheet.sections}
    section: HeadedLines | None = None
    lines, starts = sheet.lines, sheet.starts
    width, last = _widths(sheet), min(sheet.closing, len(lines))
    first = 0
    for n in range(last):
        section = heads.get(n, section)
        if n + 1 < last and n + 1 not in heads and _goes_on(lines[n], lines[n + 1], width[n]):
            continue
        begun = starts[first] + _headed(lines[first], heads.get(first))
        whole = sheet.text[begun : starts[n] + len(lines[n])].replace("\n", " ")
        at = 0
        for one in sentences(whole):
            at = max(whole.find(one, at), 0)
            if SHORTEST <= len(one) <= LONGEST and any(map(str.isalnum, one)):
                yield LetterStatement(one, begun + at, first, section, marked(lines[first]), not whole[:at].strip())
            at += len(one)
        first = n + 1


def _headed(line: str, head: HeadedLines | None) -> int:
    """Characters of a line that are a known heading and no content."""
    if head is None or not head.known:
        return 0
    return max(line.rfind(head.lines[0]), 0) if head.running else len(line)


def _widths(sheet: LetterLayout) -> list[int]:
    """Of each line the length of the longest of its block."""
    found = [0] * len(sheet.lines)
    for block in sheet.blocks(0, len(sheet.lines)):
        longest = max(len(sheet.lines[n]) for n in block)
        for n in block:
            found[n] = longest
    return found


def _goes_on(line: str, following: str, width: int) -> bool:
    """True if a line was broken there: it has no stop, and the next line's first word would not have fitted."""
    bare = following.split(maxsplit=1)
    if not bare or marked(following) or line.rstrip()[-1:] in ".:!?;" or not line.strip():
        return False
    if len(line) + 1 + len(bare[0]) <= width:
        return False
    return (
        bare[0][0].islower()
        or line.rstrip().endswith((",", "-", " und", "/"))
        or (len(line) >= _WRAPPED and not marked(line) and not is_dosed(line))
    )


# --- features


_CLOCK = re.compile(r"\b\d{1,2}[:.]\d\d\s?(?:h\b|Uhr)|\bUhr\b")


def _forms(text: str) -> Iterator[str]:
    """The names of the marks that a statement has."""
    marks = {
        "op": names_procedure(text),
        "dosed": is_dosed(text),
        "drug": STRICT_DRUG.match(text) is not None,
        "disease": has_disease(text),
        "recommends": recommends(text),
        "announces": announces(text),
        "stop": text.endswith("."),
        "asks": text.endswith("?"),
        "heads": text.endswith(":"),
        "lower": text[:1].islower(),
        "digit": text[:1].isdigit(),
        "clock": _CLOCK.search(text) is not None,
    }
    return (name for name, has_mark in marks.items() if has_mark)


_SIZES: Final = (12, 25, 45, 80, 130, 220)
_AWAY: Final = (1, 2, 3, 5, 9, 17)


def _bucket(number: int, bounds: Sequence[int]) -> int:
    return sum(number > one for one in bounds)


class StatementFeatures:
    """The features of the statements of one letter; a word's own are made once."""

    def __init__(self, sheet: LetterLayout, statements: Sequence[LetterStatement], written: str | None) -> None:
        self.sheet, self.statements, self.written = sheet, statements, written
        self._known: dict[str, list[str]] = {}
        self._empty = [0, *accumulate(not line.strip() for line in sheet.lines)]  # lines before each that are empty

    def rows(self) -> list[list[int]]:
        """Of each statement the numbers of its hashed features, each once."""
        own, marks = [self._words(one.text) for one in self.statements], self.marks
        found = []
        for n in self.sheet.budget.each(range(len(self.statements))):
            names = [*own[n], *marks[n], *self._around(n, marks[n])]
            for sign, beside in (("<", n - 1), (">", n + 1)):
                if 0 <= beside < len(own):
                    names += [sign + name for name in (*own[beside][:_BESIDE], *marks[beside])]
                else:
                    names.append(f"{sign}none")
            found.append(hashed(names))
        return found

    @cached_property
    def marks(self) -> list[list[str]]:
        """Of each statement the names of its marks, with its length and the time of its days."""
        return [self._marks(one.text) for one in self.sheet.budget.each(self.statements)]

    def _words(self, text: str) -> list[str]:
        found: list[str] = []
        before = "^"
        for word in _WORD.findall(text.lower()):
            word = "0" if word.isdigit() else word
            if word not in self._known:
                self._known[word] = [f"w {word}", *([f"p {word[:5]}", f"s {word[-4:]}"] if len(word) > 5 else [])]
            found += self._known[word]
            found.append(f"b {before} {word[:6]}")
            before = word[:6]
        return found

    def _marks(self, text: str) -> list[str]:
        found = [f"f {name}" for name in _forms(text)]
        found.append(f"size {_bucket(len(text), _SIZES)}")
        days = [day for one in dates_of(text) if (day := one.iso())]
        if days and self.written:
            found.append("f ahead" if max(days) > self.written else "f before")
        elif days:
            found.append("f dated")
        return found

    def _around(self, n: int, marks: Sequence[str]) -> Iterator[str]:
        one = self.statements[n]
        yield f"item {one.item} {one.opens}"
        yield "bias"
        greeting, closing = self.sheet.greeting, max(self.sheet.closing, 1)
        yield f"greeted {one.line > greeting if greeting < len(self.sheet.lines) else None}"
        yield f"place {10 * one.line // closing}"
        yield f"left {_bucket(len(self.statements) - n, _AWAY)}"
        section = one.section
        if section is None:
            yield "section none"
            return
        title = key(section.title)
        yield f"section {section.field} {section.known}"
        yield f"title {title}"
        yield f"title- {title[-7:]}"
        yield f"away {section.field} {_bucket(one.line - section.at, _AWAY)}"
        gaps = self._empty[max(one.line, section.at)] - self._empty[section.at]
        yield f"gaps {section.field} {min(gaps, 3)}"
        yield from (f"{section.field} {mark}" for mark in marks)
        yield f"{section.field} item {one.item}"


_BESIDE: Final = 12
"""Features of words of a neighbour: of its first words."""


# --- the lists of each


LIKELY: Final = {"diagnosen": 0.15, "medikation": 0.1, "eingriffe": 0.1, "procedere": 0.25}
"""Probability from which a statement belongs to a list (`python -m catalog_build statements --measure`)."""


class JudgedStatements:
    """The statements of a letter with the probability of each for each list."""

    def __init__(self, sheet: LetterLayout, written: str | None = None, models: ReaderModels | None = None) -> None:
        self.sheet, self.written = sheet, written
        self.model = models.statements if models else shipped(STATEMENTS, len(LISTS))
        self.parts = models.parts if models else None
        self._readings: dict[int, Reading] = {}

    @cached_property
    def all(self) -> list[LetterStatement]:
        return statements_of(self.sheet)

    @cached_property
    def features(self) -> StatementFeatures:
        return StatementFeatures(self.sheet, self.all, self.written)

    @cached_property
    def rows(self) -> list[list[int]]:
        return self.features.rows()

    @cached_property
    def likely(self) -> NDArray[np.float32]:
        return self.model.judge(self.rows)

    def of(self, name: str) -> Iterator[LetterStatement]:
        """The statements that likely belong to a list."""
        column = self.likely[:, LISTS.index(name)]
        likely = (one for one, each in zip(self.all, column.tolist(), strict=True) if each >= LIKELY[name])
        return self.sheet.budget.each(likely)

    def claim(self, statement: LetterStatement, start: int, end: int) -> Claim:
        """Return the claim of the part of a statement from `start` to `end`."""
        known = self._readings.get(statement.start)
        if known is None:
            known = self._readings[statement.start] = Reading.of(statement.text)
        return known.ruled(start, end)
