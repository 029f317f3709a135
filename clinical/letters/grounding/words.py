"""Does a word stand in the letter in any form? What stands nowhere is invented, whatever else of its value is true.

Forms of a word: inflected, part of a compound or made of parts that stand there, abbreviated, a number in words, as a
scan mixes characters up, or its Latin or German counterpart (`clinical.text`, morphemes).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from typing import Final

from clinical.claims import denying_words
from clinical.text import FUNCTION_WORDS, SALUTATIONS, TITLES, SourceText, fold, folds_of, same_meaning, word_set

SHORTEST_PART: Final = 4
"""Characters of a part of a compound: shorter ones are found in any word."""
SHORTEST_STEM: Final = 4
"""Characters two forms of a word share at least."""
COUNTERPARTS: Final = 400
"""Latin and German counterparts that are looked up; the table gives a few dozen for most words."""

_ENDINGS = word_set(
    """ische ischen iges ige igen lich liche lichen licher liches lichem lichn lichr lichs lichm ungen ung heit keit ern
    em en er es e n s t te ten end ende enden ender endes endem"""
)
_SIZES: Final = range(max(map(len, _ENDINGS)), 0, -1)
_INFLECTION = re.compile(r"(?:e[nmrs]?|s|n|t|te|ten|er[nmrse]?|es|ens?|in|innen|ung|ungen|isch|ische[nmrs]?)?(?= )")
_PART_ENDINGS: Final = ("", "e", "s", "n", "en", "em", "er", "es")
"""Endings of a compound's last part, the shortest first."""
_OPPOSED = ("anti", "un", "in", "a", "hyper", "hypo", "prae", "post", "nicht", "ex", "de", "dis", "in", "im")
"""Beginnings that make another word of the rest: `aseptisch` is no evidence for `septisch`."""
_NUMBERS: Final = {
    "1": ("ein", "eine", "einem", "einer", "eins", "erste", "ersten"), "2": ("zwei", "zweite", "zweiten", "beide"),
    "3": ("drei", "dritte", "dritten"), "4": ("vier", "vierte"), "5": ("fuenf",), "6": ("sechs",), "7": ("sieben",),
    "8": ("acht",), "9": ("neun",), "10": ("zehn",), "11": ("elf",), "12": ("zwoelf",),
}  # fmt: skip
_NUMBER_OF: Final = {word: number for number, words in _NUMBERS.items() for word in words}
_NO_CONTENT = word_set(
    """bekannt bekannte bekannter bekanntes bekannten aktuell aktuelle aktueller diagnose diagnosen befund nach seit
    sowie inkl ca etwa usw patient patientin patienten pat mal jeweils weiterhin derzeit"""
)
"""Words without content, which a value may add."""


def stem_of(word: str) -> str:
    """A spelled word without its longest ending."""
    for size in _SIZES:
        if word[-size:] in _ENDINGS:
            return word[:-size]
    return word


def skeleton(word: str) -> str:
    """A spelled word with the characters that a scan mixes up made one."""
    for one, other in _LOOKALIKES:
        word = word.replace(one, other)
    return word


_LOOKALIKES: Final = (
    *(("rn", "m"), ("ae", "a"), ("oe", "o"), ("ue", "u"), ("vv", "w"), ("cl", "d"), ("ii", "u")),
    *(("1", "l"), ("|", "l"), ("i", "l"), ("0", "o")),
)


