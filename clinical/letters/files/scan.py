"""Scans: image files as pages, and words out of what Tesseract recognised on one.

Tesseract is a program of its own (Apache 2.0), called with the pixels of one page on its standard input; what it finds
comes back as its table of words (TSV) with boxes in pixels and a confidence from 0 to 100.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from PIL import Image, ImageOps, ImageSequence, UnidentifiedImageError

from clinical.letters.files.limits import PAGES_MAX, TooDemanding, TooManyPages, Unreadable
from clinical.letters.files.page_text import Box, SheetPage
from clinical.letters.files.words import PageWords, spread, word_of

DPI = 300
"""Dots an inch at which a page is drawn to be recognised; what Tesseract's models were trained for."""
IMAGE_PIXELS_MAX = 60_000_000
"""Pixels of one page of an image file: A4 at 600 dpi has 35 million."""
SHEET = 595.0
"""Points of A4's width, taken for a page of an image that does not say its size."""
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
    scale = 72 / float(said) if int(said) in _PLAUSIBLE_DPI else SHEET / width
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


def as_pgm(image: Image.Image) -> bytes:
    """The pixels of a gray image in the plainest of formats."""
    gray = image.convert("L")
    return b"P5 %d %d 255\n" % gray.size + gray.tobytes()


LEAST = 15.0
"""Confidence below which what was recognised is a stain or a line."""


class _Found(NamedTuple):
    """A word of Tesseract's table: its text, box in points, confidence from 0 to 100, and the line that it is on."""

    text: str
    box: Box
    confidence: float
    line: tuple[str, ...]


def recognised(page: SheetPage, table: bytes) -> PageWords:
    """The words that Tesseract found on a page, its lines level though the page lay askew."""
    found = _whole_addresses(_words(table))
    slope = _slope(found)
    words = []
    for one in found:
        raised = slope * ((one.box.left + one.box.right - page.width) / 2)
        if word := word_of(spread(one.text, one.box.lowered(-raised)), one.confidence / 100, raised):
            words.append(word)
    return PageWords(SheetPage(page.number, page.width, page.height, "ocr"), words)


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
