"""Words on a page as a reader of files finds them, before anybody knows their order."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from clinical.letters.files.page_text import SURE, Box, SheetPage, Turn

Characters = list[tuple[str, Box]]


@dataclass(frozen=True, slots=True)
class Word:
    """A run of characters without space: each with its box, and the box around them all.

    `raised`: points by which the boxes stand higher than on a page that lay askew, so that its lines are level.
    """

    text: str
    boxes: tuple[Box, ...]
    box: Box
    confidence: float = SURE
    raised: float = 0.0

    @property
    def height(self) -> float:
        return self.box.bottom - self.box.top

    @property
    def middle(self) -> float:
        return (self.box.top + self.box.bottom) / 2


class PageWords(NamedTuple):
    """A page with its words, in the order of the file, their boxes on the page as it is read.

    `aside`: the same page turned otherwise, with what stands sideways on it.
    """

    page: SheetPage
    words: list[Word]
    aside: tuple[PageWords, ...] = ()


def by_turn(page: SheetPage, words: Iterable[tuple[Turn, Word]]) -> PageWords:
    """The page as most of its characters are read; the words of other directions aside."""
    found: dict[Turn, list[Word]] = {page.turn: []}
    for turn, word in words:
        found.setdefault(turn, []).append(word)
    parts = [PageWords(replace(page, turn=turn), own) for turn, own in found.items()]
    parts.sort(key=lambda part: -sum(len(word.text) for word in part.words))
    return parts[0]._replace(aside=tuple(part for part in parts[1:] if part.words))


def word_of(characters: Characters, confidence: float = SURE, raised: float = 0.0) -> Word | None:
    """The word of some characters, composed (NFC), ligatures as their letters; None where none can be seen."""
    plain = _composed(characters)
    if not plain:
        return None
    around = plain[0][1]
    for _, box in plain[1:]:
        around = around.joined(box)
    return Word("".join(sign for sign, _ in plain), tuple(box for _, box in plain), around, confidence, raised)


def spread(text: str, box: Box) -> Characters:
    """The characters of a text spread evenly over a box."""
    step = (box.right - box.left) / max(1, len(text))
    return [
        (sign, Box(box.left + n * step, box.top, box.left + (n + 1) * step, box.bottom)) for n, sign in enumerate(text)
    ]


_LIGATURES = {chr(code): unicodedata.normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFB07)}
_SPACING_MARKS = {"\u00a8": "\u0308", "\u00b4": "\u0301", "\u0060": "\u0300", "\u02c6": "\u0302"}
"""Marks that some programs print over a letter, and the same as combining characters."""
_UNSEEN = frozenset("\u00ad\u200b\u200c\u200d\u2060\ufeff\x00")


def _composed(characters: Characters) -> Characters:
    found: Characters = []
    for sign, box in characters:
        if sign in _UNSEEN:
            continue
        if found and (mark := _mark_on(found[-1], sign, box)):
            whole = unicodedata.normalize("NFC", found[-1][0] + mark)
            if len(whole) == 1:
                found[-1] = whole, found[-1][1].joined(box)
                continue
        if sign in _LIGATURES:
            found += spread(_LIGATURES[sign], box)
        else:
            found.append((sign, box))
    return found


def _mark_on(before: tuple[str, Box], sign: str, box: Box) -> str:
    """The combining mark that the sign is on the letter before it; "" where it is none."""
    if unicodedata.combining(sign):
        return sign
    mark = _SPACING_MARKS.get(sign, "")
    over = min(before[1].right, box.right) - max(before[1].left, box.left)
    return mark if mark and over > (box.right - box.left) / 2 else ""
