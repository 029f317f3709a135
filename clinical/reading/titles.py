"""Titles of chapters above a text: they say what it is about, and are no diagnosis in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from clinical.text import Token, words


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
