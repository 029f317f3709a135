"""Abbreviated and cut-off words: what they may stand for, by the catalog's own vocabulary and the words beside them.

"chron. obstr. Lungenerkr." holds hardly a word of any wording. For each word that nobody wrote, or that has the dot of
an abbreviation, the candidates are the catalog's words that begin with it ("Lungenerkr": Lungenerkrankung), that hold
its characters in their order behind the same beginning ("Erkrkg": Erkrankung), or, for a compound nobody wrote, its
known beginning and a word that its rest begins. Which of them is meant say the wordings: a candidate counts as often as
wordings have it, and by far the more where they, or others of their code, have the other words of the query as well.
"""

from __future__ import annotations

import re
import threading
from bisect import bisect_left
from collections.abc import Sequence
from itertools import islice
from math import log
from typing import Final, NamedTuple

import numpy as np

from clinical.search.encoder import Vectors
from clinical.search.runs import Ints, run_starts
from clinical.search.terms import Wordings
from clinical.text import Token, fold, replaced, words

SHORTEST: Final = 2
"""Characters of the shortest word that is expanded ("Sy.")."""
INITIALS: Final = 4
"""Characters up to which a word in capitals counts as initials."""
RARE: Final = 0.02
"""A known word counts as cut off where it has less than this share of the wordings of the words that begin with it."""
MOST: Final = 3
"""Readings of a query that are ranked; 6 or 12 find no more at the first place."""
CUT_WORDS: Final = 40
"""Cut-off words of one text that are written out, the first ones: no mention has more, and each costs its readings."""
EACH, FORMS = 8, 40
"""Stems kept of each word, and the forms that they are looked for among."""
BY_CODE, BY_WORDING = 0.5, 0.5
"""Amounts, times its rarity, that a word of the query adds to a candidate in the same code and in the same wording.
Measured by the share of cut words whose own form comes first: 0.49 without, 0.60 by the code alone, 0.65 by both."""
SKELETON: Final = 3
"""First characters that a word without its vowels shares with what it stands for."""
NEAR: Final = 64
"""Words behind a word among which the last one that begins with it is mostly found, in less memory than all of them."""
LAST: Final = chr(0x10FFFF)
"""The last character that there is: behind a beginning it stands behind every word that begins so."""
HEAD: Final = 4
"""Characters of the shortest known beginning, and of the shortest rest, of an unknown compound."""

_ENDING: Final = re.compile(r"(?<=\w{4})(?:e[nmrs]?|n|s)$")
_NO_VOWELS: Final = re.compile(r"[^aeiou]{3}$")

Chances = list[tuple[str, float]]
"""Words or texts, likeliest first, each with its probability."""


class Meant(NamedTuple):
    """Words that a word may stand for (k words), the wordings that have them, and the rarity of having one of them."""

    texts: Sequence[str]
    sizes: Ints  # (k,) wordings of each
    wordings: Ints  # (sum of sizes,) one word's behind the other's
    rarity: float
    code_rarity: float
    distinct: Ints  # (w,) the wordings, each once
    codes: Ints  # (c,) their codes, each once


KnownWords = dict[tuple[str, bool | None], Meant | None]
"""Meanings of words looked up so far: a shortened one with or without its dot, a whole one (None)."""


class Context(NamedTuple):
    """Sum of the rarity of a query's words that each code and each wording has."""

    by_code: Vectors
    by_wording: Vectors


