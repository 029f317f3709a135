"""Boxes and columns of forms: which option of a row is ticked, and which is not.

`[x]` may stand before or behind its option, several in a row; a header of options may have its mark in the line below;
`~~struck~~` options are no options. Whoever fills in a form leaves the others standing: they say nothing.
"""

from __future__ import annotations

import re
from typing import Literal

from clinical.text import SourceText

State = Literal["ticked", "empty"]

_BOX = re.compile(
    r"\[\s?(?P<a>[xX✓✔]?)\s?\]|\((?P<b>[xX✓✔])\)|(?<!\w)\(\s\)|(?P<full>[☒☑■✓✔●])|(?P<none>[☐□◻○])|(?<!\S)_{2,}(?=\s)"
)
_BOX_SIGN = re.compile(r"[\[(☒☑■✓✔●☐□◻○_]")
"""The first characters of a box: cheap to look for, and few lines have one."""
_BARE = re.compile(r"(?<!\S)(?:(?P<full>[xX])|(?P<none>[oO]))(?=\s[^\W\d_])(?P<a>)(?P<b>)")
"""Boxes typed as characters, two or more in a row: `o Notfall   o dringend   x Wahl`."""
_BARE_SIGN = re.compile(r"[xXoO](?<!\S.)(?=\s[^\W\d_])")
_TICK_IN_CELL = re.compile(r"\s*(?:[xX✓✔☒☑■●]|\[\s?[xX✓✔]\s?\]|ja)\s*")
_STRUCK = re.compile(r"~~|[\u0335\u0336]|--(?=\w)|(?<=\w)--")
_YES = re.compile(r"\s*:?\s*ja\b", re.IGNORECASE)
_LABEL_BETWEEN = re.compile(r"(?:\t|\s{3,})[^\W\d_][\w .-]{1,30}:")
"""Another label on the same line: what stands behind it belongs to no box before it."""
LONGEST_LINE = 400
"""Characters of a line that may be a row of a form; of a longer one only this much is read."""


def state_of(source: SourceText, place: range) -> State | None:
    """State of the option's box at these tokens, ticked or empty; None where it has no box."""
    first, last = source.start[place[-1]], source.end[place[-1]]
    start = max(source.text.rfind("\n", 0, source.start[place[0]]) + 1, first - LONGEST_LINE)
    end = source.text.find("\n", last)
    end = min(end if end >= 0 else len(source.text), last + LONGEST_LINE)
    line = source.text[start:end]
    if _STRUCK.search(source.text, max(start, source.start[place[0]] - 2), min(end, last + 3)):
        return "empty"
    boxes = _boxes(line)
    if boxes:
        return _of_row(line, boxes, first - start, last - start)
    return _of_column(source.text, line, start, first)


def _boxes(line: str) -> list[re.Match[str]]:
    found = list(_BOX.finditer(line)) if _BOX_SIGN.search(line) else []
    bare = list(_BARE.finditer(line)) if not found and _BARE_SIGN.search(line) else []
    return bare if len(bare) > 1 else found


def _of_row(line: str, boxes: list[re.Match[str]], first: int, last: int) -> State | None:
    before = next((box for box in reversed(boxes) if box.end() <= first), None)
    behind = next((box for box in boxes if box.start() >= last), None)
    if behind is not None and _YES.match(line, behind.end()) and not _words(line[last : behind.start()]):
        return _state(behind)  # `Notfall  [ ] ja  [x] nein`
    if _leads(line, boxes):
        if before is None or _LABEL_BETWEEN.search(line, before.end(), first) or _words(line[before.end() : first]) > 3:
            return None
        return _state(before)
    if behind is None or _words(line[last : behind.start()]):
        return None
    return _state(behind)


def _words(text: str) -> int:
    return len(re.findall(r"\w+", text))


def _leads(line: str, boxes: list[re.Match[str]]) -> bool:
    """True if the row's boxes stand before their options: something to tick follows the last one."""
    label_end = line.rfind(":", 0, boxes[0].start()) + 1
    if not _words(line[label_end : boxes[0].start()]):
        return True
    return _words(line[boxes[-1].end() :]) > 0


def _state(box: re.Match[str]) -> State:
    return "ticked" if box["a"] or box["b"] or box["full"] else "empty"


def _of_column(text: str, header: str, start: int, first: int) -> State | None:
    """A header of options with marks in the line below it, cell under cell."""
    below_start = start + len(header) + 1
    end = text.find("\n", below_start)
    below = text[below_start : end if end >= 0 else len(text)][:LONGEST_LINE]
    divided = next((sign for sign in "|\t" if header.count(sign) and header.count(sign) == below.count(sign)), None)
    if divided is None or re.search(r"\w{2,}", below.replace("ja", "").replace("nein", "")):
        return None
    cell = header.count(divided, 0, first - start)
    return "ticked" if _TICK_IN_CELL.fullmatch(below.split(divided)[cell]) else "empty"


def label_before(source: SourceText, place: range) -> str:
    """Label of the row: the text before its first box, or the line above where there is none."""
    first = source.start[place[0]]
    start = source.text.rfind("\n", 0, first) + 1
    line = source.text[max(start, first - LONGEST_LINE) : first]
    box = _BOX.search(line)
    label = line[: box.start()] if box else line
    if _words(label):
        return label
    above = source.text[max(0, start - 120) : max(0, start - 1)]
    return above[above.rstrip().rfind("\n") + 1 :]
