"""A text as it was typed, before it was copied: without the line ends of a page, the entities of HTML, the characters
of a wrong encoding, and with plain blanks.

Every character stays at its place, so that what is found in the one stands in the other: what takes fewer characters
is filled up, within a word with soft hyphens, which no reading sees, elsewhere with blanks.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

_FILLED: Final = "\u00ad"
_BLANKS: Final = {
    **dict.fromkeys(map(ord, "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"), " "),
    **dict.fromkeys(map(ord, "\u0085\u2028\u2029\u000b\u000c"), "\n"),
}
_RETURN: Final = re.compile(r"\r(?!\n)")
_ENTITY: Final = re.compile(r"&(?:[A-Za-z]{2,8}|#\d{1,6}|#x[0-9A-Fa-f]{1,5});")
_TAG: Final = re.compile(
    r"</?(?:(p|br|div|li|ul|ol|tr|table|h[1-6]|body|html)|b|i|u|em|strong|span|font|td|th|tbody|sub|sup|a)\b[^<>]{0,300}>",
    re.I,
)
_MISREAD: Final = re.compile("[\u00c3\u00c2][\u0080-\u00bf\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u0192\u02c6\u02dc\u2013-\u203a\u20ac\u2122]")
"""Two bytes of UTF-8, read as Latin-1 or Windows-1252."""
_LOST: Final = re.compile(r"(?<=[^\W\d_])\ufffd|\ufffd(?=[^\W\d_])")
"""A letter that an encoding has lost, within a word."""
_ASKED: Final = re.compile(r"(?<=[^\W\d_])\?(?=[a-z])")
"""The same where it wrote a question mark, in a text that has no other umlauts."""
_DIVIDED: Final = re.compile(r"(?<=[a-zäöüß])[-\u2010\u00ac][ \t]*\n[ \t]*(?=[a-zäöüß])(?!(?:und|oder|bzw|sowie|u)\b)")
"""The hyphen of a word at the end of a line."""
WRAPPED: Final = 24
"""Characters from which a line may go on in the next."""
WIDE: Final = 38
"""Characters of the longest line of a paragraph from which its lines are compared with it."""
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
    """The text as it was typed, of the same length."""
    if text.isascii() and not any(character in text for character in "\n\r&<?"):
        return text
    if not text.isascii():
        text = text.translate(_BLANKS)
        text = _MISREAD.sub(_read_again, text)
    if "\r" in text:
        text = _RETURN.sub("\n", text).replace("\r", " ")
    if "&" in text:
        text = _ENTITY.sub(_unescaped, text)
    if "<" in text:
        text = _TAG.sub(_untagged, text)
    if "\ufffd" in text:
        text = _LOST.sub(_FILLED, text)
    if "?" in text and text.isascii():
        text = _ASKED.sub(_FILLED, text)
    if "\n" in text.strip():
        text = _DIVIDED.sub(lambda match: _FILLED * len(match.group()), text)
        text = _unwrapped(text)
    return text


def _read_again(match: re.Match[str]) -> str:
    """The character of which two were made."""
    for encoding in ("cp1252", "latin-1"):
        try:
            return match.group().encode(encoding).decode("utf-8") + _FILLED
        except (UnicodeEncodeError, UnicodeDecodeError):
            continue
    return match.group()


def _unescaped(match: re.Match[str]) -> str:
    found = html.unescape(match.group())
    if len(found) != 1:
        return match.group()
    filled = _FILLED if found.isalpha() else " "
    return (" " if found.isspace() else found) + filled * (len(match.group()) - 1)


def _untagged(match: re.Match[str]) -> str:
    return ("\n" if match[1] else " ") + " " * (len(match.group()) - 1)


def _unwrapped(text: str) -> str:
    """The text with a blank for each line end at which a line goes on in the next."""
    wraps = list(_wraps(text))
    if not wraps:
        return text
    characters = list(text)
    for at in wraps:
        characters[at] = " "
    return "".join(characters)


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
    crowded = [len(one) + 1 + len(other.split(None, 1)[0]) > longest for one, other in pairwise(lines)]
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