class Wordlist:
    """The words of one letter by what they are compared by; made once, on the first word that needs it."""

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self._stands: dict[str, bool] = {}
        self._known_forms: dict[str, set[str]] = {}

    @cached_property
    def words(self) -> list[str]:
        """Every spelled word of the letter once, those broken by a hyphen also in one piece."""
        return [word for word in self.source.word_places if word[0] != "#"] + list(self.source.merged_places)

    @cached_property
    def skeletons(self) -> str:
        """`solid` as a scan may have mixed it up."""
        return skeleton(self.solid)

    @cached_property
    def folds(self) -> list[str]:
        """Each word in the spelling of the table of counterparts."""
        return folds_of(self.words)

    @cached_property
    def solid_folds(self) -> str:
        """All of these in one string, a space before each: most of what is looked up begins none of them."""
        return f" {' '.join(self.folds)}"

    @cached_property
    def folded(self) -> dict[str, list[tuple[str, str]]]:
        """Words in that spelling and as they are, by their first characters in it."""
        heads: dict[str, list[tuple[str, str]]] = {}
        for folded, word in zip(self.folds, self.words, strict=True):
            heads.setdefault(folded[:SHORTEST_STEM], []).append((folded, word))
        return heads

    @cached_property
    def solid(self) -> str:
        """All words in one string, each between spaces."""
        return f" {' '.join(self.words)} "

    @cached_property
    def dotted(self) -> frozenset[str]:
        """Abbreviations with a full stop behind them."""
        return frozenset(self.source.words[i] for i in self.source.abbreviations) - TITLES

    def stands(self, word: str) -> bool:
        """True if a spelled word stands in the letter in any form."""
        known = self._stands.get(word)
        if known is None:
            cheap = (
                word in self.source.word_places or self._inflected(word) or self._scanned(word) or self._number(word)
            )
            known = cheap or self._abbreviated(word) or self._part(word) or self._parts(word) or self._meant(word)
            self._stands[word] = known
        return known

    def _inflected(self, word: str) -> bool:
        stem = stem_of(word)
        if len(stem) < SHORTEST_STEM:
            stem = word
        if len(stem) < SHORTEST_STEM:
            return False
        at, begins = -1, f" {stem}"
        while (at := self.solid.find(begins, at + 1)) >= 0:
            if _INFLECTION.match(self.solid, at + len(begins)):
                return True
        return False

    def _scanned(self, word: str) -> bool:
        return len(word) > 2 and f" {skeleton(word)} " in self.skeletons

    def _abbreviated(self, word: str) -> bool:
        return any(word.startswith(short) for short in self.dotted)

    def _number(self, word: str) -> bool:
        return word in _NUMBER_OF and f"#{_NUMBER_OF[word]}" in self.source.word_places

    def _part(self, word: str) -> bool:
        """`Thrombose` in `Beinvenenthrombose`."""
        stem = stem_of(word) if len(word) > 6 else word
        if len(stem) < SHORTEST_PART + 1:
            return False
        if f" {stem}" in self.solid and len(stem) > 5:
            return True
        ends = tuple(stem + ending for ending in _PART_ENDINGS)
        return any(len(rest) > 2 and rest not in _OPPOSED for rest in self._before(ends))

    def _before(self, ends: tuple[str, ...]) -> Iterator[str]:
        """The beginning of each word that has one of these ends, without the first of them."""
        for word in [word for word in self.words if word.endswith(ends)]:
            yield next(word.removesuffix(end) for end in ends if word.endswith(end))

    def _parts(self, word: str) -> bool:
        """`Beinvenenthrombose` where the letter says `Thrombose der Beinvenen`."""
        for cut in range(SHORTEST_PART, len(word) - SHORTEST_PART + 1):
            if f" {word[:cut]}" in self.solid and (
                word[cut:] in self.source.word_places or self._inflected(word[cut:])
            ):
                return True
        return False

    def _meant(self, word: str) -> bool:
        folded = fold(word)
        forms = {folded, fold(stem_of(word))}
        others = (other for form in forms for other in islice(same_meaning(form), COUNTERPARTS))
        return any(other in self._forms(other[:SHORTEST_STEM]) for other in others)

    def _forms(self, head: str) -> set[str]:
        """The words that begin so, and their stems, in the spelling of the table of counterparts."""
        forms = self._known_forms.get(head)
        if forms is None:
            known = self.folded.get(head, []) if f" {head}" in self.solid_folds else []
            stems = (fold(stem_of(word)) for _, word in known if len(word) > SHORTEST_STEM)
            forms = {*(folded for folded, _ in known), *(stem for stem in stems if len(stem) > SHORTEST_STEM)}
            self._known_forms[head] = forms
        return forms


def content_words(value: SourceText) -> list[int]:
    """Tokens of a value that say something by themselves: no function words, titles, salutations, numbers."""
    return [
        i
        for i, word in enumerate(value.words)
        if word[0] != "#"
        and len(word) > 2
        and word not in FUNCTION_WORDS
        and word not in denying_words()
        and word not in TITLES
        and word not in SALUTATIONS
        and word not in _NO_CONTENT
    ]


def missing_words(source: SourceText, wordlist: Wordlist, text: str) -> tuple[str, ...]:
    """The content words and numbers of a value that stand nowhere in the letter, as the value writes them."""
    value = SourceText(text)
    gone = [i for i in content_words(value) if not wordlist.stands(value.words[i])]
    gone += [i for i, word in enumerate(value.words) if word[0] == "#" and word not in source.word_places]
    return tuple(dict.fromkeys(text[value.start[i] : value.end[i]] for i in sorted(gone)))
