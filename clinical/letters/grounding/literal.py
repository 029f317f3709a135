"""A value given exactly as the text has it, mistakes of a scan included, is evidenced (contract, section 4, rule 3)."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from clinical.text import BLANKS, SourceText, find_pieces, lowered

MOST_PLACES: Final = 50
"""Places of one value that are looked at: a text that repeats one wording more often is made to be slow."""


SHORTEST_SPACED: Final = 5
"""Characters of the shortest word that is read with its characters set apart; fewer are initials."""

_ALONE_BEFORE = re.compile(r"(?<![\w@+-])(?<!\d[.,/ ])")
_ALONE_BEHIND = re.compile(r"(?![\w@]|-\w|['’]\w|[.,/]\d| \d)")
_SET_APART = re.compile(r"[ ]{1,3}")
_SPACED_BEFORE, _SPACED_BEHIND = re.compile(r"(?<!\w)(?<!\w )"), re.compile(r"(?!\w)(?! \w\b)")


@dataclass(frozen=True, slots=True)
class TokenMatch:
    """Tokens `first..last` of the source; `whole`: every token of the value in its place, none left out."""

    first: int
    last: int
    whole: bool


def find_literal(source: SourceText, value: SourceText) -> Iterator[TokenMatch]:
    """Every place (of the first MOST_PLACES) where the value's very characters stand, white space aside.

    It neither begins nor ends inside a word or number, and goes over the end of a line or cell only where the value
    does, where the line is wrapped, or where a number follows.
    """
    for first, last in _places(source, value):
        if _same_lines(source, value, first):
            yield TokenMatch(first, last, whole=True)


def stands_literally(text: str, value: str) -> tuple[int, int] | None:
    """Code points of the first place of a number or name, character for character: nothing ties it to more of its kind.

    For what rules by digits or by name cannot read: `30l3`, `14-DW`, `Dr. rned. Muster`.
    """
    wanted = value.strip()
    pieces = wanted.split()
    if not any(char.isalnum() for char in wanted) or not all(piece in text for piece in pieces):
        return None
    return find_pieces(text, pieces, BLANKS, before=_ALONE_BEFORE, behind=_ALONE_BEHIND)


def stands_spaced(text: str, value: str) -> tuple[int, int] | None:
    """Code points of a word whose characters the text sets apart, one space between each: `Z u w e i s u n g`."""
    wanted = lowered("".join(value.split()))
    if len(wanted) < SHORTEST_SPACED:
        return None
    lower = lowered(text)
    if not all(f" {char} " in lower for char in wanted[1:-1]):
        return None
    return find_pieces(lower, wanted, _SET_APART, before=_SPACED_BEFORE, behind=_SPACED_BEHIND)


def tokens_of(source: SourceText, span: tuple[int, int] | None) -> TokenMatch | None:
    """The tokens of a span of code points."""
    if span is None:
        return None
    first = bisect_left(source.start, span[0])
    last = bisect_left(source.start, span[1]) - 1
    return TokenMatch(first, last, whole=True) if first <= last else None


def _places(source: SourceText, value: SourceText) -> Iterator[tuple[int, int]]:
    """Token numbers (first, last) where the value's tokens follow each other with the value's marks between."""
    size = len(value)
    anchor = min(range(size), key=lambda k: len(source.word_places.get(value.words[k], ())))
    for at in source.word_places.get(value.words[anchor], ())[:MOST_PLACES]:
        first = at - anchor
        if first < 0 or first + size > len(source):
            continue
        if source.words[first : first + size] == value.words and _same_marks(source, value, first):
            yield first, first + size - 1


def _same_marks(source: SourceText, value: SourceText, first: int) -> bool:
    pairs = ((source.glue(first + k), value.glue(k)) for k in range(1, len(value)))
    return all(glue == own or glue.split() == own.split() for glue, own in pairs)


def _same_lines(source: SourceText, value: SourceText, first: int) -> bool:
    for k in range(1, len(value)):
        glue, own = source.glue(first + k), value.glue(k)
        if glue == own or (("\n" in own) >= ("\n" in glue) and ("\t" in own) >= ("\t" in glue)):
            continue
        if "\t" in glue and "\n" not in glue and value.words[k][0] == "#":
            continue
        if "\n" in glue and not source.ends_before(first + k):
            continue
        return False
    return True
