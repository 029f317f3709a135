"""Files made by the tests: letters as PDF, Word and scans. Each maker takes lines and gives bytes."""

from __future__ import annotations

import io
from collections.abc import Sequence

import docx
import pypdfium2 as pdfium
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

LEFT, TOP, SIZE, LEADING = 62.0, 780.0, 10.0, 13.0


def pdf_of(*pages: Sequence[str], encrypt: str | None = None) -> bytes:
    """A PDF: each line as it is; what follows a tab stands 200 points further right."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4, encrypt=encrypt)
    for lines in pages:
        canvas.setFont("Helvetica", SIZE)
        for n, line in enumerate(lines):
            for column, cell in enumerate(line.split("\t")):
                canvas.drawString(LEFT + 200 * column, TOP - n * LEADING, cell)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def word_of(lines: Sequence[str]) -> bytes:
    """A Word file, a paragraph for each line; successive lines with tabs are a table."""
    document = docx.Document()
    rows: list[list[str]] = []
    for line in [*lines, ""]:
        if "\t" in line:
            rows.append(line.split("\t"))
            continue
        if rows:
            table = document.add_table(len(rows), len(rows[0]))
            for row, cells in zip(table.rows, rows, strict=True):
                for cell, text in zip(row.cells, cells, strict=False):
                    cell.text = text
            rows = []
        document.add_paragraph(line)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def scan_of(pdf: bytes, dpi: int = 300, kind: str = "PNG") -> bytes:
    """The first page of a PDF as an image."""
    image = pdfium.PdfDocument(pdf)[0].render(scale=dpi / 72, grayscale=True).to_pil()
    out = io.BytesIO()
    image.save(out, kind, dpi=(dpi, dpi))
    return out.getvalue()


def lying(pdf: bytes, turn: int, shown: int = 0) -> bytes:
    """The first page set as if it was turned clockwise on its sheet, and the sheet shown turned as well."""
    document = pdfium.PdfDocument(pdf)
    page = document[0]
    width, height = page.get_size()
    matrix, size = {
        0: ((1, 0, 0, 1, 0, 0), (width, height)),
        90: ((0, -1, 1, 0, 0, width), (height, width)),
        180: ((-1, 0, 0, -1, width, height), (width, height)),
        270: ((0, 1, -1, 0, height, 0), (height, width)),
    }[turn]
    for one in page.get_objects():
        one.transform(pdfium.PdfMatrix(*matrix))
    page.set_mediabox(0, 0, *size)
    page.gen_content()
    page.set_rotation(shown)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def raw_pdf(*objects: bytes, root: int = 1) -> bytes:
    """A PDF of numbered objects with a right table of references."""
    out = io.BytesIO(b"%PDF-1.7\n")
    out.seek(0, 2)
    places = []
    for number, one in enumerate(objects, start=1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, one))
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    out.writelines(b"%010d 00000 n \n" % place for place in places)
    out.write(b"trailer <</Size %d /Root %d 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, root, start))
    return out.getvalue()


def stream_of(data: bytes, more: bytes = b"") -> bytes:
    """An object of a PDF that is a stream."""
    return b"<</Length %d %s>>\nstream\n%s\nendstream" % (len(data), more, data)


def unmapped() -> bytes:
    """Letters whose font maps them all into the private use area."""
    to_unicode = b"1 begincodespacerange <00> <FF> endcodespacerange 1 beginbfrange <20> <7E> <E000> endbfrange"
    page = b"<</Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources <</Font <</F 5 0 R>>>>>>"
    text = b"BT /F 12 Tf 60 700 Td (Herr Max Mustermann, geboren am 4.5.1950, Diagnosen) Tj ET"
    font = b"<</Type /Font /Subtype /TrueType /BaseFont /ABCDEF+Secret /FirstChar 32 /LastChar 126 /ToUnicode 6 0 R>>"
    return raw_pdf(
        b"<</Type /Catalog /Pages 2 0 R>>",
        b"<</Type /Pages /Kids [3 0 R] /Count 1>>",
        page,
        stream_of(text),
        font,
        stream_of(to_unicode),
    )
