"""Official word synonyms at query time: a query is also searched as the catalog would word it.

The alphabetical index equates words (`OSG - s. Oberes Sprunggelenk`, `Lues - s. Syphilis`). A query that holds such a
word is searched a second time with all of them replaced; each code keeps the better of its two results.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import orjson

from clinical.search.bounds import json_of, require
from clinical.text import Token, fold, replaced, words


class Expansion:
    """Folded word -> the wording to try in its place. Immutable."""

    def __init__(self, replacements: Mapping[str, str]) -> None:
        self._replacements = dict(replacements)

    def __contains__(self, word: str) -> bool:
        return word in self._replacements

    def __len__(self) -> int:
        return len(self._replacements)

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str]]) -> Expansion:
        """From (word, what it stands for); heads of several words are left to the wordings; the first pair wins."""
        found: dict[str, str] = {}
        for head, target in pairs:
            folded = fold(head)
            if folded and len(words(head)) == 1 and folded != fold(target):
                found.setdefault(folded, target)
        return cls(found)

    def expanded(self, query: str, read: Sequence[Token] | None = None) -> str | None:
        """The query with its words replaced; None when there is nothing to replace. `read`: its words, where known."""
        found = ((word, self._replacements.get(word.text)) for word in (words(query) if read is None else read))
        targets = [(word, target) for word, target in found if target is not None]
        return replaced(query, targets) if targets else None

    def save(self, path: Path) -> None:
        """Write one JSON object."""
        path.write_bytes(orjson.dumps(self._replacements, option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2))

    @classmethod
    def load(cls, path: Path) -> Expansion:
        """Read what `save` wrote. Raises ArtifactMismatch where it is something else."""
        tree = json_of(path)
        words = isinstance(tree, dict) and all(isinstance(word, str) for word in tree.values())
        require(words, f"{path.name} holds what is no word", "a wording for each word")
        return cls(tree)
