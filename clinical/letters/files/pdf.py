"""Words of a PDF with their boxes, by PDFium; values of its form fields; pages as images.

PDFium finds characters; nothing that a file asks to be done (scripts, links, attachments) is done.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c
from PIL import Image

from clinical.letters.files.limits import PAGES_MAX, Encrypted, TooManyPages, Unreadable
from clinical.letters.files.page_text import Box, SheetPage, Turn
from clinical.letters.files.words import Characters, PageWords, Word, by_turn, spread, word_of

CHARACTERS_MAX = 60_000
"""Characters of a page that are read: a sheet full of small print has some 12,000."""
_HYPHENS = ("\x02", "\ufffe")
"""Stand-ins of PDFium for a hyphen at the end of a line."""
_GAP = 0.18
"""Gap between two characters, in heights of the line, from which on they are two words though no space stands there."""


def opened(data: bytes) -> pdfium.PdfDocument:
    """The document. Raises Encrypted, TooManyPages, Unreadable."""
    try:
        document = pdfium.PdfDocument(data)
        count = len(document)
    except pdfium.PdfiumError as error:
        if getattr(error, "err_code", None) == pdfium_c.FPDF_ERR_PASSWORD:
            raise Encrypted("a PDF that wants a password") from None
        raise Unreadable("a PDF that cannot be opened") from None
    if count > PAGES_MAX:
        raise TooManyPages(f"a PDF of {count} pages", f"at most {PAGES_MAX}")
    if not count:
        raise Unreadable("a PDF without pages")
    return document


def read_pdf(data: bytes) -> list[PageWords]:
    """The words of every page. Raises Encrypted, TooManyPages, Unreadable."""
    document = opened(data)
    document.init_forms()
    return [_page_words(document, n) for n in range(len(document))]


def rendered(data: bytes, number: int, dpi: float) -> Image.Image:
    """A page (from 1) as a gray image. Raises as `opened`."""
    return _drawn(opened(data), number, dpi / 72, gray=True)


def drawn(data: bytes, number: int, width: int) -> Image.Image:
    """A page (from 1) as an image in colour, `width` pixels wide. Raises as `opened`."""
    document = opened(data)
    return _drawn(document, number, width / max(1.0, _loaded(document, number - 1).get_width()), gray=False)


PIXELS_MAX = 30_000_000
"""Pixels of a page's image: A4 at 500 dpi has 24 million."""


def _drawn(document: pdfium.PdfDocument, number: int, scale: float, gray: bool) -> Image.Image:
    document.init_forms()
    page = _loaded(document, number - 1)
    area = max(1.0, page.get_width() * page.get_height())
    scale = min(scale, math.sqrt(PIXELS_MAX / area))
    image: Image.Image = page.render(scale=scale, grayscale=gray, may_draw_forms=True).to_pil()
    return image


def _loaded(document: pdfium.PdfDocument, n: int) -> pdfium.PdfPage:
    try:
        return document[n]
    except pdfium.PdfiumError:
        raise Unreadable(f"a PDF whose page {n + 1} cannot be opened") from None


def _page_words(document: pdfium.PdfDocument, n: int) -> PageWords:
    page = _loaded(document, n)
    width, height = page.get_size()
    placed = _Placing(page, width, height)
    sheet = SheetPage(n + 1, round(width, 2), round(height, 2))
    found = by_turn(sheet, _words(page, placed, sheet))
    return found._replace(words=[*found.words, *_form_words(document, page, placed, found.page)])


class _Placing:
    """The way from the coordinates of a page's content to points from the top left of the page as it is shown."""

    def __init__(self, page: pdfium.PdfPage, width: float, height: float) -> None:
        fine = 1_000  # of a point: PDFium answers in whole pixels of a sheet of this size
        x, y = ctypes.c_int(), ctypes.c_int()

        def at(left: float, top: float) -> tuple[float, float]:
            sheet = (0, 0, int(width * fine), int(height * fine), 0)
            pdfium_c.FPDF_PageToDevice(page, *sheet, left, top, x, y)
            return x.value / fine, y.value / fine

        self._x, self._y = at(0, 0)
        (right, down), (across, up) = at(100, 0), at(0, 100)
        self._matrix = (right - self._x) / 100, (down - self._y) / 100, (across - self._x) / 100, (up - self._y) / 100

    def turn(self, angle: float) -> Turn:
        """The turn of the page to read a line that runs at an angle, clockwise, to the content's own."""
        a, b, c, d = self._matrix
        along, under = (math.cos(angle), math.sin(angle)) if angle > 0 else (1.0, 0.0)  # below: PDFium cannot tell
        across, down = a * along - c * under, b * along - d * under
        if abs(across) >= abs(down):
            return 0 if across >= 0 else 180
        return 270 if down > 0 else 90

    def box(self, left: float, bottom: float, right: float, top: float) -> Box:
        a, b, c, d = self._matrix
        x1, x2 = self._x + a * left + c * bottom, self._x + a * right + c * top
        y1, y2 = self._y + b * left + d * bottom, self._y + b * right + d * top
        if x1 > x2:
            x1, x2 = x2, x1
        return Box(x1, y1, x2, y2) if y1 <= y2 else Box(x1, y2, x2, y1)


