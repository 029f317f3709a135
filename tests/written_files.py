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
