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
