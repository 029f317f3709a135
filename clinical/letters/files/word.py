"""Text of a Word file: paragraphs, list items, tables as rows of cells, headers before and footers behind.

Only the parts that hold text are read; macros, links, pictures and embedded files are not looked at. The text of a
Word file has no pages: they are made when somebody prints it.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator

from docx import Document
from docx.oxml.ns import qn
from docx.table import Table
from docx.text.paragraph import Paragraph

from clinical.letters.files.limits import Encrypted, TooDemanding, Unreadable
from clinical.letters.files.page_text import PageText

UNPACKED_MAX = 100 * 1024 * 1024
"""Bytes of all parts of the file together, unpacked."""
PART_MAX = 30 * 1024 * 1024
"""Bytes of one part that holds XML, unpacked."""
DEPTH_MAX = 8
"""Tables inside tables that are read."""
PARAGRAPHS_MAX = 20_000
_PARAGRAPH = qn("w:p")
_NUMBERED = qn("w:numPr")
_LISTED = ("List", "Aufz")
"""Beginnings of the ids of styles of list items, in English and German."""


def read_word(data: bytes) -> PageText:
    """The text of a DOCX file. Raises Unreadable, Encrypted, TooDemanding."""
    checked(data)
    try:
        document = Document(io.BytesIO(data))
    except (KeyError, ValueError, zipfile.BadZipFile, OSError, AttributeError):
        raise Unreadable("a Word file that cannot be opened") from None
    except Exception as error:  # noqa: BLE001 - the classes of lxml's errors and the library's own are many
        raise Unreadable(f"a Word file that cannot be opened ({type(error).__name__})") from None
    if sum(1 for _ in document.element.body.iter(_PARAGRAPH)) > PARAGRAPHS_MAX:
        raise TooDemanding("a Word file of more paragraphs than a letter can have")
    body = list(_lines(document.element.body, document, 0))
    heads, feet = _around(document)
    return PageText("\n".join([*heads, *body, *feet]).strip("\n"))


def checked(data: bytes) -> None:
    """Raises TooDemanding for a file that unpacks to far more than a letter, Unreadable where it is no archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = archive.infolist()
            if any(part.flag_bits & 1 for part in parts):
                raise Encrypted("a Word file that wants a password")
            sizes = [part.file_size for part in parts]
            if sum(sizes) > UNPACKED_MAX or len(parts) > 5_000:
                raise TooDemanding("a Word file that unpacks to more than a letter can be")
            for part in parts:
                if part.filename.endswith((".xml", ".rels")):
                    _no_entities(archive, part)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, EOFError, RuntimeError):
        raise Unreadable("a Word file whose archive is broken") from None


def _no_entities(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> None:
    """Refuse a document type in a part: Word writes none, and entities are declared in it."""
    if part.file_size > PART_MAX:
        raise TooDemanding("a Word file with a part that is larger than a letter can be")
    with archive.open(part) as file:
        begins = file.read(4_096)
    if b"<!DOCTYPE" in begins or b"<!ENTITY" in begins or "<!DOCTYPE".encode("utf-16-le") in begins:
        raise Unreadable("a Word file that declares entities")


def _around(document: object) -> tuple[list[str], list[str]]:
    """(lines of the headers, lines of the footers), each once."""
    heads: dict[str, None] = {}
    feet: dict[str, None] = {}
    for section in document.sections:  # type: ignore[attr-defined]
        for found, parts in (
            (heads, (section.first_page_header, section.header)),
            (feet, (section.footer, section.first_page_footer)),
        ):
            for part in parts:
                if not part.is_linked_to_previous:
                    found.update(dict.fromkeys(line for line in _lines(part._element, part, 0) if line.strip()))
    return [*heads, ""] if heads else [], ["", *feet] if feet else []


def _lines(element: object, parent: object, depth: int) -> Iterator[str]:
    """Lines of a body, a cell, a header; those of text boxes behind the paragraph they are anchored in."""
    if depth > DEPTH_MAX:
        return
    for child in element.iterchildren():  # type: ignore[attr-defined]
        if child.tag == qn("w:p"):
            yield from _paragraph(child, parent)
            for box in _text_boxes(child):
                yield ""
                yield from _lines(box, parent, depth + 1)
                yield ""
        elif child.tag == qn("w:tbl"):
            yield from _table(Table(child, parent), depth)  # type: ignore[arg-type]
        elif child.tag == qn("w:sdt"):
            content = child.find(qn("w:sdtContent"))
            if content is not None:
                yield from _lines(content, parent, depth + 1)


def _text_boxes(element: object) -> Iterator[object]:
    """Contents of text boxes; of the two ways in which Word writes each, the first."""
    for box in element.iter(qn("w:txbxContent")):  # type: ignore[attr-defined]
        if not any(above.tag.endswith("}Fallback") for above in box.iterancestors()):
            yield box


def _paragraph(element: object, parent: object) -> Iterator[str]:
    paragraph = Paragraph(element, parent)  # type: ignore[arg-type]
    text = paragraph.text.replace("\u00ad", "").replace("\u2011", "-").replace("\xa0", " ")
    mark = "- " if text.strip() and _is_item(paragraph) else ""
    yield from (mark + text).replace("\v", "\n").split("\n")


def _is_item(paragraph: Paragraph) -> bool:
    properties = paragraph._p.pPr
    if properties is None:
        return False
    return properties.find(_NUMBERED) is not None or (properties.style or "").startswith(_LISTED)


def _table(table: Table, depth: int) -> Iterator[str]:
    """Rows as lines of cells; a cell of several lines in the only filled column as lines of their own."""
    yield ""
    for row in table.rows:
        seen: set[int] = set()
        cells: list[list[str]] = []
        for cell in row.cells:
            if id(cell._tc) in seen:
                continue
            seen.add(id(cell._tc))
            cells.append([one for one in _lines(cell._tc, cell, depth + 1) if one.strip()])
        yield from _row(cells)
    yield ""


def _row(cells: list[list[str]]) -> Iterator[str]:
    """A row of cells: blocks of several lines beside each other are read one after the other."""
    if sum(len(cell) > 2 for cell in cells) > 1:
        for cell in cells:
            yield from cell
            yield ""
        return
    height = max((len(cell) for cell in cells), default=0)
    for n in range(height):
        yield "\t".join(cell[n] if n < len(cell) else "" for cell in cells).rstrip("\t")
