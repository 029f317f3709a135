"""Letters set as files: the lines of an annotated letter as PDF by several programs, as DOCX, and as scans of them.

A letter's text keeps its columns by spaces and tabs. A sheet has them by their places: cells of a line stand at the
column where they begin, the right parts of the head's blocks in a frame of their own (`letterhead`), long lines are
wrapped, and every page carries a foot. ReportLab (BSD), Chromium's print, Typst (Apache) and python-docx set the same
lines; scans are pages drawn by PDFium, turned by half a degree, with noise, at 300 or 150 dots an inch.
"""

from __future__ import annotations

import html
import io
import random
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

WIDTH, HEIGHT = 595.28, 841.89
LEFT, RIGHT, TOP, BOTTOM = 62.0, 545.0, 60.0, 770.0
SIZE, LEADING = 9.5, 12.5
SIGN = 5.0
"""Points of a column of the text: where a cell begins."""
RIGHT_FROM = 28
FOOT = "Vertraulich - nur für die adressierte Stelle bestimmt"


class Piece(NamedTuple):
    """Words of a line that stand together, and the column at which they begin."""

    column: int
    text: str


Row = list[Piece]


@dataclass(frozen=True)
class Sheet:
    """The rows of a letter; those of the right of its head apart."""

    head_right: list[Row]
    rows: list[Row]
    """An empty row is an empty line."""


def rows_of(text: str) -> list[Row]:
    """The lines as pieces with their columns; tabs go to multiples of 24."""
    found = []
    for line in text.replace("\r\n", "\n").replace("\ufeff", "").split("\n"):
        row: Row = []
        start = len(line) - len(line.lstrip(" "))
        tabs = 0
        for part in re.split(r"(\t+|(?<=\S) {3,}(?=\S))", line):
            if "\t" in part:
                tabs += part.count("\t")
            elif part.strip():
                at = max(24 * tabs, start) if tabs else start
                row.append(Piece(at + len(part) - len(part.lstrip()), part.strip()))
            start += len(part)
        found.append(row)
    return found


def sheet_of(text: str, letterhead: bool) -> Sheet:
    """The letter as rows; with `letterhead` the right parts of the first block of the head stand in a frame."""
    rows = rows_of(text)
    if not letterhead:
        return Sheet([], rows)
    right: list[Row] = []
    rest = [list(row) for row in rows]
    for row in rest[: next((n for n, one in enumerate(rest) if not one and n), 0)]:
        far = [one for one in row if one.column >= RIGHT_FROM]
        if far and len(row) <= 2:
            right.append([Piece(0, one.text) for one in far])
            row[:] = [one for one in row if one.column < RIGHT_FROM]
    return Sheet(right, rest) if len(right) > 1 else Sheet([], rows)


# --- ReportLab --------------------------------------------------------------------------------------------------------


def reportlab_pdf(text: str, letterhead: bool = False) -> bytes:
    """Set on a canvas, words of more than twelve letters divided at a line's end where they do not fit."""
    from reportlab.lib.pagesizes import A4
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfgen.canvas import Canvas

    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4)
    font = "Helvetica"
    sheet = sheet_of(_latin(text), letterhead)
    y, page = TOP, 1

    def wide(words: str) -> float:
        return float(pdfmetrics.stringWidth(words, font, SIZE))

    def begin() -> None:
        canvas.setFont(font, 7)
        canvas.drawString(LEFT, HEIGHT - 812, FOOT)
        canvas.drawRightString(RIGHT, HEIGHT - 812, f"Seite {page}")
        canvas.setFont(font, SIZE)

    begin()
    for n, row in enumerate(sheet.head_right):
        canvas.setFont(font, 8)
        canvas.drawString(390, HEIGHT - TOP + 6 - 10 * n, row[0].text)
    canvas.setFont(font, SIZE)
    for row in sheet.rows:
        lines = 1
        starts = [LEFT + SIGN * one.column for one in row]
        for n, one in enumerate(row):
            at = starts[n] = max(starts[n], starts[n - 1] + wide(row[n - 1].text) + 12 if n else LEFT)
            limit = RIGHT - at if n + 1 == len(row) else max(60.0, starts[n + 1] - at - 8)
            wrapped = [one.text] if n + 1 < len(row) else list(_wrapped(one.text, max(60.0, limit), wide))
            for k, line in enumerate(wrapped):
                if y + LEADING * k > BOTTOM:
                    canvas.showPage()
                    page += 1
                    y = TOP - LEADING * k
                    begin()
                canvas.drawString(at, HEIGHT - y - LEADING * k, line)
            lines = max(lines, len(wrapped))
        y += LEADING * lines
        if y > BOTTOM:
            canvas.showPage()
            page, y = page + 1, TOP
            begin()
    canvas.save()
    return out.getvalue()


