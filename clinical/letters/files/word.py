"""Text of a Word file: paragraphs, list items, tables as rows of cells, headers before and footers behind.

Only the parts that hold text are read; macros, links, pictures and embedded files are not looked at. The text of a
Word file has no pages: they are made when somebody prints it.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from typing import Any

from docx import Document
from docx.document import Document as _Document
from docx.oxml.ns import qn

from clinical.letters.files.limits import Encrypted, TooDemanding, Unreadable
from clinical.letters.files.page_text import PageText

UNPACKED_MAX = 100 * 1024 * 1024
"""Bytes of all parts of the file together, unpacked."""
PART_MAX = 30 * 1024 * 1024
"""Bytes of one part that holds XML, unpacked."""
DEPTH_MAX = 8
"""Tables inside tables that are read."""
PARAGRAPHS_MAX = 20_000
_PARAGRAPH, _TABLE, _ROW, _CELL, _TEXT = (qn(name) for name in ("w:p", "w:tbl", "w:tr", "w:tc", "w:t"))
_SIGNS = {
    **dict.fromkeys((qn("w:tab"), qn("w:ptab")), "\t"),
    **dict.fromkeys((qn("w:br"), qn("w:cr")), "\n"),
    qn("w:noBreakHyphen"): "-",
}
_AROUND = frozenset(map(qn, ("w:sdt", "w:sdtContent", "w:ins", "w:moveTo", "w:customXml", "w:smartTag")))
"""Elements around a part of the text that is read as if they were not there: content controls, tracked insertions."""
_GONE = frozenset(map(qn, ("w:del", "w:moveFrom")))
_ROW_GONE, _PROMPT = f"{qn('w:trPr')}/{qn('w:del')}", f"{qn('w:sdtPr')}/{qn('w:showingPlcHdr')}"
_BOX, _FALLBACK = qn("w:txbxContent"), "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_APART = frozenset([qn("w:pPr"), qn("w:rPr"), _BOX, _FALLBACK])
_TICK, _TICKED, _TICKED_AT_FIRST, _VALUE = (qn(name) for name in ("w:checkBox", "w:checked", "w:default", "w:val"))
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
    body = list(_lines(document.element.body, 0))
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


def _around(document: _Document) -> tuple[list[str], list[str]]:
    """(lines of the headers, lines of the footers) that are shown, each once."""
    heads: dict[str, None] = {}
    feet: dict[str, None] = {}
    even = document.settings.odd_and_even_pages_header_footer
    for section in document.sections:
        first = section.different_first_page_header_footer
        for found, parts in (
            (heads, (first and section.first_page_header, section.header, even and section.even_page_header)),
            (feet, (section.footer, even and section.even_page_footer, first and section.first_page_footer)),
        ):
            for part in parts:
                if part and not part.is_linked_to_previous:
                    found.update(dict.fromkeys(line for line in _lines(part._element, 0) if line.strip()))
    return [*heads, ""] if heads else [], ["", *feet] if feet else []


def _lines(element: Any, depth: int) -> Iterator[str]:
    """Lines of a body, a cell, a header; those of text boxes behind the paragraph they are anchored in."""
    if depth > DEPTH_MAX:
        return
    for child in _children(element):
        if child.tag == _PARAGRAPH:
            yield from _paragraph(child)
            for box in _text_boxes(child):
                yield ""
                yield from _lines(box, depth + 1)
                yield ""
        elif child.tag == _TABLE:
            yield from _table(child, depth)


def _children(element: Any) -> Iterator[Any]:
    """Parts of an element as they are shown: the contents of content controls and of tracked insertions with the rest,
    the prompts of empty controls and what was deleted or moved away not at all."""
    for child in element.iterchildren():
        if child.tag in _AROUND:
            yield from _children(child) if child.find(_PROMPT) is None else ()
        elif child.tag not in _GONE and child.find(_ROW_GONE) is None:
            yield child


def _text_boxes(element: Any) -> Iterator[Any]:
    """Contents of text boxes; of the two ways in which Word writes each, the first."""
    for box in element.iter(_BOX):
        if not any(above.tag == _FALLBACK for above in box.iterancestors()):
            yield box


def _paragraph(element: Any) -> Iterator[str]:
    text = "".join(_signs(element)).replace("\u00ad", "").replace("\u2011", "-").replace("\xa0", " ")
    mark = "- " if text.strip() and _is_item(element) else ""
    yield from (mark + text).replace("\v", "\n").split("\n")


def _signs(element: Any) -> Iterator[str]:
    """The text of a paragraph or a part of it, without its text boxes; ticks as `[x]` and `[ ]`."""
    for child in _children(element):
        if child.tag == _TEXT:
            yield child.text or ""
        elif child.tag in _SIGNS:
            yield _SIGNS[child.tag]
        elif child.tag == _TICK:
            said = child.find(_TICKED)
            said = child.find(_TICKED_AT_FIRST) if said is None else said
            yield "[x]" if said is not None and said.get(_VALUE, "1") not in ("0", "false", "off") else "[ ]"
        elif child.tag not in _APART:
            yield from _signs(child)


def _is_item(element: Any) -> bool:
    properties = element.pPr
    if properties is None:
        return False
    return properties.find(_NUMBERED) is not None or (properties.style or "").startswith(_LISTED)


def _table(element: Any, depth: int) -> Iterator[str]:
    """Rows as lines of cells; a cell of several lines in the only filled column as lines of their own."""
    yield ""
    for row in _children(element):
        if row.tag == _ROW:
            cells = (cell for cell in _children(row) if cell.tag == _CELL)
            yield from _row([[line for line in _lines(cell, depth + 1) if line.strip()] for cell in cells])
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
