"""Scans: image files as pages, and words out of what Tesseract recognised on one.

Tesseract is a program of its own (Apache 2.0), called with the pixels of one page on its standard input; what it finds
comes back as its table of words (TSV) with boxes in pixels and a confidence from 0 to 100.

A page may lie sideways or upside down. Tesseract reads lines that run downwards as well as level ones; the others it
reads with little confidence, and then the page is turned by half a turn and recognised once more: so every page is
read, and an upright one is read once.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from PIL import Image, ImageOps, ImageSequence, UnidentifiedImageError

from clinical.letters.files.limits import PAGES_MAX, TooDemanding, TooManyPages, Unreadable
from clinical.letters.files.page_text import Box, SheetPage, Turn
from clinical.letters.files.words import PageWords, Word, by_turn, spread, word_of

DPI = 300
"""Dots an inch at which a page is drawn to be recognised; what Tesseract's models were trained for."""
IMAGE_PIXELS_MAX = 60_000_000
"""Pixels of one page of an image file: A4 at 600 dpi has 35 million."""
SHEET = 595.0
"""Points of A4's narrow side, taken for a page of an image that does not say its size."""
_PLAUSIBLE_DPI = range(60, 1_300)
COMMAND = ("stdin", "stdout", "-l", "deu", "--psm", "3", "--dpi", str(DPI), "tsv")
"""Arguments of tesseract."""


def images_of(data: bytes) -> Iterator[tuple[SheetPage, Image.Image]]:
    """The pages of an image file with their size in points. Raises Unreadable, TooDemanding, TooManyPages."""
    try:
        with Image.open(io.BytesIO(data), formats=("PNG", "JPEG", "TIFF")) as file:
            frames = getattr(file, "n_frames", 1)
            if frames > PAGES_MAX:
                raise TooManyPages(f"an image of {frames} pages", f"at most {PAGES_MAX}")
            for number, frame in enumerate(ImageSequence.Iterator(file), start=1):
                yield _page(frame, number), frame
    except (Image.DecompressionBombError, MemoryError):
        raise TooDemanding("an image with far more pixels than a page has") from None
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, EOFError, KeyError, IndexError, TypeError):
        raise Unreadable("an image that cannot be opened") from None


def _page(frame: Image.Image, number: int) -> SheetPage:
    width, height = frame.size
    if width * height > IMAGE_PIXELS_MAX:
        raise TooDemanding("an image with far more pixels than a page has")
    if frame.getexif().get(0x0112, 1) in (5, 6, 7, 8):
        width, height = height, width
    said = frame.info.get("dpi", (0, 0))[0]
    scale = 72 / float(said) if int(said) in _PLAUSIBLE_DPI else SHEET / min(width, height)
    return SheetPage(number, round(width * scale, 2), round(height * scale, 2), "ocr")


def image_page(data: bytes, number: int, width: int | None = None) -> Image.Image:
    """A page (from 1) of an image file, upright; gray and at DPI to be recognised, or in colour and `width` wide."""
    for page, frame in images_of(data):
        if page.number != number:
            continue
        image = ImageOps.exif_transpose(frame)
        if width is None:
            wide = round(page.width * DPI / 72)
            gray = _flat(image).convert("L")
            return gray if gray.width == wide else gray.resize((wide, round(page.height * DPI / 72)))
        return _flat(image).resize((width, max(1, round(width * page.height / page.width))))
    raise Unreadable(f"an image without a page {number}")


def _flat(image: Image.Image) -> Image.Image:
    """The image on white, without transparency."""
    if image.mode in ("L", "RGB", "1"):
        return image if image.mode == "L" else image.convert("RGB")
    rgba = image.convert("RGBA")
    white = Image.new("RGBA", rgba.size, "white")
    return Image.alpha_composite(white, rgba).convert("RGB")


def as_pgm(image: Image.Image, turn: Turn = 0) -> bytes:
    """The pixels of a gray image, turned, in the plainest of formats."""
    gray = image.convert("L")
    gray = gray.transpose(Image.Transpose.ROTATE_180) if turn == HALF else gray
    return b"P5 %d %d 255\n" % gray.size + gray.tobytes()


LEAST = 15.0
"""Confidence below which what was recognised is a stain or a line."""
LEGIBLE = 65.0
"""Mean confidence of a page's characters below which it may lie otherwise: upright letters have 90, turned ones 45."""
HALF: Final = 180
"""The turn of a page that is recognised a second time."""
LONG, TALL = 4, 1.3
"""Characters of a word that tells the direction of its line, and how much higher than wide it is where that is down."""


