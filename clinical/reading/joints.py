"""Joints: where one condition ends and the next begins with nothing but a space between them ("aHT DM2 VHF").

Who types in a hurry sets no commas. A joint is where a wording of the catalog ends, perhaps with its stage or side
behind it, and another begins, and no wording goes across ("Vitamin B12 Mangel").
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from clinical.search import Ints, Wordings
from clinical.text import ROMAN, SIDES, STAGE_WORDS, Token, folded_words, words

LONGEST: Final = 5
"""Words of the longest wording that is looked for."""
_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)
"""Of a polynomial over the numbers of words, modulo 2**64: no two wordings of a catalog have one value but by chance."""
_PLAIN: Final = frozenset((" ", "-", ". ", "° ", ".", "  "))
"""What may stand between two words of one wording, and of a wording and its stage."""
_APART: Final = frozenset((" ", ". ", "° ", "  "))
"""What stands in a joint."""
_BEHIND: Final = frozenset(folded_words(" ".join((*STAGE_WORDS, *ROMAN, *SIDES))))
"""Words of a stage or side."""


class Joints:
    """Finds the joints of texts by the wordings of one catalog."""

    def __init__(self, wordings: Wordings) -> None:
        self._vocabulary = wordings.vocabulary
        starts, word = wordings.tables.word_start, wordings.tables.word.astype(np.uint64) + np.uint64(1)
        lengths, found = np.diff(starts), list[np.ndarray]()
        for length in range(1, LONGEST + 1):
            first = starts[:-1][lengths == length]
            found.append(_values([word[first + at] for at in range(length)])[-1])
        self._known = np.unique(np.concatenate(found))

    def parted(self, text: str) -> str:
        """The text with a comma for the blank of each joint: its length stays."""
        written = words(text)
        found = self._of(text, written)
        if not found:
            return text
        characters = list(text)
        for at in found:
            characters[written[at].start - 1] = ","
        return "".join(characters)

    def _of(self, text: str, written: Sequence[Token]) -> list[int]:
        """The numbers of the words behind a joint. Linear in the words. `written`: the words of the text."""
        count = len(written)
        if count < 2:
            return []
        gaps = ["", *(text[one.end : other.start] for one, other in zip(written[:-1], written[1:], strict=True))]
        if not any(gap in _APART for gap in gaps):
            return []
        known = self._known_runs([word.text for word in written], np.array([gap in _PLAIN for gap in gaps]))
        ends, across = np.zeros(count + 1, dtype=bool), np.zeros(count + 1, dtype=bool)
        for length, own in enumerate(known, start=1):
            ends[length : length + len(own)] |= own
            for inside in range(1, length):
                across[inside : inside + len(own)] |= own
        begins = np.logical_or.reduce([np.r_[own, np.zeros(count - len(own), dtype=bool)] for own in known])
        found = list[int]()
        for at in np.flatnonzero(begins & ~across[:count]).tolist():
            before = at
            while before > 0 and gaps[before] in _PLAIN and _is_behind(written[before - 1].text):
                before -= 1
            number = written[at - 1].text[-1].isdecimal() and written[at].text[0].isdecimal()
            if gaps[at] in _APART and (ends[before] or ends[at]) and not number:
                found.append(at)
        return found

    def _known_runs(self, folded: Sequence[str], plain: np.ndarray) -> list[np.ndarray]:
        """For each length whether a wording of so many words begins at each word."""
        number, count = self._vocabulary, len(folded)
        words = np.array([number.get(word, -2) + 1 for word in folded], dtype=np.int64)
        valid, runs = words > 0, list[np.ndarray]()
        values = _values([words[at:].astype(np.uint64) for at in range(min(LONGEST, count))])
        for length, own in enumerate(values):
            if length:
                valid = valid[:-1] & (words[length:] > 0) & plain[length:]
            at = np.minimum(np.searchsorted(self._known, own), len(self._known) - 1)
            runs.append(valid & (self._known[at] == own))
        return runs


def _values(words: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The value of the first word, of the first two words, and so on; each as long as its last word's array."""
    found = [words[0] * _FACTOR]
    for one in words[1:]:
        found.append((found[-1][: len(one)] + one) * _FACTOR)
    return found


def _is_behind(word: str) -> bool:
    return word in _BEHIND or word.isdecimal() or (len(word) == 1 and word.isalpha())
