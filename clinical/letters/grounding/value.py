"""A free-text value prepared for alignment with a letter: what each of its words is there for."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

from clinical.claims import Reading, denying_words
from clinical.text import FUNCTION_WORDS, QUALIFYING, is_opposite

Role = Literal["plain", "meaning", "function"]


class Value:
    """A value prepared as the text is. Most stand there word by word, and are asked for their first words alone."""

    def __init__(self, text: str) -> None:
        self.source = Reading.of(text)

    @cached_property
    def keys(self) -> list[str]:
        """The free-text key of every token."""
        return [*map(self.source.key, range(len(self.source)))]

    @cached_property
    def roles(self) -> list[Role]:
        """The role of every token."""
        return [*map(role_of, self.source.words, self.keys)]

    def first_required(self) -> int | None:
        """The first token that is no function word; None for a value that names nothing: `Z. n.` or `kein` alone."""
        first, named = None, False
        for i, word in enumerate(self.source.words):
            key = self.source.key(i)
            role = role_of(word, key)
            if first is None and role != "function":
                first = i
            named = named or role == "plain" or key[0] in "#§" or is_opposite(key)
            if named and first is not None:
                return first
        return None


def role_of(word: str, key: str) -> Role:
    if key[0] in "#§" or key in QUALIFYING or word in denying_words() or is_opposite(word):
        return "meaning"
    return "function" if word in FUNCTION_WORDS else "plain"
