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
        return self.source.keys

    @cached_property
    def roles(self) -> list[Role]:
        """What every token is there for."""
        return [*map(role_of, self.source.words, self.keys)]

    def first_required(self) -> int | None:
        """The first token that is no function word; None for a value of function words or punctuation alone."""
        words, key = self.source.words, self.source.key
        return next((i for i, word in enumerate(words) if role_of(word, key(i)) != "function"), None)

    def names_something(self) -> bool:
        """Not `Z. n.` or `kein` alone."""
        keys = map(self.source.key, range(len(self.source)))
        return any(
            role_of(word, key) == "plain" or key[0] in "#§" or is_opposite(key)
            for word, key in zip(self.source.words, keys, strict=True)
        )


def role_of(word: str, key: str) -> Role:
    if key[0] in "#§" or key in QUALIFYING or word in denying_words() or is_opposite(word):
        return "meaning"
    return "function" if word in FUNCTION_WORDS else "plain"
