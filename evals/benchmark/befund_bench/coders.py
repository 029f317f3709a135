"""Agreement of two people who marked the same texts: places, claims, codes; the ceiling of what can be measured.

Mentions are paired where they overlap most. Intervals draw authors of the texts: those of shares as all scores here,
that of Cohen's kappa (1960) by the jackknife over authors with Student's t.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .data import BenchmarkError
from .marked import MarkedMention, MarkedText, marked_texts
from .scoring import Measured, ratio, student, words_within

Pair = tuple[MarkedMention, MarkedMention]
Agrees = Callable[[MarkedMention, MarkedMention], bool]


def agreement(first: Sequence[MarkedText], second: Sequence[MarkedText], authors: Sequence[str]) -> dict[str, Measured]:
    """Measure -> value with its interval, without codes where nobody gave any; `authors`: of each text. Raises
    BenchmarkError where a text differs."""
    for number, (one, other) in enumerate(zip(first, second, strict=True), 1):
        if one.text != other.text:
            raise BenchmarkError(f"text {number} is not the same in both files; only marks may differ")
    pairs = [list(_paired(one, other)) for one, other in zip(first, second, strict=True)]
    counts = [(len(one.mentions), len(other.mentions)) for one, other in zip(first, second, strict=True)]
    same = [sum(a[:2] == b[:2] for a, b in own) for own in pairs]
    found = {
        "span_f1": ratio([2 * one for one in same], list(map(sum, counts)), authors),
        "overlap_f1": ratio([2 * len(own) for own in pairs], list(map(sum, counts)), authors),
        "word_f1": _of_words(first, second, authors),
        "claim_same": _share(pairs, authors, lambda a, b: a.claim == b.claim),
        "claim_accepted": _share(pairs, authors, lambda a, b: bool({a.claim, a.second} & {b.claim, b.second} - {None})),
        "claim_kappa": _kappa(pairs, authors),
    }
    coded = [[(a, b) for a, b in own if a.codes and b.codes] for own in pairs]
    if not any(coded):
        return found
    return found | {
        "code_same": _share(coded, authors, lambda a, b: a.codes[0] == b.codes[0]),
        "code_accepted": _share(coded, authors, lambda a, b: bool({*a.codes, *a.also} & {*b.codes, *b.also})),
        "category_same": _share(coded, authors, lambda a, b: a.codes[0][:3] == b.codes[0][:3]),
    }


def second_texts(folder: Path) -> tuple[list[MarkedText], list[tuple[str, int]]]:
    """The texts of every `sN.txt` of a folder, and of each its author and its number among the author's, from 0."""
    texts: list[MarkedText] = []
    places: list[tuple[str, int]] = []
    for file in sorted(folder.glob("s*.txt")):
        lines = file.with_suffix(".ids.tsv").read_text("utf-8").splitlines()
        own = marked_texts(file)
        if len(own) != len(lines):
            raise BenchmarkError(f"{file.name} has {len(own)} texts, {file.stem}.ids.tsv {len(lines)} lines")
        texts += own
        places += [(name, int(number)) for name, number in (line.split("\t") for line in lines)]
    return texts, places


def _paired(one: MarkedText, other: MarkedText) -> Iterator[Pair]:
    """Mentions of both that overlap, each once, the largest overlap first."""
    overlaps = sorted(
        (
            (min(a.end, b.end) - max(a.start, b.start), -x, -y)
            for x, a in enumerate(one.mentions)
            for y, b in enumerate(other.mentions)
            if a.start < b.end and b.start < a.end
        ),
        reverse=True,
    )
    left, right = set[int](), set[int]()
    for _, x, y in overlaps:
        if x not in left and y not in right:
            left.add(x)
            right.add(y)
            yield one.mentions[-x], other.mentions[-y]


def _of_words(first: Sequence[MarkedText], second: Sequence[MarkedText], authors: Sequence[str]) -> Measured:
    sets = [
        [set(words_within(text.text, [(one.start, one.end) for one in text.mentions])) for text in both]
        for both in zip(first, second, strict=True)
    ]
    return ratio([2 * len(a & b) for a, b in sets], [len(a) + len(b) for a, b in sets], authors)


def _share(pairs: Sequence[Sequence[Pair]], authors: Sequence[str], agrees: Agrees) -> Measured:
    told = [(own, name) for own, name in zip(pairs, authors, strict=True) if own]
    right = [sum(agrees(*pair) for pair in own) for own, _ in told]
    return ratio(right, [len(own) for own, _ in told], [name for _, name in told])


def _kappa(pairs: Sequence[Sequence[Pair]], authors: Sequence[str]) -> Measured:
    names = sorted({a.claim for own in pairs for pair in own for a in pair})
    tables: dict[str, NDArray[np.float64]] = {}
    for own, author in zip(pairs, authors, strict=True):
        table = tables.setdefault(author, np.zeros((len(names), len(names))))
        for a, b in own:
            table[names.index(a.claim), names.index(b.claim)] += 1
    whole = np.sum(list(tables.values()), axis=0)
    value, groups = _of_table(whole), len(tables)
    if groups < 2:
        return round(value, 4), float("nan"), float("nan")
    without = np.array([_of_table(whole - table) for table in tables.values()])
    error = float(np.sqrt((groups - 1) / groups * np.square(without - without.mean()).sum()))
    half = student(groups - 1) * error
    return round(value, 4), round(value - half, 4), round(min(1.0, value + half), 4)


def _of_table(table: NDArray[np.float64]) -> float:
    shares = table / table.sum()
    chance = float(shares.sum(axis=0) @ shares.sum(axis=1))
    return (float(np.trace(shares)) - chance) / (1 - chance) if chance < 1 else 1.0
