"""A text as it was typed, before it was copied: without the line ends of a page, the entities of HTML, the characters
of a wrong encoding, and with plain blanks.

Every character stays at its place, so that what is found in the one stands in the other: what takes fewer characters
is filled up with soft hyphens, which no reading sees in a word; in prose with blanks where they stand in none.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise
from typing import Final, NamedTuple

_FILLED: Final = "\u00ad"
_BLANKS: Final = {
    **dict.fromkeys((0x00A0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000), " "),
    **dict.fromkeys(map(ord, "\u0085\u2028\u2029\u000b\u000c"), "\n"),
}
_RETURN: Final = re.compile(r"\r(?!\n)")
_ENTITY: Final = re.compile(r"&(?:[A-Za-z]{2,8}|#\d{1,6}|#x[0-9A-Fa-f]{1,5});")
_TAG: Final = re.compile(
    r"</?(?:(b|i|u|em|strong|span|font|td|th|sub|sup|a)\b[^<>]{0,300}"
    r"|(?:p|br|div|li|ul|ol|tr|table|h[1-6]|body|html)\b[^<>]{0,300}"
    r"|[A-Za-z][\w:.-]{0,60}(?:\s+[\w:.-]{1,60}=[\"'][^\"'<>]{0,300}[\"']){0,9}\s{0,3}/?)>",
    re.I,
)
"""A tag of HTML that stands within a line; one that ends a line, as one of XML does."""
_BYTE: Final = "[\u0080-\u00bf\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u0192\u02c6\u02dc\u2013-\u203a\u20ac\u2122]"
_MISREAD: Final = re.compile(f"[\u00c3\u00c2]{_BYTE}|\u00e2{_BYTE}{{2}}")
"""Bytes of a character in UTF-8, read as Latin-1 or Windows-1252."""
_OUTSIDE: Final = re.compile(f"(?<![\\w{_FILLED}]){_FILLED}+|{_FILLED}(?=\n)")
"""Filling that stands in no word."""
_COLUMN: Final = re.compile(r"(?<=[^\W_])([)\]°%]?)([ \t]++)(?=[^\W_(])")
"""Blanks between two columns of a table: the first of them becomes a semicolon."""
_ESCAPED: Final = re.compile(r"(?:\\r)?\\n")
"""The end of a line as a program wrote it twice."""
_MARKED: Final = re.compile("[A-Za-z][\u0300-\u036f]")
_LOST: Final = re.compile(r"(?<=[^\W\d_])\ufffd|\ufffd(?=[^\W\d_])")
"""A letter that an encoding has lost, within a word."""
_ASKED: Final = re.compile(r"(?<=[^\W\d_])\?(?=[a-z])")
"""The same where it wrote a question mark, in a text that has no other umlauts."""
_QUOTED: Final = re.compile(r"^(?:>[ \t]?)+", re.M)
"""Signs before each line of a quoted mail."""
_DIVIDED: Final = re.compile(
    r"(?<=[a-zäöüß])[-\u2010\u00ac][ \t\u00ad]*\n[ \t\u00ad]*(?=[a-zäöüß])(?!(?:und|oder|bzw|sowie|u)\b)"
)
"""The hyphen of a word at the end of a line."""
WRAPPED: Final = 24
"""Characters from which a line may go on in the next."""
WIDE: Final = 38
"""Characters of the longest line of a paragraph from which its lines are compared with it."""
WIDEST: Final = 100
"""Characters of the longest line of a text that was wrapped at one width."""
MOSTLY: Final = 0.6
"""Share of its lines that are full, of those that go on with a small letter."""
_FINISHED: Final = re.compile(r"[.:;!?][\"“”’»«')]?\s*$")
_OPEN: Final = re.compile(
    r"(?:,|\b(?:und|oder|sowie|mit|bei|durch|im|in|am|an|auf|von|vom|nach|zur|zum|ohne|als|für|beim|ins|wegen|unter|über|"
    r"gegen|trotz|der|die|das|des|dem|den|eine?|eine[rsmn]|keine?|keine[rsmn]))$",
    re.I,
)
"""The end of a line that goes on."""
_ITEM: Final = re.compile(r"\s*(?:[-–•*·▪>|+]|\(?\d{1,2}[.)]\s|[a-z]\)\s|\d{1,2}\.\d{1,2}\.|\w[\w .-]{0,30}:(?:\s|$))")
"""The beginning of a list item, an entry by its date, or a labelled line."""


def as_typed(text: str) -> str:
    """The text as it was typed, of the same length: plain blanks and line ends, its own characters, words in one."""
    if text.isascii() and not any(character in text for character in "\n\r&<\\"):
        return text
    if not text.isascii():
        text = text.translate(_BLANKS)
        text = _MISREAD.sub(_read_again, text)
        text = _MARKED.sub(_composed, text)
    if "\\n" in text and "\n" not in text:
        text = _ESCAPED.sub(lambda match: "\n".rjust(len(match.group()), _FILLED), text)
    if "\r" in text:
        text = _RETURN.sub("\n", text).replace("\r", _FILLED)
    if "&" in text:
        text = _ENTITY.sub(_unescaped, text)
    if "<" in text:
        text = _TAG.sub(_untagged, text)
    if "\n>" in text and all(line.startswith(">") for line in text.split("\n") if line.strip()):
        text = _QUOTED.sub(lambda match: _FILLED * len(match.group()), text)
    return _DIVIDED.sub(lambda match: _FILLED * len(match.group()), text) if "\n" in text else text


class TypedText(NamedTuple):
    """A text as it was typed, without filling."""

    text: str
    places: tuple[int, ...] | None = None
    """The place of each character in the copied text; None if it is the same."""

    @classmethod
    def of(cls, copied: str) -> TypedText:
        """The text of a copied one; its lines go on where all of it was wrapped at one width."""
        typed, places = as_typed(copied), None
        if _FILLED in typed:
            places = tuple(at for at, character in enumerate(typed) if character != _FILLED)
            typed = typed.replace(_FILLED, "")
        return cls(_unwrapped(typed) if "\n" in typed and _is_wrapped(typed) else typed, places)

    def copied(self, start: int, end: int) -> tuple[int, int]:
        """The place in the copied text of a piece that is not empty."""
        return (start, end) if self.places is None else (self.places[start], self.places[end - 1] + 1)


def as_prose(text: str) -> str:
    """The text as it was typed, of the same length, besides without the line ends of a page and with nothing for a
    letter that an encoding has lost."""
    text = as_typed(text)
    if _FILLED in text:
        text = _OUTSIDE.sub(lambda match: " " * len(match.group()), text)
    if "\ufffd" in text:
        text = _LOST.sub(_FILLED, text)
    if "\t" in text or "   " in text:
        text = _COLUMN.sub(_parted, text)
    if "?" in text and text.isascii():
        text = _ASKED.sub(_FILLED, text)
    return _unwrapped(text) if "\n" in text.strip() else text


def _parted(match: re.Match[str]) -> str:
    closing, blanks = match.groups()
    return closing + ";".ljust(len(blanks)) if "\t" in blanks or len(blanks) > 2 else match.group()


def _composed(match: re.Match[str]) -> str:
    """One character for a letter and its mark."""
    found = unicodedata.normalize("NFC", match.group())
    return found + _FILLED if len(found) == 1 else match.group()


def _read_again(match: re.Match[str]) -> str:
    """The character of which several were made."""
    for encoding in ("cp1252", "latin-1"):
        try:
            return _filled(match.group().encode(encoding).decode("utf-8"), len(match.group()))
        except (UnicodeEncodeError, UnicodeDecodeError):
            continue
    return match.group()


def _unescaped(match: re.Match[str]) -> str:
    found = html.unescape(match.group())
    return _filled(found, len(match.group())) if len(found) == 1 else match.group()


def _filled(character: str, length: int) -> str:
    return (" " if character.isspace() else character).ljust(length, _FILLED)


def _untagged(match: re.Match[str]) -> str:
    return (" " if match[1] else "\n").ljust(len(match.group()))


def _unwrapped(text: str) -> str:
    """The text with a blank for each line end at which a line goes on in the next."""
    wraps = list(_wraps(text))
    if not wraps:
        return text
    characters = list(text)
    for at in wraps:
        characters[at] = " "
    return "".join(characters)


def _is_wrapped(text: str) -> bool:
    """True if most lines before one that begins with a small letter are as long as they could be."""
    lines = [line.strip() for line in text.split("\n")]
    longest = max(map(len, lines))
    if not WIDE <= longest <= WIDEST:
        return False
    small = [_is_full(one, other, longest) for one, other in pairwise(lines) if one and other and other[0].islower()]
    return len(small) > 1 and sum(small) >= MOSTLY * len(small)


def _is_full(line: str, following: str, longest: int) -> bool:
    """True if the first word of the next line would have had no room."""
    return len(line) + 1 + len(following.split(None, 1)[0]) > longest


def _wraps(text: str) -> Iterator[int]:
    """The places of such line ends, in order."""
    at, block = 0, list[tuple[int, str]]()
    for line in [*text.split("\n"), ""]:
        if line.strip():
            block.append((at, line))
        else:
            yield from _wraps_of(block)
            block = []
        at += len(line) + 1


def _wraps_of(block: list[tuple[int, str]]) -> Iterator[int]:
    """Those of a paragraph: where the next line begins with a small letter; and all, where this is so once at least and
    nowhere would the first word of a line have had room in the one before."""
    if len(block) < 2:
        return
    lines = [line.strip() for _, line in block]
    longest = max(map(len, lines))
    ends = [start + len(line) for start, line in block]
    crowded = [_is_full(one, other, longest) for one, other in pairwise(lines)]
    items = [_ITEM.match(line) is not None for line in lines[1:]]
    small = [
        not item
        and (
            _OPEN.search(one) is not None
            or (tight and len(one) >= WRAPPED and other[:1].islower() and not _FINISHED.search(one))
        )
        for one, other, tight, item in zip(lines[:-1], lines[1:], crowded, items, strict=True)
    ]
    full = longest >= WIDE and any(small) and all(tight or item for tight, item in zip(crowded, items, strict=True))
    for at, own in enumerate(small):
        if own or (full and not _ITEM.match(lines[at + 1])):
            yield ends[at]
