"""A free-text value prepared for alignment with a letter: what each of its words is there for."""

from __future__ import annotations

from dataclasses import dataclass

from clinical.claims import Reading, denying_words
from clinical.text import FUNCTION_WORDS, QUALIFYING, is_opposite


@dataclass(frozen=True, slots=True)
class Value:
    """A value prepared for alignment: keys, what each is (`plain`, `meaning`, `function`), what divides them."""

    source: Reading
    keys: tuple[str, ...]
    roles: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Value:
        """Prepare a value as the text is prepared."""
        source = Reading.of(text)
        return cls(source, tuple(source.keys), tuple(map(role_of, source.words, source.keys)))

    def first_required(self) -> int | None:
        """The first token that is no function word; None for a value of function words or punctuation alone."""
        return next((i for i, role in enumerate(self.roles) if role != "function"), None)

    def names_something(self) -> bool:
        """Not `Z. n.` or `kein` alone."""
        return any(
            role == "plain" or key[0] in "#§" or is_opposite(key)
            for role, key in zip(self.roles, self.keys, strict=True)
        )


def role_of(word: str, key: str) -> str:
    if key[0] in "#§" or key in QUALIFYING or word in denying_words() or is_opposite(word):
        return "meaning"
    return "function" if word in FUNCTION_WORDS else "plain"