class Shortened:
    """Expansions by the wordings of one catalog. Read-only."""

    def __init__(self, wordings: Wordings) -> None:
        self._wordings, self._bm25 = wordings, wordings.words_bm25
        self._size, self._codes = len(wordings), len(wordings.codes)
        self._of_thread = threading.local()
        self._words = list(wordings.vocabulary)  # in the order of the alphabet, as the postings are

    def is_cut(self, word: str) -> bool:
        """True if no wording has the word as written, but wordings have longer words that begin with it."""
        folded = fold(word)
        if not folded.isalpha() or folded in self._wordings.vocabulary:
            return False
        first, last = self._run(folded)
        return first < last

    def is_begun(self, query: str, written: Sequence[Token]) -> bool:
        """True if the query stops within a word, as a search field gets it while somebody types ("Hypok"): its last
        word is short for longer ones, and no dot says that it ends there. `written`: its words."""
        if not written or query[written[-1].end : written[-1].end + 1] == "." or not self._is_short(query, written[-1]):
            return False
        first, last = self._run(written[-1].text)
        return first < last

    def expanded(
        self, query: str, written: Sequence[Token] | None = None, most: int = MOST, known: KnownWords | None = None
    ) -> Chances:
        """At most `most` readings of the query, likeliest first, with their probabilities as against the first; empty
        where no word is shortened. `written`: its words, where known. `known` is filled with what the words mean: for a
        caller that reads overlapping pieces of one text, and drops it with them."""
        known = {} if known is None else known
        written = words(query) if written is None else written
        short = list(islice((word for word in written if self._is_short(query, word)), CUT_WORDS))
        if not short:
            return []
        dotted = {word.text for word in short if query[word.end : word.end + 1] == "."}
        some = {word: self._either(word, word in dotted, known) for word in dict.fromkeys(word.text for word in short)}
        found_for = {word: found for word, found in some.items() if found is not None}
        if not found_for:
            return []
        whole = [text for text in dict.fromkeys(word.text for word in written) if text not in some]
        meant = {word: found for word in whole if (found := self._itself(word, known)) is not None}
        meant |= found_for
        context, there = self._context(list(meant.values())), {_stem(word) for word in whole}
        ranked = {word: self._ranked(found, context, there) for word, found in found_for.items()}
        for found in meant.values():
            context.by_wording[found.distinct] = 0
            context.by_code[found.codes] = 0
        return _together(query, [(word, ranked[word.text]) for word in short if word.text in ranked], most)

    def _is_short(self, query: str, word: Token) -> bool:
        """True if a word may be cut off: it has a dot, or may be without one. Initials in capitals ("EKC", "II.") are
        not."""
        raw = query[word.start : word.end]
        if len(word.text) < SHORTEST or not word.text.isalpha() or (raw.isupper() and len(raw) <= INITIALS):
            return False
        return query[word.end : word.end + 1] == "." or self.may_be_cut(word.text)

    def may_be_cut(self, word: str) -> bool:
        """True if a folded word may be cut off without a dot that says so: no wording has it in any form, or hardly any
        beside the longer words that begin so."""
        number = self._wordings.vocabulary.get(word)
        if number is None:
            return _stem(word) not in self._wordings.vocabulary
        following = self._words[number + 1 : number + 2]
        if not following or not following[0].startswith(word):
            return False  # no longer word begins so
        near = min(number + NEAR, len(self._words))
        behind = bisect_left(self._words, word + LAST, number, near)
        if behind == near:
            behind = bisect_left(self._words, word + LAST, near)
        start = self._bm25.start
        return bool(start[number + 1] - start[number] < RARE * (start[behind] - start[number]))

    def _run(self, beginning: str) -> tuple[int, int]:
        """The words that begin so: number of the first, and behind the last."""
        return bisect_left(self._words, beginning), bisect_left(self._words, beginning + LAST)

    def _itself(self, word: str, known: KnownWords) -> Meant | None:
        """Meaning of a whole word: itself."""
        if (word, None) not in known:
            number = self._wordings.vocabulary.get(word)
            own = None if number is None else self._of([word], *self._bm25.wordings_of(number, number + 1))
            known[word, None] = own
        return known[word, None]

    def _either(self, word: str, dotted: bool, known: KnownWords) -> Meant | None:
        """Words that a shortened word may stand for, looked up once."""
        if (word, dotted) not in known:
            known[word, dotted] = self._candidates(word, dotted)
        return known[word, dotted]

    def _candidates(self, word: str, dotted: bool) -> Meant | None:
        """Words that a shortened word may stand for; None where there are none. A compound needs its dot: without one
        every other unknown word would be two halves of known ones."""
        first, last = self._run(word)
        if first == last and word[-1] == "p":  # ph is folded to f
            first, last = self._run(word[:-1] + "f")
        if first < last:
            return self._of(self._words[first:last], *self._bm25.wordings_of(first, last))
        return self._skeleton(word) or (self._compound(word) if dotted else None)

    def _skeleton(self, word: str) -> Meant | None:
        """The words that begin with the same characters and hold the others in their order."""
        if not _NO_VOWELS.search(word):
            return None
        first, last = self._run(word[:SKELETON])
        found = [number for number in range(first, last) if _holds(self._words[number], word)]
        if not found:
            return None
        wordings, sizes = zip(*(self._bm25.wordings_of(number, number + 1) for number in found), strict=True)
        return self._of([self._words[number] for number in found], np.concatenate(wordings), np.concatenate(sizes))

    def _compound(self, word: str) -> Meant | None:
        """A known beginning with each of the words that the rest begins; nothing where the rest is a whole word."""
        for at in range(len(word) - HEAD, HEAD - 1, -1):
            head, tail = self._run(word[:at]), self._run(word[at:])
            if head[0] < head[1] and tail[0] < tail[1]:
                if word[at:] in self._wordings.vocabulary:
                    return None
                texts = [word[:at] + other for other in self._words[tail[0] : tail[1]]]
                return self._of(texts, *self._bm25.wordings_of(*tail))
        return None

    def _of(self, texts: Sequence[str], wordings: Ints, sizes: Ints) -> Meant:
        own = wordings if len(sizes) == 1 else distinct(wordings, self._size)  # those of one word ascend
        rows = self._wordings.row[own]
        codes = rows[run_starts(rows)]  # wordings lie in the order of their codes
        rarity, code_rarity = _idf(len(own), self._size), _idf(len(codes), self._codes)
        return Meant(texts, sizes, wordings, rarity, code_rarity, own, codes)

    def _context(self, found: Sequence[Meant]) -> Context:
        """The room of this thread, filled: whoever asks empties it again, for half a MB of zeros costs more."""
        context: Context | None = getattr(self._of_thread, "context", None)
        if context is None:
            rooms = (np.zeros(size, dtype=np.float32) for size in (self._codes, self._size))
            context = self._of_thread.context = Context(*rooms)
        for meant in found:
            context.by_wording[meant.distinct] += np.float32(meant.rarity)
            context.by_code[meant.codes] += np.float32(meant.code_rarity)
        return context

    def _ranked(self, meant: Meant, context: Context, there: set[str]) -> Chances:
        """The likeliest stems, each as its likeliest form; not those that stand in the query already (`there`)."""
        by_code = context.by_code[self._wordings.row[meant.wordings]] - np.float32(meant.code_rarity)
        by_wording = context.by_wording[meant.wordings] - np.float32(meant.rarity)
        told = BY_CODE * by_code + BY_WORDING * by_wording
        score = np.exp(told - told.max())  # as against the best: a long official wording has more than exp can take
        total = np.add.reduceat(score, np.cumsum(meant.sizes) - meant.sizes)
        order = np.argsort(-total, kind="stable")[:FORMS].tolist()
        total /= total.sum()
        stems: dict[str, tuple[str, float]] = {}
        for at in order:
            stem = _stem(meant.texts[at])
            form, chance = stems.get(stem, (meant.texts[at], 0.0))
            stems[stem] = (form, chance + float(total[at]))
        fresh = [found for stem, found in stems.items() if stem not in there] or [(meant.texts[order[0]], 1.0)]
        return sorted(fresh, key=lambda found: -found[1])[:EACH]