def _latin(text: str) -> str:
    """Signs that the standard fonts of PDF have."""
    return (
        text.replace("\u2010", "-").replace("☒", "[x]").replace("☐", "[ ]").encode("cp1252", "replace").decode("cp1252")
    )


def _wrapped(text: str, limit: float, wide: Callable[[str], float]) -> Iterator[str]:
    line = ""
    for word in text.split():
        longer = f"{line} {word}".strip()
        if wide(longer) <= limit or not line:
            line = longer
            continue
        for cut in range(len(word) - 4, 4, -1) if len(word) > 12 and word.isalpha() else ():
            if (
                wide(f"{line} {word[:cut]}-") <= limit
                and word[cut - 1] not in "aeiouäöü"
                and word[cut] in "aeioubdglmnst"
            ):
                yield f"{line} {word[:cut]}-"
                line = word[cut:]
                break
        else:
            yield line
            line = word
    yield line


# --- HTML, printed by Chromium ----------------------------------------------------------------------------------------


_STYLE = """
@page { size: A4; margin: 20mm 18mm 22mm 22mm; }
body { font: 10pt/1.3 %s; margin: 0; } p { margin: 0; min-height: 1.3em; text-align: %s; }
table { border-collapse: collapse; } td { padding: 1pt 12pt 1pt 0; vertical-align: top; }
.apart { float: %s; width: 52mm; font-size: 8pt; line-height: 1.5; margin: 0 8mm; }
.foot { position: fixed; bottom: -14mm; font-size: 7pt; }
"""


def html_of(text: str, letterhead: str = "", justified: bool = False, serif: bool = False) -> str:
    """The letter as HTML: rows of several cells one after the other are a table; `letterhead`: right or left."""
    sheet = sheet_of(text, letterhead != "")
    said = ["".join(f"<div>{html.escape(row[0].text)}</div>" for row in sheet.head_right)]
    said[0] = f'<div class="apart">{said[0]}</div>' if sheet.head_right else ""
    table: list[Row] = []
    for row in [*sheet.rows, []]:
        if (len(row) > 1 and sum(len(one.text) for one in row) < 95) or (table and row and row[0].column > 8):
            table.append(row)
            continue
        if table:
            said.append(_html_table(table))
            table = []
        pad = f' style="padding-left:{row[0].column * 0.5}em"' if row and row[0].column else ""
        told = "\xa0\xa0 ".join(one.text for one in row)
        said.append(f"<p{pad}>{html.escape(told)}</p>")
    family = "Times New Roman, serif" if serif else "Arial, Helvetica, sans-serif"
    style = _STYLE % (family, "justify" if justified else "left", letterhead or "none")
    foot = f'<div class="foot">{FOOT}</div>'
    return f'<html lang="de"><head><style>{style}</style></head><body>{foot}{"".join(said)}</body></html>'


NARROW = ' style="white-space: nowrap"'


def _html_table(rows: Sequence[Row]) -> str:
    _, cells = _grid(rows)
    lines = []
    for row in cells:
        told = (f"<td{NARROW if len(cell) < 28 else ''}>{html.escape(cell)}</td>" for cell in row)
        lines.append(f"<tr>{''.join(told)}</tr>")
    return f"<table>{''.join(lines)}</table>"


def _grid(rows: Sequence[Row]) -> tuple[list[int], list[list[str]]]:
    """(columns at which cells begin, the cells of every row, "" for an empty one)."""
    stops: list[int] = []
    for column in sorted({one.column for row in rows for one in row}):
        if not stops or column - stops[-1] > 3:
            stops.append(column)
    found = []
    for row in rows:
        cells = [""] * len(stops)
        for one in row:
            at = max(n for n, stop in enumerate(stops) if stop <= one.column)
            cells[at] = f"{cells[at]} {one.text}".strip()
        found.append(cells)
    return stops, found


class Chromium:
    """Chromium's print, in one browser for all letters."""

    def __enter__(self) -> Chromium:
        from playwright.sync_api import sync_playwright

        self._playwright = sync_playwright().start()
        flags = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
        self._browser = self._playwright.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        self._page = self._browser.new_page()
        return self

    def __exit__(self, *failure: object) -> None:
        self._browser.close()
        self._playwright.stop()

    def pdf(self, page: str) -> bytes:
        """The page as it is printed."""
        self._page.set_content(page)
        return self._page.pdf(prefer_css_page_size=True)


# --- Typst ------------------------------------------------------------------------------------------------------------


