"""Joints: where one condition ends and the next begins with nothing but a space between them ("aHT DM2 VHF").

Who types in a hurry sets no commas. A joint is where a wording of the catalog ends, perhaps with its stage or side
behind it, and another begins, and no wording goes across ("Vitamin B12 Mangel").
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from clinical.icd import Catalog, lasts
from clinical.search import Wordings
from clinical.text import FUNCTION_WORDS, ROMAN, SIDES, STAGE_WORDS, Token, folded_words, sites_of, spelling, words

LONGEST: Final = 5
"""Words of the longest wording that is looked for."""
_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)
"""Of a polynomial over the numbers of words, modulo 2**64: two wordings have one value only by chance."""
_PLAIN: Final = frozenset((" ", "-", ". ", "° ", ".", "  "))
"""Between two words of one wording, and between a wording and its stage."""
_APART: Final = frozenset((" ", "° ", "  "))
"""Between two conditions of which each is a wording."""
_STAGED: Final = frozenset(folded_words(" ".join((*STAGE_WORDS, *ROMAN))))
_BEHIND: Final = _STAGED | frozenset(folded_words(" ".join(SIDES)))
"""Words of a stage, and of a stage or side."""
_LETTERS: Final = frozenset("ABCDE")
"""Of a stage or type."""


class WordRuns:
    """The words of some wordings of a catalog, of up to LONGEST words each, to be looked for in texts."""

    def __init__(self, wordings: Wordings, some: NDArray[np.bool_] | None = None) -> None:
        """`some`: for each wording whether it is one of them; all without."""
        self._number = wordings.vocabulary
        starts, word = wordings.tables.word_start, wordings.tables.word.astype(np.uint64) + np.uint64(1)
        lengths, found = np.diff(starts), list[np.ndarray]()
        for length in range(1, LONGEST + 1):
            first = starts[:-1][(lengths == length) & (True if some is None else some)]
            found.append(_values([word[first + at] for at in range(length)])[-1])
        self._known = np.unique(np.concatenate(found))

    def of(self, folded: Sequence[str], plain: NDArray[np.bool_] | None = None) -> list[NDArray[np.bool_]]:
        """For each length whether a wording of so many words begins at each word; `plain`: whether each word may stand
        in one wording with the word before, all without."""
        count = len(folded)
        words = np.array([self._number.get(word, -2) + 1 for word in folded], dtype=np.int64)
        values = _values([words[at:].astype(np.uint64) for at in range(min(LONGEST, count))])
        every = np.concatenate(values)
        at = np.searchsorted(self._known, every)
        found = self._known[np.minimum(at, len(self._known) - 1, out=at)] == every
        valid, runs, begun = words > 0, list[NDArray[np.bool_]](), 0
        for length, own in enumerate(values):
            if length:
                valid = valid[:-1] & (words[length:] > 0) & (True if plain is None else plain[length:])
            runs.append(valid & found[begun : begun + len(own)])
            begun += len(own)
        return runs


class LastingDiseases:
    """Knows the words of diseases that do not end."""

    def __init__(self, catalog: Catalog, wordings: Wordings) -> None:
        last = np.array([lasts(code) for code in catalog.codes], dtype=bool)
        self._runs = WordRuns(wordings, last[wordings.tables.code])

    def names(self, folded: Sequence[str]) -> bool:
        """True if these words are a wording of one, perhaps with a stage, a side or a year behind it."""
        words = list(folded)
        while words:
            if len(words) <= LONGEST and self._runs.of(words)[len(words) - 1][0]:
                return True
            if words[-1] not in _BEHIND and not words[-1].isdecimal():
                return False
            words.pop()
        return False


class Joints:
    """Finds the joints of texts by the wordings of one catalog."""

    def __init__(self, wordings: Wordings) -> None:
        self._runs, self._number = WordRuns(wordings), wordings.vocabulary
        starts, word = wordings.tables.word_start, wordings.tables.word
        some = np.flatnonzero(np.diff(starts) > 0)
        self._first, self._last = bytearray(len(self._number)), bytearray(len(self._number))
        np.frombuffer(self._first, dtype=np.uint8)[word[starts[some]]] = 1
        np.frombuffer(self._last, dtype=np.uint8)[word[starts[some + 1] - 1]] = 1
        for own in folded_words(" ".join(FUNCTION_WORDS)):
            if (number := self._number.get(own, -1)) >= 0:
                self._first[number] = self._last[number] = 0

    def parted(self, text: str, written: Sequence[Token] | None = None) -> str:
        """The text with a comma for the blank of each joint: its length stays, and so do its words (`written`)."""
        written = words(text) if written is None else written
        found = self._of(text, written)
        if not found:
            return text
        characters = list(text)
        for at in found:
            characters[written[at].start - 1] = ","
        return "".join(characters)

    def _may_part(self, text: str, written: Sequence[Token], gaps: Sequence[str]) -> bool:
        """False where no word of a wording's end, or of a stage or side, has one of a wording's beginning behind it."""
        numbers = [self._number.get(word.text, -1) for word in written]
        return any(
            gaps[at] in _APART and number >= 0 and self._first[number]
            and ((numbers[at - 1] >= 0 and self._last[numbers[at - 1]]) or _is_behind(written[at - 1], text))
            for at, number in enumerate(numbers) if at
        )  # fmt: skip

    def _of(self, text: str, written: Sequence[Token]) -> list[int]:
        """The numbers of the words behind a joint. Linear in the words. `written`: the words of the text."""
        count = len(written)
        if count < 2:
            return []
        gaps = ["", *(text[one.end : other.start] for one, other in pairwise(written))]
        if not self._may_part(text, written, gaps):
            return []
        known = self._runs.of([word.text for word in written], np.array([gap in _PLAIN for gap in gaps]))
        small = not any(map(str.isupper, text))
        known[0] &= [_is_name(text[word.start : word.end], small) for word in written]
        ends, across = np.zeros(count + 1, dtype=bool), np.zeros(count + 1, dtype=bool)
        for length, own in enumerate(known, start=1):
            ends[length : length + len(own)] |= own
            for inside in range(1, length):
                across[inside : inside + len(own)] |= own
        names, longer = known[0], _any_of(known[1:], count)
        found = list[int]()
        for at in np.flatnonzero((names | longer) & ~across[:count]).tolist():
            before = at
            while before > 0 and gaps[before] in _PLAIN and _is_behind(written[before - 1], text):
                before -= 1
            if gaps[at] in _APART and (ends[before] or ends[at]) and _may_begin(written[at], text):
                found.append(at)
        if not found:
            return []
        sites = {at for start, end in sites_of(text) for at in range(start, end)}
        return [at for at in found if longer[at] or written[at].start not in sites]


def _any_of(known: Sequence[np.ndarray], count: int) -> np.ndarray:
    """For each word whether a wording of some length begins there."""
    found = np.zeros(count, dtype=bool)
    for own in known:
        found[: len(own)] |= own
    return found


def _values(words: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The value of the first word, of the first two words, and so on; each as long as its last word's array."""
    found = [words[0] * _FACTOR]
    for one in words[1:]:
        found.append((found[-1][: len(one)] + one) * _FACTOR)
    return found


def _may_begin(word: Token, text: str) -> bool:
    """True if a condition may begin with a word: not with a stage, a number, or a word of grammar."""
    return (
        len(word.text) > 1
        and word.text not in _STAGED
        and not word.text[0].isdecimal()
        and spelling(text[word.start : word.end]) not in FUNCTION_WORDS
    )


def _is_name(word: str, small: bool) -> bool:
    """False for a word that alone names nothing: one of grammar, or one in small letters if the text has others."""
    return (small or not word.islower()) and spelling(word) not in FUNCTION_WORDS


def _is_behind(word: Token, text: str) -> bool:
    return word.text in _BEHIND or word.text.isdecimal() or text[word.start : word.end] in _LETTERS
