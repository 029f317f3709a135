"""Pattern notation of the tables of words: words, gaps and dividing marks in a row, and groups of words by name.

One notation for the triggers of `context.tsv` and for the phrases of grounding: `a|b` one of several, `a*` any word
beginning so, `*a` any ending so, `(a)` may be left out, `..3` up to three other words, `~3` up to three of the same
item, `[:]` a dividing mark, `@name` a group of words.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from clinical.text import spelling

MARKS: Final = ("[:]", "[,]", "[-]", "$", "^")
_YEARS: Final = range(1930, 2100)
"""Numbers that are read as a year where the table says @year."""


@dataclass(frozen=True, slots=True)
class Words:
    """One place of a trigger or phrase: any of these spelled words, or one that begins or ends so."""

    words: frozenset[str]
    stems: tuple[str, ...]
    endings: tuple[str, ...] = ()
    number: bool = False
    year: bool = False
    optional: bool = False

    @property
    def plain(self) -> bool:
        """True if it matches by listed words alone: no stems, endings, numbers or years."""
        return not (self.stems or self.endings or self.number or self.year)

    def fits(self, word: str) -> bool:
        """True if a spelled word of the text matches this place."""
        if word in self.words or (self.stems and word.startswith(self.stems)):
            return True
        if self.endings and word.endswith(self.endings):
            return True
        if not word.startswith("#"):
            return False
        return self.number or (self.year and _is_year(word))

    def fitting(self, words: Collection[str]) -> set[str]:
        """Those of the words that fit. Most are told by their first or last characters."""
        found = set(self.words.intersection(words))
        if self.stems:
            size, beginnings = _beginnings(self.stems)
            found |= {word for word in words if word[:size] in beginnings and word.startswith(self.stems)}
        if self.endings:
            size, ends = _ends(self.endings)
            found |= {word for word in words if word[-size:] in ends and word.endswith(self.endings)}
        if self.number or self.year:
            found |= {word for word in words if word[0] == "#" and self.fits(word)}
        return found


@cache
def _beginnings(stems: tuple[str, ...]) -> tuple[int, frozenset[str]]:
    """The characters of the shortest stem, and so many first characters of each."""
    size = min(map(len, stems))
    return size, frozenset(stem[:size] for stem in stems)


@cache
def _ends(endings: tuple[str, ...]) -> tuple[int, frozenset[str]]:
    """The characters of the shortest ending, and so many last characters of each."""
    size = min(map(len, endings))
    return size, frozenset(ending[-size:] for ending in endings)


@dataclass(frozen=True, slots=True)
class Gap:
    """Up to `most` words of the same sentence; `inner`: of the same item, over no mark and no "und"."""

    most: int
    inner: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """Mark that has to stand between words: `:` a colon, `-` a hyphen, `$` the end of the item, `^` its beginning; in
    the phrases of grounding `,` anything that is not one space."""

    sign: str


Element = Words | Gap | Mark


def group_line(columns: list[str], groups: Mapping[str, str]) -> str:
    """The words of a line `@name, =, words` as alternatives; a group may hold groups of lines above."""
    return "|".join(groups.get(word, word) for word in columns[2].split())


def elements_of(text: str, groups: Mapping[str, str], key: Callable[[str], str] = spelling) -> tuple[Element, ...]:
    """The row of words, gaps and marks that a table writes; `key` makes of a written word what it is compared by."""
    return tuple(_element(part, groups, key) for part in text.split())


def words_of(text: str, key: Callable[[str], str] = spelling) -> Words:
    """Words divided by bars, as one place."""
    element = _element(text, {}, key)
    if not isinstance(element, Words):
        raise ValueError(f"{text!r}: expected words")
    return element


def read_groups(text: str, name: str) -> dict[str, Words]:
    """The groups of a file that holds nothing else, by name. Raises ValueError naming the line that is no group."""
    groups: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and line[0] != "#":
            columns = line.split("\t")
            if len(columns) < 3 or columns[1] != "=" or columns[0][0] != "@":
                raise ValueError(f"{name}, line {number}: expected @name, = and words, divided by tabs")
            groups[columns[0]] = group_line(columns, groups)
    return {one: words_of(words) for one, words in groups.items()}


def _element(text: str, groups: Mapping[str, str], key: Callable[[str], str]) -> Element:
    optional = text.startswith("(")
    text = text.strip("()")
    if text.startswith(".."):
        return Gap(int(text[2:]))
    if text.startswith("~"):
        return Gap(int(text[1:]), inner=True)
    if text in MARKS:
        return Mark(text.strip("[]"))
    parts = [one for part in text.split("|") for one in groups.get(part, part).split("|")]
    plain = [part for part in parts if part not in ("#", "@year")]
    words = frozenset(key(part) for part in plain if "*" not in part)
    stems = tuple(dict.fromkeys(key(part[:-1]) for part in plain if part.endswith("*")))
    endings = tuple(dict.fromkeys(key(part[1:]) for part in plain if part.startswith("*")))
    return Words(words, stems, endings, "#" in parts, "@year" in parts, optional)


def _is_year(word: str) -> bool:
    if len(word) < 5:
        return False
    digits, month = word[-4:], word[1:-5]
    plain = len(word) == 5 or (word[-5] in "/." and month.isdigit() and len(month) <= 2)
    return plain and digits.isdigit() and int(digits) in _YEARS
