"""Text of a text file in any common encoding."""

from __future__ import annotations

import codecs

from clinical.letters.files.limits import UnknownKind
from clinical.letters.files.page_text import PageText

_MARKED = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_ONE_BYTE = ("cp1252", "cp850", "mac_roman")
"""Encodings in which German programs wrote one byte for a character: Windows, DOS, Macintosh."""
_GERMAN = frozenset("äöüÄÖÜßéèàêâçÉ§°µ²³–„“”‚‘’•…€ \xa0»«½±×·Ø")
"""Signs beyond ASCII that German letters have."""
_CONTROLS = frozenset(map(chr, range(32))) - frozenset("\t\n\r\f\v\x1a")


def read_plain(data: bytes) -> PageText:
    """The text, its encoding told by its mark, by being UTF-8, or by the German letters it gives. Raises UnknownKind
    where it gives none."""
    text = _decoded(data)
    if text is None or any(sign in _CONTROLS for sign in text):
        raise UnknownKind("bytes that are no text", "text, PDF, DOCX, PNG, JPEG or TIFF")
    return PageText(text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\x1a"))


def _decoded(data: bytes) -> str | None:
    for mark, encoding in _MARKED:
        if data.startswith(mark):
            return _as(data, encoding)
    if data[:200].count(0):
        pairs = [
            (sum(data[n:400:2].count(0) for _ in (0,)), encoding)
            for n, encoding in ((1, "utf-16-le"), (0, "utf-16-be"))
        ]
        return _as(data, max(pairs)[1])
    if (text := _as(data, "utf-8")) is not None:
        return text
    tried = [text for encoding in _ONE_BYTE if (text := _as(data, encoding)) is not None]
    return min(tried, key=_foreign, default=None)


def _as(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None


def _foreign(text: str) -> int:
    """Signs that German text does not have."""
    return sum(sign > "\x7f" and sign not in _GERMAN for sign in text)