def typst_pdf(text: str, letterhead: bool = False) -> bytes:
    """Set by Typst, justified and divided as German is; rows of several cells are grids."""
    import typst

    sheet = sheet_of(text, letterhead)
    said = [
        '#set page(paper: "a4", margin: (x: 22mm, y: 22mm), footer: context [#text(7pt)['
        + _typ(FOOT)
        + "] #h(1fr) Seite #counter(page).display()])",
        '#set text(size: 10pt, lang: "de", hyphenate: true)',
        "#set par(justify: true, leading: 0.55em, spacing: 0.55em)",
    ]
    if sheet.head_right:
        lines = " \\ ".join(_typ(row[0].text) for row in sheet.head_right)
        said.append(f"#place(top + right, box(width: 52mm, text(8pt)[#set align(left); {lines}]))")
    for row in sheet.rows:
        if not row:
            said.append("#v(0.9em)")
        elif len(row) == 1:
            said.append(f"#pad(left: {0.5 * row[0].column}em)[{_typ(row[0].text)}]")
        else:
            widths = ["1fr"] * len(row)
            for n in range(len(row) - 1):
                widths[n] = f"{max(0.52 * (row[n + 1].column - row[n].column), 0.5 * len(row[n].text) + 1.5)}em"
            cells = ", ".join(f"[{_typ(one.text)}]" for one in row)
            said.append(f"#grid(columns: ({', '.join(widths)}), {cells})")
        said.append("")
    return bytes(typst.compile("\n".join(said).encode()))


def _typ(text: str) -> str:
    return re.sub(r"([\\#$*_`<>@\[\]~/=+\-'\"])", r"\\\1", text)


# --- Word -------------------------------------------------------------------------------------------------------------


def word_file(text: str) -> bytes:
    """A DOCX: rows of several cells one after the other are a table."""
    import docx

    document = docx.Document()
    document.sections[0].footer.paragraphs[0].text = FOOT
    table: list[Row] = []
    for row in [*rows_of(text), []]:
        if len(row) > 1 or (table and row and row[0].column > 8):
            table.append(row)
            continue
        if table:
            _word_table(document, table)
            table = []
        document.add_paragraph((" " * row[0].column + row[0].text) if row else "")
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def _word_table(document: Any, rows: Sequence[Row]) -> None:
    stops, cells = _grid(rows)
    table = document.add_table(len(rows), len(stops))
    for line, texts in zip(table.rows, cells, strict=True):
        for cell, text in zip(line.cells, texts, strict=True):
            cell.text = text


# --- scans ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scan:
    """A PDF's pages as a TIFF, turned: what stood at a point stands at `moved`."""

    data: bytes
    degrees: float

    def moved(self, x: float, y: float) -> tuple[float, float]:
        """The place, in points, of what stood at a place of the page before it was turned about its centre."""
        turn = np.deg2rad(-self.degrees)
        dx, dy = x - WIDTH / 2, y - HEIGHT / 2
        return (
            WIDTH / 2 + dx * float(np.cos(turn)) - dy * float(np.sin(turn)),
            HEIGHT / 2 + dx * float(np.sin(turn)) + dy * float(np.cos(turn)),
        )


def scanned(pdf: bytes, dpi: int, seed: int) -> Scan:
    """The pages as a scanner sees them: gray, turned by up to half a degree, with noise."""
    import pypdfium2 as pdfium
    from PIL import Image

    chance = random.Random(seed)  # noqa: S311 - reproducible, not secret
    noise = np.random.default_rng(seed)
    degrees = chance.uniform(-0.5, 0.5)
    pages = []
    document = pdfium.PdfDocument(pdf)
    for page in document:
        image = (
            page.render(scale=dpi / 72, grayscale=True)
            .to_pil()
            .rotate(degrees, Image.Resampling.BICUBIC, fillcolor=255)
        )
        gray = np.asarray(image, np.float32) * 0.86 + 22 + noise.normal(0, 9, (image.height, image.width))
        pages.append(Image.fromarray(np.clip(gray, 0, 255).astype(np.uint8)))
    out = io.BytesIO()
    pages[0].save(out, "TIFF", save_all=True, append_images=pages[1:], dpi=(dpi, dpi), compression="tiff_lzw")
    return Scan(out.getvalue(), degrees)


# --- where words stand, by another program ----------------------------------------------------------------------------


class PrintedWord(NamedTuple):
    """A word as Poppler finds it: its page and box in points."""

    text: str
    page: int
    left: float
    top: float
    right: float
    bottom: float


_WORD = re.compile(r'<word xMin="([\d.-]+)" yMin="([\d.-]+)" xMax="([\d.-]+)" yMax="([\d.-]+)">(.*?)</word>')


def printed_words(pdf: bytes) -> list[PrintedWord]:
    """The words of a PDF and their places, by Poppler's pdftotext: a reader that shares nothing with ours."""
    done = subprocess.run(["pdftotext", "-bbox", "-", "-"], input=pdf, capture_output=True, check=True)
    found = []
    for number, page in enumerate(done.stdout.decode().split("<page ")[1:], start=1):
        for match in _WORD.finditer(page):
            left, top, right, bottom = map(float, match.groups()[:4])
            found.append(PrintedWord(html.unescape(match[5]), number, left, top, right, bottom))
    return found
