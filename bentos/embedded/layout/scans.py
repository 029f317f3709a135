"""Digits of a letter that a scan took for characters, read as digits again."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"[\dOolI][\dOolI.,/:-]*")
_NO_NUMBER = re.compile(r"[IO]\d\d(?:[.,]\d*)?|[\d.,]+l|[^\d]*")
_MENDED = str.maketrans("OolI", "0011")


def mended(text: str) -> str:
    """The text with the characters that a scan put into numbers read as digits again; of the same length.

    `03.O6.1979`, `30l3`, `l9O`: what begins with a digit or has two, and is neither a code (I10) nor litres (2l).
    """

    def mend(match: re.Match[str]) -> str:
        word = match.group()
        before, behind = (text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1])
        if word.isdigit() or before.isalnum() or behind.isalnum() or _NO_NUMBER.fullmatch(word):
            return word
        digits = sum(char.isdigit() for char in word)
        return word.translate(_MENDED) if digits >= 2 or word[0].isdigit() else word

    return _NUMBER.sub(mend, text)


_SPREAD = 0.9
"""Share of lines followed by an empty one from which on the empty lines are the program's that took out the text."""
_SPREAD_LINES = 8
"""Lines from which on that share tells."""


def unspread(text: str) -> str:
    """The text without the empty line that some programs put behind every line of a PDF."""
    lines = text.split("\n")
    full = [n for n, line in enumerate(lines[:-1]) if line.strip()]
    followed = sum(not lines[n + 1].strip() for n in full)
    if len(full) < _SPREAD_LINES or followed < _SPREAD * len(full) or "\n\n\n" not in text:
        return text
    kept = (n for n in range(len(lines)) if lines[n].strip() or n == 0 or not lines[n - 1].strip())
    return "\n".join(lines[n] for n in kept)
