"""Wordings as people type them: slips of the keyboard, cut-off words, shorthand, official word synonyms.

Spelling variants (ä/ae, c/k/z, ph/f) need none of this: `clinical.text.fold` lets them fall together.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from itertools import islice

from catalog_build.synonyms import WordSynonym
from clinical.text import fold, same_meaning

_NEAR = dict(zip("qwertzuiopasdfghjklyxcvbnm", ("wa", "qe", "wr", "et", "rz", "tu", "zi", "uo", "ip", "o", "s", "ad",
    "sf", "dg", "fh", "gj", "hk", "jl", "k", "x", "yc", "xv", "cb", "vn", "bm", "n"), strict=True))  # fmt: skip
"""Neighbours on a German keyboard, the ones a finger slips to."""

MOST_MEANINGS = 12
"""Words of the same meaning among which one is drawn."""
SHORTEST_CUT = 4
"""Characters that stay when somebody stops typing or writes shorthand ("chron", "Lebervergr")."""


class Augmenter:
    """Makes one variant of a text at a time, from a seeded source of chance."""

    def __init__(self, seed: int, references: Sequence[WordSynonym] = ()) -> None:
        self._chance = random.Random(seed)  # noqa: S311 - reproducible training, not a secret
        self._synonyms: Mapping[str, tuple[str, ...]] = {
            word.word.casefold(): word.others for word in references if not word.prefix and " " not in word.word
        }

    def vary(self, text: str) -> str:
        """One of: a typo, a cut-off, a word left out, other order, a word synonym, a word in the other language; the
        text itself if none applies."""
        ways = (self.typo, self.typo, self.typo, self.cut, self.leave_out, self.turn, self.replace, self.translate)
        return self._chance.choice(ways)(text)

    def typo(self, text: str) -> str:
        """One slip: two characters swapped, one dropped, doubled, or replaced by its neighbour."""
        places = [at for at, letter in enumerate(text[:-1]) if letter.isalpha() and text[at + 1].isalpha()]
        if len(places) < SHORTEST_CUT:
            return text
        at = self._chance.choice(places)
        kind = self._chance.randrange(4)
        if kind == 0:
            return text[:at] + text[at + 1] + text[at] + text[at + 2 :]
        if kind == 1:
            return text[:at] + text[at + 1 :]
        if kind == 2:
            return text[: at + 1] + text[at:]
        near = _NEAR.get(text[at].lower())
        return text[:at] + (self._chance.choice(near) if near else "") + text[at + 1 :]

    def cut(self, text: str) -> str:
        """A word (the last as a rule) stops early."""
        pieces = text.split()
        at = len(pieces) - 1 if self._chance.random() < 0.7 else self._chance.randrange(len(pieces))
        word = pieces[at]
        if len(word) <= SHORTEST_CUT + 1:
            return text
        kept = self._chance.randint(max(SHORTEST_CUT, len(word) // 2), len(word) - 1)
        return " ".join([*pieces[:at], word[:kept], *pieces[at + 1 :]])

    def leave_out(self, text: str) -> str:
        """Without one of at least three words."""
        pieces = text.split()
        if len(pieces) < 3:
            return text
        del pieces[self._chance.randrange(len(pieces))]
        return " ".join(pieces)

    def turn(self, text: str) -> str:
        """The words in another order."""
        pieces = text.split()
        self._chance.shuffle(pieces)
        return " ".join(pieces)

    def replace(self, text: str) -> str:
        """A word by what the official index says it may be written for."""
        pieces = text.split()
        places = [at for at, piece in enumerate(pieces) if piece.casefold() in self._synonyms]
        if not places:
            return text
        at = self._chance.choice(places)
        pieces[at] = self._chance.choice(self._synonyms[pieces[at].casefold()])
        return " ".join(pieces)

    def translate(self, text: str) -> str:
        """A word by one of the same meaning in the other language, whether it is in use or not ("Hepatentzündung"):
        what is learnt are the parts."""
        pieces = text.split()
        at = self._chance.randrange(len(pieces)) if pieces else 0
        others = list(islice(same_meaning(fold(pieces[at])), MOST_MEANINGS)) if pieces else []
        return " ".join([*pieces[:at], self._chance.choice(others), *pieces[at + 1 :]]) if others else text

    def nonsense(self, text: str) -> str:
        """The characters of a text in another order: looks like words, means nothing."""
        characters = list(text)
        self._chance.shuffle(characters)
        return "".join(characters)
