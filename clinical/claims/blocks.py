"""Lists below a line that says something of all their items: "Ausgeschlossen wurden:", "Z. n.:", "Kein Hinweis auf"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from clinical.claims.occurrences import Occurrence
from clinical.text import BREAK, COMMA, FUNCTION_WORDS, SourceText, side_of

_HEAD: Final = re.compile(r"[.)]?[ \t]*:[ \t]*\n")
_OPEN_HEAD: Final = re.compile(r"\.?[ \t]*\n")
_ITEM: Final = re.compile(r"\n[ \t]*(?:[-•*·–▪]|\d{1,2}[.)])[ \t]")
_FINISHED: Final = re.compile(r"[.!?;][ \t]*\n")
LEAST: Final = 2
"""Lines without a mark before them that are a list: one alone may be the rest of a wrapped sentence."""
NAME: Final = 4
"""Words of such a line at most."""


def heads_block(source: SourceText, one: Occurrence) -> bool:
    """True if a trigger ends its line, with a colon or by a word behind which something has to follow ("Hinweis auf",
    "Z. n."), and a list of lines stands below it."""
    if not one.cue_tokens or one.last + 1 >= len(source.words):
        return False
    glue = source.glue(one.last + 1)
    open_end = source.words[one.last] in FUNCTION_WORDS and _OPEN_HEAD.match(glue) is not None
    if not open_end and _HEAD.match(glue) is None:
        return False
    return _ITEM.search(glue) is not None or _names_below(source, one.last + 1, LEAST) is not None


def block_below(source: SourceText, one: Occurrence, most: int) -> Iterator[int]:
    """The tokens of that list, at most so many: up to the first line that is no item of it."""
    first = one.last + 1
    stop = min(len(source.words), first + most)
    if _ITEM.search(source.glue(first)) is None:
        yield from range(first, min(stop, _names_below(source, first, 1) or first))
        return
    for i in range(first, stop):
        if "\n" in source.glue(i) and _ITEM.search(source.glue(i)) is None:
            return
        yield i


def _names_below(source: SourceText, first: int, least: int) -> int | None:
    """The token behind the lines from token `first` on that are but a name each, without a mark, a number or a side;
    None where they are fewer than `least`. An empty line, a label and the end of a sentence end them."""
    lines, line = 0, first
    for i in range(first, len(source.words) + 1):
        if i > first and (i == len(source.words) or "\n" in source.glue(i)):
            lines, line = lines + 1, i
            if i == len(source.words) or source.gaps[i] == BREAK or _FINISHED.match(source.glue(i)):
                break
        elif i > first and source.gaps[i] >= COMMA:
            break
        if source.words[i][0] == "#" or side_of(source.words[i]) is not None or i - line >= NAME:
            break
    return line if lines >= least else None
