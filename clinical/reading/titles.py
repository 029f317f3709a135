"""Official titles in a text, word for word: those of chapters say what it is about and are no diagnosis in it; those of
codes are one, whatever commas and denials they are worded with ("Gastritis, nicht näher bezeichnet")."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from clinical.icd import Catalog
from clinical.search import Wordings
from clinical.text import Token, words

BEGINNING: Final = 2
"""Words by which the titles of codes are looked for; single ones are found as other mentions are."""


class ChapterTitles:
    """The titles of a classification's chapters, found word for word across line ends. One of a single word is left
    out: "Neubildungen" may be said of somebody."""

    def __init__(self, titles: Iterable[str]) -> None:
        self._by_first: dict[str, list[tuple[str, ...]]] = {}
        for title in titles:
            spelled = tuple(word.text for word in words(title))
            if len(spelled) > 1:
                self._by_first.setdefault(spelled[0], []).append(spelled)

    def places(self, written: Sequence[Token]) -> list[tuple[int, int]]:
        """Start and end of each title among the words of a text, in code points."""
        spelled = [word.text for word in written]
        return [
            (written[at].start, written[at + len(title) - 1].end)
            for at, word in enumerate(spelled)
            for title in self._by_first.get(word, ())
            if tuple(spelled[at : at + len(title)]) == title
        ]


class CodeTitles:
    """The titles of the codes that may be given, found word for word across punctuation and line ends: hospital systems
    print the official text of a code where people write a diagnosis."""

    def __init__(self, catalog: Catalog, wordings: Wordings) -> None:
        self._vocabulary = wordings.vocabulary
        terminal = np.array([catalog.codes[code].terminal for code in wordings.codes.tolist()])
        rows, starts = wordings.tables.title[terminal], wordings.tables.word_start
        spelled, size = wordings.tables.word.tobytes(), wordings.tables.word.itemsize
        self._size, self._known = size, dict[bytes, int]()
        lengths = defaultdict[bytes, set[int]](set)
        begins, ends = (starts[rows] * size).tolist(), (starts[rows + 1] * size).tolist()
        for code, start, end in zip(wordings.codes[terminal].tolist(), begins, ends, strict=True):
            if end - start >= BEGINNING * size:
                self._known.setdefault(spelled[start:end], code)
                lengths[spelled[start : start + BEGINNING * size]].add(end - start)
        self._lengths = {beginning: sorted(own, reverse=True) for beginning, own in lengths.items()}

    def places(self, folded: Sequence[str]) -> list[tuple[int, int, int]]:
        """First and last word of each title among the folded words of a text, and the number of its code; the longest
        where several begin, and none overlaps another."""
        known, size, found, at = self._vocabulary, self._size, list[tuple[int, int, int]](), 0
        spelled = np.array([known.get(word, -1) for word in folded], dtype=f"int{8 * size}").tobytes()
        while at <= len(spelled) - BEGINNING * size:
            lengths = self._lengths.get(spelled[at : at + BEGINNING * size], ())
            length = next((one for one in lengths if _piece(spelled, at, one) in self._known), 0)
            if length:
                found.append((at // size, (at + length) // size - 1, self._known[spelled[at : at + length]]))
            at += length or size
        return found


def _piece(spelled: bytes, start: int, length: int) -> bytes:
    """The bytes from `start`; none where there are not so many."""
    return spelled[start : start + length] if start + length <= len(spelled) else b""