def _words(page: pdfium.PdfPage, placed: _Placing, sheet: SheetPage) -> Iterator[tuple[Turn, Word]]:
    """Each word, its boxes on the page as it is turned to read it, and that turn."""
    text = page.get_textpage()
    rect = pdfium_c.FS_RECTF()
    run: Characters = []
    turn: Turn = 0
    for n in range(min(pdfium_c.FPDFText_CountChars(text), CHARACTERS_MAX)):
        sign = chr(min(pdfium_c.FPDFText_GetUnicode(text, n), 0x10FFFF))
        if 0xD800 <= ord(sign) <= 0xDFFF:
            sign = "\ufffd"
        sign = "-" if sign in _HYPHENS else sign
        if sign.isspace() or not pdfium_c.FPDFText_GetLooseCharBox(text, n, rect):
            for word in _ended(run):
                yield turn, word
            continue
        shown = placed.box(rect.left, rect.bottom, rect.right, rect.top)
        box = shown.turned(turn, sheet.width, sheet.height) if turn else shown
        if run and _is_apart(run[-1][1], box):
            for word in _ended(run):
                yield turn, word
        if not run:
            turn = placed.turn(pdfium_c.FPDFText_GetCharAngle(text, n))
            box = shown.turned(turn, sheet.width, sheet.height) if turn else shown
        run.append((sign, box))
    for word in _ended(run):
        yield turn, word


def _ended(run: Characters) -> Iterator[Word]:
    word = word_of(run)
    run.clear()
    if word is not None:
        yield word


def _is_apart(before: Box, box: Box) -> bool:
    _, above, reached, foot = before
    left, top, _, bottom = box
    low, high = sorted((foot - above, bottom - top))
    overlap = (foot if foot < bottom else bottom) - (above if above > top else top)
    return overlap < 0.3 * low or not -high < left - reached < _GAP * high


_TEXT_FIELDS = (pdfium_c.FPDF_FORMFIELD_TEXTFIELD, pdfium_c.FPDF_FORMFIELD_COMBOBOX, pdfium_c.FPDF_FORMFIELD_LISTBOX)
_TICKED_FIELDS = (pdfium_c.FPDF_FORMFIELD_CHECKBOX, pdfium_c.FPDF_FORMFIELD_RADIOBUTTON)
_LINE_OF_FIELD = 11.0
"""Points of a line in a form field, whose own size of type is not asked for."""


def _form_words(
    document: pdfium.PdfDocument, page: pdfium.PdfPage, placed: _Placing, sheet: SheetPage
) -> Iterator[Word]:
    """The values of the page's form fields as words in their boxes; ticks as `[x]` and `[ ]`."""
    form = document.formenv
    for n in range(pdfium_c.FPDFPage_GetAnnotCount(page) if form else 0):
        annotation = pdfium_c.FPDFPage_GetAnnot(page, n)
        if not annotation:
            continue
        try:
            kind = pdfium_c.FPDFAnnot_GetFormFieldType(form, annotation)
            rect = pdfium_c.FS_RECTF()
            if not pdfium_c.FPDFAnnot_GetRect(annotation, rect):
                continue
            box = sheet.to_read(placed.box(rect.left, rect.bottom, rect.right, rect.top))
            if kind in _TEXT_FIELDS:
                yield from _in_field(_value(form, annotation), box)
            elif kind in _TICKED_FIELDS:
                ticked = pdfium_c.FPDFAnnot_IsChecked(form, annotation)
                if box_of_form := word_of(spread("[x]" if ticked else "[ ]", box)):
                    yield box_of_form
        finally:
            pdfium_c.FPDFPage_CloseAnnot(annotation)


def _value(form: object, annotation: object) -> str:
    length = pdfium_c.FPDFAnnot_GetFormFieldValue(form, annotation, None, 0)
    buffer = ctypes.create_string_buffer(min(length, 2 * CHARACTERS_MAX))
    pdfium_c.FPDFAnnot_GetFormFieldValue(
        form, annotation, ctypes.cast(buffer, ctypes.POINTER(pdfium_c.FPDF_WCHAR)), len(buffer)
    )
    return buffer.raw.decode("utf-16-le", "ignore").rstrip("\x00")


def _in_field(value: str, box: Box) -> Iterator[Word]:
    """The lines of a value one below the other, their characters spread over what they need of the width."""
    lines = value.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    height = min(_LINE_OF_FIELD, (box.bottom - box.top) / len(lines))
    first = box.top + (box.bottom - box.top - height) / 2 if len(lines) == 1 else box.top
    for n, line in enumerate(lines):
        top, wide = first + n * height, min(box.right - box.left, 0.5 * height * len(line))
        run: Characters = []
        for sign, place in spread(line, Box(box.left, top, box.left + wide, top + height)):
            if sign.isspace():
                yield from _ended(run)
            else:
                run.append((sign, place))
        yield from _ended(run)