def distinct(numbers: Ints, every: int) -> Ints:
    """Numbers below `every`, each once, in order: in a tenth of the time that hashing or sorting many of them takes."""
    found = np.zeros(every, dtype=np.bool_)
    found[numbers] = True
    return np.flatnonzero(found)


def _idf(some: int, every: int) -> float:
    return log((every + 1) / (some + 0.5))


def _stem(word: str) -> str:
    return _ENDING.sub("", word)


def _holds(word: str, characters: str) -> bool:
    """True if a word has these characters in their order."""
    rest = iter(word)
    return all(character in rest for character in characters)


LEAST: Final = 1e-100
"""Below it the product of hundreds of probabilities is taken as against the best one, before it becomes 0."""


def _scaled(chosen: list[tuple[tuple[str, ...], float]]) -> list[tuple[tuple[str, ...], float]]:
    best = chosen[0][1]
    if best >= LEAST:
        return chosen
    return [(texts, chance / best if best else 1.0) for texts, chance in chosen]


def _together(query: str, options: Sequence[tuple[Token, Chances]], most: int) -> Chances:
    """The likeliest readings of all words together: of each beginning of the query the best are carried on."""
    chosen: list[tuple[tuple[str, ...], float]] = [((), 1.0)]
    for _, some in options:
        longer = [((*texts, text), chance * own) for texts, chance in chosen for text, own in some]
        chosen = _scaled(sorted(longer, key=lambda each: -each[1])[:most])
    written = [word for word, _ in options]
    best = chosen[0][1]
    return [(replaced(query, list(zip(written, texts, strict=True))), chance / best) for texts, chance in chosen]