class _Found(NamedTuple):
    """A word of Tesseract's table: its text, box in points, confidence from 0 to 100, and the line that it is on."""

    text: str
    box: Box
    confidence: float
    line: tuple[str, ...]


class RecognisedTable:
    """The words of Tesseract's table of a page, read once."""

    def __init__(self, table: bytes) -> None:
        self.words = list(_words(table))
        self.sure = sum(len(one.text) * one.confidence for one in self.words)
        """Sum of the confidence of the characters."""

    @property
    def is_legible(self) -> bool:
        """False where the words are so poor that the page may lie otherwise."""
        return self.sure >= LEGIBLE * sum(len(one.text) for one in self.words)


def recognised(page: SheetPage, tables: Mapping[Turn, RecognisedTable]) -> PageWords:
    """The words that Tesseract found on a page, by the turn at which it was recognised: those of the best turn.

    Lines are level though the page lay askew; those that run downwards are read on the page as it is turned for them.
    """
    turn = max(tables, key=lambda one: tables[one].sure)
    whole = replace(page, source="ocr", turn=turn)
    blocks: dict[str, list[_Found]] = {}
    for one in tables[turn].words:
        blocks.setdefault(one.line[0], []).append(one)
    level = [one for words in blocks.values() if not _runs_down(words) for one in words]
    down = [
        one._replace(box=one.box.turned(270, page.width, page.height))
        for words in blocks.values()
        if _runs_down(words)
        for one in words
    ]
    sideways = replace(whole, turn=270 if turn == 0 else 90)
    found = [(whole.turn, word) for word in _levelled(level, whole)]
    return by_turn(whole, [*found, *((sideways.turn, word) for word in _levelled(down, sideways))])


def _runs_down(block: Sequence[_Found]) -> bool:
    """True if most of the characters of a block stand in words that are higher than wide."""
    long = [(len(one.text), one.box) for one in block if len(one.text) >= LONG]
    tall = sum(count for count, box in long if box.bottom - box.top > TALL * (box.right - box.left))
    return 2 * tall > sum(count for count, _ in long)


def _levelled(words: Sequence[_Found], page: SheetPage) -> Iterator[Word]:
    found = _whole_addresses(words)
    slope, width = _slope(found), page.read_size[0]
    for one in found:
        raised = slope * ((one.box.left + one.box.right - width) / 2)
        if word := word_of(spread(one.text, one.box.lowered(-raised)), one.confidence / 100, raised):
            yield word


def _words(table: bytes) -> Iterator[_Found]:
    scale = 72 / DPI
    for row in table.decode("utf-8", "replace").split("\n")[1:]:
        cells = row.split("\t")
        if len(cells) < 12 or cells[0] != "5" or not cells[11].strip():
            continue
        try:
            left, top, width, height = (float(one) * scale for one in cells[6:10])
            confidence = float(cells[10])
        except ValueError:
            continue
        if confidence < LEAST or width <= 0 or height <= 0:
            continue
        yield _Found(cells[11].strip(), Box(left, top, left + width, top + height), confidence, tuple(cells[2:5]))


def _whole_addresses(words: Iterable[_Found]) -> list[_Found]:
    """The words, an address of mail whole: the sign within is often printed so wide that it seems to begin a word."""
    found: list[_Found] = []
    for one in words:
        before = found[-1] if found else None
        if before and before.line == one.line and (before.text.endswith("@") or _BEHIND_SIGN.match(one.text)):
            sure = min(before.confidence, one.confidence)
            found[-1] = _Found(before.text + one.text, before.box.joined(one.box), sure, one.line)
        else:
            found.append(one)
    return found


_BEHIND_SIGN = re.compile(r"@[\w-]+\.")
SLOPE_MOST = 0.05
"""Slope of lines that is believed: three degrees."""


def _slope(found: Sequence[_Found]) -> float:
    """Slope of the page's lines: of all words' feet about the middle of their own line, by least squares."""
    lines: dict[tuple[str, ...], list[Box]] = {}
    for one in found:
        lines.setdefault(one.line, []).append(one.box)
    both = wide = 0.0
    for boxes in lines.values():
        xs = [(box.left + box.right) / 2 for box in boxes]
        x, y = sum(xs) / len(xs), sum(box.bottom for box in boxes) / len(boxes)
        both += sum((at - x) * (box.bottom - y) for at, box in zip(xs, boxes, strict=True))
        wide += sum((at - x) ** 2 for at in xs)
    slope = both / wide if wide else 0.0
    return slope if abs(slope) <= SLOPE_MOST else 0.0
