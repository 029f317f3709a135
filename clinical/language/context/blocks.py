"""Lists below a heading that says something of all their items: "Ausgeschlossen wurden:", "Z. n.:", "V. a.:"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from clinical.language.context.occurrences import Occurrence
from clinical.language.tokens import SourceText

_HEAD: Final = re.compile(r"[.)]?[ \t]*:[ \t]*\n")
_ITEM: Final = re.compile(r"\n[ \t]*(?:[-•*·–▪]|\d{1,2}[.)])[ \t]")


def heads_block(source: SourceText, one: Occurrence) -> bool:
    """Whether a trigger ends its line with a colon and a list of lines stands below it."""
    glue = source.glue(one.last + 1) if one.last + 1 < len(source) else ""
    return _HEAD.match(glue) is not None and _ITEM.search(glue) is not None


def block_below(source: SourceText, one: Occurrence, most: int) -> Iterator[int]:
    """The tokens of that list, at most so many: up to the first line that is no item of it."""
    for i in range(one.last + 1, min(len(source), one.last + 1 + most)):
        if "\n" in source.glue(i) and _ITEM.search(source.glue(i)) is None:
            return
        yield i
