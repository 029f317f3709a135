"""Codes as practice systems print them beside diagnoses: "E05.9 A Hyperthyreose", "Gonarthrose (M17.1 GR)".

German outpatient coding adds a letter to a code that says how sure the diagnosis is (G certain, V suspected, Z a state
after it, A excluded) and one for the side (R, L, B: both).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

_WRITTEN: Final = re.compile(
    r"(?<![\w./-])(?P<code>[A-Z]\d{2}(?:\.(?:\d{1,2}|-))?)[+*!#†]?(?![/]|[.,]\d|-\w)"
    r"(?:[)\]]?[ \t]?[,|]?[ \t]?[(\[]?"
    r"(?:(?P<sure>[GVZA])(?:[ \t,]?[RLB])?|[RLB](?:[ \t,]?(?P<surely>[GVZA]))?)[)\]]?(?: ?\|)?"
    r"(?![\w-]|\.[ \t]?[a-zäöüß])|(?!\w))"
)
_BORDER: Final = re.compile(r"[\n;|,]|\.\s")
_LETTER: Final = re.compile(r"[^\W\d_]")


class CodedDiagnosis(NamedTuple):
    """A code of a text and what its letters say; places in code points. `end`: behind the letters; `first`, `stop`: the
    diagnosis as a whole, with its name before or behind the code; `certainty`: G, V, Z, A, or empty."""

    start: int
    behind: int
    end: int
    first: int
    stop: int
    certainty: str


def coded_diagnoses(text: str) -> list[CodedDiagnosis]:
    """Every code that a text spells out, in its order. Its name is what stands beside it up to a border (a line, comma,
    semicolon, sentence or another diagnosis): before it, or else behind it, or else before the comma before it."""
    matches = list(_WRITTEN.finditer(text))
    borders = [match.span() for match in _BORDER.finditer(text)] if matches else []
    begins, ends = [start for start, _ in borders], [end for _, end in borders]
    found: list[CodedDiagnosis] = []
    for match, following in pairwise([*matches, None]):
        assert match is not None  # noqa: S101 - the last one alone is
        start, end = match.start("code"), match.end()
        before, taken = bisect_right(ends, start), found[-1].stop if found else 0
        beside = max(ends[before - 1] if before else 0, taken)
        behind = bisect_right(begins, end - 1)
        stop = min(begins[behind] if behind < len(begins) else len(text), following.start() if following else len(text))
        if _LETTER.search(text, beside, start):
            first, stop = beside, end
        elif _LETTER.search(text, end, stop):
            first = start
        elif before and text[begins[before - 1]] == "," and beside > taken:
            first, stop = max(ends[before - 2] if before > 1 else 0, taken), end
        else:
            first, stop = start, end
        certainty = match["sure"] or match["surely"] or ""
        found.append(CodedDiagnosis(start, match.end("code"), end, first, stop, certainty))
    return found


def coded_at(found: Sequence[CodedDiagnosis], start: int, end: int) -> CodedDiagnosis | None:
    """The diagnosis that a span from `start` to `end` belongs to."""
    at = bisect_right(found, end - 1, key=lambda one: one.first) - 1
    one = found[at] if at >= 0 else None
    return one if one and (one.first <= start < one.stop or one.first < end <= one.stop) else None
