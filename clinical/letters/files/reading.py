"""From the bytes of a file to its PageText: the kind is told by the bytes, never by a name."""

from __future__ import annotations

import io
import unicodedata
import zipfile
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from clinical.letters.files import pdf, plain, scan, word
from clinical.letters.files.limits import BYTES_MAX, Encrypted, FileTooLarge, UnknownKind, Unreadable
from clinical.letters.files.order import ordered
from clinical.letters.files.page_text import PageText, Turn
from clinical.letters.files.words import PageWords, Word

Kind = Literal["pdf", "word", "image", "text"]

_IMAGES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"II*\x00", b"MM\x00*")
_OLD_WORD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_SEALED = "EncryptedPackage".encode("utf-16-le")
"""Name of the stream, in a container of the old form, that holds a DOCX with a password."""
_ARCHIVE = b"PK\x03\x04"
PDF_WITHIN = 1_024
"""Bytes at the beginning of a file within which a PDF says that it is one."""


class PageImage(NamedTuple):
    """A page (from 1) to be recognised, and how far it is turned for it."""

    page: int
    turn: Turn


class Scanned(NamedTuple):
    """Pages that hold no text, or none that could be recognised as they lie: they must be recognised first."""

    pages: tuple[PageImage, ...]


def kind_of(data: bytes) -> Kind:
    """The kind of a file. Raises FileTooLarge, UnknownKind, Encrypted, Unreadable."""
    if len(data) > BYTES_MAX:
        raise FileTooLarge("a file over 20 MB", "at most 20 MB")
    if data.startswith(_IMAGES):
        return "image"
    if b"%PDF-" in data[:PDF_WITHIN]:
        return "pdf"
    if data.startswith(rb"{\rtf"):
        raise UnknownKind("a file in RTF", "DOCX", "save it as DOCX or PDF")
    if data.startswith(_OLD_WORD):
        if _SEALED in data:
            raise Encrypted("a Word file that wants a password")
        raise UnknownKind("a Word file of the old form (.doc)", "DOCX", "save it as DOCX or PDF")
    if data.startswith(_ARCHIVE):
        if _holds_word(data):
            return "word"
        raise UnknownKind("an archive that is no Word file", "DOCX")
    return "text"


def _holds_word(data: bytes) -> bool:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return any(name.startswith("word/") for name in archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, EOFError, RuntimeError):
        raise Unreadable("an archive that is broken") from None


def read(data: bytes, recognised: Mapping[PageImage, bytes] | None = None) -> PageText | Scanned:
    """The text of a file, or the pages that must be recognised before there is one.

    `recognised`: what Tesseract found on each. Raises FileRefused.
    """
    kind = kind_of(data)
    if kind == "text":
        return plain.read_plain(data)
    if kind == "word":
        return word.read_word(data)
    pages = pdf.read_pdf(data) if kind == "pdf" else [PageWords(page, []) for page, _ in scan.images_of(data)]
    found: dict[int, dict[Turn, scan.RecognisedTable]] = {}
    for (number, turn), table in (recognised or {}).items():
        found.setdefault(number, {})[turn] = scan.RecognisedTable(table)
    if recognised is None:
        missing = [PageImage(one.page.number, 0) for one in pages if not _is_text(one.words)]
    else:
        missing = [
            PageImage(number, scan.HALF)
            for number, tables in found.items()
            if scan.HALF not in tables and not tables[0].is_legible
        ]
    if missing:
        return Scanned(tuple(missing))
    own = ((one, found.get(one.page.number)) for one in pages)
    return ordered([one if tables is None else scan.recognised(one.page, tables) for one, tables in own])


def page_image(data: bytes, number: int, width: int | None = None, turn: Turn = 0) -> bytes:
    """A page (from 1): as gray pixels (PGM), turned, to be recognised, or as a PNG `width` pixels wide as it lies.

    Raises FileRefused."""
    kind = kind_of(data)
    if kind not in ("pdf", "image"):
        raise Unreadable("a file without pages")
    if width is None:
        page = pdf.rendered(data, number, scan.DPI) if kind == "pdf" else scan.image_page(data, number)
        return scan.as_pgm(page, turn)
    image = pdf.drawn(data, number, width) if kind == "pdf" else scan.image_page(data, number, width)
    out = io.BytesIO()
    image.save(out, "PNG", compress_level=1)
    return out.getvalue()


CHARACTERS_LEAST = 12
"""Characters of a page below which it is taken for a scan: a stamp or a number of the machine."""
IMPOSSIBLE_SHARE = 0.05
"""Share of characters that no text has, from which on a page's characters are none: a font without a map."""
VOWELS_LEAST, LETTERS_LEAST = 0.2, 200
"""Share of vowels among letters below which they are others than those printed (German has 0.38), and how many letters
tell it."""
_VOWELS = frozenset("aeiouyäöüAEIOUYÄÖÜéèàêâ")
_POSSIBLE = frozenset("LNPSZ")
"""First letters of the Unicode categories of what stands in letters: letters, numbers, punctuation, signs, spaces."""


def _is_text(words: Sequence[Word]) -> bool:
    signs = "".join(word.text for word in words)
    if len(signs) < CHARACTERS_LEAST:
        return False
    impossible = sum(unicodedata.category(sign)[0] not in _POSSIBLE or sign == "\ufffd" for sign in signs)
    if impossible > IMPOSSIBLE_SHARE * len(signs):
        return False
    letters = [sign for sign in signs if sign.isalpha()]
    vowels = sum(sign in _VOWELS for sign in letters)
    return len(letters) < LETTERS_LEAST or vowels >= VOWELS_LEAST * len(letters)
