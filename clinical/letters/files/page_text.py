"""Text of a file with the page and the box of every character: the one value that all kinds of files become.

Lines are the document's, not the sheet's: what was wrapped is joined, the cells of a table's row stand behind each
other with tabs between them, blocks are set apart by an empty line. Boxes are in points from the top left of the page.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Source = Literal["text", "ocr"]
Turn = Literal[0, 90, 180, 270]
"""Degrees clockwise."""
NO_PAGE = 0
"""SheetPage of a character that stands on none: of a line's end, and of every character of a Word or text file."""
SURE = 1.0
"""Confidence of a character that was not recognised but read."""


@dataclass(frozen=True, slots=True)
class SheetPage:
    """One page: its number from 1, its size in points as it is shown, and whether its text was read or recognised.

    `turn`: how far the page is turned to be read, where it lies sideways or upside down.
    """

    number: int
    width: float
    height: float
    source: Source = "text"
    turn: Turn = 0

    @property
    def read_size(self) -> tuple[float, float]:
        """Width and height of the page as it is read."""
        return (self.width, self.height) if self.turn in (0, 180) else (self.height, self.width)

    def to_read(self, box: Box) -> Box:
        """The place of a box on the page as it is read."""
        return box.turned(self.turn, self.width, self.height)

    def to_show(self, box: Box) -> Box:
        """The place of a box of the page as it is read on the page as it is shown."""
        return box.turned(_BACK[self.turn], *self.read_size)


_BACK: dict[Turn, Turn] = {0: 0, 90: 270, 180: 180, 270: 90}


class Box(NamedTuple):
    """A rectangle on a page, in points from its top left: left, top, right, bottom."""

    left: float
    top: float
    right: float
    bottom: float

    def joined(self, other: Box) -> Box:
        """The smallest rectangle around both."""
        left, top, right, bottom = self
        other_left, other_top, other_right, other_bottom = other
        return Box(
            left if left < other_left else other_left,
            top if top < other_top else other_top,
            right if right > other_right else other_right,
            bottom if bottom > other_bottom else other_bottom,
        )

    def lowered(self, by: float) -> Box:
        """The rectangle, so many points further down."""
        return Box(self.left, self.top + by, self.right, self.bottom + by) if by else self

    def turned(self, turn: Turn, width: float, height: float) -> Box:
        """The rectangle after a page of this size was turned."""
        left, top, right, bottom = self
        if turn == 90:
            return Box(height - bottom, left, height - top, right)
        if turn == 180:
            return Box(width - right, height - bottom, width - left, height - top)
        return Box(top, width - right, bottom, width - left) if turn == 270 else self


class PageBoxes(NamedTuple):
    """Boxes on one page, one a line."""

    page: int
    boxes: tuple[Box, ...]


class FileWord(NamedTuple):
    """A word of the text: its place in it, its page and its box."""

    start: int
    end: int
    page: int
    box: Box


def _no_pages() -> NDArray[np.int16]:
    return np.zeros(0, np.int16)


def _no_boxes() -> NDArray[np.float32]:
    return np.zeros((0, 4), np.float32)


def _no_confidence() -> NDArray[np.float32]:
    return np.zeros(0, np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class PageText:
    """A text, its pages; for every code point its page (int16, n), box (float32, n x 4), confidence (float32, n).

    A file without pages (Word, plain text) has the text alone.
    """

    text: str
    pages: tuple[SheetPage, ...] = ()
    page_of: NDArray[np.int16] = field(default_factory=_no_pages)
    box_of: NDArray[np.float32] = field(default_factory=_no_boxes)
    confidence_of: NDArray[np.float32] = field(default_factory=_no_confidence)

    def places(self, start: int, end: int) -> tuple[PageBoxes, ...]:
        """Boxes of the characters from `start` to `end`, page by page, one box for each line they run over."""
        found: list[tuple[int, Box]] = []
        turned = {one.number: one for one in self.pages if one.turn}
        for page, sides in zip(self.page_of[start:end].tolist(), self.box_of[start:end].tolist(), strict=True):
            box = Box(*sides)
            if page == NO_PAGE or box.right <= box.left:
                continue
            if page in turned:
                box = turned[page].to_read(box)
            if found and found[-1][0] == page and _on_one_line(found[-1][1], box):
                found[-1] = page, found[-1][1].joined(box)
            else:
                found.append((page, box))
        pages = dict.fromkeys(page for page, _ in found)
        shown = [(page, turned[page].to_show(box) if page in turned else box) for page, box in found]
        return tuple(PageBoxes(page, tuple(box for at, box in shown if at == page)) for page in pages)

    def confidence(self, start: int, end: int) -> float:
        """The lowest confidence of the characters from `start` to `end`: 1 where nothing was recognised."""
        if not self.pages or start >= end:
            return SURE
        placed = self.page_of[start:end] != NO_PAGE
        return float(self.confidence_of[start:end][placed].min()) if placed.any() else SURE

    def words(self) -> Iterator[FileWord]:
        """The words of the text that stand on a page."""
        start = 0
        for word in self.text.split() if self.pages else ():
            start = self.text.index(word, start)
            end = start + len(word)
            for place in self.places(start, end):
                for box in place.boxes:
                    yield FileWord(start, end, place.page, box)
            start = end

    def packed(self) -> bytes:
        """Bytes that `unpacked` reads back: a header of JSON, the text, the arrays."""
        text = self.text.encode()
        pages = [[one.number, one.width, one.height, one.source, one.turn] for one in self.pages]
        head = json.dumps({"text": len(text), "characters": len(self.page_of), "pages": pages}).encode()
        arrays = (self.page_of.tobytes(), self.box_of.tobytes(), self.confidence_of.tobytes())
        return b"".join((struct.pack("<I", len(head)), head, text, *arrays))


def unpacked(data: bytes) -> PageText:
    """The PageText of its bytes. Raises ValueError where they are none."""
    try:
        (size,) = struct.unpack_from("<I", data)
        head = json.loads(data[4 : 4 + size])
        count, at = int(head["characters"]), 4 + size
        text = data[at : at + int(head["text"])].decode()
        at += int(head["text"])
        page_of = np.frombuffer(data, np.int16, count, at)
        box_of = np.frombuffer(data, np.float32, 4 * count, at + 2 * count).reshape(count, 4)
        confidence_of = np.frombuffer(data, np.float32, count, at + 18 * count)
        pages = tuple(
            SheetPage(int(n), float(width), float(height), source, turn)
            for n, width, height, source, turn in head["pages"]
        )
    except (struct.error, KeyError, TypeError) as error:
        raise ValueError("no PageText") from error
    if pages and count != len(text):
        raise ValueError("no PageText: a character without a place")
    return PageText(text, pages, page_of, box_of, confidence_of)


def _on_one_line(line: Box, box: Box) -> bool:
    """True if the box goes on to the right on the line."""
    overlap = min(line.bottom, box.bottom) - max(line.top, box.top)
    lower = min(line.bottom - line.top, box.bottom - box.top)
    return overlap > lower / 2 and box.left >= line.left
